"""Values with the interval of each, and what becomes of these when values are added up or multiplied."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class IntervalVector:
    """Values of units [units] with their intervals; NaN where an interval is not known, ±∞ without bounds.

    ``conditioning`` is that of the least clear rank that they rest on (`Intervals.conditioning`).
    """

    value: Floats
    low: Floats
    high: Floats
    conditioning: float = 0.0

    @classmethod
    def zeros(cls, units: int) -> "IntervalVector":
        return cls(*np.zeros((3, units)))

    def intervals(self) -> tuple[tuple[float | None, float | None] | None, ...]:
        """As an attribution has them: None where an interval is not known, and for an end without bounds."""

        def end(value: float) -> float | None:
            return float(value) + 0.0 if np.isfinite(value) else None  # −0 is 0

        known = ~(np.isnan(self.low) | np.isnan(self.high))
        return tuple(
            (end(a), end(b)) if is_known else None
            for a, b, is_known in zip(self.low, self.high, known, strict=True)
        )

    def plus(self, other: "IntervalVector") -> "IntervalVector":
        """Of the sum of two that are independent."""
        worst = max(self.conditioning, other.conditioning)
        return IntervalVector(self.value + other.value, self.low + other.low, self.high + other.high, worst)

    def scale(self, factor: float) -> "IntervalVector":
        """Of the same numbers times a factor, which may turn them round."""
        ends = self.low * factor, self.high * factor
        low, high = ends if factor >= 0 else ends[::-1]
        return IntervalVector(self.value * factor, low, high, self.conditioning)

    def times(self, other: "IntervalVector", unit: int) -> "IntervalVector":
        """Of the products with one unit of others, independent of these."""
        low, high = other.low[unit], other.high[unit]
        with np.errstate(invalid="ignore"):
            corners = np.stack([own * factor for own in (self.low, self.high) for factor in (low, high)])
        # Nothing times something without bounds is nothing.
        unknown = np.isnan(self.low) | np.isnan(low)
        corners = np.where(np.isnan(corners) & ~unknown, 0.0, corners)
        worst = max(self.conditioning, other.conditioning)
        return IntervalVector(self.value * other.value[unit], corners.min(axis=0), corners.max(axis=0), worst)
