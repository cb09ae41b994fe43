"""The attention of a model before texts, one call and one text at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor
from transformers import PreTrainedModel

from glasshead.arrays import Integers
from glasshead.audits.head_report.text_statistics import LayerFacts
from glasshead.data import Encoded, Inputs, batches, heads_of, layers_of
from glasshead.identifiability import read_pooled_batches
from glasshead.models import HierarchicalClassifier, PooledClassifier, TransformerClassifier
from glasshead.results import LayerKind
from glasshead.trace import (
    DECODER,
    SUMMARY,
    KeyUnit,
    StackLayer,
    TokenLayout,
    connect,
    decodes_answer,
    forward,
    is_causal,
    record,
    token_layout,
)

Score = Callable[[Float[Tensor, "b classes"]], Float[Tensor, " b"]]
START_TOKEN = -1
"""The place of what a decoder begins with, which is not a token of the text."""


@dataclass(frozen=True, eq=False)
class AttentionView:
    """One attention call before one text, or before one part of it that attends to itself alone.

    ``queries`` and ``keys`` are the places of their tokens in the text; `START_TOKEN` is what a decoder
    begins with, and the one query of a pooling has none. ``weights`` are those of the model, zero where
    ``allowed`` is not; ``gradient`` is the derivative of the score of the text.
    """

    text: int
    facts: LayerFacts
    weights: Float[Tensor, "h q k"]
    allowed: Bool[Tensor, "h q k"]
    scores: Float[Tensor, "h q k"]
    queries: Integers
    keys: Integers
    gradient: Float[Tensor, "h q k"] | None = None
    query_vectors: Float[Tensor, "h q d"] | None = None
    key_vectors: Float[Tensor, "h k d"] | None = None

    def of(self, facts: LayerFacts) -> AttentionView:
        """The view with what is known of its call from other texts: one token sees nothing behind it in any
        model."""
        return self if facts == self.facts else replace(self, facts=facts)


def attention_views(
    model: PreTrainedModel,
    encoded: Encoded,
    score: Callable[[Tensor], Score] | None = None,
    on_texts: Callable[[int], None] = lambda texts: None,
) -> Iterator[Iterator[AttentionView]]:
    """The views of the layers of every batch of texts, in their order; one layer is in memory at a time.

    ``score`` makes of the numbers of texts what is differentiated of their logits. Then the weights of all
    layers of a batch are in memory. ``on_texts`` is told how many texts a batch had.

    Raises:
        InputError: if the model shows no attention, or none that is a map of tokens × tokens.
    """
    if isinstance(model, PooledClassifier):
        yield from view_pooled_attention(model, encoded)
        return
    maps = heads_of(model.config) * (1 if score is None else 3 * layers_of(model.config))
    for texts, inputs in batches(encoded, device=model.device, maps=maps):
        layers = record_views(model, inputs, None if score is None else score(texts))
        yield layer_views(model, layers, inputs, texts.numpy())
        on_texts(len(texts))


def record_views(model: PreTrainedModel, inputs: Inputs, score: Score | None) -> list[StackLayer]:
    """Every attention call of one pass, with the gradient of its weights if there is a ``score``."""
    graph = score is not None
    with torch.set_grad_enabled(graph), record(model, keep_graph=graph) as trace:
        output: Any = forward(model, inputs, rows="mean")
    records = list(trace.only)
    gradients: list[Tensor | None] = [None] * len(records)
    if score is not None:
        gradients = list(
            torch.autograd.grad(
                score(output.logits).sum(),
                [one.weights for one in records],
                allow_unused=True,
                materialize_grads=True,
            )
        )
    return list(connect(model, records, gradients, inputs["attention_mask"].bool()))


def layer_views(
    model: PreTrainedModel, layers: list[StackLayer], inputs: Inputs, texts: Integers
) -> Iterator[AttentionView]:
    """The views of a batch; calls between whole sentences are left out, and those of a decoder that reads an
    answer of its own."""
    layout = token_layout(model, inputs, unit_of_keys(model))
    for layer in layers:
        if decodes_answer(model) and layer.target == DECODER:
            continue
        if isinstance(model, HierarchicalClassifier) and layer.record.name.startswith("sentences."):
            continue
        yield from views_of(layer, layout, texts)


def unit_of_keys(model: PreTrainedModel) -> KeyUnit:
    """What the keys of the calls between tokens are."""
    return "packed" if isinstance(model, TransformerClassifier) and model.packs_segments else "token"


def views_of(layer: StackLayer, layout: TokenLayout, texts: Integers) -> Iterator[AttentionView]:
    """One view for each row of the batch that the layer saw."""
    one, mask = layer.record, layout.mask
    facts = describe_layer(layer, mask)
    weights, scores, allowed = layer.weights.detach(), one.scores.detach(), one.allowed
    rows, places = row_places(layout)
    vectors = (one.q.detach(), one.k.detach()) if one.call.v.shape[-1] else (None, None)
    for row, keep in enumerate(mask):
        n = int(keep.sum())
        if not n:
            continue
        keys = queries = places[row]
        if layer.target == DECODER:
            queries = np.array([START_TOKEN, *range(n - 1)])
        if layer.source == DECODER:
            keys = queries
        if layer.target == SUMMARY:
            queries = np.array([START_TOKEN])
        place = (row, slice(None), slice(len(queries)), slice(n))
        yield AttentionView(
            int(texts[rows[row]]),
            facts,
            weights[place],
            allowed[place],
            scores[place],
            queries,
            keys,
            None if layer.gradient is None else layer.gradient[place],
            None if vectors[0] is None else vectors[0][row, :, : len(queries)],
            None if vectors[1] is None else vectors[1][row, :, :n],
        )


def row_places(layout: TokenLayout) -> tuple[Integers, list[Integers]]:
    """The text of each row of a packed batch, and the places of its tokens there."""
    if layout.segments is None:
        return np.arange(len(layout.real)), [np.arange(int(row.sum())) for row in layout.real]
    real = layout.real.cpu().numpy()
    places, row_of_token = np.nonzero(real)[1], layout.row_of_tokens().cpu().numpy()
    rows = range(len(layout.segments.mask))
    return layout.segments.text.cpu().numpy(), [places[row_of_token == row] for row in rows]


def describe_layer(layer: StackLayer, mask: Bool[Tensor, "r k"]) -> LayerFacts:
    """What is true of a call before any text."""
    one = layer.record
    kind: LayerKind = "causal" if is_causal(one, mask) else "encoder"
    if layer.target == SUMMARY:
        kind = "pooled"
    elif layer.target != layer.source:
        kind = "cross"
    mechanism = one.call.mechanism
    return LayerFacts(
        one.layer,
        one.name,
        kind,
        mechanism.name,
        len(one.heads),
        mechanism.signed,
        mechanism.activation.rows_sum_to_one and not mechanism.signed,
    )


def view_pooled_attention(model: PooledClassifier, encoded: Encoded) -> Iterator[Iterator[AttentionView]]:
    """The one learned query of a pooled classifier."""
    activation = model.activation
    facts = LayerFacts(
        0, "pooling", "pooled", "pooling", 1, activation.signed,
        activation.rows_sum_to_one and not activation.signed,
    )  # fmt: skip
    for batch in read_pooled_batches(model, encoded):
        yield (
            AttentionView(
                text,
                facts,
                batch.weights[row, keep][None, None],
                torch.ones(1, 1, int(keep.sum()), dtype=torch.bool),
                batch.scores[row, keep][None, None],
                np.array([START_TOKEN]),
                np.flatnonzero(keep.numpy()),
            )
            for row, (text, keep) in enumerate(zip(batch.texts.tolist(), batch.mask, strict=True))
            if bool(keep.any())
        )
