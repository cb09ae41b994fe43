"""The curve of adversaries: where its points are, what stands beside them, and in words."""

import numpy as np
import pytest

from glasshead.papers.results import MAPS, PREDICTIONS, AdversaryCurve, MapDivergence
from glasshead.report import PLOTS, image_file
from glasshead.report.figure_file import to_matplotlib
from glasshead.results import Finding


def finding(statistic, estimate, null, n=100):
    """A number with an interval of ±0.01 where there is one."""
    interval = None if n < 2 else (estimate - 0.01, estimate + 0.01)
    return Finding(
        "divergence", statistic, "base", "all", estimate, 0.1, interval, null, n, {}, None, "W", "v",
        status="evidence",
    )  # fmt: skip


def curve(*points, seeds=True, n=100):
    ruler = {"seed": 0.05} if seeds else {}
    return AdversaryCurve(
        [
            MapDivergence(
                finding(MAPS, maps, {"uniform": 0.08, "random": 0.12} | ruler, n),
                finding(PREDICTIONS, predictions, {"constant": 0.36} | ruler, n),
                {MAPS: np.full(n, maps), PREDICTIONS: np.full(n, predictions)},
                {"weight": weight, "model": f"weight-{weight:g}", "base": "runs/<b>", "seeds": 2 * seeds},
            )
            for weight, maps, predictions in points
        ]
    )


POINTS = ((0.0, 0.02, 0.07), (0.001, 0.09, 0.08), (0.01, 0.6, 0.11))


@pytest.mark.parametrize("seeds", [True, False])
def test_points_are_where_the_numbers_are(seeds):
    figure = PLOTS["adversary-curve"].draw(curve(*POINTS, seeds=seeds))
    (axes,) = to_matplotlib(figure).axes
    line = axes.get_lines()[0].get_xydata()
    assert line.tolist() == [[maps, predictions] for _, maps, predictions in POINTS]
    assert {"λ = 0", "λ = 0.001", "λ = 0.01"} <= {text.get_text() for text in axes.texts}
    marks = [mark for mark in axes.collections if mark.get_offsets().tolist() == [[0.05, 0.05]]]
    assert len(marks) == seeds
    assert ("another seed of the same recipe" in [entry.words for entry in figure.legend]) is seeds
    assert "0.36" in figure.caption
    assert "λ = 0.01: maps 0.600, predictions 0.110" in figure.panels[0].description
    assert image_file(figure, "png").startswith(b"\x89PNG")


def test_one_text_has_no_interval_and_is_drawn_all_the_same():
    figure = PLOTS["adversary-curve"].draw(curve((0.1, 0.3, 0.2), n=1))
    assert to_matplotlib(figure).axes[0].get_lines()[0].get_xydata().tolist() == [[0.3, 0.2]]


def test_rows_are_those_of_the_points():
    value = curve(*POINTS)
    assert len(value) == 3
    assert [row["weight"] for row in value.rows()] == [0.0, 0.001, 0.01]
    assert value.rows()[2]["maps.high"] == pytest.approx(0.61)
    assert '"predictions.null.constant": 0.36' in value.to_json()
