"""What a paper's claims come to, as Markdown for people and JSON for programs; nobody edits either."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from glasshead.errors import pluralise
from glasshead.papers.experiments.claims import ON_AVERAGE, SHOWN_ON_AVERAGE, UNCLEAR, ClaimVerdict
from glasshead.papers.experiments.differences import DifferenceSummary
from glasshead.papers.experiments.printed_numbers import (
    decimals,
    format_printed,
    interval_in_words,
    markdown_table,
    scale,
)
from glasshead.papers.experiments.row import json_file
from glasshead.papers.experiments.table import Paper

HOW_TO_READ = (
    "## How to read this",
    "",
    "- Each claim is tested once, over all settings that have five pairs of trainings or more: the mean of "
    "their mean differences, with equal weight for each setting, by a t-test whose "
    "error includes seeds and, for accuracies, test texts (degrees of freedom of Welch "
    "and Satterthwaite). Settings that share trainings have correlated errors: their "
    "mean counts as one. p is corrected by Holm for all claims of the "
    "paper, run or not.",
    "- A claim about one model compares each of its trainings, five or more, with a fixed number: an AUC "
    "with ½, a change with 0.",
    "- *Shown*: p < 0.05 in the direction of the paper, and every setting has that direction; *on average*: "
    "not every one has. *The opposite is shown*: the same in the other direction. *Too "
    "small to matter*: the interval, corrected for the number of claims, lies "
    "within the paper's own effect in both directions. *Cannot tell*: it was not run, or "
    "a difference of that size would be missed in more than one of five cases.",
    "- Settings are described, not tested: each with the interval of its mean difference.",
)


def claims_markdown(paper: Paper, claims: Sequence[ClaimVerdict]) -> str:
    """The claims of a paper, each with one verdict, and the result of every setting below."""
    lines = [
        f"<!-- Written by `glasshead reproduce {paper.name}`: do not edit. -->",
        "",
        "# Verdicts on the claims",
        "",
        f"Of {paper.citation}.",
        "",
        verdict_table(claims),
        "",
        *HOW_TO_READ,
        "",
        "## By setting",
        "",
        setting_tables(claims),
    ]
    return "\n".join(lines) + "\n"


def verdict_table(claims: Sequence[ClaimVerdict]) -> str:
    """Each claim with its verdict."""
    counted = count_head(part for one in claims for part in one.parts)
    heads = ["claim", "verdict", "paper", f"here (95 % interval; {counted})"]
    return "\n".join(markdown_table(heads, [claim_row(one) for one in claims]))


def setting_tables(claims: Sequence[ClaimVerdict]) -> str:
    """The result of every setting of each claim."""
    parts = (f"### {one.claim.text}\n\n" + "\n".join(setting_lines(one.parts)) for one in claims)
    return "\n\n".join(parts)


def claim_row(one: ClaimVerdict) -> list[str]:
    """A claim with what was found and its verdict."""
    name = claimed_metric(one)
    found = number(one.difference, name)
    if one.known:
        unit = one.claim.parts[0][1].unit
        units = pluralise(one.units, unit) if unit else str(one.units)
        ends = interval_in_words(one.interval, name, "+")
        found += f" ({ends}; {units})" if ends else f" ({units})"
    text = f"{one.claim.text} ({one.claim.where})"
    return [text, verdict_in_words(one), number(one.effect, name), found]


def count_head(parts: Iterable[DifferenceSummary]) -> str:
    """What is counted of some settings."""
    parts = [*parts]
    units = {part.claim.unit for part in parts} - {""}
    if units:
        return f"{units.pop()}s" if len(units) == 1 else "n"
    alone = {len(part.claim.cells) == 1 for part in parts}
    return "trainings" if alone == {True} else "trainings or pairs" if True in alone else "pairs of trainings"


def verdict_in_words(one: ClaimVerdict) -> str:
    """The verdict with what it rests on."""
    known, parts = len(one.known), len(one.parts)
    if not known:
        return f"**{UNCLEAR}**: not run"
    run = "" if known == parts else f"; run in {known} of {pluralise(parts, 'setting')}"
    why = ""
    if one.verdict in ON_AVERAGE:
        so = one.agreeing if one.verdict == SHOWN_ON_AVERAGE else known - one.agreeing
        why = f", in {so} of {pluralise(known, 'setting')}"
    elif one.verdict == UNCLEAR:
        why = f": {unseen(one)}"
    return f"**{one.verdict}**{why}{run}"


def claimed_metric(one: ClaimVerdict) -> str:
    """The first metric that a claim is about, by which its numbers are printed."""
    return one.claim.parts[0][1].metrics[0]


def unseen(one: ClaimVerdict) -> str:
    """What could not have been seen, beside what the paper has."""
    name = claimed_metric(one)
    size = number(one.detectable, name, sign="")
    if one.effect is None:
        return f"effects below {size} would mostly be missed"
    return f"effects below {size} would mostly be missed, the paper's is {number(one.effect, name)}"


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
    return json_file(record)


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
