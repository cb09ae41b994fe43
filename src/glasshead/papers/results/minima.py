"""Trained models side by side: what each attends to, and the loss around and between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from glasshead.arrays import AnyFloats
from glasshead.results import json_text

PARTS = ("semantic", "positional", "mixed")
"""Of a score: letter with letter, place with place, and one with the other."""


@dataclass(frozen=True)
class Curvature:
    """The smallest and the largest eigenvalue of the Hessian of the mean loss of training, the norm of its
    gradient, and the loss."""

    smallest: float
    largest: float
    gradient: float
    loss: float


@dataclass(frozen=True)
class Solution:
    """One trained model: ``weights`` [queries, keys] and ``parts`` of the scores are those of one text;
    ``shares`` of the variance of scores along a row, by part, add up to 1. ``entropy`` is relative to that
    of uniform weights. Accuracy, loss, entropy and shares are means over texts of test; ``intervals`` are
    their intervals over texts. ``curvatures`` are those of the training loss, "constrained" to the inputs
    of the scores in training, and "freed" to read letters and places."""

    name: str
    accuracy: float
    loss: float
    entropy: float
    shares: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float] | None]
    curvatures: Mapping[str, Curvature]
    weights: AnyFloats
    parts: Mapping[str, AnyFloats]


@dataclass(frozen=True)
class LossLine:
    """The loss at equal steps on the line between the parameters of two models, which are named by number,
    and whether the hidden units of the second were ``matched`` to those of the first."""

    ends: tuple[int, int]
    matched: bool
    losses: AnyFloats

    @property
    def barrier(self) -> float:
        """max_t L(t) − ((1 − t) L(0) + t L(1)).

        Source: Frankle et al. (2020), Linear mode connectivity and the lottery ticket hypothesis.
        """
        chord = np.linspace(self.losses[0], self.losses[-1], len(self.losses))
        return float((self.losses - chord).max())


@dataclass(frozen=True)
class Minima:
    """Several models on the same texts; ``queries`` and ``keys`` name rows and columns of the maps that are
    shown. ``texts`` of test were read, ``train_texts`` of train for losses and gradients, and
    ``landscape_texts`` of these for Hessians and lines."""

    solutions: Sequence[Solution]
    lines: Sequence[LossLine]
    queries: Sequence[str]
    keys: Sequence[str]
    texts: int
    train_texts: int
    landscape_texts: int

    def to_json(self) -> str:
        """All numbers, for use in programs."""
        solutions = [
            {
                "name": one.name,
                "accuracy": one.accuracy,
                "loss": one.loss,
                "entropy": one.entropy,
                "score_variance": dict(one.shares),
                "intervals": {
                    name: None if ends is None else list(ends) for name, ends in one.intervals.items()
                },
                "training_loss": dict(one.curvatures),
                "weights": one.weights,
                "score_parts": one.parts,
            }
            for one in self.solutions
        ]
        lines = [
            {
                "ends": [self.solutions[end].name for end in line.ends],
                "matched_hidden_units": line.matched,
                "barrier": line.barrier,
                "losses": line.losses,
            }
            for line in self.lines
        ]
        values = {
            "texts": self.texts,
            "train_texts": self.train_texts,
            "landscape_texts": self.landscape_texts,
            "queries": list(self.queries),
            "keys": list(self.keys),
            "solutions": solutions,
            "lines": lines,
        }
        return json_text(values)
