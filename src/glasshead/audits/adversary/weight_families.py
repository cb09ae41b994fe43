"""All weights that an activation can produce, as functions of unbounded parameters."""

from collections.abc import Callable

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from glasshead.attention import ACTIVATIONS

WeightFamily = Callable[[Tensor, Tensor], Tensor]
"""(parameters [*rows, n], mask) → weights; every weight of the domain but its border has parameters."""
BORDER = 1e-5  # weights nearer to the border than this begin there
START_SLOPE = 2.0  # e² n of (e² n + n): two tokens of a start share 94 % of its weight


def softmax_family(
    parameters: Float[Tensor, "*rows n"], mask: Bool[Tensor, "*#rows n"]
) -> Float[Tensor, "*rows n"]:
    """a ≥ 0, Σ a = 1."""
    return ACTIVATIONS["softmax"]().weights(parameters, mask.expand_as(parameters))


def below_one_family(
    parameters: Float[Tensor, "*rows n"], mask: Bool[Tensor, "*#rows n"]
) -> Float[Tensor, "*rows n"]:
    """a ≥ 0, Σ a < 1: the softmax next to a score of 0, which nobody gets."""
    spare = torch.zeros_like(parameters[..., :1])
    allowed = torch.cat([mask.expand_as(parameters), torch.ones_like(spare, dtype=torch.bool)], dim=-1)
    return softmax_family(torch.cat([parameters, spare], dim=-1), allowed)[..., :-1]


def tanhmax_family(
    parameters: Float[Tensor, "*rows n"], mask: Bool[Tensor, "*#rows n"]
) -> Float[Tensor, "*rows n"]:
    """Σ |a| < 1."""
    return ACTIVATIONS["tanhmax"]().weights(parameters, mask.expand_as(parameters))


WEIGHT_FAMILIES: dict[str, WeightFamily] = {
    "simplex": softmax_family,
    "below-one": below_one_family,
    "cross": tanhmax_family,
}


def border_parameters(weights: Float[Tensor, "*rows n"], domain: str) -> Float[Tensor, "*rows n"]:
    """Parameters of weights on the border of the domain (Σ |a| = 1, or 0 of Σ a < 1), up to `BORDER`."""
    sizes = weights.abs().clamp_min(BORDER)
    if domain == "simplex":
        return sizes.log()
    if domain == "below-one":
        return (sizes / (1 - sizes.sum(dim=-1, keepdim=True)).clamp_min(BORDER)).log()
    # 2 sinh s / Σ 2 cosh s: of large scores sinh and cosh are one, so that Σ |a| is 1.
    return torch.asinh(torch.where(weights < 0, -1.0, 1.0) * sizes / BORDER)


def two_token_parameters(
    mask: Bool[Tensor, "*rows n"],
    noise: Float[Tensor, "*rows n"],
    minus: Bool[Tensor, "*rows n"],
    domain: str,
) -> Float[Tensor, "*rows n"]:
    """Parameters of weights of which the two tokens with the largest ``noise`` have nearly all, with a
    ``minus`` where there are signs: the farthest weights are of this form where the output is linear in
    them."""
    largest = noise.masked_fill(~mask, -1.0).topk(min(2, mask.shape[-1]), dim=-1).indices
    count = mask.sum(dim=-1, keepdim=True).clamp(min=1)
    height = (START_SLOPE + torch.log(count.double())).expand(largest.shape)
    if domain == "cross":
        height = torch.where(minus.gather(-1, largest), -height, height)
    return 0.1 * (noise - 0.5) + torch.zeros_like(noise).scatter(-1, largest, height)
