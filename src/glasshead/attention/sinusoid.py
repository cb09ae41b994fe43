"""Sinusoids of the distance as inner products: sin((i − j)ω) = sin iω cos jω − cos iω sin jω."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from glasshead.attention.mask import Places


def sines(
    positions: Int[Tensor, "b n"], frequencies: Float[Tensor, " waves"], dtype: torch.dtype
) -> tuple[Float[Tensor, "b 1 n waves"], Float[Tensor, "b 1 n waves"]]:
    """sin pω and cos pω, with angles in float64: of thousands of radians float32 keeps few digits."""
    angles = positions.double()[:, None, :, None] * frequencies
    return angles.sin().to(dtype), angles.cos().to(dtype)


def with_waves(
    content: Float[Tensor, "b h queries d"],
    amplitudes: Float[Tensor, "b h queries size"],
    k: Float[Tensor, "b h keys d"],
    places: Places,
) -> tuple[Float[Tensor, "b h queries d+size"], Float[Tensor, "b h keys d+size"]]:
    """q′ and k′ with q′_i · k′_j = content_i · k_j + amplitudes_i · R_{i−j}.

    R_o = [sin oω_0, …, sin oω_{s/2−1}, cos oω_0, …], ω_m = 10000^{−2m/s} with s the ``size``
    (Vaswani et al. 2017, section 3.5).
    """
    dtype, size = content.dtype, amplitudes.shape[-1]
    exponents = torch.arange(0, size, 2, dtype=torch.float64, device=k.device) / size
    frequencies = 10000.0**-exponents
    a, b = amplitudes.chunk(2, dim=-1)
    sin, cos = sines(places.query, frequencies, dtype)
    turned = [torch.addcmul(a * sin, b, cos), torch.addcmul(b * sin, a, cos, value=-1)]
    queries = torch.cat([content, *turned], dim=-1)
    sin, cos = sines(places.key, frequencies, dtype)
    waves = torch.cat([cos, sin], dim=-1).expand(*k.shape[:3], size)
    return queries, torch.cat([k.to(dtype), waves], dim=-1)
