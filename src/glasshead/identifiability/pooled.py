"""The one row of weights of a pooled classifier."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from glasshead.attention import AttentionPooling
from glasshead.data import Encoded, batches
from glasshead.errors import InputError
from glasshead.identifiability.row_selection import AttentionRow, RowSelector, weight_domain_of_activation
from glasshead.models import PooledClassifier


@torch.no_grad()
def pooled_rows(
    model: PooledClassifier, encoded: Encoded, where: RowSelector
) -> Iterator[list[AttentionRow]]:
    """The one row of a pooled classifier; T are the vectors that are pooled, not their polarity."""
    if where.layers not in (None, (0,)) or where.heads not in (None, (0,)):
        raise InputError("a pooled model has one attention with one head: layer 0, head 0")
    if isinstance(where.rows, tuple) and where.rows != (0,):
        raise InputError("a pooled model has one learned query: row 0")
    kept: list[tuple[Tensor, Tensor, Tensor]] = []

    def keep(module: AttentionPooling, given: object, pooled: tuple[Tensor, ...]) -> None:
        kept.append((pooled[1], pooled[2], pooled[3]))

    kind = weight_domain_of_activation(model.activation, model.activation.signed)
    hook = model.pooling.register_forward_hook(keep)
    try:
        for places, inputs in batches(encoded, device=model.device):
            kept.clear()
            model(**inputs)
            scores, weights, values = (each.cpu() for each in kept[0])
            eps = float(torch.finfo(values.dtype).eps)
            batch = []
            for one, text in enumerate(places.tolist()):
                keys = np.flatnonzero(inputs["attention_mask"][one].cpu().numpy())
                if not len(keys):
                    continue
                s, a, T = (each[one].double().numpy()[keys] for each in (scores, weights, values))
                made = AttentionRow(
                    text, 0, "pooling", 0, 0, 0, keys, a, T, kind, T.shape[1], eps, True, s, None,
                    model.activation, True,
                )  # fmt: skip
                batch.append(made)
            yield batch
    finally:
        hook.remove()
