"""Which weights of each row get an interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from glasshead.errors import ParameterError

if TYPE_CHECKING:  # judges know the options, and solve nothing
    from glasshead.identifiability.attention_row import AttentionRow
    from glasshead.identifiability.lp.tasks import IntervalTask


@dataclass(frozen=True)
class IntervalOptions:
    """Which weights of each row get an interval: all, or the ``top`` largest.

    ``tolerance`` is that of `intervals`; ``processes`` share the work.

    Raises:
        InputError: on a tolerance below 0, or a ``top`` below 1.
    """

    top: int | None = None
    tolerance: float = 0.0
    processes: int = 1

    def __post_init__(self) -> None:
        if self.top is not None and self.top < 1:
            raise ParameterError("top", f"must be at least 1, not {self.top}")
        if not 0 <= self.tolerance < np.inf:
            raise ParameterError("tolerance", f"must be a number of at least 0, not {self.tolerance}")

    def keys(self, row: AttentionRow) -> NDArray[np.int64]:
        """The keys whose intervals are requested, in order."""
        n = len(row.weights)
        if self.top is None or self.top >= n:
            return np.arange(n)
        return np.sort(np.argsort(-np.abs(row.weights), kind="stable")[: self.top])

    def task(self, row: AttentionRow) -> IntervalTask:
        """The row as a process takes it."""
        from glasshead.identifiability.lp.tasks import IntervalTask

        return IntervalTask(
            row.T, row.weights, row.kind, row.embed_dim, row.eps, self.tolerance, self.keys(row)
        )
