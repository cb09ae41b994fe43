"""Weights that mean nothing, for audits to compare with."""

import numpy as np
from numpy.typing import NDArray

from glasshead.audit.subject import Floats


def random_weights(
    mask: NDArray[np.bool_], signed: bool, rng: np.random.Generator, *, draws: int | None = None
) -> Floats:
    """U(0, 1), or U(−1, 1) for signed activations, [N, (draws,) n] (Jain and Wallace 2019)."""
    shape = mask.shape if draws is None else (mask.shape[0], draws, mask.shape[1])
    values = rng.random(shape, dtype=np.float32)
    if signed:
        values = 2 * values - 1
    return values * (mask if draws is None else mask[:, None, :])


def same_mass(random: Floats, weights: Floats) -> Floats:
    """Random weights scaled to the total |a| of the weights they replace; [N, draws, n] and [N, n]."""
    total = np.abs(random).sum(axis=-1, keepdims=True)
    mass = np.abs(weights).sum(axis=-1)[:, None, None]
    return random * (mass / np.where(total > 0, total, 1.0)).astype(random.dtype)
