"""Splits: every row once, equal texts together, every class in train, sizes as asked."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glasshead.data.splits import assign_splits

THIRDS = (0.7, 0.15, 0.15)
rows = st.lists(st.tuples(st.integers(0, 20), st.sampled_from("abc")), min_size=1, max_size=60)


@settings(deadline=None, max_examples=50)
@given(rows=rows, fractions=st.sampled_from([THIRDS, (0.9, 0.1), (0.5, 0.5)]), seed=st.integers(0, 99))
def test_equal_keys_share_a_part_and_the_first_part_has_every_class(rows, fractions, seed):
    keys, labels = zip(*rows, strict=True)
    part = assign_splits(keys, labels, fractions, seed)
    assert part.shape == (len(rows),)
    assert set(part.tolist()) <= set(range(len(fractions)))
    assert len({(key, k) for key, k in zip(keys, part, strict=True)}) == len(set(keys))
    assert {label for label, k in zip(labels, part, strict=True) if k == 0} == set(labels)


@settings(deadline=None, max_examples=50)
@given(sizes=st.lists(st.integers(20, 200), min_size=2, max_size=5), seed=st.integers(0, 99))
def test_each_class_is_divided_as_the_whole(sizes, seed):
    labels = [str(label) for label, size in enumerate(sizes) for _ in range(size)]
    part = assign_splits(range(len(labels)), labels, THIRDS, seed)
    for label, size in enumerate(sizes):
        counts = Counter(part[np.array(labels) == str(label)].tolist())
        for k, fraction in enumerate(THIRDS):
            assert abs(counts[k] - fraction * size) <= 1.5


def test_small_classes_fill_every_part():
    labels = ["a"] * 3 + ["b"] * 3
    assert set(assign_splits(range(6), labels, THIRDS, 0).tolist()) == {0, 1, 2}


@pytest.mark.parametrize("fractions", [THIRDS, (0.9, 0.1)])
def test_the_seed_decides(fractions):
    labels = ["a", "b"] * 50
    first, again, other = (assign_splits(range(100), labels, fractions, seed) for seed in (0, 0, 1))
    assert first.tolist() == again.tolist()
    assert first.tolist() != other.tolist()


def test_a_class_hidden_behind_the_labels_of_its_duplicates_still_reaches_the_first_part():
    # Every text with "b" was first seen with "a", and no text with "a" alone is needed elsewhere.
    keys = [key for key in range(20) for _ in range(2)]
    labels = ["a", "a"] * 19 + ["a", "b"]
    for seed in range(20):
        part = assign_splits(keys, labels, THIRDS, seed)
        assert part[-1] == part[-2] == 0
