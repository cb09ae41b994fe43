"""What a page says of a training: whether it ended at its last epoch, and whether attention was used."""

import pytest
from small_tables import cell

from glasshead.papers.experiments import Paper, PaperTable, Row, summary_of, table_markdown
from glasshead.papers.experiments.printed_numbers import format_printed


def line(epochs, after=0.5, **recipe):
    """The line of a cell with one row for each number of epochs, of at most 20."""
    of = cell("softmax", **{"epochs": 20, "patience": 3} | recipe)
    table = PaperTable("small", "a small table", [of])
    numbers = {"accuracy": 0.5, "steps": 40, "entropy": [["pooling", 1.0, after]]}
    rows = [Row(of.name, of.key, seed, "d", numbers | {"epochs": each}) for seed, each in enumerate(epochs)]
    summary = summary_of(table, {of.name: rows}, {of.name: range(len(rows))})
    text = table_markdown(summary, Paper("paper", "Somebody", [table]))
    return next(each for each in text.splitlines() if each.startswith("| Softmax | 40"))


def test_a_training_that_ends_at_the_cap_is_marked():
    assert "| 40 |" in line([7, 19])
    assert "| 40 (cap) |" in line([20, 20])
    assert "| 40 (cap in 1 of 3) |" in line([7, 20, 12])
    assert "| 40 |" in line([20, 20], patience=None)  # so many epochs are what was asked for


def test_attention_that_was_not_used_is_marked():
    assert "1.000\u00a0→\u00a00.991 (not\u00a0used) |" in line([7], after=0.991)
    assert "not\u00a0used" not in line([7], after=0.97)


@pytest.mark.parametrize(
    ("number", "form", "text"),
    [
        (-3.92, "+.2f", "−3.92"),
        (1.6e-5, ".2g", "1.6·10⁻⁵"),
        (0.0018, ".2g", "0.0018"),
        (1e-12, ".2g", "1·10⁻¹²"),
    ],
)
def test_numbers_as_people_write_them(number, form, text):
    assert format_printed(number, form) == text
