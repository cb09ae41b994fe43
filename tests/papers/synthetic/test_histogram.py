"""The histogram task: labels are counts, marks are the places of the letter that is asked about."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glasshead.data import DATASETS, LoadOptions, load
from glasshead.errors import InputError
from glasshead.papers.datasets.histogram import HistogramOptions, draw_histogram

OPTIONS = st.builds(
    HistogramOptions,
    instances=st.integers(80, 120),
    letters=st.integers(2, 26),
    length=st.integers(2, 12),
    seed=st.integers(0, 5),
)


@settings(deadline=None, max_examples=30)
@given(OPTIONS)
def test_every_label_is_the_count_of_the_letter_and_marks_are_its_places(options):
    drawn = draw_histogram(options)
    assert sum(len(split.texts) for split in drawn.values()) == options.instances
    for split in drawn.values():
        assert set(split.labels) == set(range(options.length))
        for text, label, marks in zip(split.texts, split.labels, split.marks, strict=True):
            words = text.split()
            (asked,) = (word for word in words if word.startswith("_"))
            letters = [word.strip("_") for word in words]
            assert len(words) == options.length
            assert letters.count(asked.strip("_")) == label + 1
            assert [text[start:end].strip("_") for start, end in marks] == [asked.strip("_")] * (label + 1)


def test_counts_are_equally_frequent_and_places_alike():
    (train, *_) = draw_histogram(HistogramOptions(instances=20_000)).values()
    frequencies = np.bincount(train.labels)
    assert frequencies.max() - frequencies.min() <= 1
    places = Counter(next(i for i, w in enumerate(text.split()) if w[0] == "_") for text in train.texts)
    assert max(abs(count / len(train.texts) - 0.1) for count in places.values()) < 0.01


def test_the_seed_decides():
    options = HistogramOptions(instances=100)
    assert draw_histogram(options) == draw_histogram(options)
    assert draw_histogram(options) != draw_histogram(HistogramOptions(instances=100, seed=1))


def test_it_is_loaded_by_its_name_with_options():
    data = load("histogram", LoadOptions(generator={"instances": 100, "length": 4, "letters": 3}))
    assert data["train"].features["label"].names == ["1", "2", "3", "4"]
    assert {letter.strip("_") for row in data["train"]["text"] for letter in row.split()} == {"a", "b", "c"}
    assert data["test"].info.description == "drawn by histogram with seed 0"


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"letters": 27}, "letters is too large: give at most 26"),
        ({"length": 1}, "length is 1: give an integer of 2 or more"),
        ({"instances": 40}, "10 counts need more texts"),
        ({"letter": 3}, "did you mean 'letters'"),
        ({"letters": 2.5}, "give an integer"),
    ],
)
def test_refused(changes, says):
    with pytest.raises(InputError, match=says):
        DATASETS["histogram"].options(changes)
