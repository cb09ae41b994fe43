"""Labels that are numbers: every way to write them, every way to get them wrong, and how they are cut."""

import json
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from datasets import Dataset, DatasetDict, Features, Value
from hypothesis import given, settings
from hypothesis import strategies as st

from glasshead.data import LoadOptions, describe, load
from glasshead.data.splits import rating_bins
from glasshead.errors import InputError

RATED = LoadOptions(task="regression")
STARS = [1, 2, 3, 4, 5]


def write(path, labels):
    """One text for each label, in the format that the name says."""
    texts = [f"text {number}" for number in range(len(labels))]
    if path.suffix == ".jsonl":
        path.write_text(
            "\n".join(json.dumps({"text": t, "label": y}) for t, y in zip(texts, labels, strict=True))
        )
    elif path.suffix == ".parquet":
        pq.write_table(pa.table({"text": texts, "label": labels}), path)
    else:
        pd.DataFrame({"text": texts, "label": labels}).to_csv(path, index=False)
    return path


def by_number(data):
    """Ratings in the order of the source."""
    found = {int(row["text"].split()[1]): row["label"] for split in data.values() for row in split}
    return [found[number] for number in sorted(found)]


def refusal(source, options=RATED):
    with pytest.raises(InputError) as caught:
        load(source, options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


class TestFormats:
    @pytest.mark.parametrize("suffix", [".csv", ".tsv.gz", ".jsonl", ".parquet"])
    @pytest.mark.parametrize(
        "kind", [int, float, str, lambda y: f" {y}.50 "], ids=["int", "float", "string", "padded"]
    )
    def test_numbers_and_their_strings(self, tmp_path, suffix, kind):
        labels = [kind(each) for each in STARS * 8]
        path = tmp_path / f"a{suffix}"
        if suffix == ".tsv.gz":
            frame = pd.DataFrame({"text": [f"text {n}" for n in range(40)], "label": labels})
            frame.to_csv(path, index=False, sep="\t")
        else:
            write(path, labels)
        data = load(path, RATED)
        assert data["train"].features == Features({"text": Value("string"), "label": Value("float64")})
        assert by_number(data) == [float(each) for each in labels]

    def test_fractions_signs_and_exponents_keep_every_digit(self, tmp_path):
        labels = [-0.1, 1e-300, 0.1 + 0.2, 2**53, -0.0, 3.0] * 7
        assert by_number(load(write(tmp_path / "a.jsonl", labels), RATED)) == labels

    def test_decimals_of_parquet(self, tmp_path):
        labels = [Decimal("4.25"), Decimal("3.00")] * 20
        assert by_number(load(write(tmp_path / "a.parquet", labels), RATED)) == [4.25, 3.0] * 20

    def test_pairs_may_be_rated(self, tmp_path):
        texts = [f"text {number}" for number in range(40)]
        frame = pd.DataFrame({"text": texts, "text_pair": "other", "label": [0.5, 1.5] * 20})
        frame.to_csv(tmp_path / "train.csv", index=False)
        data = load(tmp_path, RATED)
        assert data["train"].column_names == ["text", "text_pair", "label"]

    def test_other_splits_may_hold_other_ratings(self, tmp_path):
        write(tmp_path / "train.csv", [1.0, 2.0] * 5)
        write(tmp_path / "dev.csv", [7.5])
        write(tmp_path / "test.csv", [-1.0, 1.5])
        data = load(tmp_path, RATED)
        assert [data[split]["label"][:] for split in ("dev", "test")] == [[7.5], [-1.0, 1.5]]


class TestRefusals:
    @pytest.mark.parametrize("label", ["good", "4 stars", "nan", "inf", "-Infinity", "1e999", "1_000", "1,5"])
    @pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
    def test_words_and_what_is_not_finite(self, tmp_path, label, suffix):
        path = write(tmp_path / f"a{suffix}", ["3", "4", label, "5"] * 10)
        message = refusal(path)
        assert f"{path} row 3: the rating {label!r} is not a number" in message
        assert "correct it" in message

    @pytest.mark.parametrize("label", [True, float("inf")])
    def test_values_of_json_that_are_no_rating(self, tmp_path, label):
        path = write(tmp_path / "a.jsonl", [3, label] * 20)
        assert f"{path} row 2: the rating" in refusal(path)

    @pytest.mark.parametrize("label", ["1e300", -1e18, 10**20])
    def test_ratings_that_no_model_can_learn(self, tmp_path, label):
        path = write(tmp_path / "a.jsonl", [3, 4, label] * 10)
        assert f"{path} row 3: the rating {str(label)!r} is beyond" in refusal(path)
        assert "rescale the ratings" in refusal(path)

    @pytest.mark.parametrize("label", [None, float("nan"), "", "  ", [1], {}])
    def test_no_rating_at_all(self, tmp_path, label):
        path = write(tmp_path / "a.jsonl", [3, 4, label])
        assert f"{path} row 3 has no usable 'label': give every row a number" in refusal(path)

    def test_the_file_is_the_one_that_holds_it(self, tmp_path):
        write(tmp_path / "train.csv", STARS)
        write(tmp_path / "dev.csv", STARS)
        path = write(tmp_path / "test.csv", [1, "two"])
        assert f"{path} row 2" in refusal(tmp_path)

    def test_one_rating_for_all(self, tmp_path):
        path = write(tmp_path / "a.csv", [3] * 40)
        assert f"{path} has a single rating, 3: give rows of different ratings" in refusal(path)

    def test_too_few_rows(self, tmp_path):
        assert "too few rows (4)" in refusal(write(tmp_path / "a.csv", [1, 2, 3, 4]))

    @pytest.mark.parametrize("options", [{"classes": ("1", "2")}, {"labels": 3}])
    def test_ratings_have_no_classes(self, options):
        with pytest.raises(InputError, match="leave `classes` and `labels` out"):
            LoadOptions(task="regression", **options)

    def test_an_unknown_task(self):
        with pytest.raises(InputError, match=r"unknown task 'regresion': did you mean 'regression'"):
            LoadOptions(task="regresion")

    def test_generated_classes_are_no_ratings(self):
        options = LoadOptions(task="regression", generator={"instances": 40})
        assert "synthetic (train) row 1: the rating" in refusal("synthetic", options)

    def test_classes_need_no_numbers_when_they_are_classes(self, tmp_path):
        assert load(write(tmp_path / "a.csv", ["good", "bad"] * 20))["train"].features["label"].names


class TestCut:
    @pytest.mark.parametrize("size", [20, 37, 100, 2000])
    def test_all_different_ratings_are_cut_as_wished_and_evenly(self, tmp_path, size):
        labels = np.random.default_rng(0).normal(size=size).tolist()
        data = load(write(tmp_path / "a.jsonl", labels), RATED)
        rows = [data.num_rows[split] for split in ("train", "dev", "test")]
        np.testing.assert_allclose(rows, [0.7 * size, 0.15 * size, 0.15 * size], atol=1.5)
        assert by_number(data) == labels
        assert "stratified by rating" in data["dev"].info.description
        if size == 2000:
            # Every tenth of the ratings is divided as the whole: the deciles of dev are those of all.
            edges = np.quantile(labels, np.linspace(0, 1, 11))
            counts = np.histogram(data["dev"]["label"][:], edges)[0]
            np.testing.assert_allclose(counts, 30, atol=1)

    def test_dev_is_cut_from_train(self, tmp_path):
        labels = np.arange(200.0).tolist()
        write(tmp_path / "train.jsonl", labels)
        data = load(tmp_path, LoadOptions(task="regression", dev_fraction=0.2))
        assert data.num_rows == {"train": 160, "dev": 40}
        assert abs(np.mean(data["dev"]["label"][:]) - 99.5) < 4  # a plain draw has a standard error of 8

    def test_stars_are_cut_as_classes_are(self, tmp_path):
        path = write(tmp_path / "a.csv", (STARS * 30)[:-7])
        as_classes, as_ratings = load(path), load(path, RATED)
        for split in as_classes:
            assert as_ratings[split]["text"][:] == as_classes[split]["text"][:]

    @settings(deadline=None)
    @given(st.lists(st.floats(-5, 5) | st.sampled_from([1.0, 2.0, 3.0]), min_size=1, max_size=150))
    def test_ranges_are_few_and_ordered_and_split_no_rating(self, ratings):
        strata = [int(each) for each in rating_bins(ratings)]
        distinct = len(set(ratings))
        assert len(set(strata)) <= max(1, min(10, len(ratings) // 10))
        in_order = [stratum for _, stratum in sorted(zip(ratings, strata, strict=True))]
        assert in_order == sorted(in_order)
        assert len(set(zip(ratings, strata, strict=True))) == distinct
        if distinct <= min(10, len(ratings) // 10):
            assert len(set(strata)) == distinct

    def test_ranges_of_different_ratings_are_equally_many(self):
        strata = rating_bins(np.random.default_rng(1).normal(size=1000).tolist())
        assert np.unique(strata, return_counts=True)[1].tolist() == [100] * 10


class TestDescribe:
    def make(self, texts=("a", "bc"), labels=(1.0, 3.0)):
        features = Features({"text": Value("string"), "label": Value("float64")})
        columns = {"text": list(texts), "label": list(labels)}
        return DatasetDict({"train": Dataset.from_dict(columns, features=features)})

    def test_mean_and_spread_and_blank_texts(self):
        found = describe(self.make(texts=("a", " \n")))
        assert json.loads(json.dumps(found)) == found
        assert found["ratings"] == {"train": {"mean": 2.0, "std": 1.0}}
        assert "classes" not in found
        assert found["empty_texts"] == {"train": 1}

    def test_fingerprint_is_pinned(self):
        # A run's record names this value: changing the recipe would orphan every run.
        assert describe(self.make())["fingerprint"] == (
            "a0683dfe065fd2ade6acaf0b7e7a5683fa11bfa07da775e9f3c52c79a1b6f469"
        )

    def test_fingerprint_sees_every_rating(self):
        made = [
            self.make(),
            self.make(labels=(3.0, 1.0)),
            self.make(labels=(1.0, np.nextafter(3.0, 4.0))),
            self.make(texts=("ab", "c")),
        ]
        assert len({describe(each)["fingerprint"] for each in made}) == len(made)


def test_real_stars(real_data):
    data = load(real_data / "amazon_electronics", RATED)
    assert data.num_rows == {"train": 1402, "dev": 299, "test": 299}
    ratings = describe(data)["ratings"]
    assert set(data["train"]["label"][:]) == {1.0, 2.0, 4.0, 5.0}
    assert abs(ratings["train"]["mean"] - ratings["test"]["mean"]) < 0.05
