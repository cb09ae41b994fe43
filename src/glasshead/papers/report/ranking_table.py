"""How well a recommender ranks."""

from collections.abc import Mapping
from typing import Any

from glasshead.report import MINUS, Cell, Row, Table, cell, columns, finite, interval, number, table

Numbers = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""Ranking → metric → mean, low, high, n."""


def ranking_table(metrics: Numbers, differences: Numbers) -> Table:
    """Means with their 95 % intervals of every ranking, and the lead of the first over the others."""
    model, estimates = next(iter(metrics.items()))
    impressions = next(iter(estimates.values()))["n"]
    rows: list[Row] = [(name, *map(format_estimate, values.values())) for name, values in metrics.items()]
    for name, values in differences.items():
        leads = (format_estimate(estimate, plus=True) for estimate in values.values())
        rows.append((f"{model} {MINUS} {name}", *leads))
    return table(
        columns(("",), list(estimates)),
        rows,
        f"{impressions} impressions, 95 % intervals",
        "random: the mean over all orders, not a draw" if "random" in metrics else "",
    )


def format_estimate(estimate: Mapping[str, Any], plus: bool = False) -> Cell:
    """0.612, and below it [0.580, 0.641]."""
    known = finite(estimate["low"]) is not None
    ends = interval((estimate["low"], estimate["high"]), plus=plus) if known else ""
    return cell(number(estimate["mean"], plus=plus), ends)
