"""The one row of weights of a pooled classifier."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from glasshead.attention import AttentionPooling
from glasshead.data import Encoded, batches
from glasshead.errors import InputError
from glasshead.identifiability.attention_row import AttentionRow, weight_domain_of_activation
from glasshead.identifiability.row_selector import RowSelector
from glasshead.models import PooledClassifier


@torch.no_grad()
def pooled_rows(
    model: PooledClassifier, encoded: Encoded, selector: RowSelector
) -> Iterator[list[AttentionRow]]:
    """The one row of a pooled classifier; T are the vectors that are pooled, not their polarity."""
    if selector.layers not in (None, (0,)) or selector.heads not in (None, (0,)):
        raise InputError("a pooled model has one attention with one head: layer 0, head 0")
    if isinstance(selector.rows, tuple) and selector.rows != (0,):
        raise InputError("a pooled model has one learned query: row 0")
    recorded: list[tuple[Tensor, Tensor, Tensor]] = []

    def record_output(module: AttentionPooling, inputs: object, pooled: tuple[Tensor, ...]) -> None:
        recorded.append((pooled[1], pooled[2], pooled[3]))

    kind = weight_domain_of_activation(model.activation, model.activation.signed)
    hook = model.pooling.register_forward_hook(record_output)
    try:
        for indices, inputs in batches(encoded, device=model.device):
            recorded.clear()
            model(**inputs)
            scores, weights, values = (tensor.cpu() for tensor in recorded[0])
            eps = float(torch.finfo(values.dtype).eps)
            batch = []
            for one, text in enumerate(indices.tolist()):
                keys = np.flatnonzero(inputs["attention_mask"][one].cpu().numpy())
                if not len(keys):
                    continue
                s, a, T = (tensor[one].double().numpy()[keys] for tensor in (scores, weights, values))
                row = AttentionRow(
                    text, 0, "pooling", 0, 0, 0, keys, a, T, kind, T.shape[1], eps, True, s, None,
                    model.activation, True,
                )  # fmt: skip
                batch.append(row)
            yield batch
    finally:
        hook.remove()
