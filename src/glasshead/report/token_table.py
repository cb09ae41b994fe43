"""All numbers of a text as the rows of a table, and what its marks mean."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from glasshead.escaping import visible
from glasshead.report.html_fragments import Scale, doubt
from glasshead.report.number_format import finite, number
from glasshead.report.text_spans import score_name
from glasshead.report.weight_intervals import could_be, counted, spoken
from glasshead.results import Attribution


@dataclass(frozen=True)
class Row:
    """One token; ``could_be`` and ``plot`` are None where nobody asked for ranges."""

    token: str
    score: str
    contribution: str | None
    could_be: str | None
    plot: Markup | None
    doubt: str


@dataclass(frozen=True)
class Numbers:
    """The table: ``score`` heads its first number, ``axis`` its drawings; ``to_counts`` sums up the
    ranges.
    """

    score: str
    contributions: bool
    axis: Markup | None
    counted: str | None
    rows: list[Row]


@dataclass(frozen=True)
class Key:
    """What a legend must explain: weights below zero, ranges that are not known; and if ``every`` text has
    ranges."""

    every: bool
    signed: bool
    unknown: bool


def numbers(attribution: Attribution, reach: Scale) -> Numbers:
    """The numbers of every token; ``reach`` places the ranges."""
    known = attribution.intervals is not None
    return Numbers(
        score_name(attribution),
        attribution.contributions is not None,
        reach.axis() if known else None,
        counted(attribution) if known else None,
        [_row(attribution, token, reach) for token in range(len(attribution.tokens))],
    )


def _row(attribution: Attribution, token: int, reach: Scale) -> Row:
    name, score = (
        visible(attribution.tokens[token]),
        number(attribution.scores[token], plus=attribution.signed),
    )
    given = attribution.contributions
    contribution = None if given is None else number(given[token], plus=True)
    if attribution.intervals is None:
        return Row(name, score, contribution, None, None, "")
    unsure, amount = doubt(attribution, token), finite(attribution.scores[token])
    said = f"{score}, {spoken(attribution, token)}"
    plot = (
        None
        if amount is None
        else reach.reach(amount, attribution.interval(token), said, hollow=unsure == "maybe")
    )
    return Row(name, score, contribution, could_be(attribution, token), plot, unsure)


def weight_key(attributions: Sequence[Attribution]) -> Key | None:
    """What the legend of these texts explains; None where no text has ranges."""
    ranged = [attribution for attribution in attributions if attribution.intervals is not None]
    if not ranged:
        return None
    return Key(
        every=len(ranged) == len(attributions),
        signed=any(attribution.signed for attribution in ranged),
        unknown=any(each is None for attribution in ranged for each in attribution.intervals or ()),
    )
