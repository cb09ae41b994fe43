"""What a model answers under other weights, and how far that is from what it answered before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

VALUE_RESOLUTION = 1e-6
"""Answers are computed in float32: a smaller change of ŷ is rounding."""


@dataclass(frozen=True)
class Change:
    """How ŷ changes, and whether another class is predicted; arrays of one shape, draws last. NaN and no for
    a text without tokens."""

    of_value: NDArray[np.float32]
    of_class: NDArray[np.bool_]

    def is_large(self, least: float) -> NDArray[np.bool_]:
        """Whether another class is predicted, or ŷ changes by ``least`` or more."""
        return np.asarray(self.of_class | (np.abs(self.of_value) >= least))


@dataclass(frozen=True)
class Answers:
    """ŷ in float32 and the class that is predicted (one for all ratings); arrays of one shape, draws last."""

    values: NDArray[np.float32]
    classes: NDArray[np.int64]

    @classmethod
    def empty(cls, *shape: int) -> Answers:
        """Room for so many answers, all NaN."""
        return cls(np.full(shape, np.nan, dtype=np.float32), np.zeros(shape, dtype=np.int64))

    def __getitem__(self, key: Any) -> Answers:
        return Answers(self.values[key], self.classes[key])

    def __setitem__(self, key: Any, others: Answers) -> None:
        self.values[key], self.classes[key] = others.values, others.classes

    def swap_first_axes(self) -> Answers:
        """Answers with the first two axes exchanged."""
        return Answers(self.values.swapaxes(0, 1), self.classes.swapaxes(0, 1))

    def repeat(self, draws: int) -> Answers:
        """Those of one draw, so many times."""
        return Answers(np.repeat(self.values, draws, axis=-1), np.repeat(self.classes, draws, axis=-1))

    def split(self, sizes: list[int]) -> list[Answers]:
        """Runs of so many draws, one after another."""
        ends = np.cumsum(sizes[:-1])
        values, classes = np.split(self.values, ends, axis=-1), np.split(self.classes, ends, axis=-1)
        return [Answers(own, predicted) for own, predicted in zip(values, classes, strict=True)]

    def change_from(self, before: Answers, resolution: float = VALUE_RESOLUTION) -> Change:
        """The change from other answers, whose shape may broadcast: rounding is none, nor is another class
        without any change of ŷ, which is a tie."""
        of_value = self.values - before.values
        of_value[np.abs(of_value) < resolution] = 0
        return Change(of_value, (self.classes != before.classes) & np.nan_to_num(of_value).astype(bool))
