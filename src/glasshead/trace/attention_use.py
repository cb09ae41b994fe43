"""Whether attention is used: spread of scores, entropy of weights, distance from uniform, call by call."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor
from transformers import PreTrainedModel

from glasshead.attention import TracedCall
from glasshead.data import Encoded, batches, heads_of
from glasshead.huggingface import readable_copy, shows_attention
from glasshead.models import PooledClassifier
from glasshead.results import LayerUse
from glasshead.statistics import mean_interval
from glasshead.trace.eval_mode import eval_mode
from glasshead.trace.hooks import AttentionHook, attach_hook
from glasshead.trace.records import LayerRecord


def entropies(weights: Float[Tensor, "*r n"], mask: Bool[Tensor, "*r n"]) -> Float[Tensor, "*r"]:
    """−Σ p log p / log n with p = |a| / Σ|a| of every row: 0 if one token has all weight, 1 if all n are
    equal; NaN for n = 1 and for rows whose weights are all 0."""
    size = weights.abs().masked_fill(~mask, 0.0)
    total, keys = size.sum(dim=-1, keepdim=True), mask.sum(dim=-1)
    entropy = torch.special.entr(size / total).sum(dim=-1) / keys.log()
    return entropy.masked_fill(keys < 2, torch.nan)


def distances_from_uniform(weights: Float[Tensor, "*r n"], mask: Bool[Tensor, "*r n"]) -> Float[Tensor, "*r"]:
    """½ Σ|p − 1/n| with p = a / Σ|a| of every row, of rows with negative weights the smaller one of a and −a:
    the sign of a whole row says nothing. 0 is uniform, 1 − 1/n one token; NaN as in `entropies`."""
    size = weights.masked_fill(~mask, 0.0)
    keys = mask.sum(dim=-1, keepdim=True)
    p = size / size.abs().sum(dim=-1, keepdim=True)
    uniform = mask / keys
    distance = torch.minimum((p - uniform).abs().sum(dim=-1), (p + uniform).abs().sum(dim=-1)) / 2
    return distance.masked_fill(keys[..., 0] < 2, torch.nan)


def score_deviations(scores: Float[Tensor, "*r n"], mask: Bool[Tensor, "*r n"]) -> Float[Tensor, "*r"]:
    """√(mean (s − s̄)²) over the keys of every row that it may attend to; NaN for one key."""
    keys = mask.sum(dim=-1, keepdim=True)
    mean = scores.masked_fill(~mask, 0.0).sum(dim=-1, keepdim=True) / keys
    spread = (scores - mean).masked_fill(~mask, 0.0).square().sum(dim=-1, keepdim=True) / keys
    return spread[..., 0].sqrt().masked_fill(keys[..., 0] < 2, torch.nan)


class RowMeans(NamedTuple):
    """Means over the rows of each sequence (score deviation, entropy, distance, share of rows that are all
    0), and how many rows there were."""

    values: Float[Tensor, "4 b"]
    rows: int


def without_padding(allowed: Bool[Tensor, "b h q k"]) -> Bool[Tensor, "b h q k"]:
    """Which queries may attend to which keys, without rows of padding: in self-attention, rows of tokens
    that no query may attend to."""
    if not allowed.shape[2] == allowed.shape[3] > 1:
        return allowed
    return allowed & allowed.any(dim=2).any(dim=1)[:, None, :, None]


def row_means(scores: Tensor, weights: Tensor, allowed: Tensor) -> RowMeans:
    """Means over the rows of each of a batch of sequences [B, H, Q, K]; NaN where no row says anything. Rows
    of padding are none."""
    allowed = without_padding(allowed.expand_as(weights))
    scores, weights = scores.detach().double(), weights.detach().double()
    zero = ((weights == 0) | ~allowed).all(dim=-1).double()
    zero = zero.masked_fill(allowed.sum(dim=-1) < 2, torch.nan)
    rows = torch.stack(
        [score_deviations(scores, allowed), entropies(weights, allowed),
         distances_from_uniform(weights, allowed), zero]
    ).flatten(2)  # fmt: skip
    return RowMeans(rows.nanmean(dim=-1).cpu(), int((~rows[0].isnan()).sum()))


class UseHook(AttentionHook):
    """Reads every attention call as it is made, and keeps four numbers of each sequence."""

    def __init__(self, model: PreTrainedModel) -> None:
        super().__init__(model, None)
        self.means: dict[int, tuple[str, bool, list[RowMeans]]] = {}
        self.layer: int | None = None

    def before(self, traced_call: TracedCall) -> None:
        self.layer = self.number(traced_call)

    def after(self, traced_call: TracedCall, output: Tensor) -> None:
        if self.layer is None:
            return
        call, known = traced_call.call, None
        if traced_call.scores is not None and traced_call.weights is not None:
            known = (traced_call.scores, traced_call.weights)
        name = self.names[traced_call.module]
        heads, rows = range(call.q.shape[1]), range(call.q.shape[2])
        record = LayerRecord(
            self.layer, name, call, output, tuple(heads), tuple(rows), scores_and_weights=known
        )
        _, _, means = self.means.setdefault(self.layer, (name, call.mechanism.signed, []))
        means.append(row_means(record.scores, record.weights, record.allowed))


def attention_use(model: PreTrainedModel, encoded: Encoded) -> list[LayerUse]:
    """How a model uses each of its attention calls on some texts, in the order of a pass.

    One layer of one batch is in memory at a time; nothing is drawn at random, and the model stays as it is.

    Raises:
        InputError: if the model has no attention that can be read.
    """
    readable = model if shows_attention(model) else readable_copy(model)
    layers: dict[int, tuple[str, bool, list[RowMeans]]] = {}
    with torch.inference_mode(), eval_mode(readable):
        if isinstance(readable, PooledClassifier):
            layers[0] = ("pooling", readable.activation.signed, [])
            for _, inputs in batches(encoded, device=readable.device):
                output: Any = readable(**inputs, output_attentions=True)
                parts = (output.scores, output.weights, inputs["attention_mask"].bool())
                layers[0][2].append(row_means(*(part[:, None, None] for part in parts)))
        else:
            hook = UseHook(readable)
            with attach_hook(hook):
                for _, inputs in batches(encoded, device=readable.device, maps=heads_of(readable.config)):
                    readable(**inputs)
            layers = hook.means
    return [layer_use(layer, *layers[layer]) for layer in sorted(layers)]


def layer_use(layer: int, name: str, signed: bool, means: list[RowMeans]) -> LayerUse:
    """Means over sequences."""
    values = torch.cat([one.values for one in means], dim=1).numpy()  # [4, sequences]
    values[np.isinf(values)] = np.nan
    counted = values[:, ~np.isnan(values[0])]
    score_sd, entropy, distance = (mean_interval(row, rng=np.random.default_rng(layer)) for row in values[:3])
    return LayerUse(
        layer=layer,
        name=name,
        signed=signed,
        sequences=counted.shape[1],
        rows=sum(one.rows for one in means),
        score_sd=score_sd.mean,
        entropy=entropy.mean,
        interval=entropy.interval,
        distance=distance.mean,
        zero_rows=float(counted[3].mean()) if counted.size else 0.0,
    )
