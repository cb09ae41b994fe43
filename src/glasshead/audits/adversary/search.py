"""How long, and how close, other maps are looked for."""

from __future__ import annotations

from dataclasses import dataclass, replace

CHEAPER = 8


@dataclass(frozen=True)
class Search:
    """How long the farthest map of a text is looked for: from so many random ``starts``, each with at most so
    many ``passes``, then from twice as many, four times, … until some of them end at the same distance, or
    ``waves`` are done (`glasshead.audits.adversary.waves.Waves`)."""

    epsilon: float = 0.01
    starts: int = 8
    passes: int = 160
    waves: int = 3

    @property
    def in_readout(self) -> Search:
        """Where no model is run for a start, there are `CHEAPER` times as many, and a wave less."""
        return replace(self, starts=CHEAPER * self.starts, waves=max(self.waves - 1, 1))
