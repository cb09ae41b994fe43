"""Attention with one learned query over the outputs of an encoder, seen by hooks as every other call."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from glasshead.attention.hooks import run_hooked, run_hooked_weights
from glasshead.attention.mechanism import AttentionInputs, AttentionOutput, Mechanism
from glasshead.attention.mechanism import mechanism as build
from glasshead.attention.mechanism_spec import Spec
from glasshead.errors import InputError


class LearnedQueryAttention(nn.Module):
    """o = Σ_i a_i h_i, a = φ(s), s_i = qᵀ tanh(W h_i + b): a sequence of vectors becomes one.

    W is ``[d_q, d]``; the mechanism is an activation without a position, since the query has no place in the
    text. An empty sequence gives zeros.

    Raises:
        InputError: on a mechanism with a position.

    Source: Wu et al. (2019), Neural news recommendation with multi-head self-attention, eq. 4–6.
    """

    def __init__(
        self, size: int, query_size: int | None = None, mechanism: str | Spec | Mechanism = "softmax"
    ) -> None:
        super().__init__()
        self.mechanism = build(mechanism, num_heads=1, head_dim=query_size or size, value_dim=size)
        if self.mechanism.position.needs_positions:
            raise InputError(
                f"{self.mechanism.name!r} does not apply to a single learned query, which has no "
                "position: use an activation alone"
            )
        self.key = nn.Linear(size, query_size or size)
        self.query = nn.Linear(query_size or size, 1, bias=False)

    def forward(
        self, hidden: Float[Tensor, "b n d"], mask: Bool[Tensor, "b n"], *, need_weights: bool = False
    ) -> AttentionOutput:
        """The summary ``[B, d]`` and, if requested, its weights ``[B, 1, 1, n]``."""
        keys = torch.tanh(self.key(hidden))[:, None]  # [B, 1, n, d_q]
        query = self.query.weight.expand(len(hidden), 1, 1, -1)
        call = AttentionInputs.of(
            self.mechanism, query, keys, hidden[:, None], mask=mask[:, None, None], scale=1.0
        )
        output, weights = run_hooked_weights(self, call) if need_weights else (run_hooked(self, call), None)
        return AttentionOutput(output[:, 0, 0], weights)
