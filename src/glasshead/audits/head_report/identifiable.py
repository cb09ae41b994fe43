"""Before which texts a head could have drawn no other map with the same output."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from transformers import PreTrainedModel

from glasshead.audits.head_report.text_statistics import LayerStatistics
from glasshead.data import Encoded
from glasshead.errors import InputError
from glasshead.identifiability import RowSelector, value_ranks


def identifiable_heads(
    model: PreTrainedModel, encoded: Encoded, layers: list[LayerStatistics]
) -> tuple[dict[int, NDArray[np.float64]], str]:
    """By layer 1 where the null space of the head's values is empty, 0 where it is not [texts, heads], NaN of
    texts that were not read; and a reason where the values cannot be had.

    Weights that sum to one are the only ones if LN([T, 1]) = {0}, others if LN(T) = {0}. A text in several
    parts is identifiable where all of them are. Source: Bhardwaj et al. (2021), section 2.2.
    """
    known = {layer.facts.layer: layer for layer in layers}
    results = {
        number: np.full((layer.texts, layer.facts.num_heads), np.nan) for number, layer in known.items()
    }
    try:
        for ranks in value_ranks(model, encoded, RowSelector()):
            if ranks.layer not in known:
                continue
            null = ranks.null_with_ones if known[ranks.layer].facts.sums_to_one else ranks.null
            np.fmin.at(results[ranks.layer], ranks.texts, (null == 0).astype(float))
    except InputError as error:
        return {}, str(error)
    return results, ""
