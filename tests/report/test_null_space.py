"""Curves over the length of a text: what is drawn stands where the numbers say."""

import numpy as np
import pytest

from glasshead.report.null_space import Curve, logits_figure, rank_figure
from glasshead.report.style import drawn

LENGTHS = np.arange(2, 7)


def curve(name, values, expected):
    tokens = np.repeat([2, 6], 2)
    return Curve(name, tokens, np.array(values), LENGTHS, np.array(expected))


def two_curves():
    rank = curve("rank T", [2, 2, 3, 4], np.minimum(LENGTHS, 4))
    null = curve("dim LN(T)", [0, 0, 3, 2], np.maximum(LENGTHS - 4, 0))
    return rank, null


def lines(axes):
    return [np.asarray(each.get_xydata()).tolist() for each in axes.get_lines()]


def test_dots_means_theory_and_names():
    (axes,) = rank_figure(*two_curves(), 4, "head 0").axes
    assert axes.get_title(loc="left") == "head 0"
    null, rank = (np.asarray(each.get_offsets()).tolist() for each in axes.collections)
    assert rank == [[2, 2], [2, 2], [6, 3], [6, 4]]
    assert null == [[2, 0], [2, 0], [6, 3], [6, 2]]
    found = lines(axes)
    assert [[2.0, 2.0], [6.0, 3.5]] in found
    assert [[2.0, 0.0], [6.0, 2.5]] in found
    assert [[2, 2], [3, 3], [4, 4], [5, 4], [6, 4]] in found
    assert [[2, 0], [3, 0], [4, 0], [5, 1], [6, 2]] in found
    assert {each.get_text() for each in axes.texts} == {"rank T", "dim LN(T)", "d_v = 4"}


def test_names_do_not_lie_upon_each_other():
    """Curves that end at one height."""
    rank = curve("rank T", [1, 1, 3, 3], np.minimum(LENGTHS, 3))
    null = curve("dim LN(T)", [1, 1, 3, 3], np.maximum(LENGTHS - 3, 0))
    (axes,) = rank_figure(rank, null, 9, "head 0").axes
    heights = sorted(each.xy[1] for each in axes.texts)
    assert heights[1] - heights[0] >= 0.05 * 3


def test_mean_range_and_limit_of_logits():
    tokens = np.array([4, 6])
    (axes,) = logits_figure(tokens, [np.array([3, 3]), np.array([4, 5, 5, 4])], 2, "head 0").axes
    assert lines(axes) == [[[4.0, 3.0], [6.0, 4.5]], [[4.0, 2.0], [6.0, 2.0]]]
    band = axes.collections[0].get_paths()[0].vertices
    assert {tuple(each) for each in band.tolist()} >= {(4.0, 3.0), (6.0, 4.0), (6.0, 5.0)}
    assert {each.get_text() for each in axes.texts} == {"d_k = 2", "least rank"}


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_the_same_bytes_again(kind):
    assert drawn(rank_figure(*two_curves(), 4, "head 0"), kind) == drawn(
        rank_figure(*two_curves(), 4, "head 0"), kind
    )
