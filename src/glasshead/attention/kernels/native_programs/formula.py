"""What the native operator computes, in a few lines of PyTorch: its twin, and its second derivative."""

from typing import Any

import torch
from torch import Tensor

from glasshead.attention.activation import ACTIVATIONS
from glasshead.attention.precision import upcast_half

Leaves = tuple[Tensor, Tensor, Tensor, Tensor | None, Tensor | None]
"""q, k, v, the bias and the line of coefficients: what has gradients."""


def formula(leaves: Leaves, mask: list[Tensor | None], options: list[Any]) -> Tensor:
    """φ(adjusted(scale · q·k) + bias) v, with ``options`` scale, activation and adjustment."""
    q, k, v, bias, line = leaves
    scale, activation, adjust = options
    padding, pairs, index, query_positions, key_positions = mask
    groups = q.shape[1] // k.shape[1]
    wide_q, wide_k, wide_v = (
        upcast_half(q),
        *(upcast_half(each).repeat_interleave(groups, dim=1) for each in (k, v)),
    )
    scores = (wide_q * scale) @ wide_k.mT
    if line is not None and query_positions is not None and key_positions is not None:
        offsets = key_positions[:, None, :] - query_positions[:, :, None] + line.shape[1] // 2
        coefficients = line[:, offsets].transpose(0, 1)  # [b, H, Q, K]
        if adjust == "early-add":
            scores = scores + coefficients
        else:
            scores = (scores.relu() if adjust == "early-multiply" else scores) * coefficients
    if bias is not None:
        scores = scores + bias
    allowed = torch.ones(1, 1, *scores.shape[2:], dtype=torch.bool)
    if padding is not None:
        allowed = allowed & padding[:, None, None, :]
    if pairs is not None:
        allowed = allowed & pairs
    if index is not None:
        allowed = allowed & (torch.arange(k.shape[2]) <= index[:, None])
    weights = ACTIVATIONS[activation]().weights(scores, allowed.expand_as(scores))
    return (weights @ wide_v).to(q.dtype)
