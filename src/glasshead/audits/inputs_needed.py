"""About how many inputs would decide what these left undecided: from the width of its interval."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from glasshead.audits.question import Question, prediction_range
from glasshead.audits.summary import Interval
from glasshead.results import MIN_UNITS, SMALL_CHANGE, AuditCard, Finding, PairedDifference, extent_of
from glasshead.statistics import share_interval

MOST = 1_000
"""More than so many times as many are no advice."""


def inputs_needed(card: AuditCard, finding: Finding, question: Question) -> int | None:
    """How many inputs in all would decide an undecided finding, if its estimate stayed where it is; None
    where that cannot be said. Too few are 20."""
    if finding.status != "undecided":
        return None
    if finding.reason == "too few":
        return MIN_UNITS if finding.n < MIN_UNITS else None
    if finding.estimate is None or finding.interval is None or not finding.n or finding.reason:
        return None
    return None if question.inputs_needed is None else question.inputs_needed(card, finding)


def needed_for_claim(card: AuditCard, finding: Finding, question: Question) -> int | None:
    """How many inputs in all would decide a claim, if all intervals shrank around their estimates as 1/√n,
    and that of a share that is the same in every input as the exact one does; None where that would not, or
    where it is not the intervals that leave it undecided."""
    if finding.inputs_needed is not None or finding.reason or question.holds is None or not finding.n:
        return finding.inputs_needed

    def decided(factor: float) -> bool:
        sharper = sharpen(card, factor)
        found = sharper.finding(finding.name)
        assert question.holds is not None
        assert found is not None
        if question.counts and found.estimate in (0.0, 1.0):
            alike = np.full(math.ceil(found.n * factor), bool(found.estimate))
            found = replace(found, interval=share_interval(alike, found.level).interval)
        return question.holds(sharper, found) != "undecided"

    if decided(1.0):
        return None
    below, factor = 1.0, 2.0
    while not decided(factor):
        below, factor = factor, 2.0 * factor
        if factor > MOST:
            return None
    while factor > 1.0001 * below:
        between = math.sqrt(below * factor)
        below, factor = (below, between) if decided(between) else (between, factor)
    return round_to_two(finding.n * below)


def sharpen(card: AuditCard, factor: float) -> AuditCard:
    """A card of so many times as many inputs, with the estimates of this one; findings of slices stay as they
    are: no claim rests on them."""
    findings = [one if one.by else sharpen_finding(one, factor) for one in card.findings]
    return replace(card, findings=findings)


def sharpen_finding(finding: Finding, factor: float) -> Finding:
    """Its intervals, those of its differences and its limit, closer to the estimates; then it is evidence."""
    over = {
        name: replace(pair, interval=closer(pair.estimate, pair.interval, factor))
        for name, pair in finding.over_null.items()
    }
    limit = finding.limit
    if limit is not None and finding.estimate is not None:
        limit = finding.estimate + (limit - finding.estimate) / math.sqrt(factor)
    status = "evidence" if finding.status == "undecided" and not finding.reason else finding.status
    interval = closer(finding.estimate, finding.interval, factor)
    return replace(finding, interval=interval, over_null=over, limit=limit, status=status)


def closer(estimate: float | None, ends: Interval | None, factor: float) -> Interval | None:
    """An interval that is √factor times narrower."""
    if estimate is None or ends is None:
        return ends
    low, high = (estimate + (end - estimate) / math.sqrt(factor) for end in ends)
    return low, high


def for_share(card: AuditCard, finding: Finding) -> int | None:
    """The smallest number of inputs whose exact interval of such a share says of how many it is true."""
    assert finding.estimate is not None
    return needed_for_share(finding.estimate, finding.n, finding.level)


def for_change(card: AuditCard, finding: Finding) -> int | None:
    """n (w / d)² for a mean change of a prediction: d from the estimate to a twentieth of the range, w to the
    end of the interval beyond that."""
    whole = prediction_range(card)
    return needed_beyond(finding, SMALL_CHANGE * whole) if whole else None


def needed_for_share(share: float, n: int, level: float) -> int | None:
    """The smallest number of inputs, from ``n`` on in steps of a tenth, whose exact interval of such a share
    says of how many it is true."""
    size = n
    while size <= MOST * n:
        of_these = np.arange(size) < round(share * size)
        interval = share_interval(of_these, level).interval
        if interval is not None and extent_of(interval) != "undecided":
            return round_to_two(size)
        size = math.ceil(1.1 * size)
    return None


def needed_for_difference(difference: PairedDifference) -> int | None:
    """How many inputs in all move the interval of a difference to one side of 0."""
    if difference.estimate is None or difference.interval is None:
        return None
    end = difference.interval[difference.estimate < 0]
    distance = abs(difference.estimate)
    factor = ((end - difference.estimate) / distance) ** 2 if distance else math.inf
    return round_to_two(difference.n * factor) if 1 < factor <= MOST else None


def needed_beyond(finding: Finding, threshold: float) -> int | None:
    """How many inputs move the interval of a mean to one side of a threshold."""
    assert finding.estimate is not None
    assert finding.interval is not None
    low, high = (end - threshold for end in finding.interval)
    return needed_for_difference(PairedDifference(finding.estimate - threshold, (low, high), finding.n))


def round_to_two(number: float) -> int:
    """Up to two digits: ``1,240`` is ``1,300``."""
    step = 10 ** max(int(math.log10(max(number, 1))) - 1, 0)
    return math.ceil(round(number / step, 6)) * step
