"""What a linear readout predicts under other weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from glasshead.arrays import AnyFloats
from glasshead.audits.measuring.answers import Answers
from glasshead.explainers import probability

if TYPE_CHECKING:
    from glasshead.audits.measuring.view import ModelView


def predict_with_weights(view: ModelView, rows: NDArray[np.int64], *weights: AnyFloats) -> list[Answers]:
    """What is predicted [rows, draws] under each set of other weights [rows, draws, n]: products with the
    cached polarity, in float32."""
    readout, explanation = view.readout, view.explanation
    assert readout is not None
    polarity = readout.polarity[rows, : weights[0].shape[-1]].float().numpy()
    # NumPy multiplies thin matrices three times as fast as PyTorch does.
    products = torch.from_numpy(np.concatenate([rows @ polarity for rows in weights], axis=1))
    outputs, target = products + readout.bias.float(), explanation.target[rows]
    if readout.rating:
        predictions = outputs[..., 0]
        classes = torch.zeros(predictions.shape, dtype=torch.int64)
    elif outputs.shape[-1] == 1:  # the sigmoid of ±z, without the detour over [0, z]
        predictions = torch.sigmoid(outputs[..., 0] * (2 * target - 1)[:, None])
        classes = (outputs[..., 0] > 0).long()
    else:
        predictions = probability(outputs, target[:, None].expand(outputs.shape[:-1]))
        classes = outputs.argmax(dim=-1)
    return Answers(predictions.numpy(), classes.numpy()).split([rows.shape[1] for rows in weights])
