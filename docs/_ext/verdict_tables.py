"""What audits ask, and which answers lead to which first sentence: tables from the code."""

import math
from string import Formatter

from glasshead.audits import AUDITS, CASES
from glasshead.audits.question import Question

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


def cases() -> str:
    """The first sentence, case by case."""
    lines = ["| case | where | the first sentence |", "|---|---|---|"]
    for number, case in enumerate(CASES, 1):
        where = "; ".join(f"{CALLED[name]}: {' or '.join(values)}" for name, values in case.when.items())
        says = Formatter().vformat(case.says, (), Blanks())
        lines.append(f"| {number} | {where or 'otherwise'} | {says} |")
    return "\n".join(lines) + "\n"


def questions() -> str:
    """What every audit asks, with unit, range, direction, null and claim."""
    lines = ["| numbers | question | unit | range | better | claim |", "|---|---|---|---|---|---|"]
    for name in sorted(AUDITS, key=lambda name: AUDITS[name].place):
        for one in AUDITS[name].questions:
            called = ".".join(part for part in (name, one.statistic, one.against) if part)
            cells = [
                blank(one.title),
                blank(one.unit),
                range_of(one),
                "low" if one.low_is_good else "",
                blank(one.claim),
            ]
            lines.append(
                "| "
                + " | ".join([f"`{called}`", *(cell.replace("|", r"\|") or "–" for cell in cells)])
                + " |"
            )
    return "\n".join(lines) + "\n"


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
    return {"verdict-cases": cases(), "questions": questions()}
