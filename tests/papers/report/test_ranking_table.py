"""How well a recommender ranks, in the numbers of the report: a true minus, never an ASCII hyphen."""

from io import StringIO

from rich.console import Console

from glasshead.papers.report import ranking_table
from glasshead.report import terminal_view


def estimate(mean, low, high):
    return {"mean": mean, "std": 0.1, "low": low, "high": high, "n": 20}


def test_means_intervals_and_leads():
    metrics = {"model": {"auc": estimate(0.5, 0.4, 0.6)}, "random": {"auc": estimate(0.75, None, None)}}
    table = ranking_table(metrics, {"random": {"auc": estimate(-0.25, -0.375, 0.125)}})
    console = Console(file=StringIO(), width=80)
    console.print(terminal_view([table]))
    said = console.file.getvalue()
    assert "20 impressions, 95 % intervals" in said
    for part in ("0.500", "[0.400, 0.600]", "0.750", "model − random", "−0.250", "[−0.375, +0.125]"):
        assert part in said
    assert "-" not in said
