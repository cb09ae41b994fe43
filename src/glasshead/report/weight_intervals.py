"""The range of a weight in words and numbers: all values that give the same output of the head."""

import math
from collections.abc import Iterable

from glasshead.report.number_format import MINUS, finite, number, times_ten
from glasshead.results import POINT_WIDTH, Attribution

MEANING = "all weights that give the same head output; not a confidence interval"
ARROW = 0.15  # of an axis
HATCH, UNKNOWN = "░", "?"
TYPICAL = 0.01  # how far rounding moves an end, of 1/margin


def end(value: float, plus: bool = False) -> str:
    """One end of a range: a number, zero if it comes close to it, or −∞ and ∞."""
    if math.isinf(value):
        return f"{MINUS}∞" if value < 0 else "∞"
    return number(0.0 if abs(value) <= POINT_WIDTH else value, plus=plus)


def range_text(attribution: Attribution, token: int) -> str:
    """``certain``, or ``[low, high]``, or a question mark where the range is not known."""
    ends = attribution.interval(token)
    if ends is None:
        return UNKNOWN
    if attribution.certain(token):
        return "certain"
    return f"[{end(ends[0], attribution.signed)}, {end(ends[1], attribution.signed)}]"


def spoken_range(attribution: Attribution, *tokens: int) -> str:
    """The same in words."""
    ends = attribution.interval(*tokens)
    if ends is None:
        return "range not known"
    if attribution.certain(*tokens):
        return "certain"
    low, high = (end(value, attribution.signed) for value in ends)
    return f"could be {low} to {high}" + (", so perhaps zero" if attribution.may_be_zero(*tokens) else "")


def summary_of_ranges(attribution: Attribution) -> str:
    """How many weights of a text are certain, may be zero, or have no known range."""
    tokens = range(len(attribution.scores))
    certain = sum(map(attribution.certain, tokens))
    zero = sum(map(attribution.may_be_zero, tokens))
    unknown = sum(attribution.interval(token) is None for token in tokens)
    counts = f"{certain} of {len(tokens)} weights certain, {zero} may be zero"
    return counts + (f", {unknown} not known" if unknown else "") + precision_note(attribution)


def precision_note(attribution: Attribution) -> str:
    """How good the ends of the ranges are, where that is known."""
    if not attribution.conditioning:
        return ""
    size = f"{TYPICAL * attribution.conditioning:.0e}".split("e")
    close = "" if attribution.clear else ": ranks are close to rounding, so no weight is called certain"
    return f"; ends good to about {size[0]}{times_ten(int(size[1]))}{close}"


def extremes(attributions: Iterable[Attribution]) -> tuple[float, float]:
    """The ends of an axis that holds zero, all weights and all ends of ranges, with room for arrows where
    nothing bounds a range."""
    low = high = 0.0
    arrows = [False, False]
    for attribution in attributions:
        for token, score in enumerate(attribution.scores):
            ends = attribution.interval(token) or ()
            known = [value for end in (score, *ends) if (value := finite(end)) is not None]
            low, high = min([low, *known]), max([high, *known])
            arrows = [arrows[0] or -math.inf in ends, arrows[1] or math.inf in ends]
    room = ARROW * max(high - low, POINT_WIDTH)
    return low - room * arrows[0], high + room * arrows[1]
