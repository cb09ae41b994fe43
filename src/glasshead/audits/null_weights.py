"""Weights that mean nothing, for audits to compare with."""

import numpy as np
from numpy.typing import NDArray

from glasshead.audits.context import Floats


def random_weights(
    mask: NDArray[np.bool_], signed: bool, rng: np.random.Generator, *, draws: int | None = None
) -> Floats:
    """U(0, 1), or U(−1, 1) for signed activations, [N, (draws,) n] (Jain and Wallace 2019)."""
    shape = mask.shape if draws is None else (mask.shape[0], draws, mask.shape[1])
    values = rng.random(shape, dtype=np.float32)
    if signed:
        values = 2 * values - 1
    return values * (mask if draws is None else mask[:, None, :])


def same_mass(random: Floats, weights: Floats, parts: NDArray[np.int64] | None = None) -> Floats:
    """Random weights scaled to the total |a| of the weights they replace, in each part; [N, draws, n] and
    [N, n]."""
    scaled = np.zeros_like(random)
    for part in range(1 if parts is None else int(parts.max(initial=0)) + 1):
        here = np.ones(weights.shape, dtype=bool) if parts is None else parts == part
        in_part = random * here[:, None, :]
        total = np.abs(in_part).sum(axis=-1, keepdims=True)
        mass = np.abs(weights * here).sum(axis=-1)[:, None, None]
        scaled += in_part * (mass / np.where(total > 0, total, 1.0)).astype(random.dtype)
    return scaled
