"""How long the inputs that are left will take, from those that were measured."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from glasshead.arrays import AnyFloats

EVERY = 64
"""Passes of an audit that every input takes, beside one for each of its tokens."""


class Estimate:
    """Seconds of each audit for a unit of work, a token in a pass: an input of n tokens has n (n + `EVERY`).

    ``missing`` says which inputs [N] lack a row of each audit, ``tokens`` [N] how long they are.
    """

    def __init__(self, missing: Mapping[str, NDArray[np.bool_]], tokens: NDArray[np.int64]) -> None:
        work = np.maximum(tokens, 1.0) * (tokens + EVERY)
        self.work = {key: np.where(own, work, 0.0) for key, own in missing.items()}
        self.done, self.spent = dict.fromkeys(missing, 0.0), dict.fromkeys(missing, 0.0)

    def add(self, key: str, places: NDArray[np.int64], seconds: float) -> None:
        """An audit took so long for some inputs."""
        self.done[key] += float(self.work[key][places].sum())
        self.spent[key] += seconds
        self.work[key][places] = 0.0

    @property
    def is_known(self) -> bool:
        """Whether anything was measured, so that there is an estimate."""
        return any(self.done.values())

    def seconds_of(self, places: NDArray[np.int64]) -> AnyFloats:
        """What each of some inputs will take; of an audit that was not measured yet nothing is known."""
        costs = np.zeros(len(places))
        for key, work in self.work.items():
            if self.done[key]:
                costs += self.spent[key] / self.done[key] * work[places]
        return costs

    @property
    def left(self) -> float:
        """Seconds of one process for all that is left."""
        known = (key for key, done in self.done.items() if done)
        return sum(self.spent[key] / self.done[key] * float(self.work[key].sum()) for key in known)

    @property
    def behind(self) -> float:
        """Seconds that were spent."""
        return sum(self.spent.values())

    @property
    def share(self) -> float:
        """The part of the work that is behind."""
        return self.behind / (self.behind + self.left) if self.left > 0 else 1.0
