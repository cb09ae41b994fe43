"""How fast depth makes all tokens alike, and how many directions the logarithm of attention has."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from glasshead.arrays import Floats
from glasshead.results import json_text


@dataclass(frozen=True)
class DepthCurve:
    """The residual ‖H − 1x̄ᵀ‖ / ‖H‖ after 0, 1, … layers, a mean over units (texts or seeds) with its 95 %
    interval (NaN for fewer than two units).

    ``panel`` says which model the weights belong to, ``name`` which part of a layer was run. ``n`` are the
    units of each depth, those whose states are not 0.
    """

    panel: str
    name: str
    unit: str
    n: Sequence[int]
    mean: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True)
class LogRank:
    """The rank of log |A| in each of several draws; empty where a weight is 0, so that its log is −∞."""

    name: str
    ranks: Sequence[int]


@dataclass(frozen=True)
class RankCollapse:
    """Curves over depth, ranks of log |A| by mechanism, and remarks on both.

    ``ranks`` are of ``rows`` × ``rows`` weights between queries and keys of ``head_dim`` numbers.
    """

    COLUMNS: ClassVar = ("panel", "curve", "unit", "n", "depth", "residual", "low", "high")

    name: str
    curves: Sequence[DepthCurve]
    ranks: Sequence[LogRank] = ()
    head_dim: int = 0
    rows: int = 0
    remarks: Sequence[str] = field(default=())

    @property
    def lines(self) -> list[tuple[str | int | float, ...]]:
        """One line of `COLUMNS` per curve and depth."""
        lines: list[tuple[str | int | float, ...]] = []
        for curve in self.curves:
            points = zip(curve.n, curve.mean, curve.low, curve.high, strict=True)
            lines += [
                (curve.panel, curve.name, curve.unit, n, depth, *map(float, point))
                for depth, (n, *point) in enumerate(points)
            ]
        return lines

    def to_json(self) -> str:
        """Curves, ranks and remarks."""
        return json_text(self)
