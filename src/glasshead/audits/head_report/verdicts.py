"""What a number about a head or a layer comes to, in words."""

from __future__ import annotations

from typing import NamedTuple

from glasshead.audits.head_report.text_statistics import RANDOM
from glasshead.audits.judging.summary import Interval, StatSummary
from glasshead.nouns import Nouns
from glasshead.results import (
    ALMOST_ALL,
    HARDLY_ANY,
    LARGE_CHANGE,
    NOT_USED,
    OFFSET,
    SMALL_CHANGE,
    TOO_FEW_EXAMPLES,
    Verdict,
)

UNIFORM_NULL = "uniform"
OTHER_ROWS = "other rows"
BESIDE_UNIFORM = (
    "more than uniform attention gives",
    "less than uniform attention gives",
    "about what uniform attention gives",
    "not distinguishable from uniform attention",
)
BESIDE_OTHER_ROWS = (
    "more than other rows give these {tokens}",
    "less than other rows give these {tokens}",
    "about what other rows give these {tokens}",
    "not distinguishable from what other rows give these {tokens}",
)
MOST = "more than half of its attention"
HALF = 0.5
LITTLE = 0.02
"""Differences of shares that are hardly any: random weights of one model and of another differ by as much."""
NO_SHARES = ("effective-tokens", "mean-distance")
"""What uniform attention has a value of, and is not a share."""
CHANGES, CHANGES_MUCH = "predictions change without it", "predictions change much without it"
HARDLY_CHANGES = "predictions hardly change without it"

GATHERED = "at fewer places than heads with random weights"
UNRELATED_MAPS = "unrelated maps"


def head_verdict(statistic: str, summary: StatSummary, scale: float, nouns: Nouns) -> Verdict:
    """Judge a statistic of a head; ``scale`` is the range of what is predicted."""
    interval = summary.reliable_interval
    if interval is None:
        return TOO_FEW_EXAMPLES
    low, high = interval
    if statistic == "entropy":
        if low > NOT_USED:
            return Verdict("nearly uniform: its weights differ little")
        if high < NOT_USED:
            return Verdict("not nearly uniform")
        return Verdict("undecided: may be nearly uniform", "undecided")
    if statistic == "removal":
        if low > 0 or high < 0:
            return Verdict(f"predictions become {'weaker' if low > 0 else 'stronger'} without it")
        return Verdict("not settled whether predictions become weaker or stronger without it")
    if statistic == "removal-size":
        return size_verdict(low / scale, high / scale)
    if statistic == "identifiable":
        return identifiable_verdict(low, high, nouns)
    if statistic == OFFSET:
        return judge_offset(summary, nouns)
    if statistic == "image-spread":
        return judge_spread(summary)
    if UNIFORM_NULL in summary.null and statistic not in NO_SHARES:
        return judge_attention_share(summary)
    return Verdict("")


def judge_direct(summary: StatSummary, by_chance: Interval | None) -> Verdict:
    """Judge what a head adds to the predicted token directly, next to heads with random weights: the
    predicted token is the one that a model makes largest, so that most parts of any model raise it."""
    interval = summary.reliable_interval
    if interval is None or by_chance is None:
        return TOO_FEW_EXAMPLES
    low, high = interval
    if low > max(0.0, by_chance[1]) or high < min(0.0, by_chance[0]):
        return Verdict(f"directly {'raises' if low > 0 else 'lowers'} the predicted token")
    return Verdict("direct effect not distinguishable from random weights")


def judge_spread(summary: StatSummary) -> Verdict:
    """Judge over how many pieces of an image a map is spread, next to random weights, whose maps are not
    noise: neighbouring parts of an image are alike."""
    over = summary.reliable_differences.get(RANDOM)
    if over is None:
        return TOO_FEW_EXAMPLES
    if over[1] < 0:
        return Verdict(GATHERED)
    if over[0] > 0:
        return Verdict("at more places than heads with random weights")
    return Verdict("not distinguishable from heads with random weights")


def judge_offset(summary: StatSummary, nouns: Nouns) -> Verdict:
    """Judge the share at a fixed offset, next to what other rows give the same tokens."""
    interval, over = summary.reliable_interval, summary.reliable_differences.get(OTHER_ROWS)
    if interval is None or over is None:
        return TOO_FEW_EXAMPLES
    side = side_of(over)
    if side == 0 and interval[0] > HALF:
        return Verdict(MOST)
    return Verdict(nouns.fill(BESIDE_OTHER_ROWS[side]))


def judge_attention_share(summary: StatSummary) -> Verdict:
    """Judge a share of attention, next to one half and next to uniform attention."""
    interval, over = summary.reliable_interval, summary.reliable_differences.get(UNIFORM_NULL)
    if interval is None or over is None:
        return TOO_FEW_EXAMPLES
    if interval[0] > HALF:
        return Verdict(MOST)
    return Verdict(BESIDE_UNIFORM[side_of(over)])


def size_verdict(low: float, high: float) -> Verdict:
    """Judge how much a prediction changes, as a share of the range of predictions."""
    if high < SMALL_CHANGE:
        return Verdict(HARDLY_CHANGES)
    if low > LARGE_CHANGE:
        return Verdict(CHANGES_MUCH)
    if low > SMALL_CHANGE:
        return Verdict(CHANGES)
    return Verdict("undecided: the change may be negligible", "undecided")


def identifiable_verdict(low: float, high: float, nouns: Nouns) -> Verdict:
    """Judge the share of texts before which a head could have drawn no other map."""
    if high < HARDLY_ANY:
        return Verdict("almost always, other maps give the same output")
    if low > ALMOST_ALL:
        return Verdict("almost always the only map with its output")
    if low > HALF:
        return Verdict("mostly the only map with its output")
    if high < HALF:
        return Verdict("mostly, other maps give the same output")
    return Verdict(f"undecided: between some and most {nouns.texts}", "undecided")


class ComparisonWords(NamedTuple):
    """What a difference of a layer says if it is above, below and within `LITTLE` of zero, or none of these,
    and the null from which it is taken."""

    above: str
    below: str
    little: str
    open: str
    null: str = ""


COMPARISONS = {
    "inflation": ComparisonWords(
        "more attention than A ∂z/∂A accounts for",
        "less attention than A ∂z/∂A accounts for",
        "about the attention that A ∂z/∂A accounts for",
        "not distinguishable from what A ∂z/∂A accounts for",
        UNIFORM_NULL,
    ),
    "joining": ComparisonWords(
        "joining words raises the share",
        "joining words lowers the share",
        "joining words hardly changes the share",
        "not settled whether joining words changes the share",
    ),
    "beyond-unsplit-words": ComparisonWords(
        "more for a special token than for a word that is never split",
        "less for a special token than for a word that is never split",
        "about as much for a special token as for a word that is never split",
        "not distinguishable from a word that is never split",
        UNIFORM_NULL,
    ),
}


def layer_verdict(statistic: str, summary: StatSummary) -> Verdict:
    """Judge a statistic of a layer. A difference of less than `LITTLE` is hardly one, however certain."""
    if statistic not in COMPARISONS:
        if summary.reliable_interval is None:
            return TOO_FEW_EXAMPLES
        return judge_attention_share(summary) if UNIFORM_NULL in summary.null else Verdict("")
    words = COMPARISONS[statistic]
    ends = summary.reliable_differences.get(words.null) if words.null else summary.reliable_interval
    return TOO_FEW_EXAMPLES if ends is None else Verdict(words[side_of(ends)])


def side_of(ends: Interval) -> int:
    """0 for a difference above LITTLE, 1 below −LITTLE, 2 between these, 3 for one that is undecided."""
    low, high = ends
    return 0 if low > LITTLE else 1 if high < -LITTLE else 2 if max(-low, high) <= LITTLE else 3


def pair_verdict(summary: StatSummary) -> Verdict:
    """Judge how far apart heads are on average, next to unrelated maps of the same breadth."""
    over = summary.reliable_differences.get(UNRELATED_MAPS)
    if over is None:
        return TOO_FEW_EXAMPLES
    if over[0] <= 0 <= over[1]:
        return Verdict("heads are not distinguishable from unrelated maps of the same breadth")
    return Verdict(
        f"heads are {'more' if over[1] < 0 else 'less'} alike than unrelated maps of the same breadth"
    )
