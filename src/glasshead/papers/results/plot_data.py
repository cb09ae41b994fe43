"""What plots of lengths and class ratios show: plain values."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from glasshead.arrays import AnyFloats


@dataclass(frozen=True)
class RankTable:
    """Rank of T and size of its left null space: one line of `COLUMNS` per text and length; ``value_dim`` is
    d_v, ``description`` says which head was read."""

    COLUMNS = (
        "tokens", "text", "rank", "null", "rank_with_ones", "null_with_ones", "margin", "margin_with_ones",
    )  # fmt: skip

    lines: Sequence[Sequence[float]]
    value_dim: int
    description: str

    def column(self, name: str) -> AnyFloats:
        """One of the columns."""
        return np.array([line[self.COLUMNS.index(name)] for line in self.lines])


@dataclass(frozen=True)
class LogitRankTable:
    """The ranks of the logits of other weights: one line of `COLUMNS` per text, with the ``ranks`` of all
    drawn weights; ``head_dim`` is d_k."""

    COLUMNS = ("tokens", "text", "least", "mean", "most", "own", "obtainable")

    lines: Sequence[Sequence[float]]
    ranks: Sequence[NDArray[np.int64]]
    head_dim: int
    description: str

    def column(self, name: str) -> AnyFloats:
        """One of the columns."""
        return np.array([line[self.COLUMNS.index(name)] for line in self.lines])

    def by_length(self) -> dict[int, NDArray[np.int64]]:
        """The ranks of all texts, by their number of tokens."""
        tokens = self.column("tokens").astype(int)
        return {
            int(length): np.concatenate(
                [ranks for of_text, ranks in zip(tokens, self.ranks, strict=True) if of_text == length]
            )
            for length in np.unique(tokens)
        }


@dataclass(frozen=True)
class RatioPoint:
    """One training: positive texts for one negative text of train, and VᵀW."""

    ratio: float
    coupling: float


@dataclass(frozen=True)
class RatioGroup:
    """The trainings of one ratio: their number, mean, and standard deviation (n − 1; NaN for a single
    one)."""

    ratio: float
    n: int
    mean: float
    std: float


@dataclass(frozen=True)
class CouplingByRatio:
    """VᵀW of several trainings; ``name`` is the name of VᵀW, ``labels`` are the negative and the positive
    class, and ``when`` says at which steps it was read."""

    points: Sequence[RatioPoint]
    name: str
    labels: tuple[str, str]
    when: str

    @property
    def groups(self) -> list[RatioGroup]:
        """Trainings whose ratios have the same two leading digits, from the smallest ratio to the largest."""
        groups: dict[float, list[RatioPoint]] = {}
        for point in sorted(self.points, key=lambda point: point.ratio):
            groups.setdefault(float(f"{point.ratio:.2g}"), []).append(point)
        return [
            RatioGroup(
                float(np.mean([point.ratio for point in group])),
                len(group),
                float(np.mean([point.coupling for point in group])),
                float(np.std([point.coupling for point in group], ddof=1))
                if len(group) > 1
                else float("nan"),
            )
            for group in groups.values()
        ]
