"""From a name, a folder or a file to splits in one schema, or to one clear line."""

import dataclasses
import json
import shutil
from collections import Counter
from pathlib import Path

import datasets
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from datasets import ClassLabel, Dataset, DatasetDict, Features, Value
from hypothesis import given, settings
from hypothesis import strategies as st

from glasshead.data import LoadOptions, describe, load, resolve
from glasshead.errors import InputError

LABELS = ["good", "bad"]


def write(path, rows, columns=("text", "label")):
    pd.DataFrame(rows, columns=list(columns)).to_csv(path, index=False)
    return path


def recorded(path, records):
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(records), path)
    else:
        path.write_text("\n".join(map(json.dumps, records)))
    return path


def reviews(size, start=0, labels=LABELS):
    return [(f"text {number}", labels[number % len(labels)]) for number in range(start, start + size)]


def refusal(source, **options):
    with pytest.raises(InputError) as caught:
        load(source, LoadOptions(**options))
    message = str(caught.value)
    assert "\n" not in message
    return message


def texts(split):
    return split["text"][:]


def names(data):
    return data["train"].features["label"].names


def everything(data):
    """All rows of all splits, with class names."""
    return [(row["text"], names(data)[row["label"]]) for split in data.values() for row in split]


@pytest.fixture
def folder(tmp_path):
    write(tmp_path / "train.csv", reviews(40))
    write(tmp_path / "validation.csv", reviews(10, 40))
    write(tmp_path / "test.csv", reviews(10, 50))
    return tmp_path


class TestFolder:
    def test_splits_are_the_files(self, folder):
        data = load(folder)
        assert list(data) == ["train", "dev", "test"]
        assert texts(data["dev"]) == [text for text, _ in reviews(10, 40)]
        assert data["train"].features == Features(
            {"text": Value("string"), "label": ClassLabel(names=["bad", "good"])}
        )
        assert data["train"]["label"][:] == [1, 0] * 20
        assert data["dev"].info.description == "read from validation.csv"

    def test_a_string_is_as_good_as_a_path(self, folder):
        assert describe(load(str(folder))) == describe(load(folder))

    def test_dev_is_cut_from_train_and_said_so(self, folder):
        (folder / "validation.csv").unlink()
        data = load(folder, LoadOptions(dev_fraction=0.25, split_seed=3))
        assert describe(data)["rows"] == {"train": 30, "dev": 10, "test": 10}
        assert sorted(texts(data["train"]) + texts(data["dev"])) == sorted(t for t, _ in reviews(40))
        assert data["dev"].info.description.startswith("25 % of train, cut with seed 3")
        assert "without the 25 %" in data["train"].info.description
        assert Counter(data["dev"]["label"][:]) == {0: 5, 1: 5}
        assert texts(load(folder, LoadOptions(dev_fraction=0.25))["dev"]) != texts(data["dev"])

    def test_without_a_test_file_there_is_no_test_split(self, folder):
        (folder / "test.csv").unlink()
        assert list(load(folder)) == ["train", "dev"]

    def test_other_files_are_ignored(self, folder):
        before = describe(load(folder))
        for name in ("extra_world_scitech.csv", "all.csv", "README.md", "trained.csv"):
            write(folder / name, reviews(5, 900, ["unseen"]))
        assert describe(load(folder)) == before

    @pytest.mark.parametrize("name", ["all.csv", "sample.csv"])
    def test_one_file_with_everything_is_split(self, tmp_path, name):
        write(tmp_path / name, reviews(100))
        data = load(tmp_path)
        assert describe(data)["rows"] == {"train": 70, "dev": 15, "test": 15}
        assert data["test"].info.description.startswith(f"15 % of {name}, cut with seed 0")

    @pytest.mark.parametrize("other", ["train.tsv", "train.parquet", "train.csv.gz"])
    def test_two_files_for_one_split(self, folder, other):
        shutil.copy(folder / "train.csv", folder / other)
        message = refusal(folder)
        assert f"train.csv and {other}" in message
        assert "remove one" in message

    @pytest.mark.parametrize("pair", [("dev.csv", "validation.csv"), ("all.csv", "sample.csv")])
    def test_two_names_for_one_split(self, folder, pair):
        (folder / "train.csv").rename(folder / pair[0])
        shutil.copy(folder / pair[0], folder / pair[1])
        if pair[0] == "all.csv":
            (folder / "test.csv").unlink()
            (folder / "validation.csv").unlink()
            shutil.copy(folder / pair[0], folder / pair[1])
        assert f"{pair[0]} and {pair[1]}" in refusal(folder)

    def test_no_train_file(self, folder):
        (folder / "train.csv").unlink()
        assert "no train file" in refusal(folder)

    def test_nothing_to_read(self, tmp_path):
        (tmp_path / "train.doc").write_text("?")
        assert f"{tmp_path} has no data" in refusal(tmp_path)

    def test_a_folder_called_as_a_file(self, tmp_path):
        (tmp_path / "train.csv").mkdir()
        assert "train.csv is a directory" in refusal(tmp_path)


class TestOneFile:
    rows = st.lists(
        st.tuples(st.text(st.sampled_from("ab \n"), max_size=3), st.sampled_from(LABELS)), min_size=30
    )

    @pytest.mark.slow
    @settings(deadline=None, max_examples=30)
    @given(rows=rows, seed=st.integers(0, 9))
    def test_every_row_lands_in_one_split_and_no_text_in_two(self, tmp_path_factory, rows, seed):
        path = write(tmp_path_factory.mktemp("one") / "my_reviews.csv", [*rows, *reviews(30)])
        data = load(path, LoadOptions(split_seed=seed))
        assert Counter(everything(data)) == Counter([*rows, *reviews(30)])
        seen = [set(texts(split)) for split in data.values()]
        assert sum(map(len, seen)) == len(set().union(*seen))

    def test_equal_texts_with_other_pairs_may_part(self, tmp_path):
        rows = [("same", f"pair {number}", LABELS[number % 2]) for number in range(40)]
        data = load(write(tmp_path / "a.csv", rows, ("text", "text_pair", "label")))
        assert describe(data)["rows"] == {"train": 28, "dev": 6, "test": 6}

    def test_rows_keep_their_order(self, tmp_path):
        for split in load(write(tmp_path / "a.csv", reviews(60))).values():
            numbers = [int(text.split()[1]) for text in texts(split)]
            assert numbers == sorted(numbers)

    def test_the_seed_decides(self, tmp_path):
        path = write(tmp_path / "a.csv", reviews(60))
        prints = [describe(load(path, LoadOptions(split_seed=seed)))["fingerprint"] for seed in (0, 0, 1)]
        assert prints[0] == prints[1] != prints[2]

    def test_texts_that_look_like_nothing_are_kept_and_counted(self, tmp_path):
        odd = ["NA", "null", "None", "", "  ", "1"]
        path = write(tmp_path / "a.csv", [(text, "good") for text in odd] + reviews(60))
        data = load(path)
        assert set(odd) <= {text for text, _ in everything(data)}
        assert sum(describe(data)["empty_texts"].values()) == 2

    def test_too_few_rows(self, tmp_path):
        path = write(tmp_path / "a.csv", reviews(4))
        message = refusal(path)
        assert str(path) in message
        assert "too few rows (4)" in message


class TestColumns:
    def test_premise_and_hypothesis(self, tmp_path):
        rows = [(f"p {number}", f"h {number}", LABELS[number % 2]) for number in range(40)]
        data = load(write(tmp_path / "a.csv", rows, ("premise", "hypothesis", "label")))
        assert data["train"].column_names == ["text", "text_pair", "label"]
        row = data["train"][0]
        assert row["text"].replace("p", "h") == row["text_pair"]

    def test_renamed_columns(self, tmp_path):
        rows = [(f"{number}", "other", LABELS[number % 2]) for number in range(40)]
        path = write(tmp_path / "a.csv", rows, ("body", "text", "stars"))
        data = load(path, LoadOptions(text_column="body", label_column="stars"))
        assert set(texts(data["train"])) <= {str(number) for number in range(40)}
        assert names(data) == ["bad", "good"]
        assert data["train"].column_names == ["text", "label"]

    @pytest.mark.parametrize(
        ("options", "missing", "option"),
        [
            ({}, "text", "`text_column`"),
            ({"text_column": "boddy"}, "boddy", "`text_column`"),
            ({"text_column": "body"}, "label", "`label_column`"),
            ({"text_column": "body", "label_column": "star"}, "star", "`label_column`"),
        ],
    )
    def test_missing_column(self, tmp_path, options, missing, option):
        path = write(tmp_path / "a.csv", reviews(40), ("body", "stars"))
        message = refusal(path, **options)
        assert f"{path} has no column '{missing}' (it has: body, stars)" in message
        assert option in message

    def test_only_one_split_has_pairs(self, folder):
        rows = [("a", "b", "good"), ("c", "d", "bad")]
        write(folder / "test.csv", rows, ("text", "text_pair", "label"))
        assert "has text pairs" in refusal(folder)

    @pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
    @pytest.mark.parametrize(
        ("record", "says"),
        [
            ({"text": None, "label": 1}, "has no text in the column 'text': give it one"),
            ({"label": 0}, "has no text in the column 'text'"),
        ],
    )
    def test_a_missing_text_is_refused(self, tmp_path, suffix, record, says):
        records = [{"text": f"t {n}", "label": n % 2} for n in range(40)]
        records.insert(6, record)
        assert f"row 7 {says}" in refusal(recorded(tmp_path / f"a{suffix}", records))

    @pytest.mark.parametrize("column", ["text", "text_pair"])
    @pytest.mark.parametrize(
        ("value", "says"),
        [(3, "a number"), (0.5, "a number"), (True, "no text"), (["a", "b"], "no text"), ({}, "no text")],
    )
    def test_what_is_no_text_is_refused(self, tmp_path, column, value, says):
        records = [{"text": f"t {n}", "text_pair": "", "label": n % 2} for n in range(40)]
        records[6][column] = value
        path = recorded(tmp_path / "a.jsonl", records)
        message = refusal(path)
        assert f"{path} row 7 has {says} in the column '{column}': write it as a string" in message

    def test_a_column_of_numbers_is_no_column_of_texts(self, tmp_path):
        path = recorded(tmp_path / "a.parquet", [{"text": n, "label": n % 2} for n in range(40)])
        assert "row 1 has a number in the column 'text'" in refusal(path)
        assert "`text_column`" in refusal(path)

    def test_numbers_of_a_csv_file_are_texts(self, tmp_path):
        path = write(tmp_path / "a.csv", [(str(n), LABELS[n % 2]) for n in range(40)])
        assert {text for text, _ in everything(load(path))} == {str(n) for n in range(40)}

    def test_a_blank_half_of_a_pair_counts(self, tmp_path):
        rows = [(f"{n}", " " if n == 7 else "b", LABELS[n % 2]) for n in range(40)]
        data = load(write(tmp_path / "a.csv", rows, ("text", "text_pair", "label")))
        assert sum(describe(data)["empty_texts"].values()) == 1


class TestClasses:
    def test_integers_in_order_of_their_values(self, tmp_path):
        path = write(tmp_path / "a.csv", reviews(60, labels=["10", "2", "-1"]))
        assert names(load(path)) == ["-1", "2", "10"]

    def test_integers_of_any_length(self, tmp_path):
        path = write(tmp_path / "a.csv", reviews(60, labels=["9" * 5000, "2"]))
        assert names(load(path)) == ["2", "9" * 5000]

    def test_other_labels_in_alphabetical_order(self, tmp_path):
        path = write(tmp_path / "a.csv", reviews(60, labels=["10", "2", "b"]))
        assert names(load(path)) == ["10", "2", "b"]

    @pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
    @pytest.mark.parametrize(
        ("labels", "expected"),
        [([3, 1], ["1", "3"]), ([2.0, 1.0], ["1", "2"]), ([True, False], ["false", "true"])],
    )
    def test_numbers_become_decimal_strings(self, tmp_path, suffix, labels, expected):
        frame = pd.DataFrame(reviews(40, labels=labels), columns=["text", "label"])
        path = tmp_path / f"a{suffix}"
        frame.to_parquet(path) if suffix == ".parquet" else frame.to_json(path, orient="records", lines=True)
        assert names(load(path)) == expected

    def test_class_numbers_keep_their_names_and_order(self, tmp_path):
        features = Features({"text": Value("string"), "label": ClassLabel(names=["z", "unused", "a"])})
        rows = {"text": [f"{n}" for n in range(41)], "label": [0, 2] * 20 + [-1]}
        Dataset.from_dict(rows, features=features).to_parquet(tmp_path / "a.parquet")
        data = load(tmp_path / "a.parquet")
        assert names(data) == ["z", "a"]
        assert dict(everything(data)) == {f"{n}": "za"[n % 2] for n in range(40)}
        assert "1 rows without a label left out" in data["train"].info.description

    def test_a_subset_in_the_order_given(self, folder):
        for name in ("train", "validation", "test"):
            write(folder / f"{name}.csv", reviews(30, labels=["a", "b", "c"]))
        data = load(folder, LoadOptions(classes=("c", "a")))
        assert names(data) == ["c", "a"]
        assert describe(data)["classes"]["test"] == {"c": 10, "a": 10}
        assert {row["label"] for row in data["train"] if row["text"].endswith("0")} <= {0, 1}
        assert dict(everything(data))["text 3"] == "a"

    def test_a_subset_may_leave_out_what_train_lacks(self, folder):
        write(folder / "test.csv", reviews(12, labels=["good", "bad", "ugly"]))
        refusal(folder)
        assert describe(load(folder, LoadOptions(classes=("good", "bad"))))["rows"]["test"] == 8

    def test_unknown_class(self, folder):
        message = refusal(folder, classes=("good", "bat"))
        assert "no class 'bat'" in message
        assert "did you mean 'bad'?" in message

    @pytest.mark.parametrize("classes", [("good",), ("good", "good"), ()])
    def test_fewer_than_two_classes_asked_for(self, classes):
        with pytest.raises(InputError, match="two or more different classes"):
            LoadOptions(classes=classes)

    def test_a_single_class(self, tmp_path):
        path = write(tmp_path / "a.csv", reviews(40, labels=["good"]))
        message = refusal(path)
        assert f"{path} has a single class, 'good'" in message
        assert "`label_column`" in message

    @pytest.mark.parametrize("split", ["validation", "test"])
    def test_a_class_that_train_lacks(self, folder, split):
        write(folder / f"{split}.csv", [("a", "good"), ("b", "ugly")])
        message = refusal(folder)
        assert f"{folder / split}.csv row 2 has the class 'ugly', which train lacks" in message
        assert "`classes`" in message

    def test_a_split_without_rows_of_the_classes(self, folder):
        for name in ("train", "validation"):
            write(folder / f"{name}.csv", reviews(30, labels=["a", "b", "good"]))
        assert "test.csv has no rows" in refusal(folder, classes=("a", "b"))

    @pytest.mark.parametrize("label", ["", "  "])
    def test_empty_label(self, folder, label):
        write(folder / "test.csv", [("a", "good"), ("b", "bad"), ("c", label)])
        assert f"{folder / 'test.csv'} row 3 has no usable 'label'" in refusal(folder)

    @pytest.mark.parametrize("label", [None, 0.5, [1], {}])
    def test_labels_that_are_none(self, tmp_path, label):
        path = tmp_path / "a.jsonl"
        path.write_text("\n".join(json.dumps({"text": "a", "label": value}) for value in (1, label)))
        assert f"{path} row 2 has no usable 'label'" in refusal(path)


class TestOptions:
    def test_they_survive_json(self):
        options = LoadOptions(classes=("a", "b"), split_seed=2, generator={"noise": 0.1})
        assert LoadOptions(**json.loads(json.dumps(dataclasses.asdict(options)))) == options

    @pytest.mark.parametrize("value", [0, -0.1, 0.6, 1, float("nan")])
    def test_dev_fraction(self, value):
        with pytest.raises(InputError, match="dev fraction"):
            LoadOptions(dev_fraction=value)

    def test_split_seed(self):
        with pytest.raises(InputError, match="split seed"):
            LoadOptions(split_seed=-1)

    def test_generator_options_need_a_generator(self, folder):
        assert "is not synthetic" in refusal(folder, generator={"noise": 0.1})


class TestNames:
    @pytest.mark.parametrize(
        "source",
        ["nowhere.csv", "./nowhere", "~/nowhere-at-all", "/no/where", "a/b/c", "nowhere/", "a\\b", "a/b.csv"],
    )
    def test_what_looks_like_a_path_is_never_asked_from_the_hub(self, monkeypatch, source):
        monkeypatch.setattr(resolve, "from_hub", lambda name: pytest.fail("the Hub was asked"))
        assert f"no such file or folder: {source}" in refusal(source)

    def test_nor_is_a_path_object(self, monkeypatch):
        monkeypatch.setattr(resolve, "from_hub", lambda name: pytest.fail("the Hub was asked"))
        assert "no such file or folder: synthetic" in refusal(Path("synthetic"))

    def test_nor_a_name_below_a_folder_that_exists(self, monkeypatch, tmp_path):
        monkeypatch.setattr(resolve, "from_hub", lambda name: pytest.fail("the Hub was asked"))
        monkeypatch.chdir(tmp_path)
        (tmp_path / "runs").mkdir()
        assert "no such file or folder: runs/sst2" in refusal("runs/sst2")

    @pytest.mark.parametrize("source", ["", "two words", "x" * 5000 + "/"])
    def test_what_cannot_be_a_name(self, monkeypatch, source):
        monkeypatch.setattr(resolve, "from_hub", lambda name: pytest.fail("the Hub was asked"))
        assert "file or folder" in refusal(source)

    def test_a_file_beats_the_hub(self, monkeypatch, folder):
        monkeypatch.chdir(folder.parent)
        assert describe(load(folder.name))["rows"]["train"] == 40


class TestHub:
    features = Features(
        {"text": Value("string"), "label": ClassLabel(names=["neg", "pos"]), "n": [Value("int8")]}
    )

    def answer(self, monkeypatch, splits, exists=True):
        asked = []
        monkeypatch.setattr(resolve.constants, "HF_HUB_OFFLINE", False)
        monkeypatch.setattr(resolve.HfApi, "repo_exists", lambda self, name, repo_type: exists)

        def load_dataset(*arguments):
            asked.append(arguments)
            if isinstance(splits, Exception):
                raise splits
            return DatasetDict(
                {
                    split: Dataset.from_dict(
                        {
                            "text": [f"{split} {n}" for n in range(len(labels))],
                            "label": labels,
                            "n": [[1]] * len(labels),
                        },
                        features=self.features,
                    )
                    for split, labels in splits.items()
                }
            )

        monkeypatch.setattr(datasets, "load_dataset", load_dataset)
        return asked

    def test_splits_and_class_names(self, monkeypatch):
        asked = self.answer(
            monkeypatch,
            {"train": [1, 0] * 10, "validation": [0, 1], "test": [-1, -1], "unsupervised": [-1] * 9},
        )
        data = load("owner/name:config")
        assert asked == [("owner/name", "config")]
        # The labels of this test split are kept back: it is none.
        assert describe(data)["rows"] == {"train": 20, "dev": 2}
        assert names(data) == ["neg", "pos"]
        assert data["train"][0] == {"text": "train 0", "label": 1}
        assert data["dev"].info.description == "read from name:config (validation)"

    def test_rows_without_a_gold_label_are_left_out_and_counted(self, monkeypatch):
        self.answer(monkeypatch, {"train": [1, 0, -1] * 10, "test": [0, -1, 1]})
        data = load("name")
        assert describe(data)["rows"] == {"train": 18, "dev": 2, "test": 2}
        assert texts(data["test"]) == ["test 0", "test 2"]
        assert "10 rows without a label left out" in data["train"].info.description

    def test_an_unseen_class_is_named_by_its_row_in_the_source(self, monkeypatch):
        self.answer(monkeypatch, {"train": [1, 1] * 10, "test": [-1, 1, 0]})
        assert "single class" in refusal("name")

    def test_no_train_split(self, monkeypatch):
        self.answer(monkeypatch, {"test": [0, 1]})
        assert "has no train split (it has: test)" in refusal("name")

    def test_dev_and_validation(self, monkeypatch):
        self.answer(monkeypatch, dict.fromkeys(("train", "dev", "validation"), [0, 1] * 9))
        assert "both a dev and a validation split" in refusal("name")

    def test_a_failure_is_one_line(self, monkeypatch):
        self.answer(monkeypatch, ValueError("Config name is missing.\nPlease pick one"))
        message = refusal("owner/name")
        assert "cannot load 'owner/name' from the Hugging Face Hub (Config name is missing.)" in message

    def test_a_failure_without_words(self, monkeypatch):
        self.answer(monkeypatch, RuntimeError())
        assert "(RuntimeError)" in refusal("owner/name")

    def test_an_unknown_name(self, monkeypatch):
        asked = self.answer(monkeypatch, {}, exists=False)
        assert "not on the Hugging Face Hub" in refusal("nope-at-all")
        assert asked == []

    def test_without_a_connection(self, monkeypatch):
        asked = self.answer(monkeypatch, {})

        def unreachable(*arguments, **options):
            raise OSError("no route to host")

        monkeypatch.setattr(resolve.HfApi, "repo_exists", unreachable)
        message = refusal("synthetic-noise")
        assert "cannot be reached" in message
        assert "HF_HUB_OFFLINE" in message
        assert message.startswith("did you mean 'synthetic-noisy'? If not: ")
        assert asked == []

    def test_offline_the_real_code_gives_one_line(self, monkeypatch):
        monkeypatch.setattr(resolve.constants, "HF_HUB_OFFLINE", True)
        monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
        message = refusal("glasshead-tests/no-such-set")
        assert "cannot load 'glasshead-tests/no-such-set' from the Hugging Face Hub" in message


class TestRealData:
    """The counts and caveats of the data's own README."""

    @pytest.mark.parametrize(
        ("name", "rows", "classes"),
        [
            ("sst2", (6920, 872, 1821), ["negative", "positive"]),
            ("sst5", (8544, 1101, 2210), None),
            ("ag_news", (4000, 1000, 7600), ["Business", "Sci/Tech", "Sports", "World"]),
            ("trec", (4906, 546, 500), None),
            ("20news_sports", (1218, 135, 580), ["baseball", "hockey"]),
            ("snli", (20000, 9842, 9824), ["contradiction", "entailment", "neutral"]),
            ("dbpedia_sample", (9800, 2100, 2100), None),
            ("amazon_electronics", (1402, 299, 299), ["1", "2", "4", "5"]),
        ],
    )
    def test_rows(self, real_data, name, rows, classes):
        data = load(real_data / name)
        described = describe(data)
        assert tuple(described["rows"][split] for split in ("train", "dev", "test")) == rows
        if classes:
            assert names(data) == classes
        assert ("text_pair" in data["train"].column_names) == (name == "snli")

    def test_the_repeated_reviews_stay_on_one_side(self, real_data):
        data = load(real_data / "amazon_electronics")
        seen = [set(texts(split)) for split in data.values()]
        assert sum(map(len, seen)) == len(set().union(*seen)) == 2000 - 34
        assert any("\n" in text for text in texts(data["train"]))

    def test_two_of_four_topics(self, real_data):
        data = load(real_data / "ag_news", LoadOptions(classes=("World", "Business")))
        assert names(data) == ["World", "Business"]
        assert describe(data)["classes"]["test"] == {"World": 1900, "Business": 1900}

    def test_a_folder_of_another_kind(self, real_data):
        assert "has no data" in refusal(real_data / "glove")

    def test_the_zipped_images_of_ten_classes(self, real_data):
        data = load(real_data / "cifar10_jpg", LoadOptions(max_examples=50))
        assert len(names(data)) == 10
        assert "of 10000 rows" in data["test"].info.description
        assert "of 7200 rows" in data["train"].info.description
        assert data["train"][0]["image"]["bytes"].startswith(b"\xff\xd8")
