"""What a query may not see reaches nothing, also where it is no finite number: 0 · NaN would be NaN."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from glasshead.attention.mask import Mask


def zero_masked(
    q: Float[Tensor, "b h q d"], k: Float[Tensor, "b g k d"], v: Float[Tensor, "b g k d_v"], mask: Mask
) -> tuple[Float[Tensor, "b h q d"], Float[Tensor, "b g k d"], Float[Tensor, "b g k d_v"]]:
    """q, k and v with which every kernel gives what the queries may see, and NaN to those that see a NaN.

    Keys or values with a NaN or an infinity become zeros; a query that may attend to one of them becomes NaN
    itself, which all kernels hand on. Where all is finite nothing is copied. On a GPU and under a compiler,
    where nobody can look without waiting, padding becomes zeros and other masks are left to their kernels.
    """
    if mask.is_full:
        return q, k, v
    if q.device.type != "cpu" or torch.compiler.is_compiling():
        if mask.padding is None:
            return q, k, v
        padding = ~mask.padding[:, None, :, None]
        return q, zeros_at(k, padding), zeros_at(v, padding)
    if is_finite(k) and is_finite(v):
        return q, k, v
    bad = not_finite(k) | not_finite(v)
    sees = mask.allowed(q.device) & bad.repeat_interleave(q.shape[1] // k.shape[1], dim=1)[:, :, None]
    q = q.masked_fill(sees.any(dim=-1, keepdim=True), torch.nan)
    return q, zeros_at(k, bad[..., None]), zeros_at(v, bad[..., None])


def is_finite(x: Tensor) -> bool:
    """Whether the sum of all numbers is finite, as it never is if one of them is not."""
    return bool(x.detach().sum(dtype=torch.promote_types(x.dtype, torch.float32)).isfinite())


def not_finite(x: Float[Tensor, "*any d"]) -> Bool[Tensor, "*any"]:
    """Which vectors hold a NaN or an infinity, whose product with 0 is NaN."""
    return (x.detach() * 0).sum(dim=-1).isnan()


def zeros_at(x: Float[Tensor, "b g k d"], where: Bool[Tensor, "b _ k 1"]) -> Float[Tensor, "b g k d"]:
    """Zeros there; heads that share their memory go on sharing it."""
    if x.stride(1) == 0 and where.shape[1] == 1:
        return x[:, :1].masked_fill(where, 0.0).expand_as(x)
    return x.masked_fill(where, 0.0)
