"""More inputs until some questions are decided: looks at doubling numbers, with the error spent on each."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from glasshead.errors import InputError
from glasshead.results import AuditCard, Finding
from glasshead.statistics import LEVEL

FIRST_LOOK = 32
"""Inputs at the first look; at each further one they are twice as many."""


class Looks:
    """Judges what was measured at 32, 64, 128, … inputs, and says whether all questions are decided.

    Look k is at the level 1 − α / (k (k + 1)), α = 0.05: these errors sum to α however often one looks, so
    what is said at the end is wrong in at most 5 % of audits, whenever they stop. ``judge`` makes a card of
    some inputs, by their places, at a level.

    Source: Lan and DeMets (1983), with a spending function that needs no last look.
    """

    def __init__(self, names: Sequence[str], judge: Callable[[NDArray[np.int64], float], AuditCard]) -> None:
        self.names, self.judge = names, judge
        self.number, self.decided = 0, False

    @property
    def level(self) -> float:
        """That of the last look, or of the one to come where none has decided."""
        return look_level(self.number if self.decided else self.number + 1)

    def __call__(self, places: NDArray[np.int64]) -> bool:
        """Whether all is decided by the inputs that were measured, if it is time to look."""
        number = (len(places) // FIRST_LOOK).bit_length()
        if not self.decided and number > self.number:  # several that are due have one look, at the last
            self.number = number
            card = self.judge(places, look_level(number))
            self.decided = all(is_decided(card, name) for name in self.names)
        return self.decided


def look_level(number: int) -> float:
    """The level of a look."""
    return 1 - (1 - LEVEL) / (number * (number + 1))


def is_decided(card: AuditCard, name: str) -> bool:
    """Whether a finding decides its claim; of one without a claim, whether its interval leaves the null out.

    Raises:
        InputError: on a name that no finding has, and on what no text can decide.
    """
    finding = card.find(name)
    if finding.status == "not evidence":
        raise InputError(f"{name} cannot be decided by more texts ({finding.verdict}): leave it out")
    claims = [claim for claim in card.conclusion.claims if claim.finding == finding.name]
    return claims[0].holds != "undecided" if claims else beats_or_misses_null(finding)


def beats_or_misses_null(finding: Finding) -> bool:
    """Whether all paired differences from nulls are clear of zero."""
    if finding.status != "evidence":
        return False
    ends = [pair.interval for pair in finding.over_null.values() if pair.interval is not None]
    return all(not low <= 0 <= high for low, high in ends)
