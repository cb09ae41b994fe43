"""Perturbation tests by forward passes, for attention anywhere in a model."""

import math
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from glasshead.attention import AttentionInputs
from glasshead.audits.answers import Answers
from glasshead.audits.context import AuditContext
from glasshead.audits.null_weights import class_mean, is_fixed
from glasshead.data import batches
from glasshead.explainers import ForwardObservation, edit_read_heads
from glasshead.huggingface import isolated_copy
from glasshead.trace import Edit, ResumedPasses, permute, uniform


def perturb_by_forward(
    context: AuditContext, observation: ForwardObservation, draws: int, seed: int
) -> dict[str, Answers]:
    """What is predicted by name: under ``own``, ``chance`` and ``uniform`` weights [N, 1]; and under draws
    [N, draws] of their ``permuted`` and ``permuted-chance`` orders, and of fresh ``random`` and
    ``random-normalised`` ones.

    Every row of every head that is read gets its own draw, in the canonical gauge. Uniform weights have one
    order only, and know nothing of a text. NaN for a text without tokens.
    """
    head_signs = torch.from_numpy(context.head_signs)
    observation = replace(observation, model=isolated_copy(observation.model, torch.float32))
    generator = torch.Generator().manual_seed(seed)
    texts = len(context.labels)
    single = {name: Answers.empty(texts, 1) for name in ("own", "chance", "uniform")}
    by_draw = {
        name: Answers.empty(texts, draws)
        for name in ("permuted", "permuted-chance", "random", "random-normalised")
    }
    done = 0
    filled = torch.from_numpy(np.flatnonzero(context.token_mask.any(axis=1)))
    even = even_edit(context, observation, filled)
    for batch, inputs in batches(
        observation.encoded, filled, observation.model.device, maps=observation.site.num_heads
    ):
        rows = filled[batch]
        places = rows.numpy()  # to NumPy, a tensor of one number is that number
        passes = observation.passes(inputs)

        def predict_edited(edit: Edit, rows: Tensor = rows, passes: ResumedPasses = passes) -> Answers:
            edit = spare_first(edit) if context.spares_first else edit
            logits = passes.logits(edit_read_heads(observation.site, edit)).cpu()
            values = context.explanation.sized_fn(logits, context.explanation.target[rows])
            classes = torch.zeros_like(rows) if context.is_regression else logits.argmax(dim=-1)
            return Answers(values.numpy(), classes.numpy())

        chance = match_row_mass(FixedRandomEdit(generator, head_signs))
        for name, edit in (("own", identity_edit), ("chance", chance), ("uniform", even)):
            single[name][places, 0] = predict_edited(edit)
        shuffle = permute(generator)
        for draw in range(draws):
            by_draw["permuted"][places, draw] = predict_edited(shuffle)
            by_draw["permuted-chance"][places, draw] = predict_edited(compose_edits(chance, shuffle))
            fresh = FixedRandomEdit(generator, head_signs)
            by_draw["random"][places, draw] = predict_edited(fresh)
            by_draw["random-normalised"][places, draw] = predict_edited(match_row_mass(fresh))
        done += len(rows)
        observation.progress(done, len(filled))
    return single | by_draw


def identity_edit(layer: int, weights: Tensor, call: AttentionInputs) -> Tensor:
    """The model's own weights."""
    return weights


class UniformEdit:
    """An equal weight for all allowed keys, with the mass of the row times a number for each head."""

    def __init__(self, of_heads: Tensor) -> None:
        self.of_heads = of_heads

    def __call__(self, layer: int, weights: Tensor, call: AttentionInputs) -> Tensor:
        return apply_signs(rescale_mass(uniform(layer, weights, call), weights), self.of_heads)


def own_sum_edit(layer: int, weights: Tensor, call: AttentionInputs) -> Tensor:
    """An equal weight for all allowed keys, with the sum of the row."""
    return uniform(layer, weights, call) * weights.sum(dim=-1, keepdim=True)


class EvenEdit:
    """An equal weight for all allowed keys, with a sum for each head."""

    def __init__(self, sums: Tensor) -> None:
        self.sums = sums

    def __call__(self, layer: int, weights: Tensor, call: AttentionInputs) -> Tensor:
        return apply_signs(uniform(layer, weights, call), self.sums)


class ReadSums:
    """The model's own weights; keeps the mean Σa of the rows of every sequence and head [B, h], and the ends
    of these sums."""

    def __init__(self) -> None:
        self.means, self.ends = torch.empty(0), (0.0, 0.0)

    def __call__(self, layer: int, weights: Tensor, call: AttentionInputs) -> Tensor:
        allowed = call.mask.allowed(weights.device).expand_as(weights).any(dim=-1)
        sums = torch.where(allowed, weights.sum(dim=-1), torch.nan)
        self.means = sums.nanmean(dim=-1)
        known = sums[allowed]
        self.ends = (float(known.min()), float(known.max())) if len(known) else (math.nan, math.nan)
        return weights


def even_edit(context: AuditContext, observation: ForwardObservation, filled: Tensor) -> Edit:
    """Uniform weights that know nothing of a text: those of `even_weights`, for each row. Where a text is
    read in several sequences, the mean is one over sequences, whatever the class."""
    means, places = [], []
    ends: list[float] = []
    for batch, inputs in batches(
        observation.encoded, filled, observation.model.device, maps=observation.site.num_heads
    ):
        whole, edited = ReadSums(), ReadSums()
        edit = spare_first(edited) if context.spares_first else edited
        observation.passes(inputs).logits(edit_read_heads(observation.site, compose_edits(whole, edit)))
        means.append(edited.means.cpu().numpy())
        ends += whole.ends
        places.append(filled[batch].numpy())
    if is_fixed(np.array(ends)):
        return own_sum_edit
    sums = np.concatenate(means)
    one_each = all(len(own) == len(texts) for own, texts in zip(means, places, strict=True))
    classes = context.classes_predicted[np.concatenate(places)] if one_each else np.zeros(len(sums), int)
    return EvenEdit(torch.from_numpy(np.asarray(class_mean(sums, classes))))


class FixedRandomEdit:
    """Random weights that are the same at every call: U(0, 1), or U(−1, 1) for signed mechanisms, on allowed
    keys, times the canonical sign of the head."""

    def __init__(self, generator: torch.Generator, head_signs: Tensor) -> None:
        self.generator, self.head_signs = generator, head_signs
        self.drawn: Tensor | None = None

    def __call__(self, layer: int, weights: Tensor, call: AttentionInputs) -> Tensor:
        if self.drawn is None:
            noise = torch.rand(weights.shape, generator=self.generator).to(weights)
            noise = 2 * noise - 1 if call.mechanism.signed else noise
            self.drawn = apply_signs(noise * call.mask.allowed(weights.device), self.head_signs)
        return self.drawn


def spare_first(edit: Edit) -> Edit:
    """The edit of all keys but the first, which keeps its weight."""

    def edit_rest(layer: int, weights: Tensor, call: AttentionInputs) -> Tensor:
        allowed = call.mask.allowed(weights.device).index_fill(-1, weights.new_tensor([0]).long(), False)
        narrowed = replace(call, mask=replace(call.mask, attn_mask=allowed))
        first = functional.pad(weights[..., :1], (0, weights.shape[-1] - 1))
        return first + edit(layer, weights - first, narrowed)

    return edit_rest


def apply_signs(weights: Tensor, head_signs: Tensor) -> Tensor:
    """Canonical weights [R, h, q, k] in the gauge of the model."""
    return weights * head_signs.to(weights)[:, None, None]


def match_row_mass(edit: Edit) -> Edit:
    """The edit, scaled to the mass of the rows that it replaces."""
    return lambda layer, weights, call: rescale_mass(edit(layer, weights, call), weights)


def compose_edits(first: Edit, then: Edit) -> Edit:
    """One edit after the other."""
    return lambda layer, weights, call: then(layer, first(layer, weights, call), call)


def rescale_mass(random: Tensor, weights: Tensor) -> Tensor:
    """Weights with the mass Σ|a| of the rows that they replace."""
    total = row_mass(random)
    return random * row_mass(weights) / torch.where(total > 0, total, 1.0)


def row_mass(weights: Tensor) -> Tensor:
    """Σ|a| of each row."""
    return weights.abs().sum(dim=-1, keepdim=True)
