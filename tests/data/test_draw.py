"""A random part of the rows: as many as asked for, of every class, the same for the same seed."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshead.data import LoadOptions, describe, load
from glasshead.data.splits import sample_strata
from glasshead.errors import InputError

strata = st.lists(st.sampled_from("abcde"), min_size=1, max_size=80)


@given(strata=strata, rows=st.integers(1, 90), seed=st.integers(0, 5))
def test_so_many_rows_in_order_and_of_every_stratum_if_there_is_room(strata, rows, seed):
    places = sample_strata(strata, rows, seed)
    assert places == sorted(set(places))
    assert len(places) == min(rows, len(strata))
    assert set(places) <= set(range(len(strata)))
    drawn = Counter(strata[place] for place in places)
    assert len(drawn) == min(rows, len(set(strata)))
    for name, size in Counter(strata).items():
        # Each stratum gives at most its share, rounded up, unless one row of it is that already.
        assert drawn[name] <= max(1, np.ceil(size * rows / len(strata)))


@given(strata=strata, rows=st.integers(1, 80), seed=st.integers(0, 5))
def test_a_larger_draw_holds_the_smaller_one(strata, rows, seed):
    assert set(sample_strata(strata, rows, seed)) <= set(sample_strata(strata, rows + 7, seed))


def test_shares_are_those_of_the_whole():
    strata = ["a"] * 900 + ["b"] * 90 + ["c"] * 10
    drawn = Counter(strata[place] for place in sample_strata(strata, 100, 0))
    assert drawn == {"a": 90, "b": 9, "c": 1}


def test_every_row_of_a_stratum_is_drawn_equally_often():
    strata = ["a"] * 10 + ["b"] * 10
    counts = Counter(place for seed in range(1000) for place in sample_strata(strata, 6, seed))
    # 300 are expected of each, with a standard deviation of 14.5.
    assert set(counts) == set(range(20))
    assert max(abs(count - 300) for count in counts.values()) < 60


def reviews(size, labels=("good", "bad"), start=0):
    return pd.DataFrame(
        {
            "text": [f"text {number}" for number in range(start, start + size)],
            "label": [labels[number % len(labels)] for number in range(size)],
        }
    )


@pytest.fixture
def folder(tmp_path):
    reviews(200).to_csv(tmp_path / "train.csv", index=False)
    reviews(20, start=500).to_csv(tmp_path / "dev.csv", index=False)
    reviews(60, start=900).to_csv(tmp_path / "test.csv", index=False)
    return tmp_path


def refusal(source, **options):
    with pytest.raises(InputError) as caught:
        load(source, LoadOptions(**options))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_larger_splits_shrink_smaller_ones_stay_and_the_record_says_so(folder):
    whole, part = load(folder), load(folder, LoadOptions(max_examples=40, split_seed=3))
    assert part.num_rows == {"train": 40, "dev": 20, "test": 40}
    assert describe(part)["classes"]["train"] == {"bad": 20, "good": 20}
    assert (
        part["train"].info.description
        == "read from train.csv, 40 of 200 rows drawn with seed 3, stratified by class"
    )
    assert part["dev"].info.description == whole["dev"].info.description
    assert part["dev"].to_dict() == whole["dev"].to_dict()
    everything = whole["train"].to_list()
    places = [everything.index(row) for row in part["train"]]
    assert places == sorted(places)
    assert places != list(range(40))


def test_the_seed_decides(folder):
    prints = [
        describe(load(folder, LoadOptions(max_examples=40, split_seed=s)))["fingerprint"] for s in (0, 0, 1)
    ]
    assert prints[0] == prints[1] != prints[2]


def test_as_many_as_there_are_changes_nothing(folder):
    assert describe(load(folder, LoadOptions(max_examples=200))) == describe(load(folder))


def test_equal_texts_stay_on_one_side(tmp_path):
    pd.concat([reviews(60)] * 4).to_csv(tmp_path / "all.csv", index=False)
    for seed in range(5):
        data = load(tmp_path, LoadOptions(max_examples=30, split_seed=seed))
        assert set(data.num_rows.values()) == {30}
        seen = [set(split["text"][:]) for split in data.values()]
        assert sum(map(len, seen)) == len(set().union(*seen))


def test_every_class_stays_in_train(tmp_path):
    reviews(500, ["common"] * 99 + ["rare"]).to_csv(tmp_path / "all.csv", index=False)
    for seed in range(10):
        data = load(tmp_path, LoadOptions(max_examples=5, split_seed=seed))
        assert describe(data)["classes"]["train"] == {"common": 4, "rare": 1}


def test_fewer_rows_than_classes(folder):
    message = refusal(folder, max_examples=1)
    assert "`max_examples=1` is too few for 2 classes of" in message
    assert message.endswith("give 2 or more")


@pytest.mark.parametrize("rows", [0, -5])
def test_no_rows(rows):
    with pytest.raises(InputError, match=f"`max_examples` must be at least 1, not {rows}"):
        LoadOptions(max_examples=rows)


def test_ratings(tmp_path):
    frame = reviews(1000).assign(label=np.random.default_rng(0).permutation(1000) / 10)
    frame.to_csv(tmp_path / "train.csv", index=False)
    data = load(tmp_path, LoadOptions(task="regression", max_examples=100))
    assert data.num_rows == {"train": 100, "dev": 100}
    assert "100 of 900 rows drawn with seed 0, stratified by rating" in data["train"].info.description
    # Of every tenth of the ratings a tenth of the rows.
    counts = np.histogram(data["train"]["label"][:], np.linspace(0, 100, 11))[0]
    np.testing.assert_allclose(counts, 10, atol=1)
    assert "`max_examples=1` is too few for 2 ratings" in refusal(tmp_path, task="regression", max_examples=1)


def test_pairs_go_together(tmp_path):
    frame = reviews(200)
    frame["text_pair"] = frame.text + " again"
    frame.to_csv(tmp_path / "train.csv", index=False)
    data = load(tmp_path, LoadOptions(max_examples=50))
    assert all(row["text_pair"] == f"{row['text']} again" for row in data["train"])


def test_generated_reviews():
    data = load("synthetic", LoadOptions(max_examples=30, generator={"instances": 200}))
    assert max(data.num_rows.values()) == 30
    assert "drawn by synthetic with seed 0, 30 of" in data["train"].info.description


def test_merged_classes_are_drawn_as_merged(tmp_path):
    labels = ["very bad", "bad", "good", "good"]
    reviews(400, labels).to_csv(tmp_path / "train.csv", index=False)
    data = load(tmp_path, LoadOptions(max_examples=40, labels=2))
    assert describe(data)["classes"]["train"] == {"bad": 20, "good": 20}
