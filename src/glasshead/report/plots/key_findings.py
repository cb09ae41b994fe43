"""The key findings of audits with their intervals, and what two audits or groups of runs differ by."""

import textwrap
from collections.abc import Sequence

from glasshead.report.colours import class_colour
from glasshead.report.comparison_rows import intro_sentence as runs_sentence
from glasshead.report.difference_rows import can_be_judged, pairs
from glasshead.report.figure import Figure, LegendEntry
from glasshead.report.key_findings import Answer, answers, cautions, intro_sentence
from glasshead.report.marks.intervals import (
    IntervalPoint,
    IntervalRow,
    interval_panel,
    legend_of,
    limits_of,
)
from glasshead.report.number_format import count, finite
from glasshead.report.plot_registry import plot
from glasshead.report.run_facts import card_names, split_names
from glasshead.results import (
    METRIC_NAMES,
    AuditCard,
    AuditComparison,
    Difference,
    Finding,
    RunComparison,
)
from glasshead.wording import sentence

WIDTH, BESIDE = 8.2, 3.6
"""Inches of the panel that names its rows, and of one next to it."""
LETTERS = 54
"""For a line of a verdict."""


@plot("key-findings", AuditCard, "file", drawn_by="AuditCard.save")
def key_findings(cards: Sequence[AuditCard], names: Sequence[str]) -> Figure | None:
    """Each key finding with its interval and its null, one mark for each audit."""
    found = answers(cards, names)
    if not found:
        return None
    rows = [answer_row(answer) for answer in found]
    colours = [LegendEntry(class_colour(rank), name, "dot") for rank, name in enumerate(names)]
    return Figure(
        " and ".join(names),
        [interval_panel(rows, "", "estimate", limits_of(rows), width=WIDTH)],
        caption(cards, names),
        [*(colours if len(cards) > 1 else []), *legend_of(rows, min(card.level for card in cards))],
    )


@plot("audit-differences", AuditComparison, drawn_by="compare")
def audit_differences(comparison: AuditComparison) -> Figure | None:
    """Key findings of several audits, and next to them their paired differences."""
    cards, differences = list(comparison.cards), comparison.differences
    full = card_names(cards)
    _, names = split_names(full)
    figure = key_findings(cards, names)
    if figure is None:
        return None
    found = answers(cards, names, differences)
    rows = [difference_row(answer, differences) for answer in found]
    if not any(row.points for row in rows):
        return figure
    title = " · ".join(f"{names[one]} minus {names[other]}" for one, other in pairs(differences))
    panel = interval_panel(rows, title, "paired difference", limits_of(rows), width=BESIDE, named=False)
    level = min(card.level for card in cards)
    legend = list(dict.fromkeys([*figure.legend, *legend_of(rows, level)]))
    return Figure(figure.title, [*figure.panels, panel], figure.caption, legend)


@plot("run-differences", RunComparison, drawn_by="compare")
def run_differences(comparison: RunComparison) -> Figure:
    """The difference of every metric of two groups of runs with its interval."""
    rows = [
        IntervalRow(
            f"{METRIC_NAMES[each.name]}, {comparison.names[each.one]} minus {comparison.names[each.other]}",
            f"n = {count(each.n)}: {each.verdict}",
            [difference_point(each, "--accent")],
        )
        for each in comparison.differences
    ]
    axis = "difference of the means over seeds"
    panel = interval_panel(rows, "", axis, limits_of(rows), width=WIDTH)
    return Figure("Differences of runs", [panel], runs_sentence(comparison), legend_of(rows))


def answer_row(answer: Answer) -> IntervalRow:
    """One question with the finding of every audit that has one; of one audit alone with its verdict."""
    known = [(rank, finding) for rank, finding in enumerate(answer.findings) if finding is not None]
    sizes = sorted({finding.n for _, finding in known})
    note = f"{answer.unit}, n = {'–'.join(map(count, dict.fromkeys((sizes[0], sizes[-1]))))}"
    if len(answer.findings) == 1:
        note = "\n".join([note, *textwrap.wrap(sentence(known[0][1].verdict), LETTERS)])
    return IntervalRow(answer.title, note, [finding_point(finding, rank) for rank, finding in known])


def finding_point(finding: Finding, rank: int) -> IntervalPoint:
    """The finding of one audit; nulls that do not exist are left out."""
    nulls = [value for value in map(finite, finding.null.values()) if value is not None]
    return IntervalPoint(
        finite(finding.estimate) or 0.0,
        finding.interval,
        class_colour(rank),
        finding.status == "evidence",
        nulls,
    )


def difference_row(answer: Answer, differences: Sequence[Difference]) -> IntervalRow:
    """The paired differences of one question, hollow where they decide nothing."""
    points = []
    for each in differences:
        pair = [finding for at in (each.one, each.other) if (finding := answer.findings[at]) is not None]
        if each.name == answer.name and len(pair) == 2:
            points.append(difference_point(each, class_colour(each.one), can_be_judged(each, pair)))
    return IntervalRow(answer.title, "", points)


def difference_point(difference: Difference, colour: str, evidence: bool = True) -> IntervalPoint:
    """A difference; hollow where its interval holds zero or there is none."""
    ends = difference.interval
    clear = evidence and ends is not None and not ends[0] <= 0 <= ends[1]
    return IntervalPoint(difference.estimate, ends, colour, clear)


def caption(cards: Sequence[AuditCard], names: Sequence[str]) -> str:
    """What was audited, and what a reader must know first."""
    leads = [
        f"{name}: {intro_sentence(card)}" if len(cards) > 1 else intro_sentence(card)
        for card, name in zip(cards, names, strict=True)
    ]
    return " ".join([*leads, *cautions(cards, names)])
