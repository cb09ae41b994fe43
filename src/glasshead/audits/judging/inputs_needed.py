"""About how many inputs would decide what these left undecided: from the width of its interval."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from glasshead.audits.judging.border import at, closer, estimated
from glasshead.audits.judging.question import Question
from glasshead.results import (
    MIN_UNITS,
    NOT_USED,
    AuditCard,
    Finding,
    LayerUse,
    PairedDifference,
    use_is_unclear,
)
from glasshead.statistics import LEVEL
from glasshead.wording import MOST_INPUTS

USED = at(NOT_USED)
FINE = 1.001
"""The number is searched for to such a factor; two digits of it are said."""
CERTAIN = 1e12
"""So many times as many inputs leave of any interval the estimate alone."""


def inputs_needed(finding: Finding, question: Question, whole: float | None) -> int | None:
    """How many inputs in all would decide what the verdict on a finding leaves open, if its estimates stayed
    where they are; None where nothing is open, or more inputs would not decide it. Too few are 20.

    ``whole`` is the range of predictions, if that is known.
    """
    if finding.reason:
        return MIN_UNITS if finding.reason == "too few" and finding.n < MIN_UNITS else None
    if finding.status == "not evidence":
        return None
    needed = [
        fewest(number.n, lambda factor: border.decides(number.ends(factor), whole or 0.0))  # noqa: B023
        for border in question.borders
        if (number := border.number(finding)) is not None and not (border.scaled and not whole)
    ]
    return max((one for one in needed if one is not None), default=None)


def needed_for_use(layer: LayerUse) -> int | None:
    """How many inputs would show whether a layer is unused; None where that is clear."""
    ends = layer["interval"]
    if layer["entropy"] is None or ends is None or not use_is_unclear(layer):
        return None
    number = estimated(PairedDifference(layer["entropy"], (ends[0], ends[1]), layer["sequences"]), LEVEL)
    return None if number is None else fewest(number.n, lambda factor: USED.decides(number.ends(factor), 1.0))


def needed_for_claim(card: AuditCard, finding: Finding, question: Question) -> int | None:
    """How many inputs in all would decide a claim, by its own rule; None where no number would, or where it
    is not the intervals that leave it undecided."""
    holds = question.holds
    if finding.reason or holds is None or not finding.n:
        return finding.inputs_needed
    sharpen = sharpener(card, finding)

    def decided(factor: float) -> bool:
        sharper = sharpen(factor)
        found = sharper.finding(finding.name)
        assert found is not None
        return holds(sharper, found) != "undecided"

    if not decided(CERTAIN):
        return None
    return fewest(finding.n, decided)


def fewest(n: int, decided: Callable[[float], bool]) -> int | None:
    """About the smallest number of inputs that decides, given what ``factor`` times ``n`` do; None where
    ``n`` do, and one more than `MOST_INPUTS` where not even these do."""
    if decided(1.0):
        return None
    below, factor, most = 1.0, 2.0, MOST_INPUTS / n
    while not decided(factor):
        if factor >= most:
            return MOST_INPUTS + 1
        below, factor = factor, min(2.0 * factor, most)
    while factor > FINE * below:
        between = math.sqrt(below * factor)
        below, factor = (below, between) if decided(between) else (between, factor)
    return max(round_to_two(n * below), n + 1)


def sharpener(card: AuditCard, finding: Finding) -> Callable[[float], AuditCard]:
    """A card of so many times as many inputs, with the estimates of this one: of the overall findings alone,
    on which claims rest, and with closer intervals of the audit of a ``finding``."""
    overall = [one for one in card.findings if one.group in ("all", finding.group)]
    made = [sharper(one) if one.audit == finding.audit else None for one in overall]

    def sharpen(factor: float) -> AuditCard:
        findings = [make(factor) if make else one for one, make in zip(overall, made, strict=True)]
        return replace(card, findings=findings)

    return sharpen


def sharper(finding: Finding) -> Callable[[float], Finding]:
    """Its interval, those of its differences and its limit, closer to the estimates; then it is evidence."""
    own = estimated(finding, finding.level)
    pairs = {name: (pair, estimated(pair, finding.level)) for name, pair in finding.over_null.items()}
    status = "evidence" if finding.status == "undecided" and not finding.reason else finding.status

    def sharpen(factor: float) -> Finding:
        over = {
            name: pair if number is None else replace(pair, interval=number.ends(factor))
            for name, (pair, number) in pairs.items()
        }
        limit = finding.limit
        if limit is not None and finding.estimate is not None:
            limit = closer(finding.estimate, limit, factor)
        interval = finding.interval if own is None else own.ends(factor)
        return replace(finding, interval=interval, over_null=over, limit=limit, status=status)

    return sharpen


def round_to_two(number: float) -> int:
    """Up to two digits: ``1,240`` is ``1,300``."""
    step = 10 ** max(int(math.log10(max(number, 1))) - 1, 0)
    return math.ceil(round(number / step, 6)) * step
