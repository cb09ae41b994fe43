"""Curves over the length of a text: what is drawn stands where the numbers say."""

import numpy as np
import pytest

from glasshead.papers.results import LogitRankTable, RankTable
from glasshead.report import PLOTS, image_file
from glasshead.report.figure_file import to_matplotlib


def ranks(tokens, rank, null, size):
    lines = [(d_s, 0, r, n, r, n, 1.0, 1.0) for d_s, r, n in zip(tokens, rank, null, strict=True)]
    return PLOTS["ranks"].draw(RankTable(lines, size, "head 0"))


def two_curves():
    return ranks([2, 2, 6, 6], [2, 2, 3, 4], [0, 0, 3, 2], 4)


def axes_of(figure):
    (axes,) = to_matplotlib(figure).axes
    return axes


def lines(axes):
    return [np.asarray(line.get_xydata()).tolist() for line in axes.get_lines()]


def test_dots_means_theory_and_names():
    axes = axes_of(two_curves())
    assert axes.get_title(loc="left") == "head 0"
    null, rank = (np.asarray(dots.get_offsets()).tolist() for dots in axes.collections)
    assert rank == [[2, 2], [2, 2], [6, 3], [6, 4]]
    assert null == [[2, 0], [2, 0], [6, 3], [6, 2]]
    found = lines(axes)
    assert [[2.0, 2.0], [6.0, 3.5]] in found
    assert [[2.0, 0.0], [6.0, 2.5]] in found
    assert [[2, 2], [3, 3], [4, 4], [5, 4], [6, 4]] in found
    assert [[2, 0], [3, 0], [4, 0], [5, 1], [6, 2]] in found
    assert {text.get_text() for text in axes.texts} == {"rank T", "dim LN(T)", "d_v = 4"}


def test_names_do_not_lie_upon_each_other():
    """Curves that end at one height."""
    axes = axes_of(ranks([2, 2, 6, 6], [1, 1, 3, 3], [1, 1, 3, 3], 9))
    heights = sorted(text.xy[1] for text in axes.texts)
    assert heights[1] - heights[0] >= 0.05 * 3


def test_mean_range_and_limit_of_logits():
    rows = [(4, 0, 3, 3, 3, 2, 0), (6, 0, 4, 4.5, 5, 2, 0), (6, 1, 4, 4.5, 5, 2, 0)]
    found = [np.array([3, 3]), np.array([4, 5]), np.array([5, 4])]
    axes = axes_of(PLOTS["logits"].draw(LogitRankTable(rows, found, 2, "head 0")))
    assert lines(axes) == [[[4.0, 3.0], [6.0, 4.5]], [[4.0, 2.0], [6.0, 2.0]]]
    band = axes.collections[0].get_paths()[0].vertices
    assert {tuple(corner) for corner in band.tolist()} >= {(4.0, 3.0), (6.0, 4.0), (6.0, 5.0)}
    assert {text.get_text() for text in axes.texts} == {"d_k = 2", "least rank"}


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_the_same_bytes_again(kind):
    assert image_file(two_curves(), kind) == image_file(two_curves(), kind)
