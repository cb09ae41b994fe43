"""Which maps before each text are read, and whether each is the only one."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from glasshead.arrays import AnyFloats
from glasshead.audits.judging.map_statistics import mean_per_text, statistics_per_map
from glasshead.data import Encoded
from glasshead.errors import InputError
from glasshead.explainers import ExplanationContext
from glasshead.huggingface import class_name
from glasshead.identifiability import (
    MOST_ROWS,
    IntervalOptions,
    RowSelector,
    solve_batches,
    weight_domain,
    weight_domain_of_activation,
)
from glasshead.models import PooledClassifier
from glasshead.trace import READ, AttentionSite, ReadRows


def reason_without_bounds(model: PreTrainedModel, site: AttentionSite | None) -> str | None:
    """Why nothing bounds the selected weights: values that cannot be read, or weights of any size."""
    if site is not None and not site.has_values:
        return (
            f"a part of {class_name(model)} computes its attention itself, or changes its scores (caps, "
            "sinks), so its values, which bound the weights, are unknown"
        )
    try:
        if isinstance(model, PooledClassifier):
            weight_domain_of_activation(model.activation, model.activation.signed)
        for one in (site, site.above) if site is not None else ():
            if one is not None:
                weight_domain(one.mechanism)
    except InputError as error:
        return str(error)
    return None


def intervals_per_text(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, encoded: Encoded, site: AttentionSite | None
) -> tuple[AnyFloats, AnyFloats]:
    """The share of the maps before each text that are the only ones, and the mean width of their intervals
    [N]; NaN where that is undecided."""
    with tempfile.TemporaryDirectory() as folder:
        store = solve_batches(model, tokenizer, encoded, rows_for_site(site), IntervalOptions(), Path(folder))
        heads = store.heads()
    statistics = statistics_per_map(heads)
    texts = len(encoded.ids)
    undecided = np.bincount(heads["text"], np.isnan(statistics["identifiable"]), minlength=texts) > 0
    alone, width = (
        np.where(undecided, np.nan, mean_per_text(heads["text"], statistics[name], texts))
        for name in ("identifiable", "width")
    )
    return alone, width


def rows_for_site(site: AttentionSite | None) -> RowSelector:
    """All heads of the selected attention, and of that above it."""
    if site is None:
        return RowSelector()
    layers = [site.layer] if site.above is None else [site.layer, site.above.layer]
    return RowSelector(tuple(layers), rows="all" if site.row == "mean" else site.row, most=MOST_ROWS)


def rows_known(explanation: ExplanationContext) -> ReadRows | None:
    """The rows that the predictions for the texts read; None where they have names, or words and sentences
    have rows of their own."""
    site = explanation.site
    return None if site is None or site.row != READ or site.above is not None else explanation.rows
