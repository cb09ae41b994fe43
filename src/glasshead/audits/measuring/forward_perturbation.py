"""Perturbation tests by forward passes, for attention anywhere in a model."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from glasshead.arrays import AnyFloats
from glasshead.attention import AttentionInputs
from glasshead.audits.measuring.answers import Answers
from glasshead.audits.measuring.reference import part_of_keys
from glasshead.audits.measuring.view import ModelView
from glasshead.data import batch_size, batches, length_of
from glasshead.explainers import ForwardObservation, edit_read_heads
from glasshead.trace import AttentionSite, Edit, Noise, ResumedPasses, TextNoise, draw_noise, permute, uniform

TOKENS_AT_ONCE = 4096
"""So many tokens of drawn texts are one pass: more of them take as long as several passes."""


def perturb_by_forward(
    view: ModelView, observation: ForwardObservation, draws: int, audit: str
) -> dict[str, Answers]:
    """What is predicted by name: under ``own``, ``chance`` and ``uniform`` weights [N, 1]; and under draws
    [N, draws] of their ``permuted`` and ``permuted-chance`` orders, and of fresh ``random`` and
    ``random-normalised`` ones.

    Every row of every head that is read gets its own draw, in the canonical gauge. Uniform weights have one
    order only, and know nothing of a text. NaN for a text without tokens.
    """
    head_signs = torch.from_numpy(view.head_signs)
    observation = replace(observation, model=view.model_in(torch.float32))
    seeds, texts = torch.from_numpy(view.seeds(audit)), len(view.labels)
    single = {name: Answers.empty(texts, 1) for name in ("own", "chance", "uniform")}
    by_draw = {
        name: Answers.empty(texts, draws)
        for name in ("permuted", "permuted-chance", "random", "random-normalised")
    }
    done = 0
    filled = torch.from_numpy(np.flatnonzero(view.token_mask.any(axis=1)))
    parts = torch.from_numpy(view.in_part)
    even = even_edit(view.known.even)
    for rows, inputs in batches_of_texts(observation, filled):
        places = rows.numpy()  # to NumPy, a tensor of one number is that number
        passes = observation.passes(inputs)

        def predict_edited(
            edit: Edit, some: Tensor, rows: Tensor = rows, passes: ResumedPasses = passes
        ) -> Answers:
            if view.part:
                edit = spare_others(edit, parts[rows[some]])
            logits = passes.logits(edit_read_heads(observation.site, edit), some).cpu()
            values = view.explanation.sized_fn(logits, view.explanation.target[rows[some]])
            classes = torch.zeros_like(some) if view.is_regression else logits.argmax(dim=-1)
            return Answers(values.numpy(), classes.numpy())

        def chance_of(texts: Tensor) -> Edit:
            return match_row_mass(RandomEdit(TextNoise(seeds[texts], 0), head_signs))

        every = torch.arange(len(rows))
        for name, edit in (("own", identity_edit), ("chance", chance_of(rows)), ("uniform", even)):
            single[name][places, 0] = predict_edited(edit, every)
        for some, numbers in draws_at_once(len(rows), draws, length_of(inputs), observation.site):
            own, at = seeds[rows[some]], (places[some.numpy()], numbers.numpy())
            shuffle = permute(TextNoise(own, 2 * numbers + 1))
            by_draw["permuted"][at] = predict_edited(shuffle, some)
            shuffle_chance = compose_edits(chance_of(rows[some]), shuffle)
            by_draw["permuted-chance"][at] = predict_edited(shuffle_chance, some)
            fresh = RandomEdit(TextNoise(own, 2 * numbers + 2), head_signs)
            by_draw["random"][at] = predict_edited(fresh, some)
            by_draw["random-normalised"][at] = predict_edited(match_row_mass(fresh), some)
        done += len(rows)
        observation.progress(done, len(filled))
    return single | by_draw


def draws_at_once(
    texts: int, draws: int, length: int, site: AttentionSite
) -> Iterator[tuple[Tensor, Tensor]]:
    """Places of texts in a batch and the numbers of their draws, several draws at once of few short texts.

    One draw at a time if the model reads every sentence of a text as a sequence of its own.
    """
    at_once = max(min(batch_size(length, site.num_heads), TOKENS_AT_ONCE // length) // texts, 1)
    at_once = at_once if site.above is None else 1
    for part in torch.arange(draws).split(at_once):
        yield torch.arange(texts).repeat(len(part)), part.repeat_interleave(texts)


def batches_of_texts(
    observation: ForwardObservation, texts: Tensor
) -> Iterator[tuple[Tensor, dict[str, Tensor]]]:
    """Some texts and what the model is called with; one text at a time where each is read in as many
    sequences as it has sentences, since noise has to know whose a sequence is."""
    device, maps = observation.model.device, observation.site.num_heads
    for some in [texts] if observation.site.above is None else texts.split(1):
        for batch, inputs in batches(observation.encoded, some, device, maps=maps):
            yield some[batch], inputs


def identity_edit(layer: int, weights: Tensor, call: AttentionInputs) -> Tensor:
    """The model's own weights."""
    return weights


def own_sum_edit(layer: int, weights: Tensor, call: AttentionInputs) -> Tensor:
    """An equal weight for all allowed keys, with the sum of the row."""
    return uniform(layer, weights, call) * weights.sum(dim=-1, keepdim=True)


class EvenEdit:
    """An equal weight for all allowed keys, with a sum for each head."""

    def __init__(self, sums: Tensor) -> None:
        self.sums = sums

    def __call__(self, layer: int, weights: Tensor, call: AttentionInputs) -> Tensor:
        return apply_signs(uniform(layer, weights, call), self.sums)


def even_edit(even: AnyFloats | None) -> Edit:
    """Uniform weights that know nothing of a text: those of `even_weights`, for each row."""
    return own_sum_edit if even is None else EvenEdit(torch.as_tensor(even))


class RandomEdit:
    """Random weights that are the same at every call: U(0, 1), or U(−1, 1) for signed mechanisms, on allowed
    keys, times the canonical sign of the head."""

    def __init__(self, source: torch.Generator | Noise, head_signs: Tensor) -> None:
        self.source, self.head_signs = source, head_signs
        self.drawn: Tensor | None = None

    def __call__(self, layer: int, weights: Tensor, call: AttentionInputs) -> Tensor:
        if self.drawn is None:
            noise = draw_noise(self.source, weights).to(weights)
            noise = 2 * noise - 1 if call.mechanism.signed else noise
            self.drawn = apply_signs(noise * call.mask.allowed(weights.device), self.head_signs)
        return self.drawn


def spare_others(edit: Edit, part: Tensor) -> Edit:
    """The edit of the keys of a part of the tokens of each text [R, n]; all others keep their weights."""

    def edit_rest(layer: int, weights: Tensor, call: AttentionInputs) -> Tensor:
        keys = part_of_keys(part, weights)
        narrowed = replace(call, mask=replace(call.mask, attn_mask=call.mask.allowed(weights.device) & keys))
        others = weights.masked_fill(keys, 0.0)
        return others + edit(layer, weights - others, narrowed)

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
