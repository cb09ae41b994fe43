"""One call of attention, checked once: everything that a kernel may need to know."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from numbers import Real
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from glasshead.attention.mask import Mask, TokenPositions, fits
from glasshead.attention.masked_values import zero_masked
from glasshead.attention.mechanism import Mechanism
from glasshead.attention.precision import autocast_inputs
from glasshead.errors import InputError, ParameterError


class AttentionOutput(NamedTuple):
    """Output ``[B, H, Q, d_v]`` and, where they were asked for, weights ``[B, H, Q, K]``."""

    output: Tensor
    weights: Tensor | None


@dataclass(frozen=True)
class AttentionInputs:
    """q ``[B, H, Q, d]``, k ``[B, G, K, d]``, v ``[B, G, K, d_v]``; H/G query heads share a key head.

    ``bias`` [B|1, H|1, Q, K] is a model's own addition to the scores (T5), after the position.
    """

    mechanism: Mechanism
    q: Float[Tensor, "b h q d"]
    k: Float[Tensor, "b g k d"]
    v: Float[Tensor, "b g k d_v"]
    mask: Mask
    scale: float
    dropout: float = 0.0
    bias: Float[Tensor, "#b #h q k"] | None = None

    @classmethod
    def of(
        cls,
        mechanism: Mechanism,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        *,
        mask: Tensor | Mask | None = None,
        is_causal: bool = False,
        scale: float | None = None,
        dropout: float = 0.0,
    ) -> AttentionInputs:
        """A checked call; ``scale`` is 1/√d unless given. Under autocast q, k and v take its type.

        Raises:
            InputError: on shapes, types, masks or sizes that do not fit.
        """
        check_tensors(q, k, v)
        q, k, v = autocast_inputs(q, k, v)
        check_shapes(q, k, v)
        check_dropout(dropout)
        if scale is None:
            scale = q.shape[-1] ** -0.5
        elif not isinstance(scale, Real) or not math.isfinite(scale):
            raise InputError(f"the scale is a finite number, not {scale!r}")
        read = Mask.of(q, k, mask, is_causal)
        if mechanism.position.needs_positions:
            read = read.with_position_policy(mechanism.position.reach)
        inputs = cls(mechanism, *zero_masked(q, k, v, read), read, scale, dropout)
        mechanism.check(inputs)
        return inputs

    def rows(self, rows: slice | Int[Tensor, " rows"]) -> AttentionInputs:
        """The call for some of the queries."""
        bias = None if self.bias is None else self.bias[:, :, rows]
        return replace(self, q=self.q[:, :, rows], mask=self.mask.rows(rows), bias=bias)

    def add_bias(self, bias: Tensor) -> AttentionInputs:
        """The call with something added to its scores.

        Raises:
            InputError: on a shape that does not broadcast to the scores.
        """
        full = (*self.q.shape[:3], self.k.shape[2])
        if bias.ndim != 4 or not fits(bias.shape, full):
            raise InputError(f"a bias of shape {list(bias.shape)} does not fit the scores, {list(full)}")
        return replace(self, bias=bias.expand(-1, -1, *full[2:]))

    @property
    def groups(self) -> int:
        """Queries heads per key head."""
        return self.q.shape[1] // self.k.shape[1]

    def expanded(self) -> tuple[Tensor, Tensor]:
        """Keys and values with one head for every query head."""
        if self.groups == 1:
            return self.k, self.v
        return self.k.repeat_interleave(self.groups, dim=1), self.v.repeat_interleave(self.groups, dim=1)

    def token_positions(self) -> TokenPositions | None:
        """Where the tokens stand, if the mechanism wants to know."""
        return self.mask.token_positions(self.q.device) if self.mechanism.position.needs_positions else None

    @property
    def needs_gradient(self) -> bool:
        """Whether a backward pass may follow."""
        tensors = (self.q, self.k, self.v, self.bias, *self.mechanism.parameters())
        return torch.is_grad_enabled() and any(
            tensor is not None and tensor.requires_grad for tensor in tensors
        )


def select_heads(tensor: Tensor | None, heads: slice | Int[Tensor, " heads"]) -> Tensor | None:
    """Some heads of what there is for all pairs, if the heads differ."""
    return tensor if tensor is None or tensor.shape[1] == 1 else tensor[:, heads]


def check_dropout(dropout: float) -> None:
    """Raise InputError unless this is a probability below one."""
    if not isinstance(dropout, Real) or not 0.0 <= dropout < 1.0:
        raise ParameterError("dropout", f"is a probability in [0, 1), not {dropout!r}")


def check_tensors(q: object, k: object, v: object) -> None:
    """Raise InputError unless all three are tensors of floating point."""
    for name, tensor in (("q", q), ("k", k), ("v", v)):
        if not isinstance(tensor, Tensor) or not tensor.is_floating_point():
            kind = tensor.dtype if isinstance(tensor, Tensor) else type(tensor).__name__
            raise InputError(f"{name} is a floating tensor [batch, heads, length, size], not {kind}")


def check_shapes(q: Tensor, k: Tensor, v: Tensor) -> None:
    """Raise InputError unless q, k and v belong together."""
    shapes = f"q {list(q.shape)}, k {list(k.shape)}, v {list(v.shape)}"
    if not q.ndim == k.ndim == v.ndim == 4:
        raise InputError(f"q, k and v are [batch, heads, length, size]; here {shapes}")
    if not q.dtype == k.dtype == v.dtype:
        raise InputError(f"q, k and v share one type, not {q.dtype}, {k.dtype} and {v.dtype}")
    if not q.device == k.device == v.device:
        raise InputError(f"q, k and v are on one device, not {q.device}, {k.device} and {v.device}")
    if not q.shape[0] == k.shape[0] == v.shape[0]:
        raise InputError(f"q, k and v have one batch size; here {shapes}")
    if q.shape[3] != k.shape[3] or q.shape[3] == 0:
        raise InputError(f"queries and keys have one size above 0, not {q.shape[3]} and {k.shape[3]}")
    if k.shape[1:3] != v.shape[1:3]:
        raise InputError(f"there is one value for each key; here {shapes}")
    if k.shape[1] == 0 or q.shape[1] % k.shape[1]:
        raise InputError(f"{q.shape[1]} query heads cannot share {k.shape[1]} key heads")
