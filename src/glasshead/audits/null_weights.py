"""Weights that mean nothing, for audits to compare with."""

import numpy as np
from numpy.typing import NDArray

from glasshead.arrays import AnyFloats
from glasshead.audits.context import AuditContext, uniform_weights
from glasshead.data import Encoded
from glasshead.explainers import LinearReadout
from glasshead.nouns import Nouns


def random_weights(
    mask: NDArray[np.bool_], signed: bool, rng: np.random.Generator, *, draws: int | None = None
) -> AnyFloats:
    """U(0, 1), or U(−1, 1) for signed activations, [N, (draws,) n] (Jain and Wallace 2019)."""
    values = uniform_draws(mask.shape if draws is None else (len(mask), draws, mask.shape[1]), signed, rng)
    values *= mask if draws is None else mask[:, None, :]
    return values


def random_scores(encoded: Encoded, signed: bool, rng: np.random.Generator) -> AnyFloats:
    """Random scores of tokens, added up where a unit has several, as are all explanations of such a unit:
    of a larger one the sum is larger."""
    return encoded.sum_units(random_weights(encoded.mask.numpy(), signed, rng))


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


def base_weights(readout: LinearReadout, rng: np.random.Generator) -> AnyFloats:
    """The weights, and random and uniform ones of the same mass in each part [3, N, n], drawn in the
    canonical gauge."""
    mask, weights, parts = readout.mask.numpy(), readout.weights.numpy(), readout.parts().numpy()
    drawn = readout.gauge * random_weights(mask, readout.signed, rng)[:, None]
    return np.stack([weights, same_mass(drawn, weights, parts)[:, 0], uniform_base(readout)])


def uniform_base(readout: LinearReadout) -> AnyFloats:
    """Uniform weights of the same mass in each part [N, n]."""
    mask, weights, parts = readout.mask.numpy(), readout.weights.numpy(), readout.parts().numpy()
    uniform = readout.gauge * uniform_weights(mask, parts)[:, None]
    return same_mass(uniform, weights, parts)[:, 0]


def even_weights(readout: LinearReadout, classes: NDArray[np.int64]) -> AnyFloats:
    """Uniform weights [N, n] that know nothing of a text: in each part, with the same sum in every text.

    Where all parts have one sum already, as after softmax, they keep it. Else the sum is the `class_mean` of
    the sums, since Σa may tell the classes apart by its sign or its size.
    """
    mask, weights, parts = readout.mask.numpy(), readout.weights.numpy(), readout.parts().numpy()
    uniform = readout.gauge * uniform_base(readout)  # of the sizes |a|, so not below 0
    sums = [
        np.where(parts == part, weights, 0.0).sum(axis=1) for part in range(int(parts.max(initial=0)) + 1)
    ]
    filled = [(mask & (parts == part)).any(axis=1) for part in range(len(sums))]
    if is_fixed(np.concatenate([own[real] for own, real in zip(sums, filled, strict=True)])):
        own = np.take_along_axis(np.stack(sums, axis=1), parts, axis=1)  # Σa of the part of each unit
        return np.asarray(uniform_weights(mask, parts) * own)
    total = np.where(mask.any(axis=1), weights.sum(axis=1), np.nan)
    sizes = uniform.sum(axis=1, keepdims=True)
    shares = np.where(sizes > 0, uniform / np.where(sizes > 0, sizes, 1.0), uniform_weights(mask, parts))
    return class_mean(total, classes) * shares


FIXED = 1e-4
"""Sums that differ by less, relative to the largest, are one sum but for rounding."""


def is_fixed(sums: AnyFloats) -> bool:
    """Whether all sums that are known are the same."""
    known = sums[~np.isnan(sums)]
    return not len(known) or bool(np.ptp(known) <= FIXED * np.abs(known).max())


def class_mean(values: AnyFloats, classes: NDArray[np.int64]) -> AnyFloats:
    """The mean over the texts of each class of values [N, ...], then over classes, NaN left out: a mean over
    texts would be that of the commonest class."""
    means = np.stack([mean_of_known(values[classes == one]) for one in np.unique(classes)])
    return np.nan_to_num(mean_of_known(means))


def mean_of_known(values: AnyFloats) -> AnyFloats:
    """The mean over the first axis without NaN; NaN where there is nothing else."""
    known = ~np.isnan(values)
    count = known.sum(axis=0)
    total = np.where(known, values, 0.0).sum(axis=0)
    return np.asarray(np.where(count > 0, total / np.maximum(count, 1), np.nan))


def few_tokens(nouns: Nouns) -> str:
    """Why weights of an input could not be others, or have no order."""
    return f"fewer than two {nouns.tokens}"


def leave_a_choice(context: AuditContext) -> NDArray[np.bool_]:
    """The texts [N] in which two units or more share a row of weights: the weight of one alone is what its
    activation makes of any score, 1 after softmax, whatever the model has learned."""
    parts = context.parts
    shared = [
        (context.mask & (parts == part)).sum(axis=1) > 1 for part in range(int(parts.max(initial=0)) + 1)
    ]
    return np.asarray(np.any(shared, axis=0))


EVEN_WITHIN = 1e-6
"""Weights that differ by less, relative to the largest of a text, are equal but for rounding."""


def are_alike(context: AuditContext) -> NDArray[np.bool_]:
    """The texts [N] in which all units that share a row have the same weight."""
    weights, uniform = context.canonical, context.uniform
    mass = weights.sum(axis=1, keepdims=True) / np.maximum(uniform.sum(axis=1, keepdims=True), 1.0)
    largest = np.abs(weights).max(axis=1, initial=0.0)
    return np.asarray(np.abs(weights - mass * uniform).max(axis=1, initial=0.0) <= EVEN_WITHIN * largest)
