"""Weights of units that know nothing of the model: equal ones, and random ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasshead.arrays import AnyFloats


def uniform_weights(counts: NDArray[Any], parts: NDArray[np.int64]) -> AnyFloats:
    """The share of each unit in its part, by how many tokens count in it; of a mask, one or none."""
    weights = np.zeros(counts.shape)
    for part in range(int(parts.max(initial=0)) + 1):
        in_part = np.where(parts == part, counts, 0)
        weights += in_part / np.maximum(in_part.sum(axis=1, keepdims=True), 1)
    return weights


def draw_units(
    mask: NDArray[np.bool_], signed: bool, rng_of: Callable[[int], np.random.Generator]
) -> AnyFloats:
    """Uniform numbers where the mask [N, n] is, from the generator of each text; zeros elsewhere.

    Source of the ranges: Jain and Wallace (2019).
    """
    values = np.zeros(mask.shape, dtype=np.float32)
    for row, own in enumerate(mask):
        drawn = rng_of(row).random(int(own.sum()), dtype=np.float32)
        values[row, own] = 2 * drawn - 1 if signed else drawn
    return values


def part_sums(weights: AnyFloats, parts: NDArray[np.int64]) -> AnyFloats:
    """Σa of each part [N, parts] of the weights [N, n] of texts."""
    numbers = range(int(parts.max(initial=0)) + 1)
    return np.stack([np.where(parts == part, weights, 0.0).sum(axis=1) for part in numbers], axis=1)
