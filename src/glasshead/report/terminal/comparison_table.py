"""What is compared beside each other, then the differences and their tests."""

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from glasshead.escaping import visible
from glasshead.report.comparison_rows import (
    SPLITS,
    deviation,
    intro_sentence,
    mean,
    seed_values,
    tested_differences,
)
from glasshead.report.labels import sentence
from glasshead.report.number_format import DASH, number
from glasshead.report.terminal.card_table import card_table
from glasshead.report.terminal.wrapping_table import WrappingTable
from glasshead.results import METRIC_NAMES, AuditComparison, Comparison, RunComparison


def comparison_table(comparison: Comparison) -> RenderableType:
    """Audits side by side, or groups of runs, for the terminal."""
    if isinstance(comparison, AuditComparison):
        return card_table(list(comparison.cards), comparison.differences, comparison.remarks)
    assert isinstance(comparison, RunComparison)
    return runs_table(comparison)


def runs_table(comparison: RunComparison) -> RenderableType:
    """Metrics of all groups, then the differences and their tests, for the terminal."""
    parts: list[RenderableType] = [Text(intro_sentence(comparison), style="bold")]
    parts.append(_metrics_table(comparison))
    parts.append(Text(f"floor: {visible(comparison.floor.guess)}", style="dim"))
    for (one, other), rows in tested_differences(comparison):
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", title_justify="left")
        table.title, table.title_style = Text(f"{one} minus {other}", style="bold"), ""
        for column, justify in (("metric", "left"), ("difference", "right"), ("95 % interval", "right")):
            table.add_column(column, justify=justify, no_wrap=True)  # type: ignore[arg-type]
        for column in ("t-test over seeds", "exchange", "verdict"):
            table.add_column(column)
        for row in rows:
            t = f"{row.t} ({row.seeds})" if row.seeds else row.t
            verdict = sentence(row.row.difference.verdict)
            cells = (row.metric, row.row.estimate, row.row.interval, t, row.exchange, verdict)
            table.add_row(*map(Text, cells))
        parts.append(WrappingTable(table))
    return Group(*parts)


def _metrics_table(comparison: RunComparison) -> WrappingTable:
    columns = [
        (split, metric)
        for split in SPLITS
        for metric in METRIC_NAMES
        if any(seed_values(group, split, metric) for group in comparison.groups)
    ]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("runs")
    table.add_column("seeds", justify="right", no_wrap=True)
    for split, metric in columns:
        table.add_column(f"{split} {METRIC_NAMES[metric]}", justify="right")
    for group in comparison.groups:
        cells = [
            " ± ".join(part for part in (mean(values), deviation(values)) if part) if values else DASH
            for values in (seed_values(group, split, metric) for split, metric in columns)
        ]
        table.add_row(*map(Text, (visible(group.name), str(len(group.seeds)), *cells)))
    floors = (number(comparison.floor.metrics[split][metric], 4) for split, metric in columns)
    table.add_row(Text("floor", style="dim"), "", *floors)
    return WrappingTable(table)
