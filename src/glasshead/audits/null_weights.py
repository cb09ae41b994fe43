"""Weights that mean nothing, for audits to compare with."""

import numpy as np
from numpy.typing import NDArray

from glasshead.audits.context import AuditContext, Floats, uniform_weights
from glasshead.data import Encoded
from glasshead.explainers import LinearReadout


def random_weights(
    mask: NDArray[np.bool_], signed: bool, rng: np.random.Generator, *, draws: int | None = None
) -> Floats:
    """U(0, 1), or U(−1, 1) for signed activations, [N, (draws,) n] (Jain and Wallace 2019)."""
    values = uniform_draws(mask.shape if draws is None else (len(mask), draws, mask.shape[1]), signed, rng)
    values *= mask if draws is None else mask[:, None, :]
    return values


def random_scores(encoded: Encoded, signed: bool, rng: np.random.Generator) -> Floats:
    """The same of each token, added up where a unit has several, as are all explanations of such a unit: of a
    larger one the sum is larger."""
    return encoded.sum_units(random_weights(encoded.mask.numpy(), signed, rng))


def uniform_draws(shape: tuple[int, ...], signed: bool, rng: np.random.Generator) -> NDArray[np.float32]:
    """U(0, 1), or U(−1, 1)."""
    values = rng.random(shape, dtype=np.float32)
    if signed:
        values *= 2
        values -= 1
    return values


def same_mass(random: Floats, weights: Floats, parts: NDArray[np.int64] | None = None) -> Floats:
    """Random weights scaled to the total |a| of the weights they replace, in each part; [N, draws, n] and
    [N, n]."""
    if parts is None or not parts.any():
        sizes = np.abs(random)
        total = sizes @ np.ones((random.shape[-1], 1), random.dtype)
        mass = np.abs(weights).sum(axis=-1)[:, None, None]
        return random * (mass / np.where(total > 0, total, 1.0)).astype(random.dtype)
    scaled = np.zeros_like(random)
    for part in range(int(parts.max()) + 1):
        here = parts == part
        scaled += same_mass(random * here[:, None, :], weights * here)
    return scaled


def base_weights(readout: LinearReadout, rng: np.random.Generator) -> Floats:
    """The weights, and random and uniform ones of the same mass in each part [3, N, n], drawn in the
    canonical gauge."""
    mask, weights, parts = readout.mask.numpy(), readout.weights.numpy(), readout.parts().numpy()
    drawn = readout.gauge * random_weights(mask, readout.signed, rng)[:, None]
    return np.stack([weights, same_mass(drawn, weights, parts)[:, 0], uniform_base(readout)])


def uniform_base(readout: LinearReadout) -> Floats:
    """Uniform weights of the same mass in each part [N, n]."""
    mask, weights, parts = readout.mask.numpy(), readout.weights.numpy(), readout.parts().numpy()
    uniform = readout.gauge * uniform_weights(mask, parts)[:, None]
    return same_mass(uniform, weights, parts)[:, 0]


def even_weights(readout: LinearReadout, classes: NDArray[np.int64]) -> Floats:
    """Uniform weights [N, n] that do not know the class of a text: of the same mass in each part, times the
    `net_share` of the weights."""
    weights = readout.gauge * readout.weights.numpy()
    mass = np.abs(weights).sum(axis=1)
    net = weights.sum(axis=1) / np.where(mass > 0, mass, np.nan)
    return net_share(net, classes) * uniform_base(readout)


def net_share(net: Floats, classes: NDArray[np.int64]) -> Floats:
    """The share of the weights that has one sign in every text: the mean of Σa / Σ|a| [N, ...] over the texts
    of each class, then over classes, NaN left out.

    1 of weights that are never negative. Where the sign of the weights tells the classes apart it is near 0,
    whatever the number of texts in each class: uniform weights must not know the class.
    """
    means = np.stack([mean_of_known(net[classes == one]) for one in np.unique(classes)])
    return np.nan_to_num(mean_of_known(means), nan=1.0)


def mean_of_known(values: Floats) -> Floats:
    """The mean over the first axis without NaN; NaN where there is nothing else."""
    known = ~np.isnan(values)
    count = known.sum(axis=0)
    total = np.where(known, values, 0.0).sum(axis=0)
    return np.asarray(np.where(count > 0, total / np.maximum(count, 1), np.nan))


ALIKE = 1e-6
"""Weights that differ by less, relative to the largest of a text, are equal but for rounding."""


def are_alike(context: AuditContext) -> NDArray[np.bool_]:
    """In which texts [N] all units that share a row have the same weight."""
    weights, uniform = context.canonical, context.uniform
    mass = weights.sum(axis=1, keepdims=True) / np.maximum(uniform.sum(axis=1, keepdims=True), 1.0)
    largest = np.abs(weights).max(axis=1, initial=0.0)
    return np.asarray(np.abs(weights - mass * uniform).max(axis=1, initial=0.0) <= ALIKE * largest)
