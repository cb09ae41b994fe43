"""All numbers of a text as the rows of a table, and what its marks mean."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from glasshead.escaping import visible
from glasshead.report.html.interval_marks import IntervalMark, Limits, axis, draw
from glasshead.report.number_format import finite, number
from glasshead.report.text_spans import doubt, score_name
from glasshead.report.weight_intervals import range_text, spoken_range, summary_of_ranges
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
class TokenTable:
    """The table: ``score`` heads its first number, ``axis`` its drawings; ``counted`` sums up the
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


def token_table(attribution: Attribution, limits: Limits) -> TokenTable:
    """The numbers of every token; ``limits`` are those of the ranges."""
    known = attribution.intervals is not None
    return TokenTable(
        score_name(attribution),
        attribution.contributions is not None,
        axis(limits) if known else None,
        summary_of_ranges(attribution) if known else None,
        [_row(attribution, token, limits) for token in range(len(attribution.tokens))],
    )


def _row(attribution: Attribution, token: int, limits: Limits) -> Row:
    name, score = (
        visible(attribution.tokens[token]),
        number(attribution.scores[token], plus=attribution.signed),
    )
    contributions = attribution.contributions
    contribution = None if contributions is None else number(contributions[token], plus=True)
    if attribution.intervals is None:
        return Row(name, score, contribution, None, None, "")
    unsure, amount = doubt(attribution, token), finite(attribution.scores[token])
    ends, maybe_zero = attribution.interval(token), unsure == "maybe"
    mark = IntervalMark(
        f"{score}, {spoken_range(attribution, token)}", amount, span=ends,
        hollow=maybe_zero or ends is None, maybe_zero=maybe_zero,
    )  # fmt: skip
    plot = None if amount is None else draw(mark, limits)
    return Row(name, score, contribution, range_text(attribution, token), plot, unsure)


def weight_key(attributions: Sequence[Attribution]) -> Key | None:
    """What the legend of these texts explains; None where no text has ranges."""
    ranged = [attribution for attribution in attributions if attribution.intervals is not None]
    if not ranged:
        return None
    return Key(
        every=len(ranged) == len(attributions),
        signed=any(attribution.signed for attribution in ranged),
        unknown=any(ends is None for attribution in ranged for ends in attribution.intervals or ()),
    )
