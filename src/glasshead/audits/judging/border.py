"""What decides a number: that its interval, or that of its difference from a null, lies on one side."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from functools import partial
from itertools import pairwise
from typing import NamedTuple

from glasshead.audits.judging.summary import Interval
from glasshead.results import Finding, PairedDifference
from glasshead.statistics import interval_of_equals, share_ends

SAME = 1e-9
"""Ends of intervals that differ by less are those of the same interval."""


class Estimated(NamedTuple):
    """A number of so many inputs: its interval for ``factor`` times as many, if the estimate stayed where it
    is."""

    n: int
    ends: Callable[[float], Interval]


def estimated(number: Finding | PairedDifference | None, level: float) -> Estimated | None:
    """A number that has an interval; None of any other.

    The exact interval of a share, or of inputs that are all alike, stays exact; any other gets narrower as
    1/√n.
    """
    if number is None or number.estimate is None or number.interval is None or not number.n:
        return None
    estimate, n, (low, high) = number.estimate, number.n, number.interval
    if number.floor:
        return Estimated(n, partial(above_floor, estimate, number.interval, number.floor))
    ones = round(estimate * n)
    if (
        0 <= ones <= n
        and math.isclose(estimate * n, ones)
        and is_same((low, high), share_ends(ones, n, level))
    ):
        return Estimated(n, lambda factor: share_ends(ones * factor, n * factor, level))
    if abs(estimate) <= 1 and is_same((low, high), interval_of_equals(estimate, n, level)):
        return Estimated(n, lambda factor: interval_of_equals(estimate, n * factor, level))
    return Estimated(n, lambda factor: (closer(estimate, low, factor), closer(estimate, high, factor)))


def closer(estimate: float, end: float, factor: float) -> float:
    """An end of an interval that is √factor times narrower."""
    return estimate + (end - estimate) / math.sqrt(factor)


def above_floor(estimate: float, interval: Interval, floor: float, factor: float) -> Interval:
    """An interval that more inputs make narrower, but for the noise ``floor`` at both ends."""
    low, high = min(interval[0] + floor, estimate), max(interval[1] - floor, estimate)
    return closer(estimate, low, factor) - floor, closer(estimate, high, factor) + floor


def is_same(one: Interval, other: Interval) -> bool:
    """Whether two intervals are one."""
    return all(math.isclose(*ends, rel_tol=SAME, abs_tol=SAME) for ends in zip(one, other, strict=True))


def always(finding: Finding) -> bool:
    """For every finding."""
    return True


@dataclass(frozen=True)
class Border:
    """A number is decided where its interval lies within one of the ``sides``, or where it is a point.

    The interval is that of the paired difference from the null ``minus``, if there is one. ``scaled`` sides
    are shares of the range of predictions. ``applies`` says for which findings the verdict uses it.
    """

    sides: tuple[Interval, ...]
    _: KW_ONLY
    minus: str = ""
    scaled: bool = False
    applies: Callable[[Finding], bool] = always

    @property
    def cuts(self) -> list[float]:
        """The thresholds in ascending order."""
        return sorted({end for side in self.sides for end in side if math.isfinite(end)})

    def number(self, finding: Finding) -> Estimated | None:
        """The quantity that is compared; None if it has no interval, or the verdict does not use it."""
        number = finding.over_null.get(self.minus) if self.minus else finding
        return estimated(number, finding.level) if self.applies(finding) else None

    def decides(self, ends: Interval, whole: float) -> bool:
        """Whether the interval lies on one side; ``whole`` is the range of predictions."""
        unit = whole if self.scaled else 1.0
        low, high = ends
        return low == high or any(least * unit < low and high < most * unit for least, most in self.sides)


def at(
    *cuts: float, minus: str = "", scaled: bool = False, applies: Callable[[Finding], bool] = always
) -> Border:
    """The border of a number, which is decided if its interval lies between two of the ``cuts``, or beyond
    all."""
    ends = (-math.inf, *cuts, math.inf)
    return Border(tuple(pairwise(ends)), minus=minus, scaled=scaled, applies=applies)


def above(null: str) -> Callable[[Finding], bool]:
    """Of findings that lie above a null."""

    def applies(finding: Finding) -> bool:
        difference = finding.over_null.get(null)
        return difference is not None and (difference.estimate or 0.0) > 0

    return applies
