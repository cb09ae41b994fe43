"""How far states are from a matrix of equal rows, and how fast random attention brings them there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from glasshead.attention import AttentionInputs, Mechanism, mechanism
from glasshead.errors import ParameterError
from glasshead.identifiability import rank_threshold
from glasshead.papers.results import DepthCurve, LogRank
from glasshead.statistics import mean_intervals

TOKENS, WIDTH, LAYERS = 32, 64, 8
"""The Gaussian check: states of 32 × 64 through 8 layers."""
HEAD_DIM, ROWS = 5, 40
"""The ranks of log |A|: queries and keys of 5 numbers, 40 of each."""
GAUSSIAN = "Gaussian input and weights, attention alone"


def composite_norm(matrix: Float[Tensor, "*b n d"]) -> Float[Tensor, "*b"]:
    """√(‖M‖₁ ‖M‖_∞), from the largest absolute column sum and the largest absolute row sum.

    Source: Dong, Cordonnier and Loukas (2021), section 2.
    """
    size = matrix.abs()
    columns, rows = size.sum(dim=-2).amax(dim=-1), size.sum(dim=-1).amax(dim=-1)
    return (columns * rows).sqrt()


def residual(states: Float[Tensor, "*b n d"]) -> Float[Tensor, "*b"]:
    """‖H − 1x̄ᵀ‖ / ‖H‖ in the composite norm, x̄ the mean row: 0 where all rows are equal; NaN where H is 0.

    Source: Dong, Cordonnier and Loukas (2021), section 4; their code takes the mean row, not the best one.
    """
    return composite_norm(states - states.mean(dim=-2, keepdim=True)) / composite_norm(states)


def scale_to(states: Float[Tensor, "n d"], size: Tensor | float) -> Float[Tensor, "n d"]:
    """States with root mean square ``size``, which changes no residual."""
    return states * (size / states.square().mean().sqrt().clamp(min=torch.finfo(states.dtype).tiny))


def gaussian_residuals(
    attention: str, seed: int, *, tokens: int = TOKENS, width: int = WIDTH, layers: int = LAYERS
) -> Float[Tensor, " depth"]:
    """Residuals of H ← A(H) H W_v, scaled to root mean square 1 after each layer, in float64.

    H ~ N(0, 1), W_q, W_k, W_v ~ N(0, 1/width), new ones in each layer, one head.

    Source: Huang, Yang and Wang (2024), Fig. 4; the sizes are ours.
    """
    random, head = torch.Generator().manual_seed(seed), build_head(attention, width)
    states = torch.randn(tokens, width, generator=random, dtype=torch.float64)
    residuals = [residual(states)]
    for _ in range(layers):
        q, k, v = (
            states @ torch.randn(width, width, generator=random, dtype=torch.float64) / width**0.5
            for _ in range(3)
        )
        states = scale_to(map_of(head, q, k) @ v, 1.0)
        residuals.append(residual(states))
    return torch.stack(residuals)


def gaussian_collapse(mechanisms: Sequence[str], *, seeds: int = 20) -> list[DepthCurve]:
    """One curve for each mechanism, with intervals over seeds."""
    check_any_seed(seeds)
    return [
        depth_curve(
            GAUSSIAN, name, "seed", torch.stack([gaussian_residuals(name, seed) for seed in range(seeds)])
        )
        for name in mechanisms
    ]


def log_rank(attention: str, seed: int, *, head_dim: int = HEAD_DIM, rows: int = ROWS) -> int | None:
    """The rank of log |A| for Gaussian queries and keys, in float64; None where a weight is 0.

    log A = S − 1 log Σ exp has rank d_k + 1 at most under softmax: its logarithm is linear in the scores.
    Singular values up to n · ε · σ₁ count as zero (`rank_threshold`).

    Source: Kanai et al. (2018); Huang, Yang and Wang (2024), section 4.
    """
    random = torch.Generator().manual_seed(seed)
    q, k = (torch.randn(rows, head_dim, generator=random, dtype=torch.float64) for _ in range(2))
    logarithm = map_of(build_head(attention, head_dim), q, k).abs().log()
    if not bool(logarithm.isfinite().all()):
        return None
    sizes = torch.linalg.svdvals(logarithm)
    floor = rank_threshold(rows, rows, torch.finfo(torch.float64).eps, float(sizes[0]))
    return int((sizes > floor).sum())


def log_ranks(
    mechanisms: Sequence[str], *, seeds: int = 20, head_dim: int = HEAD_DIM, rows: int = ROWS
) -> list[LogRank]:
    """The ranks of log |A| of each mechanism; none where a weight of some draw is 0."""
    check_any_seed(seeds)
    results = []
    for name in mechanisms:
        ranks = [log_rank(name, seed, head_dim=head_dim, rows=rows) for seed in range(seeds)]
        known = [rank for rank in ranks if rank is not None]
        results.append(LogRank(name, known if len(known) == len(ranks) else []))
    return results


def check_any_seed(seeds: int) -> None:
    """Raise ParameterError unless there is one."""
    if seeds < 1:
        raise ParameterError("seeds", f"must be at least 1, not {seeds}")


def build_head(attention: str, head_dim: int) -> Mechanism:
    """One head of a mechanism, with the parameters that it begins with."""
    return mechanism(attention, num_heads=1, head_dim=head_dim, value_dim=head_dim).double()


@torch.no_grad()
def map_of(head: Mechanism, q: Float[Tensor, "n d"], k: Float[Tensor, "n d"]) -> Float[Tensor, "n n"]:
    """A of all queries and keys, scores over √d_k."""
    call = AttentionInputs.of(head, q[None, None], k[None, None], k[None, None])
    return head.compute_weights(call)[0, 0]


def depth_curve(panel: str, name: str, unit: str, residuals: Float[Tensor, "units depth"]) -> DepthCurve:
    """Mean and interval of the residuals at each depth; units without one (states of 0) are left out."""
    values = residuals.T.double().cpu().numpy()
    estimates = mean_intervals(values, rng=np.random.default_rng(0))
    mean, low, high = (
        np.array([np.nan if end is None else end for end in ends])
        for ends in zip(*((one.mean, one.low, one.high) for one in estimates), strict=True)
    )
    return DepthCurve(panel, name, unit, [one.n for one in estimates], mean, low, high)
