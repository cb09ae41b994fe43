"""More inputs until some questions are decided: looks at doubling numbers, with the error spent on each."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from glasshead.errors import InputError
from glasshead.results import MIN_UNITS, AuditCard
from glasshead.statistics import LEVEL

FIRST_LOOK = 32
"""Inputs at the first look; at each further one they are twice as many."""
LEVEL_NOTE = "; intervals are at "
"""Begins what a note says of the level of a last look."""
OF_THESE_INPUTS = ("same value", "one class")
"""Why findings are not evidence where other inputs may make them one."""


class Looks:
    """Judges what was measured at 32, 64, 128, … inputs, and at last all that there is, and says whether all
    questions are decided: by the inputs of the last look and no others.

    Look k is at the level 1 − α / (k (k + 1)), α = 0.05: these errors sum to α however often one looks, so
    what is said at the end is wrong in at most 5 % of audits, whenever they stop. ``judge`` makes a card of
    some inputs, by their places, at a level.

    Source: Lan and DeMets (1983), with a spending function that needs no last look.
    """

    def __init__(self, names: Sequence[str], judge: Callable[[NDArray[np.int64], float], AuditCard]) -> None:
        self.names, self.judge = names, judge
        self.number, self.decided, self.places = 0, False, np.array([], dtype=np.int64)

    @property
    def level(self) -> float:
        """That of the last look."""
        return look_level(self.number)

    def __call__(self, places: NDArray[np.int64]) -> bool:
        """Whether all is decided by the inputs that were measured, if it is time to look."""
        number = (len(places) // FIRST_LOOK).bit_length()
        if not self.decided and number > self.number:  # several that are due have one look, at the last
            self.judge_look(number, places)
        return self.decided

    def end(self, places: NDArray[np.int64]) -> None:
        """Look at all inputs that there are, where fewer have not decided."""
        if not self.decided and (len(places) > len(self.places) or not self.number):
            self.judge_look(self.number + 1, places)

    def judge_look(self, number: int, places: NDArray[np.int64]) -> None:
        """Judge some inputs at the level of a look."""
        self.number, self.places = number, places
        card = self.judge(places, self.level)
        decided = [is_decided(card, name) for name in self.names]  # each name may be refused
        self.decided = all(decided)


def look_level(number: int) -> float:
    """The level of a look."""
    return 1 - (1 - LEVEL) / (number * (number + 1))


def is_decided(card: AuditCard, name: str) -> bool:
    """Whether a finding decides its claim; of one without a claim, whether its interval leaves the null out.

    Raises:
        InputError: on a name that no finding has, and on what no text can decide.
    """
    finding = card.find(name)
    claims = [claim for claim in card.conclusion.claims if claim.finding == finding.name]
    if claims and claims[0].holds != "undecided":
        return finding.n >= MIN_UNITS
    if finding.status == "not evidence" and finding.reason not in OF_THESE_INPUTS:
        raise InputError(f"{name} cannot be decided by more texts ({finding.verdict}): leave it out")
    if finding.status != "evidence" or finding.n < MIN_UNITS or claims:
        return False
    if not finding.null:
        raise InputError(f"{name} cannot be decided: it has neither a claim nor a null; leave it out")
    ends = [pair.interval for pair in finding.over_null.values()]
    return bool(ends) and all(end is not None and not end[0] <= 0 <= end[1] for end in ends)
