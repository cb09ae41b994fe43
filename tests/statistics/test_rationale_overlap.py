"""Overlap of scores and marks where it can be counted by hand."""

import numpy as np
import pytest

from glasshead.statistics import intersection_over_union, precision_recall_area, token_f1, top_tokens

YES, NO = True, False


def flags(*row):
    return np.array([row], dtype=bool)


def test_largest_scores():
    scores = np.array([[0.2, 0.9, -3.0, 0.9, 0.5, 7.0]])
    mask = flags(1, 1, 1, 1, 1, 0)
    assert top_tokens(scores, mask, 1).tolist() == [[NO, YES, NO, NO, NO, NO]]  # of equal ones the first
    assert top_tokens(scores, mask, 3).tolist() == [[NO, YES, NO, YES, YES, NO]]
    # What speaks against the class, and padding, is never among them.
    assert top_tokens(scores, mask, 6).tolist() == [[YES, YES, NO, YES, YES, NO]]
    assert not top_tokens(-np.abs(scores), mask, 3).any()


def test_overlap():
    predicted, marked = flags(1, 1, 1, 0), flags(0, 1, 0, 1)
    assert token_f1(predicted, marked) == pytest.approx([2 / 5])
    assert intersection_over_union(predicted, marked) == pytest.approx([1 / 4])
    nothing = flags(0, 0, 0, 0)
    assert token_f1(nothing, marked) == pytest.approx([0])
    assert intersection_over_union(nothing, marked) == pytest.approx([0])
    assert np.isnan(token_f1(nothing, nothing)).all()
    assert np.isnan(intersection_over_union(nothing, nothing)).all()


def test_area():
    """One mark, second of three: points (0, 1), (0, 0), (1, ½), (1, ⅓), so half of ½."""
    mask = np.ones((1, 3), dtype=bool)
    assert precision_recall_area(np.array([[3.0, 2.0, 1.0]]), flags(0, 1, 0), mask) == pytest.approx([0.25])
    assert precision_recall_area(np.array([[2.0, 3.0, 1.0]]), flags(0, 1, 0), mask) == pytest.approx([1.0])
    assert np.isnan(precision_recall_area(np.zeros((1, 3)), flags(1, 1, 1), mask)).all()
    assert np.isnan(precision_recall_area(np.zeros((1, 3)), flags(0, 0, 0), mask)).all()
    assert precision_recall_area(np.zeros((0, 3)), np.zeros((0, 3), bool), np.zeros((0, 3), bool)).size == 0
