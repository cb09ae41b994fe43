"""What every head does, for the terminal."""

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from glasshead.errors import pluralise
from glasshead.escaping import visible
from glasshead.nouns import nouns_of
from glasshead.report.number_format import DASH, interval, number
from glasshead.report.terminal.wrapping_table import WrappingTable
from glasshead.results import Finding, HeadRelation, HeadReport, HeadSummary

COLUMNS = {
    "entropy": "entropy",
    "removal-size": "change\nwithout it",
    "identifiable": "only map\nwith its output",
}
"""Statistics that every head has, and what stands above them."""
MOST_HEADS = 40
"""More heads are no table: those with a pattern or the largest effects are shown."""


def head_table(report: HeadReport) -> RenderableType:
    """The conclusion, a row for each head, and the relations that heads follow."""
    parts: list[RenderableType] = [Text(" ".join(map(visible, report.conclusion)), style="bold")]
    parts.append(Text(intro(report), style="dim"))
    parts.append(WrappingTable(summary_table(report)))
    if report.relations:
        parts.append(WrappingTable(relation_table(report)))
    return Group(*parts)


def intro(report: HeadReport) -> str:
    """What the numbers are."""
    level = 100 * float(report.facts["interval_level"])
    return (
        f"{nouns_of(report.facts).count(report.facts['examples'])}; intervals of single heads hold for all "
        f"{pluralise(len(report.heads), 'head')} at once ({level:.5g} % each). Heads are named layer-head, "
        "both counted from 0."
    )


def summary_table(report: HeadReport) -> Table:
    """The heads that are shown."""
    heads = shown_heads(report)
    columns = {name: title for name, title in COLUMNS.items() if any(head.finding(name) for head in heads)}
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("head")
    table.add_column("looks at")
    for title in columns.values():
        table.add_column(title, justify="right")
    for head in heads:
        cells = (estimate(head.finding(name)) for name in columns)
        table.add_row(head.name, Text(visible(head.pattern) or DASH), *cells)
    if len(heads) < len(report.heads):
        table.caption = f"{len(heads)} of {pluralise(len(report.heads), 'head')}: the report has all"
        table.caption_justify = "left"
    return table


def shown_heads(report: HeadReport) -> list[HeadSummary]:
    """All heads of small models; of large ones those with the largest effects, else those with a pattern."""
    if len(report.heads) <= MOST_HEADS:
        return list(report.heads)

    def size(head: HeadSummary) -> tuple[float, bool]:
        finding = head.finding("removal-size")
        return (0.0 if finding is None else finding.estimate or 0.0, bool(head.pattern))

    chosen = sorted(report.heads, key=size, reverse=True)[:MOST_HEADS]
    return [head for head in report.heads if any(head is one for one in chosen)]


def relation_table(report: HeadReport) -> Table:
    """The relations that some head follows better than a fixed offset, then the others."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for name in ("relation", "direction", "head"):
        table.add_column(name)
    for name in ("head, %", "offset", "offset, %", "difference, %"):
        table.add_column(name, justify="right")
    for one in sorted(report.relations, key=lambda one: -one.difference.estimate):
        table.add_row(*relation_cells(one))
    table.caption, table.caption_justify = (
        "chosen on one half of the sentences, measured on the other",
        "left",
    )
    return table


def relation_cells(one: HeadRelation) -> list[Text]:
    """One relation."""
    ends = one.difference.interval
    difference = number(100 * one.difference.estimate, 1, plus=True)
    if ends is not None:
        difference += f" {interval((100 * ends[0], 100 * ends[1]), 1, plus=True)}"
    return [
        Text(visible(cell))
        for cell in (
            one.relation,
            one.direction,
            one.best,
            percent(one.accuracy),
            f"{one.offset:+d}",
            percent(one.baseline),
            difference,
        )
    ]


def percent(finding: Finding) -> str:
    """A share in percent."""
    return number(None if finding.estimate is None else 100 * finding.estimate, 1)


def estimate(finding: Finding | None) -> str:
    """0.612 [0.580, 0.641]."""
    if finding is None or finding.estimate is None:
        return DASH
    ends = finding.interval
    return number(finding.estimate) if ends is None else f"{number(finding.estimate)} {interval(ends)}"
