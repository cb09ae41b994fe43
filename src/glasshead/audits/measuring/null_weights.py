"""Weights that mean nothing, for audits to compare with."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from glasshead.arrays import AnyFloats
from glasshead.audits.measuring.unit_weights import draw_units, part_sums, uniform_weights

if TYPE_CHECKING:
    from glasshead.audits.measuring.view import ModelView
    from glasshead.explainers import LinearReadout


def random_weights(
    mask: NDArray[np.bool_], signed: bool, rng: np.random.Generator, *, draws: int | None = None
) -> AnyFloats:
    """U(0, 1), or U(−1, 1) for signed activations, [N, (draws,) n] (Jain and Wallace 2019)."""
    values = uniform_draws(mask.shape if draws is None else (len(mask), draws, mask.shape[1]), signed, rng)
    values *= mask if draws is None else mask[:, None, :]
    return values


def uniform_draws(shape: tuple[int, ...], signed: bool, rng: np.random.Generator) -> NDArray[np.float32]:
    """U(0, 1), or U(−1, 1)."""
    values = rng.random(shape, dtype=np.float32)
    if signed:
        values *= 2
        values -= 1
    return values


def same_mass(random: AnyFloats, weights: AnyFloats, parts: NDArray[np.int64] | None = None) -> AnyFloats:
    """Random weights scaled to the total |a| of the weights they replace, in each part; [N, draws, n] and
    [N, n]."""
    if parts is None or not parts.any():
        sizes = np.abs(random)
        total = sizes @ np.ones((random.shape[-1], 1), random.dtype)
        mass = np.abs(weights).sum(axis=-1)[:, None, None]
        return random * (mass / np.where(total > 0, total, 1.0)).astype(random.dtype)
    scaled = np.zeros_like(random)
    for part in range(int(parts.max()) + 1):
        in_part = parts == part
        scaled += same_mass(random * in_part[:, None, :], weights * in_part)
    return scaled


def base_weights(view: ModelView, audit: str) -> AnyFloats:
    """The weights, and random and uniform ones of the same mass in each part [3, N, n], drawn in the
    canonical gauge."""
    readout = view.readout
    assert readout is not None
    weights, parts = readout.weights.numpy(), readout.parts().numpy()
    drawn = draw_units(readout.mask.numpy(), readout.signed, partial(view.rng, audit))
    drawn = readout.gauge * drawn[:, None]
    return np.stack([weights, same_mass(drawn, weights, parts)[:, 0], uniform_base(readout)])


def uniform_base(readout: LinearReadout) -> AnyFloats:
    """Uniform weights of the same mass in each part [N, n]."""
    mask, weights, parts = readout.mask.numpy(), readout.weights.numpy(), readout.parts().numpy()
    uniform = readout.gauge * uniform_weights(mask, parts)[:, None]
    return same_mass(uniform, weights, parts)[:, 0]


def even_weights(readout: LinearReadout, even: AnyFloats | None) -> AnyFloats:
    """Uniform weights [N, n] that know nothing of a text: in each part, with the same sum in every text.

    Where all parts have one sum already, as after softmax, they keep it. Else the sum is the `Reference`'s,
    since Σa may tell the classes apart by its sign or its size.
    """
    mask, weights, parts = readout.mask.numpy(), readout.weights.numpy(), readout.parts().numpy()
    if even is None:
        own = np.take_along_axis(part_sums(weights, parts), parts, axis=1)  # Σa of the part of each unit
        return np.asarray(uniform_weights(mask, parts) * own)
    uniform = readout.gauge * uniform_base(readout)  # of the sizes |a|, so not below 0
    sizes = uniform.sum(axis=1, keepdims=True)
    shares = np.where(sizes > 0, uniform / np.where(sizes > 0, sizes, 1.0), uniform_weights(mask, parts))
    return even * shares


def leave_a_choice(view: ModelView) -> NDArray[np.bool_]:
    """The texts [N] in which two units or more share a row of weights: the weight of one alone is what its
    activation makes of any score, 1 after softmax, whatever the model has learned."""
    parts = view.parts
    shared = [(view.mask & (parts == part)).sum(axis=1) > 1 for part in range(int(parts.max(initial=0)) + 1)]
    return np.asarray(np.any(shared, axis=0))


EVEN_WITHIN = 1e-6
"""Weights that differ by less, relative to the largest of a text, are equal but for rounding."""


def carry_one_value(view: ModelView) -> NDArray[np.bool_]:
    """The texts [N] whose units all have one polarity, and not 0: what one of them adds to the output, any
    other would, so weights with one sum do the same whichever unit has which."""
    polarity, mask = view.polarity, view.mask
    largest = np.where(mask, polarity, -np.inf).max(axis=1, initial=-np.inf)
    smallest = np.where(mask, polarity, np.inf).min(axis=1, initial=np.inf)
    size = np.maximum(np.abs(largest), np.abs(smallest))
    known = mask.any(axis=1) & (size > 0)
    return known & (np.where(known, largest - smallest, 0.0) <= EVEN_WITHIN * np.where(known, size, 1.0))


def are_alike(view: ModelView) -> NDArray[np.bool_]:
    """The texts [N] in which all units that share a row have the same weight."""
    weights, uniform = view.canonical, view.uniform
    mass = weights.sum(axis=1, keepdims=True) / np.maximum(uniform.sum(axis=1, keepdims=True), 1.0)
    largest = np.abs(weights).max(axis=1, initial=0.0)
    return np.asarray(np.abs(weights - mass * uniform).max(axis=1, initial=0.0) <= EVEN_WITHIN * largest)
