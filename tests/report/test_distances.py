"""The plot of distance-aware attention shows what it was given, and names do not run into each other."""

import numpy as np

from glasshead.report import PLOTS
from glasshead.report.figure_file import to_matplotlib
from glasshead.report.marks.limits import spread_apart
from glasshead.results import CoefficientCurve, CoefficientMatrix, DistanceCoefficients


def axes():
    weighted = np.linspace(-5, 5, 11)
    heights = ((2.0, 3.0), (-2.0, 1.01), (-1.5, 1.0))
    curves = [CoefficientCurve(v, np.full(11, height)) for v, height in heights]
    matrices = [[CoefficientMatrix(w, v, np.eye(4) * w + v + 2) for w in (1.0, 0.5)] for v in (-1.0, 0.25)]
    return to_matplotlib(PLOTS["distance-aware"].draw(DistanceCoefficients(weighted, curves, matrices))).axes


def test_curves_and_matrices_are_those_given():
    left, *rest = axes()
    heights = sorted(float(line.get_ydata()[0]) for line in left.lines if len(line.get_ydata()) == 11)
    assert heights == [1.0, 1.01, 3.0]
    titles = [one.get_title(loc="left") for one in rest if one.images]
    assert titles == ["w = 1, v = −1", "w = 0.5, v = −1", "w = 1, v = 0.25", "w = 0.5, v = 0.25"]
    shown = [np.asarray(one.images[0].get_array()) for one in rest if one.images]
    np.testing.assert_array_equal(shown[3], np.eye(4) * 0.5 + 2.25)


def test_one_column_shares_its_shades():
    images = [one.images[0] for one in axes() if one.images]
    assert images[0].norm is images[2].norm is not images[1].norm
    assert (images[0].norm.vmin, images[0].norm.vmax) == (0.0, 3.25)


def test_every_axis_is_labelled():
    left, *rest = axes()
    assert left.get_xlabel()
    assert left.get_ylabel()
    matrices = [one for one in rest if one.images]
    assert [bool(one.get_ylabel()) for one in matrices] == [True, False, True, False]
    assert [bool(one.get_xlabel()) for one in matrices] == [False, False, True, True]


def test_names_keep_apart():
    assert spread_apart([1.0, 1.01, 1.5, 9.0], 0.3) == [1.0, 1.3, 1.6, 9.0]
