"""How well a recommender ranks, for the terminal."""

from collections.abc import Mapping
from typing import Any

from rich.table import Table

from glasshead.report import MINUS, WrappingTable, finite, interval, number

Numbers = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""Ranking → metric → mean, low, high, n."""


def ranking_table(metrics: Numbers, differences: Numbers) -> WrappingTable:
    """Means with their 95 % intervals of every ranking, and the lead of the first over the others."""
    model, estimates = next(iter(metrics.items()))
    impressions = next(iter(estimates.values()))["n"]
    table = Table("", *estimates, title=f"{impressions} impressions, 95 % intervals", title_justify="left")
    if "random" in metrics:
        table.caption, table.caption_justify = "random: the mean over all orders, not a draw", "left"
    for name, values in metrics.items():
        table.add_row(name, *(format_estimate(estimate) for estimate in values.values()))
    table.add_section()
    for name, values in differences.items():
        table.add_row(
            f"{model} {MINUS} {name}", *(format_estimate(estimate, plus=True) for estimate in values.values())
        )
    return WrappingTable(table)


def format_estimate(estimate: Mapping[str, Any], plus: bool = False) -> str:
    """0.612, and below it [0.580, 0.641]."""
    text = number(estimate["mean"], plus=plus)
    if finite(estimate["low"]) is None:
        return text
    return f"{text}\n{interval((estimate['low'], estimate['high']), plus=plus)}"
