"""Classes that merge into fewer, alone and together with a choice of classes."""

import pandas as pd
import pytest
from datasets import ClassLabel, Dataset, Features, Value

from glasshead.data import LoadOptions, describe, load
from glasshead.errors import InputError

FIVE = ["very negative", "negative", "neutral", "positive", "very positive"]


def write(folder, labels, size=100, name="a.csv"):
    rows = [(f"text {number}", labels[number % len(labels)]) for number in range(size)]
    pd.DataFrame(rows, columns=["text", "label"]).to_csv(folder / name, index=False)
    return folder / name


def coded(folder, names):
    features = Features({"text": Value("string"), "label": ClassLabel(names=names)})
    rows = {"text": [f"text {n}" for n in range(100)], "label": [n % len(names) for n in range(100)]}
    Dataset.from_dict(rows, features=features).to_parquet(folder / "a.parquet")
    return folder / "a.parquet"


def by_text(data):
    names = data["train"].features["label"].names
    return {row["text"]: names[row["label"]] for split in data.values() for row in split}


def names(path, **options):
    return load(path, LoadOptions(**options))["train"].features["label"].names


def refusal(path, **options):
    with pytest.raises(InputError) as caught:
        load(path, LoadOptions(**options))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_five_classes_become_three_and_every_row_keeps_its_side(tmp_path):
    path = write(tmp_path, FIVE)
    data = load(path, LoadOptions(labels=3))
    assert data["train"].features["label"].names == ["negative", "neutral", "positive"]
    before = by_text(load(path))
    assert by_text(data) == {text: label.split()[-1] for text, label in before.items()}
    counts = [sum(split.values()) for split in describe(data)["classes"].values()]
    assert counts == [70, 15, 15]
    totals = {
        name: sum(c[name] for c in describe(data)["classes"].values()) for name in names(path, labels=3)
    }
    assert totals == {"negative": 40, "neutral": 20, "positive": 40}


def test_the_cut_is_stratified_by_the_merged_classes(tmp_path):
    data = load(write(tmp_path, FIVE, 200), LoadOptions(labels=3))
    assert describe(data)["classes"]["dev"] == {"negative": 12, "neutral": 6, "positive": 12}


def test_case_blanks_and_underscores_do_not_matter(tmp_path):
    path = write(tmp_path, ["Very Negative", "very_negative", " NEGATIVE", "Positive "])
    assert names(path, labels=2) == ["negative", "positive"]


@pytest.mark.parametrize("first", range(5))
def test_the_order_of_classes_does_not_depend_on_that_of_rows(tmp_path, first):
    assert names(write(tmp_path, FIVE[first:] + FIVE[:first]), labels=3) == [
        "negative",
        "neutral",
        "positive",
    ]


def test_class_numbers_with_names_keep_the_order_of_their_names(tmp_path):
    path = coded(tmp_path, ["very positive", "positive", "neutral", "very negative", "negative"])
    assert names(path, labels=3) == ["positive", "neutral", "negative"]
    assert by_text(load(path, LoadOptions(labels=3)))["text 3"] == "negative"


class TestWithAChoice:
    def test_classes_are_chosen_by_the_names_in_the_source_and_order_the_merged_ones(self, tmp_path):
        chosen = ("very positive", "positive", "very negative", "negative")
        path = write(tmp_path, FIVE)
        data = load(path, LoadOptions(classes=chosen, labels=2))
        assert data["train"].features["label"].names == ["positive", "negative"]
        assert sum(data.num_rows.values()) == 80

    def test_the_last_words_alone_need_not_be_classes(self, tmp_path):
        chosen = ("very positive", "very negative")
        assert names(write(tmp_path, FIVE), classes=chosen, labels=2) == ["positive", "negative"]

    def test_a_merged_name_cannot_be_chosen(self, tmp_path):
        path = write(tmp_path, ["very bad", "rather bad", "very good"])
        assert "no class 'bad'" in refusal(path, classes=("bad", "very good"), labels=2)


class TestRefusals:
    def test_another_number(self, tmp_path):
        path = write(tmp_path, FIVE)
        message = refusal(path, labels=4)
        assert f"{path} are 3 (negative, neutral, positive), not 4" in message
        assert "give `labels=3`" in message

    def test_classes_that_all_end_alike(self, tmp_path):
        message = refusal(write(tmp_path, ["very good", "good"]), labels=2)
        assert "are 1 (good), not 2" in message
        assert "`labels=1`" not in message

    def test_many_classes_are_not_all_named(self, tmp_path):
        message = refusal(write(tmp_path, [f"c{number}" for number in range(40)], 400), labels=3)
        assert "are 40" in message
        assert message.count("c") < 30

    @pytest.mark.parametrize("labels", [1, 0, -3])
    def test_fewer_than_two(self, labels):
        with pytest.raises(InputError, match="`labels` must be at least 2"):
            LoadOptions(labels=labels)

    def test_a_class_that_train_lacks_is_named_as_it_was_merged(self, tmp_path):
        write(tmp_path, FIVE, name="train.csv")
        write(tmp_path, ["very negative", "rather odd"], 4, name="test.csv")
        assert "test.csv row 2 has the class 'odd', which train lacks" in refusal(tmp_path, labels=3)

    def test_generated_sets_obey_too(self):
        small = {"instances": 40}
        assert names("synthetic", labels=2, generator=small) == names("synthetic", generator=small)
        assert "not 3" in refusal("synthetic", labels=3, generator=small)


def test_real_classes(real_data):
    data = load(real_data / "sst5", LoadOptions(labels=3))
    assert data["train"].features["label"].names == ["negative", "neutral", "positive"]
    assert data.num_rows == {"train": 8544, "dev": 1101, "test": 2210}
    assert describe(data)["classes"]["test"] == {"negative": 912, "neutral": 389, "positive": 909}
