"""What a paper's claims come to, as Markdown for people and JSON for programs; nobody edits either."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from glasshead.errors import pluralise
from glasshead.papers.experiments.claims import ON_AVERAGE, TOO_SMALL, UNCLEAR, ClaimVerdict
from glasshead.papers.experiments.differences import DifferenceSummary
from glasshead.papers.experiments.printed_numbers import (
    decimals,
    format_printed,
    interval_in_words,
    markdown_table,
    scale,
)
from glasshead.papers.experiments.row import round_numbers
from glasshead.papers.experiments.table import Paper

HOW_TO_READ = (
    "## How to read this",
    "",
    "- Each claim is tested once, over all settings that have five pairs of trainings or more: the mean of "
    "their mean differences, each setting counting alike, by a t-test whose error counts seeds and, of "
    "accuracies, test texts (degrees of freedom of Welch and Satterthwaite). p is corrected by Holm for all "
    "claims of this page, run or not.",
    "- *Shown*: p < 0.05 in the direction of the paper, and so in every setting; *on average*: not in every "
    "one. *Too small to matter*: the interval at the level that the number of claims asks for lies within "
    "the paper's own effect on either side of zero. *Cannot tell*: it was not run, or a difference of the "
    "size that is named would be missed more often than in one of five cases.",
    "- Settings are described, not tested: each with the interval of its mean difference.",
)
OF_ONE_CELL = (
    "- A claim about one cell is held against what would be so without it, training by training: an AUC "
    "against ½, a change against 0.",
)


def claims_markdown(paper: Paper, claims: Sequence[ClaimVerdict]) -> str:
    """The claims of a paper, each with one verdict, and below how every setting came out."""
    lines = [
        f"<!-- Written by `glasshead reproduce {paper.name}`: do not edit. -->",
        "",
        "# What the claims come to",
        "",
        f"Of {paper.citation}.",
        "",
        *markdown_table(
            [
                "claim",
                "where",
                "paper",
                "here",
                "95 % interval",
                count_head(part for one in claims for part in one.parts),
                "verdict",
            ],
            [claim_row(one) for one in claims],
        ),
        "",
        *HOW_TO_READ,
        *(OF_ONE_CELL if any(is_of_one_cell(part) for one in claims for part in one.parts) else ()),
        "",
        "## By setting",
    ]
    for one in claims:
        lines += ["", f"### {one.claim.text}", "", *setting_lines(one.parts)]
    return "\n".join(lines).rstrip() + "\n"


def claim_row(one: ClaimVerdict) -> list[str]:
    """A claim with what was found and its verdict."""
    name = one.parts[0].claim.metrics[0] if one.parts else "accuracy"
    return [
        one.claim.text,
        one.claim.where,
        number(one.effect, name),
        number(one.difference, name),
        interval_in_words(one.interval, name, "+"),
        f"{sum(len(part.gaps) for part in one.known)}" if one.known else "–",
        verdict_in_words(one),
    ]


def is_of_one_cell(part: DifferenceSummary) -> bool:
    """Whether a cell is held against a number."""
    return len(part.claim.cells) == 1


def count_head(parts: Iterable[DifferenceSummary]) -> str:
    """What is counted of some settings."""
    alone = {is_of_one_cell(part) for part in parts}
    return "trainings" if alone == {True} else "trainings or pairs" if True in alone else "pairs of trainings"


def verdict_in_words(one: ClaimVerdict) -> str:
    """The verdict with what it rests on."""
    name = one.parts[0].claim.metrics[0] if one.parts else "accuracy"
    settings = f"{len(one.known)} of {pluralise(len(one.parts), 'setting')}"
    if not one.known:
        return f"**{UNCLEAR}**: not run"
    run = "" if len(one.known) == len(one.parts) else f"; run in {settings}"
    if one.verdict == ON_AVERAGE:
        return f"**{one.verdict}**, in {one.agreeing} of {pluralise(len(one.known), 'setting')}{run}"
    if one.verdict == TOO_SMALL:
        return f"**{one.verdict}**{run}"
    if one.verdict == UNCLEAR:
        return f"**{UNCLEAR}**: {unseen(one, name)}{run}"
    return f"**{one.verdict}**{run}"


def unseen(one: ClaimVerdict, name: str) -> str:
    """What could not have been seen, beside what the paper has."""
    size = number(one.detectable, name, sign="")
    if one.effect is None:
        return f"less than {size} would mostly stay unseen"
    return f"less than {size} would mostly stay unseen, the paper's is {number(one.effect, name)}"


def setting_lines(parts: Sequence[DifferenceSummary]) -> Iterator[str]:
    """How far the cells of every setting are apart."""
    yield from markdown_table(
        ["setting", "paper", "here", "95 % interval", count_head(parts)],
        [
            [
                part.claim.text,
                number(part.claim.effect, part.claim.metrics[0]),
                number(part.difference, part.claim.metrics[0]),
                interval_in_words(part.interval, part.claim.metrics[0], "+"),
                f"{len(part.gaps)}",
            ]
            for part in parts
        ],
    )


def number(value: float | None, name: str, sign: str = "+") -> str:
    """A difference of a metric as it is printed."""
    return "–" if value is None else format_printed(value * scale(name), f"{sign}.{decimals(name)}f")


def claims_json(paper: Paper, claims: Sequence[ClaimVerdict]) -> str:
    """The claims as JSON, unrounded, with the differences of every setting."""
    record: dict[str, Any] = {
        "paper": paper.citation,
        "claims": [
            {
                "claim": one.claim.text,
                "where": one.claim.where,
                "verdict": one.verdict,
                "paper": one.effect,
                "difference": one.difference,
                "interval": one.interval,
                "equivalence": one.equivalence,
                "p": one.p,
                "corrected": one.corrected,
                "detectable": one.detectable,
                "settings": [difference_json(part) for part in one.parts],
            }
            for one in claims
        ],
    }
    return json.dumps(round_numbers(record, None), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def difference_json(one: DifferenceSummary) -> dict[str, Any]:
    """The difference of two cells."""
    return {
        "claim": one.claim.text,
        "better": one.claim.better,
        "worse": one.claim.worse,
        "metrics": list(one.claim.metrics),
        "paper": one.claim.effect,
        "difference": one.difference,
        "interval": one.interval,
        "gaps": one.gaps.tolist(),
        "texts": one.texts,
    }
