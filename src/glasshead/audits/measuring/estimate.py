"""How long the inputs that are left will take, from those that were measured."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from glasshead.arrays import AnyFloats

EVERY = 64
"""Passes of an audit that every input takes, next to one for each of its tokens."""


class Estimate:
    """Seconds of each audit for a unit of work, a token in a pass: an input of n tokens has n (n + `EVERY`).
    What an audit measured first counts only until it has measured more: it pays for what is done once.

    ``missing`` says which inputs [N] lack a row of each audit, ``tokens`` [N] how long they are.
    """

    def __init__(self, missing: Mapping[str, NDArray[np.bool_]], tokens: NDArray[np.int64]) -> None:
        work = np.maximum(tokens, 1.0) * (tokens + EVERY)
        self.work = {key: np.where(own, work, 0.0) for key, own in missing.items()}
        self.ahead = {key: float(own.sum()) for key, own in self.work.items()}
        self.spent = dict.fromkeys(missing, 0.0)
        self.first: dict[str, tuple[float, float]] = {}
        self.later = dict.fromkeys(missing, (0.0, 0.0))

    def add(self, key: str, places: NDArray[np.int64], seconds: float) -> None:
        """An audit took so long for some inputs."""
        work = float(self.work[key][places].sum())
        self.ahead[key] -= work
        self.spent[key] += seconds
        if key in self.first:
            before, done = self.later[key]
            self.later[key] = before + seconds, done + work
        else:
            self.first[key] = seconds, work

    def rate(self, key: str) -> float:
        """Seconds of an audit for a unit of work; 0 where nothing is known of it yet."""
        seconds, work = self.later[key] if self.later[key][1] else self.first.get(key, (0.0, 0.0))
        return seconds / work if work else 0.0

    @property
    def is_known(self) -> bool:
        """Whether anything was measured, so that there is an estimate."""
        return bool(self.first)

    def seconds_of(self, places: NDArray[np.int64]) -> AnyFloats:
        """What each of some inputs will take."""
        return np.sum([self.rate(key) * work[places] for key, work in self.work.items()], axis=0)

    @property
    def left(self) -> float:
        """Seconds of one process for all that is left."""
        return sum(self.rate(key) * ahead for key, ahead in self.ahead.items())

    @property
    def behind(self) -> float:
        """Seconds that were spent."""
        return sum(self.spent.values())

    @property
    def share(self) -> float:
        """The part of the work that is behind."""
        return self.behind / (self.behind + self.left) if self.left > 0 else 1.0
