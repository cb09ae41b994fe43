"""The numbers of rows, by their names, and their intervals over seeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasshead.papers.experiments.row import Row
from glasshead.results import Interval
from glasshead.statistics import interval_of_mean, prediction_interval

ENOUGH_SEEDS = 5
"""With fewer, no interval over seeds is given."""


def metric_of(rows: Sequence[Row], name: str) -> list[float]:
    """A number of every row that has it."""
    numbers = [number_of(row, name) for row in rows]
    return [number for number in numbers if number is not None]


def number_of(row: Row, name: str) -> float | None:
    """A number of a row, or one of `DERIVED`; None if it has none."""
    value = DERIVED[name](row.numbers) if name in DERIVED else row.numbers.get(name)
    return None if value is None else float(value)


def map_entropy(numbers: Mapping[str, Any]) -> float | None:
    """Entropy of the weights after training, a mean over the layers below the pooling."""
    layers = [after for layer, _, after in numbers.get("entropy", []) if not layer.endswith("summary")]
    return None if not layers or None in layers else float(np.mean(layers))


def over_heads(
    letter: str, number: Callable[[NDArray[np.float64]], Any]
) -> Callable[[Mapping[str, Any]], Any]:
    """A number of the w_h, or v_h, of all heads."""

    def derive(numbers: Mapping[str, Any]) -> Any:
        values = numbers.get(letter) or [None]
        return None if None in values else number(np.array(values))

    return derive


def distance(one: str, other: str | float) -> Callable[[Mapping[str, Any]], Any]:
    """How far two numbers are apart, or one from a constant."""

    def distance(numbers: Mapping[str, Any]) -> float | None:
        ends = [numbers.get(end) if isinstance(end, str) else end for end in (one, other)]
        known = [end for end in ends if end is not None]
        return abs(known[0] - known[1]) if len(known) == len(ends) else None

    return distance


DERIVED: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    "map_entropy": map_entropy,
    "positive_w": over_heads("w", lambda values: (values > 0).mean()),
    "least_w": over_heads("w", np.min),
    "most_w": over_heads("w", np.max),
    "positive_v": over_heads("v", lambda values: (values > 0).mean()),
    "parted": distance("rising_positive", "rising_negative"),
    "separation_size": distance("separation", 0.5),
}
"""Metrics that follow from what the rows keep."""


def seed_intervals(values: Sequence[float]) -> tuple[Interval | None, Interval | None]:
    """The 95 % interval of the mean over seeds, and that of one more seed; None for fewer than five."""
    if len(values) < ENOUGH_SEEDS:
        return None, None
    sample = np.asarray(values)
    return interval_of_mean(sample), prediction_interval(sample)
