"""How far apart two distributions are: Kullback-Leibler, Jensen-Shannon, total variation."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import rel_entr

from glasshead.arrays import Floats


def kl_divergence(p: ArrayLike, q: ArrayLike) -> Floats:
    """KL(p ‖ q) = Σ_i p_i log(p_i / q_i), in nats: a term is 0 if p_i = 0, and infinite if only q_i = 0.

    Shapes: ``p`` and ``q`` [..., n], broadcast → [...]; neither is normalised.

    Raises:
        ValueError: on a negative value.

    Source: Kullback and Leibler, Annals of Mathematical Statistics 22 (1951).
    """
    first, second = as_weights(p), as_weights(q)
    divergence: Floats = np.asarray(rel_entr(first, second).sum(axis=-1))
    return divergence


def jensen_shannon(p: ArrayLike, q: ArrayLike) -> Floats:
    """JSD(p, q) = ½ KL(p ‖ m) + ½ KL(q ‖ m), m = ½ (p + q), in nats: 0 for equal rows, log 2 ≈ 0.693 for rows
    that share no key.

    Shapes: ``p`` and ``q`` [..., n], broadcast → [...]; neither is normalised.

    Raises:
        ValueError: on a negative value.

    Source: Lin, IEEE Transactions on Information Theory 37 (1991); Jain and Wallace (2019), section 3.
    """
    first, second = as_weights(p), as_weights(q)
    middle = (first + second) / 2
    divergence: Floats = np.asarray((rel_entr(first, middle) + rel_entr(second, middle)).sum(axis=-1) / 2)
    return divergence


def total_variation(p: ArrayLike, q: ArrayLike) -> Floats:
    """TVD(p, q) = ½ Σ_i |p_i − q_i|: 0 for equal rows, 1 for rows that share nothing; signs are allowed.

    Shapes: ``p`` and ``q`` [..., n], broadcast → [...].

    Source: Jain and Wallace (2019), section 3.
    """
    difference = np.asarray(p, np.float64) - np.asarray(q, np.float64)
    distance: Floats = np.asarray(np.abs(difference).sum(axis=-1) / 2)
    return distance


def as_weights(values: ArrayLike) -> Floats:
    """The values as float64, of which none may be negative."""
    weights = np.asarray(values, np.float64)
    if (weights < 0).any():
        raise ValueError("signed weights have no divergence: it needs values that are not negative")
    return weights
