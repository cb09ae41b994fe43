"""What is measured on some inputs for all, so that no row depends on the inputs next to it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from glasshead.arrays import AnyFloats
from glasshead.attention import AttentionInputs
from glasshead.audits.judging.reference_facts import Reference
from glasshead.audits.measuring.unit_weights import part_sums
from glasshead.data import batches
from glasshead.explainers import (
    REMOVALS,
    ForwardObservation,
    edit_read_heads,
    removable,
    value_change,
)
from glasshead.huggingface import isolated_copy
from glasshead.statistics import typical_range

View = Any
"""A `ModelView`, which holds one of these."""
REFERENCE_INPUTS = 200
"""So many inputs, the first of the data in random order."""
FLOOR_TEXTS = 8
"""Of so many of them the noise floor of a change is measured."""
FIXED = 1e-4
"""Sums that differ by less, relative to the largest, are one sum but for rounding."""


def measure_reference(view: View) -> Reference:
    """What the first texts of a view say of all."""
    first, labels = view.asked(REFERENCE_INPUTS), measure_labels(view)
    labels = labels._replace(floor=floor_of_changes(view))
    if not (view.explainer.reads_weights and view.reads_attention):
        return labels
    return labels._replace(even=even_sums(view, first), on_first=share_of_first(view, first))


def measure_labels(view: View) -> Reference:
    """What the labels of the first texts say of all: of ratings their mean, and how far apart they are."""
    first = view.asked(REFERENCE_INPUTS)
    if not view.is_regression or not first.any():
        return Reference()
    return Reference(float(view.labels[first].mean()), typical_range(view.labels[first]))


def floor_of_changes(view: View) -> float:
    """By how much halves move a change of ŷ at most: that by each token of a few texts that goes; 0 where
    products are of the numbers themselves."""
    if view.half is None:
        return 0.0
    first = np.sort(np.argsort(view.ranks, kind="stable")[:FLOOR_TEXTS])
    explanation = view.explanation.some(torch.from_numpy(first))
    rows, tokens = removable(explanation).nonzero(as_tuple=True)
    if not len(rows):
        return 0.0
    removed = functional.one_hot(tokens, explanation.encoded.mask.shape[1]).bool()
    removal, target = REMOVALS[explanation.encoded.removals[0]], explanation.target[rows]
    changes = []
    for model in (explanation.model, isolated_copy(view.trained_model, torch.float32)):
        own = replace(explanation.afresh(), model=model)
        before, after = (removal.logits(own, rows, some) for some in (removed & False, removed))
        changes.append(value_change(explanation.sized_fn, before, after, target).double())
    return float((changes[0] - changes[1]).abs().max())


def even_sums(view: View, first: NDArray[np.bool_]) -> AnyFloats | None:
    """The mean over classes of the mean Σa over their texts; None where Σa is fixed.

    A mean over texts alone would be that of the commonest class.
    """
    observation = view.explanation.observation
    if isinstance(observation, ForwardObservation):
        return even_sums_by_forward(view, observation, first)
    readout = view.readout
    assert readout is not None
    mask, parts = readout.mask.numpy()[first], readout.parts().numpy()[first]
    weights = readout.weights.numpy()[first]
    filled = part_sums(mask.astype(float), parts) > 0
    if is_fixed(part_sums(weights, parts)[filled]):
        return None
    total = np.where(mask.any(axis=1), weights.sum(axis=1), np.nan)
    return class_mean(total, view.classes_predicted[first])


def even_sums_by_forward(
    view: View, observation: ForwardObservation, first: NDArray[np.bool_]
) -> AnyFloats | None:
    """The same for each head, of the selected rows. If a text is read in several sequences, the mean is
    over sequences, for any class."""
    means, places = [], []
    ends: list[float] = []
    filled = torch.from_numpy(np.flatnonzero(view.token_mask.any(axis=1) & first))
    for batch, inputs in batches(
        observation.encoded, filled, observation.model.device, maps=observation.site.num_heads
    ):
        part = torch.from_numpy(view.in_part[filled[batch].numpy()]) if view.part else None
        sums = ReadSums(part)
        observation.passes(inputs).logits(edit_read_heads(observation.site, sums))
        means.append(sums.means.cpu().numpy())
        ends += sums.ends
        places.append(filled[batch].numpy())
    if not means or is_fixed(np.array(ends)):
        return None
    sums_of_rows = np.concatenate(means)
    one_each = all(len(own) == len(texts) for own, texts in zip(means, places, strict=True))
    classes = view.classes_predicted[np.concatenate(places)] if one_each else np.zeros(len(sums_of_rows), int)
    return class_mean(sums_of_rows, classes)


class ReadSums:
    """The model's own weights; keeps the mean Σa of the rows of every sequence and head [B, h], and the ends
    of these sums; of the weights on a ``part`` of the tokens of each text, if there is one."""

    def __init__(self, part: Tensor | None) -> None:
        self.means, self.ends, self.part = torch.empty(0), (0.0, 0.0), part

    def __call__(self, layer: int, weights: Tensor, call: AttentionInputs) -> Tensor:
        keys, counted = call.mask.allowed(weights.device).expand_as(weights), weights
        if self.part is not None:
            keys = keys & part_of_keys(self.part, weights)
            counted = weights.masked_fill(~keys, 0.0)
        allowed = keys.any(dim=-1)
        sums = torch.where(allowed, counted.sum(dim=-1), torch.nan)
        self.means = sums.nanmean(dim=-1)
        known = sums[allowed]
        self.ends = (float(known.min()), float(known.max())) if len(known) else (math.nan, math.nan)
        return weights


def part_of_keys(part: Tensor, weights: Tensor) -> Tensor:
    """A part of the tokens of each text [R, n] as keys of weights [R, 1, 1, k]; of texts that are read in
    several sequences that of each sequence, which is known of all tokens but the first."""
    if len(part) != len(weights):
        part = (torch.arange(weights.shape[-1]) > 0)[None]
    return part[:, None, None, : weights.shape[-1]].to(weights.device)


def share_of_first(view: View, first: NDArray[np.bool_]) -> float | None:
    """The mean share of Σ|a| that is on the first token where a model reads from left to right; None
    elsewhere, and where no text has two tokens."""
    site = view.explanation.site
    if site is None or not site.causal or view.sentence_of_token is not None:
        return None
    sizes = np.abs(view.canonical)[first & (view.token_mask.sum(axis=1) > 1)]
    total = sizes.sum(axis=1)
    return float((sizes[total > 0, 0] / total[total > 0]).mean()) if (total > 0).any() else None


def is_fixed(sums: AnyFloats) -> bool:
    """Whether all sums that are known are the same."""
    known = sums[~np.isnan(sums)]
    return not len(known) or bool(np.ptp(known) <= FIXED * np.abs(known).max())


def class_mean(values: AnyFloats, classes: NDArray[np.int64]) -> AnyFloats:
    """The mean over the texts of each class of values [N, ...], then over classes, NaN left out: a mean over
    texts would be that of the commonest class."""
    means = np.stack([mean_of_known(values[classes == one]) for one in np.unique(classes)])
    return np.nan_to_num(mean_of_known(means))


def mean_of_known(values: AnyFloats) -> AnyFloats:
    """The mean over the first axis without NaN; NaN where there is nothing else."""
    known = ~np.isnan(values)
    count = known.sum(axis=0)
    total = np.where(known, values, 0.0).sum(axis=0)
    return np.asarray(np.where(count > 0, total / np.maximum(count, 1), np.nan))
