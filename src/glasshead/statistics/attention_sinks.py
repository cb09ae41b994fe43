"""Attention sinks: parts of an input that take attention in nearly every head, and whose effect is small."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from glasshead.arrays import Flags, Floats, Integers

MUCH, OFTEN, ERROR = 3.0, 0.75, 0.05
"""Times the mean weight of a part; the share of heads and rows; how often heads that choose by themselves may
agree so."""
NOTHING = 1e-6
"""An effect that may be rounding."""
OTHERS = 32
"""The most other parts whose effect is measured."""


def much_attended(weights: Floats) -> Flags:
    """Which parts take more than 3/n of the weights |a| on all n parts in at least 75 % of the heads and rows
    [heads, rows, n], and do so in more heads than heads would that choose by themselves.

    There a part is among the m_h that a head h prefers with probability m_h/n, so the number of heads that
    prefer it is a sum of independent choices; its tail is corrected for n parts (Bonferroni).
    """
    if not weights.size:  # no head, or no row
        return np.zeros(weights.shape[-1], dtype=bool)
    count, shares = weights.shape[-1], head_shares(weights)
    often = (shares > MUCH / count).mean(axis=(0, 1)) >= OFTEN
    prefers = shares.mean(axis=1) > MUCH / count  # [heads, n]
    tails = tail_of_choices(prefers.mean(axis=1))
    return np.asarray(often & (tails[prefers.sum(axis=0)] <= ERROR / count))


def can_have_sinks(weights: Floats) -> bool:
    """Whether heads with these weights [heads, rows, n] could have shown a sink: some part may have more than
    3/n, and it is no coincidence if all heads prefer one part."""
    if not weights.size:
        return False
    count = weights.shape[-1]
    preferred = (head_shares(weights).mean(axis=1) > MUCH / count).sum(axis=-1)
    by_chance = np.log(np.maximum(preferred, 1) / count).sum()
    return bool(count > MUCH and by_chance <= np.log(ERROR / count))


def head_shares(weights: Floats) -> Floats:
    """|a| / Σ|a| over all parts; 0 where that is 0."""
    sizes = np.abs(weights)
    totals = sizes.sum(axis=-1, keepdims=True)
    return np.asarray(np.divide(sizes, totals, out=np.zeros_like(sizes), where=totals > 0))


def tail_of_choices(chances: Floats) -> Floats:
    """The probability of at least k = 0 … H of H independent choices, each with its chance [H + 1]."""
    exactly = np.ones(1)
    for chance in chances:
        exactly = np.convolve(exactly, [1 - chance, chance])
    return exactly[::-1].cumsum()[::-1]


def find_sinks(
    weights: Floats, effects_of: Callable[[Integers], Floats], *, small: float, tokens: Integers
) -> Integers:
    """The places of the parts that are much attended, and have an effect below ``small`` that is no larger
    than the mean of 32 other parts; ``effects_of`` measures |effects| of some parts, and is called if there
    is need.

    The other parts are drawn at random, the same in every call with these ``tokens``.
    """
    much = much_attended(weights)
    if not much.any():
        return np.flatnonzero(much)
    candidates, others = np.flatnonzero(much), np.flatnonzero(~much)
    drawn = np.random.default_rng(tokens.tolist()).permutation(others)[:OTHERS]
    effects = effects_of(np.concatenate([candidates, drawn]))
    own, beside = effects[: len(candidates)], effects[len(candidates) :]
    average = beside.mean() if len(beside) else 0.0
    return candidates[(own < small) & (own <= max(average, NOTHING))]
