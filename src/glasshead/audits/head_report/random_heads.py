"""The null of random weights: the same of models of the same configuration that learned nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from torch import Tensor
from transformers import PreTrainedModel

from glasshead.arrays import Floats
from glasshead.audits.head_report.text_statistics import Key, LayerStatistics, gather_statistics
from glasshead.audits.head_report.token_kinds import TokenTable
from glasshead.audits.head_report.views import Score
from glasshead.audits.progress import StageProgress
from glasshead.data import Encoded
from glasshead.huggingface import random_twin

RANDOM = "random weights"
RANDOM_MODELS = 3
"""So many models are drawn."""
RandomNulls = Mapping[int, Mapping[Key, Floats]]
"""By layer and statistic one number for each text."""
TauRange = tuple[float, float]


class RandomHeads(NamedTuple):
    """The ``nulls``, and by layer between which entropies the heads of all models lie, in the mean over
    texts."""

    nulls: RandomNulls
    entropies: Mapping[int, TauRange]


def random_nulls(
    model: PreTrainedModel,
    encoded: Encoded,
    table: TokenTable,
    score: Callable[[Tensor], Score] | None,
    seed: int,
    stages: StageProgress,
) -> RandomHeads:
    """Means over the heads of each layer of a few models with random weights, which are exchangeable."""
    draws: dict[int, dict[Key, list[Floats]]] = {}
    entropies: dict[int, list[float]] = {}
    for number in range(RANDOM_MODELS):
        stages.begin(f"random weights: {number + 1} of {RANDOM_MODELS}")
        twin = random_twin(model, RANDOM_MODELS * seed + number)
        for layer in gather_statistics(twin, encoded, table, score, None, stages):
            of_layer = draws.setdefault(layer.facts.layer, {})
            entropies.setdefault(layer.facts.layer, []).extend(entropy_of_heads(layer))
            for key in layer.totals:
                of_layer.setdefault(key, []).append(mean_over_heads(layer, key))
            for against in layer.about("relevance-share"):
                of_layer.setdefault(("inflation", against), []).append(layer.inflation(against))
    nulls = {
        layer: {key: np.mean(values, axis=0) for key, values in of_layer.items()}
        for layer, of_layer in draws.items()
    }
    ranges = {layer: (min(values), max(values)) for layer, values in entropies.items() if values}
    return RandomHeads(nulls, ranges)


def entropy_of_heads(layer: LayerStatistics) -> list[float]:
    """The mean entropy of every head, of texts that have one."""
    values = layer.by_head(("entropy", ""))
    values = values[~np.isnan(values).any(axis=1)]
    return list(values.mean(axis=0).tolist()) if len(values) else []


def mean_over_heads(layer: LayerStatistics, key: Key) -> Floats:
    """The mean over heads of a statistic [texts], of importance that of its size."""
    values = layer.by_head(key)
    return np.asarray((np.abs(values) if key[0] == "gradient-importance" else values).mean(axis=1))
