"""VᵀW over the ratio of the classes: dots, means and whiskers."""

import numpy as np
import pytest

from glasshead.papers.results import CouplingByRatio, RatioPoint
from glasshead.report import PLOTS
from glasshead.report.figure_file import to_matplotlib


def ratios(points, when):
    return PLOTS["ratios"].draw(CouplingByRatio(points, "VᵀW", ("bad", "good"), when))


def test_of_one_seed_there_is_no_spread():
    picture = ratios([RatioPoint(2.0, 0.3), RatioPoint(0.5, -0.2)], "at the end")
    assert [key.words for key in picture.legend] == ["one training (of 2)", "from ratio to ratio"]
    (axes,) = to_matplotlib(picture).axes
    assert not [each for each in axes.collections[:-1] if len(each.get_segments())]
    np.testing.assert_allclose(axes.get_lines()[1].get_xydata(), [(0.5, -0.2), (2.0, 0.3)])


def test_what_is_drawn():
    points = [RatioPoint(2.0, 0.3), RatioPoint(0.5, -0.2), RatioPoint(2.04, 0.5), RatioPoint(1.0, 0.0)]
    half, even, double = CouplingByRatio(points, "VᵀW", ("bad", "good"), "").groups
    assert (half.ratio, half.n, half.mean) == (0.5, 1, -0.2)
    assert np.isnan(half.std)
    assert (even.ratio, even.mean) == (1.0, 0.0)
    assert (double.n, double.mean, double.std) == (2, pytest.approx(0.4), pytest.approx(0.2 / 2**0.5))
    (axes,) = to_matplotlib(ratios(points, "after the last step")).axes
    dots = axes.collections[-1].get_offsets()
    np.testing.assert_allclose(dots, [(each.ratio, each.coupling) for each in points])
    whiskers = [segment for each in axes.collections[:-1] for segment in each.get_segments()]
    np.testing.assert_allclose(
        sorted(segment[:, 1].tolist() for segment in whiskers)[-1],
        [0.4 - 0.2 / 2**0.5, 0.4 + 0.2 / 2**0.5],
    )
    assert [each.get_text() for each in axes.get_xticklabels()] == ["0.5", "1", "2"]
    assert axes.get_xlabel() == "good texts for one bad text in train"
    low, high = axes.get_ylim()
    assert low < -0.2
    assert high > 0.5
