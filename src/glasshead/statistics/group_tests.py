"""Does a mean differ between groups of examples? Permutation of the groups, and Holm's correction."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from glasshead.arrays import Floats
from glasshead.statistics.bootstrap import group_by_pattern
from glasshead.statistics.resampling import LEVEL

PERMUTATIONS = 9_999  # so that a p-value survives a correction for several hundred tests
CHUNK_LABELS = 1 << 21  # labels permuted at once
TIE = 1e-9  # statistics that differ by less, relative to their size, are ties: sums in another order


class GroupTest(NamedTuple):
    """The p-value of equal means over ``n`` examples in ``groups`` groups; None if fewer than two are large
    enough."""

    p: float | None
    n: int
    groups: int


def simultaneous_level(intervals: int, level: float = LEVEL) -> float:
    """The level of each of several exact intervals so that they hold together at ``level`` (Bonferroni)."""
    return 1 - (1 - level) / max(intervals, 1)


def group_tests(
    values: ArrayLike,
    groups: NDArray[np.integer],
    *,
    rng: np.random.Generator,
    least: int = 2,
    permutations: int = PERMUTATIONS,
    strata: NDArray[np.integer] | None = None,
) -> list[GroupTest]:
    """Whether the mean of each statistic is the same in all groups, by permuting the groups of the examples.

    With ``strata`` [N], groups are permuted within each stratum, of numbers minus their mean in it, so that
    differences between strata do not count as differences between groups; strata of one group are left out.

    W = Σ_k w_k (m_k − m̃)², m̃ = Σ_k w_k m_k / Σ_k w_k, w_k = n_k / s_k², as in Welch (1951), with
    s_k² = (Σ_{i in k} (v_i − m_k)² + s²) / n_k, which the variance s² of all keeps from zero;
    p = (1 + #{W* ≥ W}) / (1 + permutations). It is exact if groups do not matter, and its level holds in
    large groups that differ in size and variance but not in their means.

    Shapes: ``values`` [S, N] (NaN is left out, and so are groups with fewer than ``least`` others),
    ``groups`` [N] → S tests. Statistics that are defined for the same examples share their permutations. One
    number is drawn from ``rng``.

    Source: Welch, Biometrika 38 (1951); Janssen, Statistics & Probability Letters 36 (1997); Chung & Romano,
    Annals of Statistics 41 (2013).
    """
    values = np.asarray(values, dtype=np.float64)
    defined = ~np.isnan(values)
    seed = int(rng.integers(2**63))
    tests: dict[int, GroupTest] = {}
    for rows in group_by_pattern(defined):
        usable = defined[rows[0]].copy()
        kinds = usable_groups(groups, usable, strata, max(least, 2))
        n = int(usable.sum())
        if len(kinds) < 2:
            tests |= dict.fromkeys(rows, GroupTest(None, n, len(kinds)))
            continue
        labels = np.searchsorted(kinds, groups[usable])
        blocks = np.zeros(n, dtype=np.intp) if strata is None else strata[usable]
        order = np.argsort(blocks, kind="stable")
        chosen = within_blocks(values[rows][:, usable][:, order], blocks[order])
        pvalues = _pvalues(chosen, labels[order], np.random.default_rng(seed), permutations, blocks[order])
        tests |= {row: GroupTest(float(p), n, len(kinds)) for row, p in zip(rows, pvalues, strict=True)}
    return [tests[row] for row in range(len(values))]


def usable_groups(
    groups: NDArray[np.integer], usable: NDArray[np.bool_], strata: NDArray[np.integer] | None, least: int
) -> NDArray[np.integer]:
    """The groups that are large enough; what is in none, or in a stratum of one group, is taken out of
    ``usable`` until nothing changes."""
    while True:
        before = int(usable.sum())
        kinds, counts = np.unique(groups[usable], return_counts=True)
        kinds = kinds[counts >= least]
        usable &= np.isin(groups, kinds)
        for stratum in () if strata is None else np.unique(strata[usable]):
            chosen = usable & (strata == stratum)
            if len(np.unique(groups[chosen])) < 2:
                usable &= ~chosen
        if int(usable.sum()) == before:
            return kinds


def within_blocks(values: Floats, blocks: NDArray[np.integer]) -> Floats:
    """Values [S, n] minus their mean in each block [n], whose members stand together; one block as it is."""
    _, starts, sizes = np.unique(blocks, return_index=True, return_counts=True)
    if len(starts) < 2:
        return values
    means = np.add.reduceat(values, starts, axis=1) / sizes
    return values - np.repeat(means, sizes, axis=1)


def holm(pvalues: Sequence[float]) -> list[float]:
    """The p-values, corrected for their number: max_{j ≤ i} min(1, (m − j + 1) p_(j)) of the i-th smallest.

    Source: Holm, Scandinavian Journal of Statistics 6 (1979).
    """
    order = np.argsort(pvalues, kind="stable")
    steps = np.asarray(pvalues, dtype=np.float64)[order] * np.arange(len(order), 0, -1)
    corrected = np.empty(len(order))
    corrected[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return [float(p) for p in corrected]


def _pvalues(
    values: Floats,
    labels: NDArray[np.intp],
    rng: np.random.Generator,
    permutations: int,
    blocks: NDArray[np.integer],
) -> NDArray[np.float64]:
    """p of each row of ``values`` [S, n], without NaN; ``labels`` [n] are 0 … K − 1, permuted within each of
    the ``blocks`` [n], whose members stand together."""
    sizes = np.bincount(labels)
    centred = values - values.mean(axis=1, keepdims=True)
    spread = centred.std(axis=1, keepdims=True)
    # What is constant up to rounding differs nowhere.
    constant = spread <= TIE * np.abs(values).max(axis=1, keepdims=True)
    centred = np.where(constant, 0.0, centred / np.where(constant, 1.0, spread))
    moments = np.concatenate([centred, centred**2]).T  # [n, 2S]
    observed = _welch(labels[None], moments, sizes)[0]
    exceeding = np.zeros(len(values))
    step = max(CHUNK_LABELS // len(labels), 1)
    ends = np.unique(blocks, return_index=True)[1]
    for start in range(0, permutations, step):
        shuffled = np.tile(labels, (min(step, permutations - start), 1))
        for block in np.split(shuffled, ends[1:], axis=1):
            block[:] = rng.permuted(block, axis=1)
        exceeding += (_welch(shuffled, moments, sizes) >= observed * (1 - TIE)).sum(axis=0)
    return (1 + exceeding) / (1 + permutations)


def _welch(labels: NDArray[np.intp], moments: Floats, sizes: NDArray[np.intp]) -> Floats:
    """W [R, S] of labels [R, n]; ``moments`` [n, 2S] are standardised values and their squares."""
    sums = [(labels == kind).astype(np.float64) @ moments for kind in range(len(sizes) - 1)]
    sums.append(moments.sum(axis=0) - np.sum(sums, axis=0))
    first, second = np.split(np.stack(sums), 2, axis=-1)  # [K, R, S]
    n = sizes[:, None, None]
    means = first / n
    variances = (np.maximum(second - first * means, 0.0) + 1.0) / n
    weights = n / variances
    middle = (weights * means).sum(axis=0) / weights.sum(axis=0)
    statistics: Floats = (weights * (means - middle) ** 2).sum(axis=0)
    return statistics
