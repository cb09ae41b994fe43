"""Numbers as the tables of papers print them, and tables in Markdown."""

from collections.abc import Iterator, Sequence

from glasshead.results import Interval

PERCENTS = {
    "accuracy": "accuracy %",
    "macro_f1": "macro-F1 %",
    "positive_w": "heads with w > 0, %",
    "positive_v": "heads with v > 0, %",
    "may_be_zero": "of the five largest, may be zero, %",
    "unique": "unique given the keys, %",
    "undetermined": "undetermined given the keys, %",
    "obtainable": "alternatives that keys of size d_k could make, %",
}
"""Metrics that are printed in per cent."""
NO_BREAK = "\u00a0"
"""A space within a number with its interval, so that a narrow column does not divide it."""
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
UNITS = PERCENTS | {"rmse": "RMSE", "mae": "MAE", "least_w": "least w", "most_w": "greatest w"}
"""How metrics are printed; a table may have names of its own."""


def scale(name: str) -> float:
    """The factor of a metric where it is printed."""
    return 100.0 if name in PERCENTS else 1.0


def decimals(name: str) -> int:
    """Decimals of a metric where it is printed: none of a count, one of a mean rank."""
    if name in PERCENTS:
        return 2
    if name.endswith(("_words", "_tokens", "_steps")):
        return 0
    return 1 if name.startswith(("rank_", "null_")) else 3


def interval_in_words(interval: Interval | None, name: str, sign: str = "") -> str:
    """low … high."""
    if interval is None:
        return ""
    form = f"{sign}.{decimals(name)}f"
    return f"{NO_BREAK}…{NO_BREAK}".join(format_printed(end * scale(name), form) for end in interval)


def markdown_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Rows under their heads."""
    yield "| " + " | ".join(heads) + " |"
    yield "|" + "---|" * len(heads)
    for row in rows:
        yield "| " + " | ".join(text.replace("|", "\\|") for text in row) + " |"


def format_printed(number: float, form: str) -> str:
    """A number with a true minus, and a power of ten in the place of an exponent."""
    digits, _, exponent = f"{number:{form}}".partition("e")
    text = digits.replace("-", "−")
    return f"{text}·10{str(int(exponent)).translate(RAISED)}" if exponent else text
