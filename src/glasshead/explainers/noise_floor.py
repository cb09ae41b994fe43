"""Explanations whose products are of halves: what float32 says of a few inputs is their noise floor.

The floor is the largest |s − s₃₂| of a score on these inputs, so the difference of two scores is off by up to
twice as much there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from glasshead.huggingface import overflow
from glasshead.results import Attribution, Attributions

FLOOR_TEXTS = 8
"""So many inputs are explained in float32, too."""


def with_floor(coarse: Attributions, fine: Sequence[Attribution], half: str) -> Attributions:
    """Explanations in halves with notes on their noise floor; ``fine`` are the first ones in float32.

    Raises:
        InputError: if scores overflow in halves.
    """
    pairs, several = list(zip(coarse, fine, strict=False)), len({one.method for one in coarse}) > 1
    notes = list(coarse.notes)
    for method in dict.fromkeys(one.method for one in coarse):
        own = [(one, exact) for one, exact in pairs if one.method == method]
        if any(lacks_numbers(*pair) for pair in own):  # gradients can overflow where logits do not
            raise overflow()
        notes += [f"{method}: {note}" if several else note for note in notes_on(own, half)]
    return replace(coarse, notes=tuple(notes))


def lacks_numbers(one: Attribution, exact: Attribution) -> bool:
    """Whether a score is finite in float32 alone."""
    return bool((np.isfinite(exact.scores) & ~np.isfinite(one.scores)).any())


def largest_gap(pairs: Iterable[tuple[Attribution, Attribution]]) -> float:
    """By how much scores differ at most."""
    gaps = (np.abs(np.subtract(one.scores, exact.scores)) for one, exact in pairs)
    return float(max((gap[np.isfinite(gap)].max(initial=0.0) for gap in gaps), default=0.0))


def notes_on(pairs: Sequence[tuple[Attribution, Attribution]], half: str) -> list[str]:
    """Which differences can be told from noise, and how many inputs are predicted otherwise."""
    floor, nouns = largest_gap(pairs), pairs[0][0].nouns
    count = nouns.count(len(pairs))
    if not floor:
        return [f"products in {half}: on {count} the scores are those of float32"]
    notes = [
        f"products in {half}: on {count} the scores differ from float32 by up to {floor:.2g}, the noise "
        f"floor; differences below {2 * floor:.2g} are not distinguishable"
    ]
    if all(np.ptp(own.scores) < 2 * floor for own, _ in pairs if own.scores):
        notes.append(f"no two scores of these are distinguishable in {half}")
    if others := sum(own.predicted != exact.predicted for own, exact in pairs):
        notes.append(f"{half} changes the prediction of {others} of {count}")
    return notes
