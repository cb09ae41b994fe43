"""What audits ask, by which intervals and thresholds, and which answers lead to which first sentence: tables
from the code."""

import math
from collections.abc import Iterable, Sequence
from string import Formatter

from glasshead.audits import AUDITS, CASES
from glasshead.audits.head_report import LITTLE
from glasshead.audits.judging.agreement_strength import GOOD_AGREEMENT
from glasshead.audits.judging.border import Border
from glasshead.audits.judging.question import Question
from glasshead.audits.measuring.reference import REFERENCE_INPUTS
from glasshead.results import (
    FIFTH,
    FIFTIETH,
    LARGE_CHANGE,
    MIN_UNITS,
    NEGLIGIBLE,
    NOT_USED,
    SMALL_CHANGE,
)
from glasshead.statistics import INTERVALS, LEVEL
from glasshead.statistics.spread import FAR_OUT, STRAY_SHARE
from glasshead.wording import MOST_INPUTS, percent

CALLED = {
    "guessing": "against guessing",
    "choice": "other weights are possible",
    "weights": "weights of a text",
    "decides": "uniform weights change the predictions",
    "shuffled": "shuffled weights change them",
    "points": "large where a token matters",
}
"""What the conditions of the cases are called."""


class Blanks(dict[str, str]):
    """Fields of a sentence as they are shown where nothing fills them."""

    def __missing__(self, name: str) -> str:
        return {"layer": "", "order": "", "more": "", "elsewhere": ""}.get(
            name, f"*{name.replace('_', ' ')}*"
        )


OF_RANGE = "of the range of predictions"
EXTENTS = (
    (f"from {percent(1 - FIFTH)} on, and {percent(1 - FIFTIETH)} is possible", "these predictions"),
    (f"above {percent(0.5)}", "most of these predictions"),
    (f"above {percent(FIFTIETH)}", "some of these predictions"),
)
THRESHOLDS = {
    "a change": (f"{SMALL_CHANGE:g} {OF_RANGE} or more", "a smaller one is hardly any"),
    "a large change": (f"{LARGE_CHANGE:g} {OF_RANGE} or more", "*changes much*"),
    "a negligible difference": (f"below {NEGLIGIBLE:g} {OF_RANGE}", "of two changes, however certain it is"),
    "moderate agreement": (f"τ-b of {GOOD_AGREEMENT:g} or more", "weights are large where a token matters"),
    "nearly uniform weights": (f"entropy above {NOT_USED:g}", "1 is uniform"),
    "little attention": (f"{LITTLE:g} or less", "a difference of two shares of attention that is hardly one"),
    "too few": (f"fewer than {MIN_UNITS}", "they decide nothing"),
    "reference texts": (f"{REFERENCE_INPUTS}", "the first in random order"),
    "a far label": (f"more than {FAR_OUT:g} interquartile ranges from the quartiles", ""),
    "strays": (f"one label, or at most {percent(STRAY_SHARE)} of them", "if they are far labels"),
    "too many to count": (f"more than {MOST_INPUTS:,}", "how many texts would decide is then not said"),
}
"""What thresholds are called on the page, their values, and a word on each."""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Rows of Markdown."""
    lines = (f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows))
    return "\n".join(lines) + "\n"


def cases() -> str:
    """The first sentence, case by case."""
    rows = []
    for number, case in enumerate(CASES, 1):
        where = "; ".join(f"{CALLED[name]}: {' or '.join(values)}" for name, values in case.when.items())
        says = Formatter().vformat(case.says, (), Blanks())
        rows.append([str(number), where or "otherwise", says])
    return table(["case", "where", "the first sentence"], rows)


def extents() -> str:
    """In how many texts the weights decide, by the interval of the share."""
    rows = [(where, f"the weights decide {which}") for where, which in EXTENTS]
    no = f"up to {percent(FIFTH)}, and {percent(FIFTIETH)} is possible"
    rows += [(no, "the weights do not decide these predictions")]
    rows += [(f"otherwise, and of fewer than {MIN_UNITS} texts", "not settled")]
    return table(["interval of the share", "the words"], rows)


def thresholds() -> str:
    """What the words for sizes mean."""
    return table(["called", "what", ""], [(name, *values) for name, values in THRESHOLDS.items()])


def intervals() -> str:
    """Which interval a statistic has, and how often it holds the truth."""
    rows = [(kind.of, kind.interval, f"{percent(kind.covers)} or more") for kind in INTERVALS]
    return table(["of what", "interval", f"covers, at {percent(LEVEL)}"], rows)


def questions() -> str:
    """What every audit asks, with unit, range, direction, null, thresholds and claim."""
    head = ["numbers", "question", "unit", "range", "better", "compared with", "threshold", "claim"]
    rows = []
    for name in sorted(AUDITS, key=lambda name: AUDITS[name].place):
        for one in AUDITS[name].questions:
            called = ".".join(part for part in (name, one.statistic, one.against) if part)
            cells = [
                blank(one.title),
                blank(one.unit),
                range_of(one),
                "low" if one.low_is_good else "",
                null_of(one),
                borders_of(one),
                claim_of(one),
            ]
            rows.append([f"`{called}`", *(cell.replace("|", r"\|") or "–" for cell in cells)])
    return table(head, rows)


def null_of(question: Question) -> str:
    """The nulls from which a difference decides, or why there is none."""
    names = dict.fromkeys(border.minus for border in question.borders if border.minus)
    return ", ".join(names) or (question.no_null and f"none: {blank(question.no_null)}")


def borders_of(question: Question) -> str:
    """What its interval is compared with, or why no number of texts decides."""
    return "; ".join(map(border_words, question.borders)) or f"none: {blank(question.no_number)}"


def border_words(border: Border) -> str:
    """``minus random: 0``, ``0.05 of the range``."""
    cuts = ", ".join(f"{cut:g}".replace("-", "−") for cut in border.cuts)
    start = f"minus {border.minus}: " if border.minus else ""
    return f"{start}{cuts}{f' {OF_RANGE}' if border.scaled else ''}"


def claim_of(question: Question) -> str:
    """The claim, and where its answer changes."""
    changes = " and ".join(f"{threshold:g}" for threshold in question.claim_at)
    return blank(question.claim) and f"{blank(question.claim)} (changes at {changes})"


def blank(template: str) -> str:
    """A sentence as it stands in the code, with words in place of its fields."""
    words = Blanks(method="attention", log="", prediction="the predicted probability", a_token="a token")
    return Formatter().vformat(
        template,
        (),
        Blanks(words | {"tokens": "tokens", "token": "token", "words": "words", "texts": "texts"}),
    )


def range_of(question: Question) -> str:
    """``0 to 1``, or as far as it goes, for a classifier."""
    low, high = question.range(None)
    if not math.isfinite(low):
        return ""
    return f"{low:g} to {high:.3g}" if math.isfinite(high) else f"from {low:g}"


def tables() -> dict[str, str]:
    """Markdown by name."""
    return {
        "verdict-cases": cases(),
        "verdict-extents": extents(),
        "verdict-thresholds": thresholds(),
        "verdict-intervals": intervals(),
        "questions": questions(),
    }
