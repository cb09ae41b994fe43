"""The one row of weights of a pooled classifier."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from glasshead.attention import AttentionPooling
from glasshead.data import Encoded, batches
from glasshead.errors import InputError
from glasshead.identifiability.attention_row import AttentionRow, weight_domain_of_activation
from glasshead.identifiability.row_selector import RowSelector
from glasshead.models import PooledClassifier
from glasshead.trace import thread_hook


class PooledBatch(NamedTuple):
    """Some ``texts``, where they have tokens, and the scores, weights and pooled vectors of these."""

    texts: Int[Tensor, " b"]
    mask: Bool[Tensor, "b n"]
    scores: Float[Tensor, "b n"]
    weights: Float[Tensor, "b n"]
    values: Float[Tensor, "b n d"]


@torch.no_grad()
def read_pooled_batches(model: PooledClassifier, encoded: Encoded) -> Iterator[PooledBatch]:
    """The inputs of a pooled classifier's pooling, batch by batch."""
    recorded: list[tuple[Tensor, ...]] = []

    def record_output(module: AttentionPooling, inputs: object, pooled: tuple[Tensor, ...]) -> None:
        recorded.append(tuple(tensor.cpu() for tensor in pooled[1:4]))

    hook = model.pooling.register_forward_hook(thread_hook(record_output))
    try:
        for texts, inputs in batches(encoded, device=model.device):
            recorded.clear()
            model(**inputs)
            yield PooledBatch(texts, inputs["attention_mask"].cpu().bool(), *recorded[0])
    finally:
        hook.remove()


def read_pooled_rows(
    model: PooledClassifier, encoded: Encoded, selector: RowSelector
) -> Iterator[list[AttentionRow]]:
    """The one row of a pooled classifier; T are the vectors that are pooled, not their polarity."""
    if selector.layers not in (None, (0,)) or selector.heads not in (None, (0,)):
        raise InputError("a pooled model has one attention with one head: layer 0, head 0")
    if isinstance(selector.rows, tuple) and selector.rows != (0,):
        raise InputError("a pooled model has one learned query: row 0")
    kind = weight_domain_of_activation(model.activation, model.activation.signed)
    for batch in read_pooled_batches(model, encoded):
        eps = float(torch.finfo(batch.values.dtype).eps)
        arrays = [tensor.double().numpy() for tensor in (batch.scores, batch.weights, batch.values)]
        rows = []
        for one, (text, mask) in enumerate(zip(batch.texts.tolist(), batch.mask.numpy(), strict=True)):
            keys = np.flatnonzero(mask)
            if not len(keys):
                continue
            s, a, T = (values[one][keys] for values in arrays)
            row = AttentionRow(
                text, 0, "pooling", 0, 0, 0, keys, a, T, kind, T.shape[1], eps, True, s, None,
                model.activation, True,
            )  # fmt: skip
            rows.append(row)
        yield rows
