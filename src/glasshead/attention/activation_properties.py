"""The facts about an activation, measured: the columns of Table 3 of Huang et al. (2024), and two more.

Where each is measured: in float64, on rows of nine scores inside the ``domain`` of the activation, which is
(−4, 4) unless it says otherwise. Within a row φ_i / φ_j = g(s_i) / g(s_j), so the weights of one row are g up
to a factor, whatever the normaliser; monotone and log-nonlinear, which are about g, are read from rows of
evenly spaced scores, the other four from random rows.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

ROWS, KEYS = 256, 9


@dataclass(frozen=True)
class ActivationProperties:
    """What holds for φ_i(s) = g(s_i) / Σ_k h(s_k) on its domain."""

    monotone: bool
    """g never falls, and rises somewhere: of two keys in a row the one with more score has no less weight."""
    log_nonlinear: bool
    """log |g| is not a straight line (where g is not 0)."""
    normalised: bool
    """A weight depends on the scores of the other keys."""
    origin_symmetric: bool
    """φ(−s) = −φ(s); never so on a domain that is not symmetric itself."""
    signed: bool
    """A weight can be negative."""
    rows_sum_to_one: bool
    """Σ_i φ_i = 1 for every row."""


@torch.no_grad()
def measure_properties(
    masked_weights: Callable[[Tensor, Tensor], Tensor], domain: tuple[float, float]
) -> ActivationProperties:
    """The facts about an activation, from its weights of scores and a mask, for scores in ``domain``."""
    low, high = domain

    def weights(scores: Float[Tensor, "rows keys"]) -> Float[Tensor, "rows keys"]:
        return masked_weights(scores, torch.ones_like(scores, dtype=torch.bool))

    # The device is named because models are built inside `with torch.device("meta")`.
    draw = torch.Generator().manual_seed(0)
    random = low + (high - low) * torch.rand(ROWS, KEYS, generator=draw, dtype=torch.float64, device="cpu")
    ends = torch.rand(ROWS, 2, 1, generator=draw, dtype=torch.float64, device="cpu") / 3
    steps = torch.linspace(0, 1, KEYS, dtype=torch.float64, device="cpu")
    even = low + (high - low) * torch.lerp(ends[:, 0], 1 - ends[:, 1], steps)

    shape, row = weights(even), weights(random)
    rise = shape.diff(dim=1)
    logs = shape.abs().log()
    bend = logs.diff(n=2, dim=1).abs()
    other = random.clone()
    other[:, 0] = (low + high) / 2
    return ActivationProperties(
        monotone=bool((rise >= -1e-12).all() and (rise > 1e-12).any()),
        log_nonlinear=bool((bend[bend.isfinite()] > 1e-6).any()),
        normalised=bool(((weights(other) - row)[:, 1:].abs() > 1e-9).any()),
        origin_symmetric=low == -high and torch.allclose(weights(-random), -row, rtol=0, atol=1e-12),
        signed=bool((row < -1e-12).any()),
        rows_sum_to_one=bool(((row.sum(dim=1) - 1).abs() < 1e-9).all()),
    )
