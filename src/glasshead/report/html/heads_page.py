"""The page of all heads: what each does, its map before texts, and every number behind it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from glasshead.escaping import one_line, visible
from glasshead.nouns import nouns_of
from glasshead.report.documents.heads import (
    all_heads_table,
    closest_pairs_table,
    intro_sentence,
    layers_table,
    relations_table,
    whole_table,
)
from glasshead.report.findings_in_words import nulls
from glasshead.report.head_titles import head_title
from glasshead.report.html.environment import environment
from glasshead.report.html.packed_maps import data_script, pack_texts, rounding_in_words
from glasshead.report.html.packed_pairs import pack_pairs
from glasshead.report.number_format import finite, interval, number
from glasshead.report.run_facts import fact_rows, notes, origin
from glasshead.results import OFFSET, Finding, HeadLayer, HeadReport, HeadSummary

IMPORTANCE = ("removal-size", "gradient-importance")
"""What may say how much depends on a head, the better one first."""
LOOKS = (
    "share", "image", "image-answer", "previous", "next", "left", "right", "above", "below", "itself",
    "same-token", "induction", OFFSET,
)  # fmt: skip
"""What a head looks at."""
BRIEF = ("entropy", *IMPORTANCE, "direct-effect", "identifiable")
"""What stands above the map of every head."""


TITLE_LETTERS = 60


@dataclass(frozen=True)
class GridCell:
    """One head of the grid: what it does in words, and how long its bar is; None without importance."""

    head: HeadSummary
    does: str
    spoken: str
    bar: int | None
    shown: bool


@dataclass(frozen=True)
class GridRow:
    """The heads of one layer."""

    layer: HeadLayer
    cells: Sequence[GridCell]


def heads_page(report: HeadReport) -> str:
    """The conclusion, the grid of all heads, the opened head, and every number."""
    packed, pairs = pack_texts(report), pack_pairs(report)
    grid = grid_rows(report)
    first = first_head(report)
    nouns = nouns_of(report.facts)
    data = {
        "input": nouns.text,
        "unit": nouns.token,
        "texts": [text.data for text in packed],
        "first": first,
        "pairs": pairs,
        "numbers": {head.name: head_numbers(report, place) for place, head in enumerate(report.heads)},
    }
    return (
        environment(nouns)
        .get_template("heads.html.j2")
        .render(
            report=report,
            pictures=any(text.image for text in report.texts),
            intro=intro_sentence(report),
            grid=grid,
            first=first,
            most_heads=max((len(row.cells) for row in grid), default=1),
            several_kinds=len({layer.kind for layer in report.layers}) > 1,
            signed=any(layer["signed"] for text in packed for layer in text.data["layers"].values()),
            importance=importance_title(report),
            texts=[text_title(text.text) for text in report.texts],
            layers=layers_table(report),
            heads=all_heads_table(report),
            relations=relations_table(report),
            pairs=pairs is not None,
            closest=closest_pairs_table(report),
            findings=whole_table(report),
            facts=fact_rows([report]),
            notes=notes([report]),
            origin=origin(report),
            rounding=rounding_in_words(packed),
            data=Markup(data_script(data)),  # data_script leaves nothing that could end the element
        )
    )


def text_title(text: str) -> str:
    """The beginning of a text, for a list of them."""
    line = one_line(text)
    return line if len(line) <= TITLE_LETTERS else line[: TITLE_LETTERS - 1] + "…"


def grid_rows(report: HeadReport) -> list[GridRow]:
    """The heads by layer, with bars as long as they are important."""
    statistic, title = importance_statistic(report), importance_title(report)
    sizes = [importance_of(head, statistic) for head in report.heads]
    longest = max((size for size in sizes if size is not None), default=0.0) or 1.0
    return [
        GridRow(
            layer,
            [
                grid_cell(head, statistic, title, longest)
                for head in report.heads
                if head.layer == layer.layer
            ],
        )
        for layer in report.layers
    ]


def grid_cell(head: HeadSummary, statistic: str, title: str, longest: float) -> GridCell:
    """One head, next to the most important one; ``title`` is what the statistic is called."""
    finding, size = head.finding(statistic), importance_of(head, statistic)
    does = f"Looks mostly at: {head.pattern}." if head.pattern else "No pattern is shown."
    spoken = f"layer {head.layer}, head {head.head}: {head.pattern or 'no pattern shown'}"
    if finding is None or size is None:
        return GridCell(head, does, spoken, None, False)
    spoken += f"; {title} {number(finding.estimate)} {interval(finding.interval)}"
    excludes_zero = finding.interval is not None and not finding.interval[0] <= 0 <= finding.interval[1]
    shown = finding.status == "evidence" and excludes_zero
    return GridCell(head, does, spoken, round(100 * size / longest), shown)


def importance_statistic(report: HeadReport) -> str:
    """The statistic that says how much depends on a head; empty where none does."""
    return next((name for name in IMPORTANCE if any(head.finding(name) for head in report.heads)), "")


def importance_title(report: HeadReport) -> str:
    """What the bars of the grid are; empty if there are none."""
    statistic = importance_statistic(report)
    return head_title(statistic, "", nouns_of(report.facts)) if statistic else ""


def importance_of(head: HeadSummary, statistic: str) -> float | None:
    """How much depends on a head, without its sign."""
    finding = head.finding(statistic)
    value = None if finding is None else finite(finding.estimate)
    return None if value is None else abs(value)


def first_head(report: HeadReport) -> str:
    """The head that is open at first: the most important one, else the first that does something."""
    statistic = importance_statistic(report)
    weighed = [(size, head) for head in report.heads if (size := importance_of(head, statistic)) is not None]
    if weighed:
        return max(weighed, key=lambda pair: pair[0])[1].name
    return next((head.name for head in report.heads if head.pattern), report.heads[0].name)


def head_numbers(report: HeadReport, place: int) -> dict[str, str]:
    """The numbers above the map of a head: what it looks at most, how much that matters, who is like it."""
    head, nouns = report.heads[place], nouns_of(report.facts)
    looks = [one for one in head.findings if one.statistic in LOOKS and finite(one.estimate) is not None]
    most = sorted(looks, key=lambda one: -(one.estimate or 0.0))[:1]
    brief = [finding for name in BRIEF if (finding := head.finding(name)) is not None]
    numbers = {
        visible(head_title(finding.statistic, finding.against, nouns)): (
            f"{number(finding.estimate)} {interval(finding.interval)}{null_in_words(finding)}"
        )
        for finding in (*most, *brief)
    }
    divergences = report.agreement.divergence[place].copy()
    divergences[place] = np.nan
    if np.isfinite(divergences).any():
        nearest = int(np.nanargmin(divergences))
        numbers["most alike"] = (
            f"{report.heads[nearest].name} ({number(divergences[nearest])} bits apart, unrelated maps "
            f"{number(report.agreement.null[place, nearest])})"
        )
    return numbers


def null_in_words(finding: Finding) -> str:
    """The nulls of a number behind it."""
    return f" ({nulls(finding)})" if finding.null else ""
