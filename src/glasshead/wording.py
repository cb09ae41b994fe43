"""Words put together: lists, sentences, confidence levels."""

from collections.abc import Iterable, Sequence

MOST_INPUTS = 100_000
"""More inputs than these are said to be more, not how many."""


def join_names(names: Sequence[str]) -> str:
    """``a, b and c``; empty for none."""
    *first, last = names or ("",)
    return f"{', '.join(first)} and {last}" if first else last


def capitalise(text: str) -> str:
    """The text with a capital first."""
    return text[:1].upper() + text[1:]


def sentence(words: str) -> str:
    """Words as a sentence: a capital first, unless it is a symbol, and a full stop last."""
    if not words:
        return ""
    start = words[0].upper() if words[0].isascii() else words[0]
    return start + words[1:] + ("" if words[-1] in ".!?" else ".")


def decided_by(needed: int | None, texts: str, *, few: bool = False) -> str:
    """About how many ``texts`` would decide what is undecided: a sentence to go on with, empty if nobody
    knows."""
    if needed is None:
        return ""
    if few:
        return f" It takes at least {needed:,}."
    if needed > MOST_INPUTS:
        return f" It would take more than {MOST_INPUTS:,} {texts} to decide it."
    return f" About {needed:,} {texts} would decide it."


def taking(needed: int | None, texts: str, *, few: bool = False) -> str:
    """The same in brackets: `` (it would take about 340 texts)``."""
    if needed is None:
        return ""
    if few:
        return f" (it takes at least {needed:,})"
    about = f"more than {MOST_INPUTS:,}" if needed > MOST_INPUTS else f"about {needed:,}"
    return f" (it would take {about} {texts})"


def percent(level: float) -> str:
    """A level: ``98.75 %``."""
    return f"{100 * level:.4g}\u00a0%"


def percents(levels: Iterable[float]) -> str:
    """Different levels, smallest first: ``95 % or 98.75 %``; empty for none."""
    return " or ".join(map(percent, sorted(set(levels))))
