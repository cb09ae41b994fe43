"""The numbers of rows, by their names, and their intervals over seeds."""

from __future__ import annotations

import re
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


def over_groups(pattern: str, number: Callable[[list[float]], Any]) -> Callable[[Mapping[str, Any]], Any]:
    """A number of all those whose names match a pattern."""

    def derive(numbers: Mapping[str, Any]) -> Any:
        values = [value for name, value in numbers.items() if re.fullmatch(pattern, name)]
        return None if not values or None in values else number(values)

    return derive


def longer(
    one: Callable[[Mapping[str, Any]], Any], other: Callable[[Mapping[str, Any]], Any]
) -> Callable[[Mapping[str, Any]], Any]:
    """How much larger the size of one number is than that of another."""

    def derive(numbers: Mapping[str, Any]) -> float | None:
        sizes = one(numbers), other(numbers)
        return None if None in sizes else abs(sizes[0]) - abs(sizes[1])

    return derive


def own_polarity(numbers: Mapping[str, Any]) -> float | None:
    """The mean AUC of the polarity of words on the side of their class; of two classes the negative one's is
    below."""
    negative = numbers.get("polarity_negative")
    turned = {} if negative is None else {"polarity_negative": 1 - negative}
    own: float | None = over_groups(CLASS.format("polarity"), np.mean)({**numbers, **turned})
    return own


def unfavoured_score(numbers: Mapping[str, Any]) -> float | None:
    """The AUC of the scores of the class against which VᵀW works: negative words where it is positive. The
    class with the smaller AUC would lie below ½ by chance."""
    coupling = numbers.get("VᵀW")
    auc: float | None = numbers.get("score_negative" if coupling and coupling > 0 else "score_positive")
    return auc if coupling else None


def term_lead(numbers: Mapping[str, Any]) -> float | None:
    """What a word's own lead (E) has added to its score, less the largest of all else by its size, as a mean
    over both classes."""
    leads = []
    for group in ("positive", "negative"):
        own = numbers.get(f"{group}_E")
        others = [numbers.get(f"{group}_{term}") for term in ("D", "F", "M", "rest")]
        known = [abs(other) for other in others if other is not None]
        if own is None or not known:
            return None
        leads.append(own - max(known))
    return float(np.mean(leads))


CLASS = "{}_(?!neutral|sd)[^_]+"
"""A number of one class."""
within_classes = over_groups(r"product_(?!neutral)([^_]+)_\1", np.mean)
between_classes = over_groups(r"product_(?!neutral)([^_]+)_(?!\1$|neutral)[^_]+", np.mean)
with_neutral = over_groups("product_(neutral_.+|.+_neutral)", lambda values: np.abs(values).mean())
DERIVED: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    "map_entropy": map_entropy,
    "positive_w": over_heads("w", lambda values: (values > 0).mean()),
    "least_w": over_heads("w", np.min),
    "most_w": over_heads("w", np.max),
    "positive_v": over_heads("v", lambda values: (values > 0).mean()),
    "parted": distance("rising_positive", "rising_negative"),
    "polarity_own": own_polarity,
    "score_average": over_groups(CLASS.format("score"), np.mean),
    "score_unfavoured": unfavoured_score,
    "product_within": within_classes,
    "product_between": between_classes,
    "product_neutral": with_neutral,
    "product_lead": longer(within_classes, between_classes),
    "product_over_neutral": longer(within_classes, with_neutral),
    "VᵀW_size": distance("VᵀW", 0.0),
    "term_lead": term_lead,
    "separation_size": distance("separation", 0.5),
}
"""Metrics that follow from what the rows keep."""


def seed_intervals(values: Sequence[float]) -> tuple[Interval | None, Interval | None]:
    """The 95 % interval of the mean over seeds, and that of one more seed; None for fewer than five."""
    if len(values) < ENOUGH_SEEDS:
        return None, None
    sample = np.asarray(values)
    return interval_of_mean(sample), prediction_interval(sample)
