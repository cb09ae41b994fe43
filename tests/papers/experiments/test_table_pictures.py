"""The picture beside a table: there if something is known, small, and linked."""

import io
from dataclasses import replace

import pytest
from PIL import Image
from small_tables import cell, row, table

from glasshead.papers.experiments import PAPERS, ReproduceRequest, reproduce, summary_of, table_markdown
from glasshead.papers.experiments.figures import (
    CoefficientPicture,
    DistributionPicture,
    IntervalPicture,
    small_png,
)

ACCURACY = IntervalPicture({"accuracy": "accuracy"}, "accuracy")
LARGEST = 60_000
"""Bytes."""


def summary(rows, picture=ACCURACY):
    chosen = table([cell("softmax"), cell("tanhmax", attention="tanhmax")], picture=picture)
    return summary_of(chosen, rows, dict.fromkeys(("softmax", "tanhmax"), range(5)))


def with_numbers(of, **numbers):
    return replace(row(of, 0, 0.9), numbers=numbers)


def test_nothing_is_drawn_where_nothing_is_known():
    for picture in (
        ACCURACY,
        CoefficientPicture(("positive",)),
        DistributionPicture({"gradient": ("τ", -1.0)}),
    ):
        assert picture(summary({})) is None
    assert CoefficientPicture(("positive",))(summary({"softmax": [row(cell("softmax"), 0, 0.9)]})) is None


def test_rows_have_their_seeds_and_intervals():
    rows = {
        "softmax": [row(cell("softmax"), seed, 0.8 + seed / 100) for seed in range(5)],
        "tanhmax": [row(cell("tanhmax", attention="tanhmax"), 0, 0.7)],
    }
    found = summary(rows)
    softmax, tanhmax = (ACCURACY.row(each) for each in found.cells)
    assert (softmax.note, tanhmax.note) == ("n = 5", "n = 1")
    (known,), (bare,) = softmax.estimates, tanhmax.estimates
    assert known.interval == found.cells[0].metrics["accuracy"].interval
    assert (bare.mean, bare.interval) == (0.7, None)
    figure = ACCURACY(found)
    assert [entry.kind for entry in figure.legend] == ["dot", "ring"]
    assert figure.panels[0].rows == ["Tanhmax", "Softmax"]  # upwards


@pytest.mark.parametrize(
    ("picture", "numbers"),
    [
        (ACCURACY, {"accuracy": 0.9}),
        (
            CoefficientPicture(("positive", "neutral")),
            {"points_positive": [[1.0, 0.5]], "points_neutral": [[0.0, 0.0]]},
        ),
        (
            DistributionPicture({"gradient": ("τ", -1.0), "random": ("change", 0.0)}, violins=("change",)),
            {"counts_gradient_0": [0, 1, 5], "counts_gradient_1": [2, 2, 2], "counts_random_0": [4, 0, 0]},
        ),
    ],
)
def test_a_picture_is_a_small_file(picture, numbers):
    content = small_png(picture(summary({"softmax": [with_numbers(cell("softmax"), **numbers)]}, picture)))
    image = Image.open(io.BytesIO(content))
    assert image.format == "PNG"
    assert min(image.size) > 300
    assert len(content) < LARGEST


def test_a_histogram_is_drawn_as_it_was_counted():
    (panel,) = DistributionPicture({"gradient": ("τ", -1.0)})(
        summary({"softmax": [with_numbers(cell("softmax"), counts_gradient_0=[1, 0, 4])]})
    ).panels
    assert (panel.rows, panel.row_notes) == (["class 0"], ["n = 5"])


def test_a_page_links_its_picture():
    rows = {"softmax": [row(cell("softmax"), 0, 0.9)]}
    page = table_markdown(summary(rows), PAPERS["s0"], picture="small.png")
    assert "![a small table; the numbers are in the tables below](small.png)" in page
    assert "![" not in table_markdown(summary(rows), PAPERS["s0"])


def test_no_file_where_nothing_is_known(tmp_path):
    rows = tmp_path / "rows"
    rows.mkdir()
    found = reproduce("s3", ReproduceRequest(hours=0, rows=rows, out=tmp_path / "out"))
    assert {path.suffix for path in found.files} == {".md", ".json"}
