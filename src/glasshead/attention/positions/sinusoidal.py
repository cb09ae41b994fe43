"""Sinusoids of the distance as inner products: sin((i − j)ω) = sin iω cos jω − cos iω sin jω."""

from abc import abstractmethod

import torch
from jaxtyping import Float, Int
from torch import Tensor

from glasshead.attention.mask import TokenPositions
from glasshead.attention.position import Position
from glasshead.attention.positions.relative import require_positions


def sines(
    positions: Int[Tensor, "b n"], frequencies: Float[Tensor, " waves"], dtype: torch.dtype
) -> tuple[Float[Tensor, "b 1 n waves"], Float[Tensor, "b 1 n waves"]]:
    """sin pω and cos pω, with angles in float64, because float32 keeps few digits of thousands of radians."""
    angles = positions.double()[:, None, :, None] * frequencies
    return angles.sin().to(dtype), angles.cos().to(dtype)


class Sinusoid(Position):
    """s_ij = content_i · k_j + amplitudes_i · R_{i−j}, the second as an inner product turned_i · waves_j.

    R_o = [sin oω_0, …, sin oω_{s/2−1}, cos oω_0, …], ω_m = 10000^{−2m/s} with s the size of the amplitudes
    (Vaswani et al. 2017, section 3.5). The waves of the keys belong to all heads.
    """

    is_dot_product = True

    @abstractmethod
    def parts(
        self, q: Float[Tensor, "b h q d"], scale: float
    ) -> tuple[Float[Tensor, "b h q d"], Float[Tensor, "b h q s"]]:
        """The content and the amplitudes of every query, scale included, at least in float32."""

    def rotate(
        self, q: Float[Tensor, "b h q d"], scale: float, positions: TokenPositions
    ) -> tuple[Float[Tensor, "b h q d"], Float[Tensor, "b h q s"], Float[Tensor, "#b 1 k s"]]:
        """The content, the amplitudes turned by the place of their query, and the waves of the keys."""
        content, amplitudes = self.parts(q, scale)
        dtype, size = content.dtype, amplitudes.shape[-1]
        exponents = torch.arange(0, size, 2, dtype=torch.float64, device=q.device) / size
        frequencies = 10000.0**-exponents
        a, b = amplitudes.chunk(2, dim=-1)
        sin, cos = sines(positions.query, frequencies, dtype)
        turned = [torch.addcmul(a * sin, b, cos), torch.addcmul(b * sin, a, cos, value=-1)]
        sin, cos = sines(positions.key, frequencies, dtype)
        return content, torch.cat(turned, dim=-1), torch.cat([cos, sin], dim=-1)

    def features(
        self,
        q: Float[Tensor, "b h q d"],
        k: Float[Tensor, "b h k d"],
        scale: float,
        positions: TokenPositions | None,
    ) -> tuple[Float[Tensor, "b h q f"], Float[Tensor, "b h k f"]]:
        content, turned, waves = self.rotate(q, scale, require_positions(positions))
        waves = waves.expand(*k.shape[:3], -1)
        return torch.cat([content, turned], dim=-1), torch.cat([k.to(waves.dtype), waves], dim=-1)

    def scores(
        self,
        q: Float[Tensor, "b h q d"],
        k: Float[Tensor, "b h k d"],
        scale: float,
        positions: TokenPositions | None,
    ) -> Float[Tensor, "b h q k"]:
        """Scores without a copy of the keys: all heads meet the waves in one product."""
        content, turned, waves = self.rotate(q, scale, require_positions(positions))
        scores = content @ k.to(content.dtype).transpose(-1, -2)
        along = turned.flatten(1, 2) @ waves[:, 0].transpose(-1, -2)
        # In place: the gradient of a product does not need the product.
        scores += along.unflatten(1, turned.shape[1:3])
        return scores.to(q.dtype)
