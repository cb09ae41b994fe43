"""The one function that chooses between the formula and a kernel."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index

import torch
from torch import Tensor

from glasshead.attention.kernels.kernel import KERNELS
from glasshead.attention.mask import Mask
from glasshead.attention.mechanism import AttentionInputs, AttentionOutput, Mechanism
from glasshead.attention.mechanism import mechanism as build_mechanism
from glasshead.attention.mechanism_spec import Spec
from glasshead.attention.precision import no_autocast
from glasshead.errors import InputError

AUTOMATIC = ("linear", "triton", "native", "sdpa", "tiles", "flex", "reference", "blockwise")
"""The order of trial: the first kernel that can and should serve the call does."""


def attend(
    mechanism: str | Spec | Mechanism,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    mask: Tensor | Mask | None = None,
    attn_mask: Tensor | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    dropout: float = 0.0,
    dropout_p: float = 0.0,
    need_weights: bool = False,
    rows: Sequence[int] | None = None,
    kernel: str = "auto",
) -> AttentionOutput:
    """Attention by any mechanism: output_i = Σ_j φ(s_i)_j v_j. It is called like
    `F.scaled_dot_product_attention`.

    Shapes: q ``[B, H, Q, d]``, k ``[B, G, K, d]``, v ``[B, G, K, d_v]`` with G a divisor of H (query head h
    reads key head h // (H/G)). ``mask`` is boolean, true = may attend: padding ``[B, K]``, anything that
    broadcasts to ``[B, H, Q, K]``, or a `Mask`. ``scale`` is 1/√d unless given. ``dropout`` acts on weights.
    ``attn_mask`` and ``dropout_p`` are those of `F.scaled_dot_product_attention`: a boolean
    mask that broadcasts to ``[B, H, Q, K]`` from the right, so that two dimensions are ``[Q, K]``.

    ``rows`` computes only those queries and saves the cost of the others: output ``[B, H, rows, d_v]``.
    With ``need_weights`` the weights of the computed queries are returned, too. ``kernel`` names the kernel
    to use; an error says why it cannot be used.

    Raises:
        InputError: on shapes, masks, sizes or a kernel that do not fit.
    """
    if attn_mask is not None:
        if mask is not None:
            raise InputError("mask and attn_mask are two names of one argument: pass only one of them")
        mask = as_pairs(attn_mask)
    if dropout_p and dropout:
        raise InputError("dropout and dropout_p are two names of one argument: pass only one of them")
    call = AttentionInputs.of(
        build_mechanism(mechanism), q, k, v,
        mask=mask, is_causal=is_causal, scale=scale, dropout=dropout or dropout_p,
    )  # fmt: skip
    if rows is not None:
        call = call.rows(row_index(rows, call))
    if need_weights:
        if kernel not in ("auto", "reference"):
            KERNELS[kernel]
            raise InputError(f"{kernel} never stores the weights: use kernel='reference' or 'auto'")
        output, weights = call.mechanism(call)
        return AttentionOutput(output, weights.to(call.q.dtype))
    return AttentionOutput(run_kernel(call, kernel), None)


def as_pairs(attn_mask: Tensor) -> Tensor:
    """A boolean mask with the dimensions that it lacks in front.

    Raises:
        InputError: on anything else; numbers to be added to the scores are none.
    """
    if not isinstance(attn_mask, Tensor) or attn_mask.dtype != torch.bool:
        kind = attn_mask.dtype if isinstance(attn_mask, Tensor) else type(attn_mask).__name__
        raise InputError(f"attn_mask must be a boolean tensor, true = may attend, not {kind}")
    return attn_mask[(None,) * max(0, 4 - attn_mask.ndim)]


def run_kernel(call: AttentionInputs, kernel: str = "auto") -> Tensor:
    """The output of a call by a named kernel or the best one.

    Raises:
        InputError: if the named kernel cannot serve the call; the message says why and which can.
    """
    name = select_kernel(call) if kernel == "auto" else require_kernel(call, kernel)
    with no_autocast(call.q.device):
        return KERNELS[name](call)


def select_kernel(call: AttentionInputs) -> str:
    """The kernel that serves this call on this machine."""
    for name in AUTOMATIC:
        if name in KERNELS and KERNELS[name].is_preferred(call) and reason_against_kernel(call, name) is None:
            return name
    return "reference"


def require_kernel(call: AttentionInputs, kernel: str) -> str:
    """The named kernel, if it can."""
    reason = reason_against_kernel(call, kernel)
    if reason is not None:
        can = ", ".join(name for name in KERNELS if reason_against_kernel(call, name) is None)
        raise InputError(f"the {kernel} kernel cannot serve {call.mechanism.name}: {reason} (can: {can})")
    return kernel


def reason_against_kernel(call: AttentionInputs, name: str) -> str | None:
    """Why a kernel cannot serve the call; None if it can."""
    kernel = KERNELS[name]
    if call.bias is not None and not kernel.takes_bias:
        return "the model adds a bias of its own to the scores"
    return kernel.unsupported_reason(call)


def row_index(rows: Sequence[int], call: AttentionInputs) -> Tensor:
    """Chosen queries as indices; negative ones count from the end.

    Raises:
        InputError: if rows are not whole numbers, or do not exist.
    """
    numbers = parse_rows("row", rows, call.q.shape[2])
    return torch.tensor(numbers, dtype=torch.long, device=call.q.device)


def parse_rows(what: str, numbers: Sequence[int], count: int) -> tuple[int, ...]:
    """The chosen rows or heads as numbers; negative ones count from the end.

    Raises:
        InputError: if they are not a list of whole numbers, or do not exist.
    """
    try:
        indices = [index(number) for number in numbers]
    except TypeError:
        raise InputError(f"{what}s must be whole numbers like [0, 5], not {numbers!r}") from None
    absent = [number for number in indices if not -count <= number < count]
    if absent:
        raise InputError(f"there is no {what} {absent[0]}: there are {count} {what}s")
    return tuple(number % count for number in indices)
