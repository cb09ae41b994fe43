"""The ends of an axis."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
Limits = tuple[float, float]


def limits(*arrays: Floats, zero: bool = False) -> Limits:
    """A range with a margin that includes all numbers, and zero if requested."""
    values = np.concatenate([np.asarray(array, float).ravel() for array in arrays] or [np.zeros(0)])
    values = values[np.isfinite(values)]
    if zero or not values.size:
        values = np.append(values, 0.0)
    low, high = float(values.min()), float(values.max())
    air = 0.06 * (high - low) or 0.5 * abs(high) or 1.0
    return low - air, high + air


def near_zero(*arrays: Floats) -> Limits:
    """Limits that show zero unless that would squeeze the points into less than half of the plot."""
    low, high = limits(*arrays)
    return limits(*arrays, zero=not (low > high - low or -high > high - low))


def power_of_ten(values: Iterable[Floats]) -> tuple[float, str]:
    """A power of ten that makes all of them short numbers, and how to write it behind a name."""
    largest = max(
        (float(np.nanmax(np.abs(array))) for array in values if np.isfinite(array).any()), default=0.0
    )
    if largest == 0.0 or 1e-2 <= largest < 1e4:
        return 1.0, ""
    power = int(np.floor(np.log10(largest)))
    digits = str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return 10.0**power, f" · 10{'⁻' if power > 0 else ''}{digits.removeprefix('⁻')}"


def spread_apart(heights: Sequence[float], gap: float) -> list[float]:
    """Ascending heights, raised where necessary so that each is at least a gap above the one before."""
    raised: list[float] = []
    for height in heights:
        raised.append(max(height, raised[-1] + gap) if raised else height)
    return raised
