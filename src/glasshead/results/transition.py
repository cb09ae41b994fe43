"""Positional and semantic solutions over the number of texts, by theory and by training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from glasshead.results.json_text import json_text

TRANSITION_QUANTITIES = ("m", "theta", "loss", "error")
"""|m|, |θ|, the training loss and the error on new texts, both over d."""


@dataclass(frozen=True)
class TransitionPoint:
    """At one α, from one start: the solution in high dimensions, and one training for each seed."""

    alpha: float
    start: str
    theory: Mapping[str, float]
    trained: Sequence[Mapping[str, float]]


@dataclass(frozen=True)
class Transition:
    """All points, the settings they share, ``critical``: α_c of the theory (None: not between the ends), and
    ``linear``: the error of the best fixed attention."""

    settings: Mapping[str, float]
    points: Sequence[TransitionPoint]
    critical: float | None
    linear: float

    def to_json(self) -> str:
        """All numbers, as a program reads them."""
        return json_text(self)
