"""The figure of distance-aware attention shows what it was given, and names do not run into each other."""

import numpy as np

from glasshead.report.distances import Curve, Matrix, apart, distance_figure


def figure():
    weighted = np.linspace(-5, 5, 11)
    curves = [Curve(v, np.full(11, height)) for v, height in ((2.0, 3.0), (-2.0, 1.01), (-1.5, 1.0))]
    matrices = [[Matrix(w, v, np.eye(4) * w + v + 2) for w in (1.0, 0.5)] for v in (-1.0, 0.25)]
    return distance_figure(weighted, curves, matrices)


def axes(made):
    return [each for part in made.subfigs for each in part.axes]


def test_curves_and_matrices_are_those_given():
    left, *rest = axes(figure())
    heights = sorted(float(line.get_ydata()[0]) for line in left.lines if len(line.get_ydata()) == 11)
    assert heights == [1.0, 1.01, 3.0]
    titles = [each.get_title() for each in rest if each.images]
    assert titles == ["w = 1, v = −1", "w = 0.5, v = −1", "w = 1, v = 0.25", "w = 0.5, v = 0.25"]
    shown = [np.asarray(each.images[0].get_array()) for each in rest if each.images]
    np.testing.assert_array_equal(shown[3], np.eye(4) * 0.5 + 2.25)


def test_one_column_shares_its_shades():
    images = [each.images[0] for each in axes(figure()) if each.images]
    assert images[0].norm is images[2].norm is not images[1].norm
    assert (images[0].norm.vmin, images[0].norm.vmax) == (0.0, 3.25)


def test_every_axis_is_labelled():
    left, *rest = axes(figure())
    assert left.get_xlabel()
    assert left.get_ylabel()
    matrices = [each for each in rest if each.images]
    assert [bool(each.get_ylabel()) for each in matrices] == [True, False, True, False]
    assert [bool(each.get_xlabel()) for each in matrices] == [False, False, True, True]


def test_names_keep_apart():
    assert apart([1.0, 1.01, 1.5, 9.0], 0.3) == [1.0, 1.3, 1.6, 9.0]
