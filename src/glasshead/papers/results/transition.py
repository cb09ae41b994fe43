"""Positional and semantic solutions over the number of texts, by theory and by training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from glasshead.results import json_text

TRANSITION_QUANTITIES = ("m", "theta", "loss", "error")
"""|m|, |θ|, the training loss and the error on new texts, both over d."""


@dataclass(frozen=True)
class TransitionPoint:
    """The solution at one α, from one start, in high dimensions, and one training for each seed."""

    alpha: float
    start: str
    theory: Mapping[str, float]
    trained: Sequence[Mapping[str, float]]

    @property
    def converged(self) -> bool:
        """Whether the solution of the theory converged to a fixed point."""
        return bool(self.theory["converged"])


@dataclass(frozen=True)
class Transition:
    """All points, the settings they share, ``critical``: α_c of the theory (None: outside the range, or a
    fixed point did not converge), and ``linear``: the error of the best fixed attention."""

    settings: Mapping[str, float]
    points: Sequence[TransitionPoint]
    critical: float | None
    linear: float

    @property
    def pairs(self) -> list[tuple[TransitionPoint, TransitionPoint]]:
        """The semantic and the positional point of each α."""
        by_kind = {(point.alpha, point.start): point for point in self.points}
        alphas = sorted({point.alpha for point in self.points})
        return [(by_kind[alpha, "semantic"], by_kind[alpha, "positional"]) for alpha in alphas]

    @property
    def crossing(self) -> tuple[float, float] | None:
        """The neighbouring values of α between which the semantic solution gets the lower loss in the
        theory."""
        gaps = [(one.alpha, one.theory["loss"] - other.theory["loss"]) for one, other in self.pairs]
        for (low, before), (high, after) in pairwise(gaps):
            if before > 0 > after:
                return low, high
        return None

    def to_json(self) -> str:
        """All numbers, for use in programs."""
        return json_text(self)
