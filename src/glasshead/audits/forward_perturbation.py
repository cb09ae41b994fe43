"""Perturbation tests by forward passes, for attention anywhere in a model."""

import copy
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from glasshead.attention import AttentionInputs
from glasshead.audits.context import AuditContext, Floats
from glasshead.data import batches
from glasshead.explainers import ForwardObservation, logits_with_edit
from glasshead.trace import Edit, permute, uniform


def perturb_by_forward(
    subject: AuditContext, seen: ForwardObservation, draws: int, seed: int
) -> dict[str, Floats]:
    """ŷ in float32 by name: ``own``, ``chance`` and ``uniform`` weights [N]; and under each draw [draws, N]
    their ``permuted`` and ``permuted-chance`` orders, and fresh ``random`` and ``random-normalised`` ones.

    Every row of every head that is read gets its own draw, in the canonical gauge. Uniform weights have one
    order only. NaN for a text without tokens.
    """
    turns = torch.from_numpy(subject.head_signs)
    seen = replace(seen, model=copy.deepcopy(seen.model).float())
    generator = torch.Generator().manual_seed(seed)
    texts = len(subject.labels)
    single = {name: np.full(texts, np.nan, dtype=np.float32) for name in ("own", "chance", "uniform")}
    drawn = {
        name: np.full((draws, texts), np.nan, dtype=np.float32)
        for name in ("permuted", "permuted-chance", "random", "random-normalised")
    }
    filled = torch.from_numpy(np.flatnonzero(subject.real.any(axis=1)))
    for places, inputs in batches(seen.encoded, filled, seen.model.device, maps=seen.place.heads):
        rows = filled[places]

        def predicted(edit: Edit, rows: Tensor = rows, inputs: Mapping[str, Tensor] = inputs) -> Floats:
            logits = logits_with_edit(seen, dict(inputs), edit)
            return subject.view.target_fn(logits, subject.view.target[rows]).numpy()

        chance = match_row_mass(FixedRandomEdit(generator, turns))
        for name, edit in (("own", same), ("chance", chance), ("uniform", UniformEdit(turns))):
            single[name][rows] = predicted(edit)
        shuffle = permute(generator)
        for draw in range(draws):
            drawn["permuted"][draw, rows] = predicted(shuffle)
            drawn["permuted-chance"][draw, rows] = predicted(compose_edits(chance, shuffle))
            fresh = FixedRandomEdit(generator, turns)
            drawn["random"][draw, rows] = predicted(fresh)
            drawn["random-normalised"][draw, rows] = predicted(match_row_mass(fresh))
    return single | drawn


def same(layer: int, weights: Tensor, call: AttentionInputs) -> Tensor:
    """The model's own weights."""
    return weights


class UniformEdit:
    """The same weight for all allowed keys, with the mass of the row and the canonical sign of the head."""

    def __init__(self, turns: Tensor) -> None:
        self.head_signs = turns

    def __call__(self, layer: int, weights: Tensor, call: AttentionInputs) -> Tensor:
        return apply_signs(rescale_mass(uniform(layer, weights, call), weights), self.head_signs)


class FixedRandomEdit:
    """Random weights that are the same at every call: U(0, 1), or U(−1, 1) for signed mechanisms, on allowed
    keys, times the canonical sign of the head."""

    def __init__(self, generator: torch.Generator, turns: Tensor) -> None:
        self.generator, self.head_signs = generator, turns
        self.drawn: Tensor | None = None

    def __call__(self, layer: int, weights: Tensor, call: AttentionInputs) -> Tensor:
        if self.drawn is None:
            noise = torch.rand(weights.shape, generator=self.generator).to(weights)
            noise = 2 * noise - 1 if call.mechanism.signed else noise
            self.drawn = apply_signs(noise * call.mask.allowed(weights.device), self.head_signs)
        return self.drawn


def apply_signs(weights: Tensor, turns: Tensor) -> Tensor:
    """Canonical weights [R, h, q, k] in the gauge of the model."""
    return weights * turns.to(weights)[:, None, None]


def match_row_mass(edit: Edit) -> Edit:
    """The edit, scaled to the mass of the rows that it replaces."""
    return lambda layer, weights, call: rescale_mass(edit(layer, weights, call), weights)


def compose_edits(first: Edit, then: Edit) -> Edit:
    """One edit after the other."""
    return lambda layer, weights, call: then(layer, first(layer, weights, call), call)


def rescale_mass(random: Tensor, weights: Tensor) -> Tensor:
    """Weights with the mass Σ|a| of the rows that they replace."""
    total = mass(random)
    return random * mass(weights) / torch.where(total > 0, total, 1.0)


def mass(weights: Tensor) -> Tensor:
    """Σ|a| of each row."""
    return weights.abs().sum(dim=-1, keepdim=True)
