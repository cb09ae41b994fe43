"""About how many inputs would decide what these left undecided: from the width of its interval."""

from __future__ import annotations

import math

import numpy as np

from glasshead.audits.question import Question, prediction_range
from glasshead.results import MIN_UNITS, SMALL_CHANGE, AuditCard, Finding, extent_of
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


def needed_beyond(finding: Finding, threshold: float) -> int | None:
    """How many inputs move the interval of a mean to one side of a threshold."""
    assert finding.estimate is not None
    assert finding.interval is not None
    distance = abs(finding.estimate - threshold)
    end = finding.interval[finding.estimate < threshold]
    factor = ((end - finding.estimate) / distance) ** 2 if distance else math.inf
    return round_to_two(finding.n * factor) if 1 < factor <= MOST else None


def round_to_two(number: float) -> int:
    """Up to two digits: ``1,240`` is ``1,300``."""
    step = 10 ** max(int(math.log10(max(number, 1))) - 1, 0)
    return math.ceil(round(number / step, 6)) * step
