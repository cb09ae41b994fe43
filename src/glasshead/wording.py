"""Words put together: lists, sentences, confidence levels."""

from collections.abc import Iterable, Sequence


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
    return f" It takes at least {needed:,}." if few else f" About {needed:,} {texts} would decide it."


def percent(level: float) -> str:
    """A level: ``98.75 %``."""
    return f"{100 * level:.4g}\u00a0%"


def percents(levels: Iterable[float]) -> str:
    """Different levels, smallest first: ``95 % or 98.75 %``; empty for none."""
    return " or ".join(map(percent, sorted(set(levels))))
