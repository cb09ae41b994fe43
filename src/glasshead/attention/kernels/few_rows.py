"""Few queries: scores and outputs from the tokens themselves, without a key or a value of every token."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor, nn

from glasshead.attention.mask import Mask
from glasshead.attention.mechanism import AttentionInputs, Mechanism
from glasshead.attention.precision import no_autocast, upcast_half


def pays(rows: int, keys: int, size: int) -> bool:
    """Whether maps of ``size`` numbers cost more for all keys than for what the rows ask and read: n d_e d
    products against q d_e (d + n), of each head."""
    return rows * (size + keys) < keys * size


def attend_few_rows(
    mechanism: Mechanism,
    q: Float[Tensor, "b h q d_k"],
    source: Float[Tensor, "b k d_c"],
    key: nn.Linear,
    value: nn.Linear,
    *,
    mask: Mask,
    dropout: float = 0.0,
    adds: bool = False,
) -> Float[Tensor, "b outputs q d_v"]:
    """The output of each head, or their sum ``[B, 1, Q, d_v]`` where it ``adds`` them.

    s = q·(W_k x + b_k) = (W_kᵀ q)·x + q·b_k, and Σ a (W_v x + b_v) = W_v Σ a x + b_v Σ a: the numbers of
    `AttentionInputs` with keys and values but for rounding, of a mechanism whose scores are plain dot
    products. Query heads that share a key head share its maps.
    """
    _, heads, rows, head_dim = q.shape
    groups = key.out_features // head_dim

    def of_heads(parameter: Tensor) -> Float[Tensor, "h m ..."]:
        """The part of every query head."""
        return parameter.unflatten(0, (groups, -1)).repeat_interleave(heads // groups, dim=0)

    call = AttentionInputs.of(
        mechanism, by_head(q, of_heads(key.weight)), source[:, None], source[:, None],
        mask=mask, scale=head_dim**-0.5, dropout=dropout,
    )  # fmt: skip
    with no_autocast(q.device):
        asked, tokens = upcast_half(call.q).flatten(1, 2), upcast_half(call.k[:, 0])
        scores = (asked @ tokens.transpose(1, 2)).unflatten(1, (heads, rows))
        if key.bias is not None:
            scores = scores + upcast_half((q * of_heads(key.bias)[:, None]).sum(dim=-1, keepdim=True))
        weights = mechanism.apply_dropout(call, mechanism.weights(call, scores * call.scale))
        read = (weights.flatten(1, 2) @ upcast_half(call.v[:, 0])).unflatten(1, (heads, rows)).to(q.dtype)
    output = by_head(read, of_heads(value.weight).transpose(1, 2))
    if value.bias is not None:
        output = output + weights.sum(dim=-1, keepdim=True).to(q.dtype) * of_heads(value.bias)[:, None]
    return output.sum(dim=1, keepdim=True) if adds else output


def by_head(x: Float[Tensor, "b h q m"], maps: Float[Tensor, "h m n"]) -> Float[Tensor, "b h q n"]:
    """What every head makes of its own rows: one product for each head, not for each text."""
    batch = x.shape[0]
    return (x.transpose(0, 1).flatten(1, 2) @ maps).unflatten(1, (batch, -1)).transpose(0, 1)
