"""Kendall's τ-b and its p-value for many ragged rows at once: SciPy's numbers without SciPy's loop.

Every row is ranked once. Ranks are small integers, so the signs of all pairs are cheap array arithmetic that
runs across the rows of a block, and every x meets every y on the same sign matrices.
"""

from collections.abc import Iterator
from functools import cache
from itertools import accumulate
from math import factorial, prod
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

EXACT_LENGTH = 33  # SciPy's `auto` rule: the exact null distribution up to this length, if nothing is tied
FACTORIALS = 171  # from here on SciPy takes 2 / n! for 0
LONGEST = 1000  # longer rows go to SciPy, one by one: its n·log n then wins over our n²
MAX_LENGTH_PER_VECTOR = 30  # so do rows longer than this times the number of vectors; both were measured
BLOCK_BYTES = 1 << 20  # working set of one block of rows: about one core's second-level cache


class KendallResult(NamedTuple):
    """τ-b, its two-sided p-value, and the number of real entries of every row."""

    tau: NDArray[np.float64]
    pvalue: NDArray[np.float64]
    n: NDArray[np.int64]


class _Ranked(NamedTuple):
    """Dense ranks [V, L, C] of a block of C rows, and its ties [V, C]: Σt(t−1)/2 and Σt(t−1)(t−2)."""

    ranks: NDArray[np.signedinteger]
    pairs: NDArray[np.int64]
    triples: NDArray[np.int64]


def kendall_tau_b(x: ArrayLike, y: ArrayLike, mask: ArrayLike) -> KendallResult:
    """Kendall's τ-b of every x with every y, row by row, with SciPy's two-sided p-value.

    τ_b = (C − D) / √((P − T_x)(P − T_y)), with C concordant, D discordant and P = n(n−1)/2 pairs, and T those
    tied in x or in y. The p-value is exact if nothing is tied and (n ≤ 33 or min(D, P − D) ≤ 1), otherwise
    that of a normal C − D whose variance knows the ties. Both are NaN where τ is undefined: fewer than two
    entries, or a constant vector.

    Shapes: ``x`` [*A, N, L], ``y`` [*B, N, L], ``mask`` [N, L], True where an entry is real (what the others
    hold is never read) → ``tau`` and ``pvalue`` [*A, *B, N], ``n`` [N].

    Raises:
        ValueError: a real entry is NaN, the shapes do not fit, or the numbers do not fit into a float64.

    Source: Kendall, Biometrika 33 (1945); ``scipy.stats.kendalltau(method="auto")``.
    """
    mask = np.asarray(mask, dtype=bool)
    x, y = _check_values(x, "x", mask), _check_values(y, "y", mask)
    length = np.count_nonzero(mask, axis=-1).astype(np.int64)
    xs, ys = (v.reshape(prod(v.shape[:-2]), *mask.shape) for v in (x, y))  # [A, N, L], [B, N, L]
    tau = np.full((len(xs), len(ys), len(mask)), np.nan)
    pvalue = tau.copy()
    for rows in _blocks(length, len(xs), len(ys)):
        if length[rows[0]] > min(LONGEST, MAX_LENGTH_PER_VECTOR * len(rows) * len(xs) * len(ys)):
            from scipy.stats import kendalltau  # takes as long to import as torch does

            for row in rows:
                real = mask[row]
                for a, b in np.ndindex(len(xs), len(ys)):
                    tau[a, b, row], pvalue[a, b, row] = kendalltau(xs[a, row, real], ys[b, row, real])
        else:
            width = int(np.flatnonzero(mask[rows].any(axis=0))[-1]) + 1
            tau[..., rows], pvalue[..., rows] = _block(
                xs[:, rows, :width], ys[:, rows, :width], mask[rows, :width]
            )
    shape = x.shape[:-2] + y.shape[:-2] + (len(mask),)
    return KendallResult(tau.reshape(shape), pvalue.reshape(shape), length)


def _check_values(values: ArrayLike, name: str, mask: NDArray[np.bool_]) -> NDArray[np.floating]:
    """The values as float32 or float64, without rounding."""
    values = np.asarray(values)
    if mask.ndim != 2 or values.shape[-2:] != mask.shape:
        raise ValueError(f"{name} has shape {values.shape}, which does not end in the mask's {mask.shape}")
    if not np.can_cast(values.dtype, np.float64):
        raise ValueError(f"{name} holds {values.dtype}; Kendall's τ takes real numbers that fit a float64")
    floats = values.astype(np.result_type(values.dtype, np.float32), copy=False)
    if values.dtype.kind in "iu" and not np.array_equal(floats.astype(values.dtype), values):
        raise ValueError(f"{name} holds integers that a float64 cannot tell apart")
    missing = np.isnan(floats) & mask
    if missing.any():
        row = int(np.argwhere(missing)[0, -2])
        raise ValueError(
            f"{name} is NaN at {missing.sum()} real entries, the first in row {row}: mask them out"
        )
    return floats


def _blocks(length: NDArray[np.int64], x_count: int, y_count: int) -> Iterator[NDArray[np.intp]]:
    """Rows with at least two entries, longest first, in groups of like length that fit the cache."""
    order = np.argsort(-length, kind="stable")
    descending = -length[order]
    start, end = 0, int(np.searchsorted(descending, -2, side="right"))
    while start < end:
        longest = -int(descending[start])
        bytes_per_row = longest * _integer(longest)().itemsize * 2 * (x_count + y_count + x_count * y_count)
        half = int(np.searchsorted(descending, -(longest // 2), side="left"))
        stop = min(start + max(BLOCK_BYTES // bytes_per_row, 64), max(half, start + 1), end)
        yield order[start:stop]
        start = stop


def _integer(longest: int) -> type[np.signedinteger]:
    """The smallest integer that holds a difference of two ranks."""
    return np.int8 if longest <= 128 else np.int16


def _block(
    x: NDArray[np.floating], y: NDArray[np.floating], mask: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """τ-b and p [A, B, C] of one block: x [A, C, L], y [B, C, L], mask [C, L]."""
    n = np.count_nonzero(mask, axis=-1)
    ranked = _rank(x, y, mask, int(n.max()))
    balance = _concordant_minus_discordant(ranked.ranks, len(x), n)  # [A, B, C]
    pairs = n * (n - 1) // 2
    x_ties, y_ties = ranked.pairs[: len(x), None], ranked.pairs[None, len(x) :]
    x_triples, y_triples = ranked.triples[: len(x), None], ranked.triples[None, len(x) :]
    defined = (x_ties < pairs) & (y_ties < pairs)

    with np.errstate(divide="ignore", invalid="ignore"):
        tau = np.clip(balance / np.sqrt(pairs - x_ties) / np.sqrt(pairs - y_ties), -1.0, 1.0)
        # the operations and their order are SciPy's; t(t−1)(2t+5) = 2·t(t−1)(t−2) + 9·t(t−1)
        m = n * (n - 1.0)
        untied = m * (2 * n + 5) - (2 * x_triples + 18 * x_ties) - (2 * y_triples + 18 * y_ties)
        both = x_triples.astype(np.float64) * y_triples / (9 * m * (n - 2))
        pvalue = 2 * ndtr(-np.abs(balance / np.sqrt(untied / 18 + (2 * x_ties * y_ties) / m + both)))

    fewer = (pairs - np.abs(balance)) // 2  # the smaller of concordant and discordant, where nothing is tied
    length = np.broadcast_to(n, fewer.shape)
    distinct = (x_ties == 0) & (y_ties == 0)
    short = distinct & (length <= EXACT_LENGTH)
    pvalue[short] = _exact_pvalues()[length[short], fewer[short]]
    extreme = distinct & (length > EXACT_LENGTH) & (fewer <= 1)
    pvalue[extreme] = _extreme_pvalues()[np.minimum(length[extreme] - fewer[extreme], FACTORIALS)]
    return np.where(defined, tau, np.nan), np.where(defined, pvalue, np.nan)


def _rank(x: NDArray[np.floating], y: NDArray[np.floating], mask: NDArray[np.bool_], longest: int) -> _Ranked:
    """Dense ranks of every vector, with the entries of a row in the order of the first x: padding is last."""
    count, integer = len(x) + len(y), _integer(longest)
    rows = len(mask)
    offset = np.arange(rows)[:, None] * mask.shape[1]
    values = np.where(mask, x[0], np.nan)  # NaN sorts last and equals nothing: padding is never a tie
    order = (values.argsort(axis=-1)[:, :longest] + offset).ravel()
    row_offset = np.arange(rows)[:, None] * longest

    ranks = np.empty((count, longest, rows), dtype=integer)
    pairs, triples = np.zeros((2, count, rows), dtype=np.int64)
    place = np.arange(longest, dtype=integer)
    for index, vector in enumerate([*x, *y]):
        padded = np.where(mask, vector, np.nan) if index else values
        aligned = padded.ravel()[order].reshape(rows, longest)
        if index:
            ascending = aligned.argsort(axis=-1)
            ascending += row_offset
            aligned = aligned.ravel()[ascending]
        new = aligned[:, 1:] != aligned[:, :-1]
        tied = ~new.all(axis=-1)
        rank = np.broadcast_to(place, (rows, longest))
        if tied.any():
            rank = np.zeros((rows, longest), dtype=integer)
            np.cumsum(new, axis=-1, dtype=integer, out=rank[:, 1:])
            first = np.maximum.accumulate(np.where(new[tied], place[1:], 0), axis=-1)
            earlier = (place[1:] - first).astype(np.int64)  # equal entries before this one: 0 … t−1
            pairs[index, tied] = earlier.sum(axis=-1)
            triples[index, tied] = 3 * (earlier * (earlier - 1)).sum(axis=-1)
        if index:
            unsorted = np.empty(rows * longest, dtype=integer)
            unsorted[ascending] = rank
            rank = unsorted.reshape(rows, longest)
        ranks[index] = rank.T
    return _Ranked(ranks, pairs, triples)


def _concordant_minus_discordant(
    ranks: NDArray[np.signedinteger], x_count: int, n: NDArray[np.intp]
) -> NDArray[np.int64]:
    """Σ_{i<j} sign(x_j − x_i) sign(y_j − y_i) [A, B, C] of the first n entries of ranks [A + B, L, C].

    The sum over i is kept apart for every j, where |sum| ≤ j fits the small integer; the sum over the real j
    then drops padding, which comes last.
    """
    count, longest, rows = ranks.shape
    sums = np.zeros((x_count, count - x_count, longest, rows), dtype=ranks.dtype)
    signs, products = np.empty_like(ranks), np.empty_like(sums)
    for i in range(longest - 1):
        later = slice(0, longest - 1 - i)
        sign, product, total = signs[:, later], products[:, :, later], sums[:, :, i + 1 :]
        np.subtract(ranks[:, i + 1 :], ranks[:, i : i + 1], out=sign)
        np.sign(sign, out=sign)
        np.multiply(sign[:x_count, None], sign[None, x_count:], out=product)
        np.add(total, product, out=total)
    real = np.arange(longest)[:, None] < n
    return np.sum(sums, axis=-2, dtype=np.int64, where=real)


@cache
def _exact_pvalues() -> NDArray[np.float64]:
    """Two-sided p [n, d] of at most d discordant (or concordant) pairs of n distinct ones, n ≤ 33.

    The number of permutations of n with k inversions is a sum of n neighbours of the row for n − 1 (Kendall,
    Rank Correlation Methods, §5), here in whole numbers of any size, rounded once.
    """
    table = np.ones((EXACT_LENGTH + 1, EXACT_LENGTH * (EXACT_LENGTH - 1) // 4 + 1))
    permutations = [1]
    for n in range(2, EXACT_LENGTH + 1):
        at_most = list(accumulate(permutations + [0] * (n - 1)))
        permutations = [c - (at_most[k - n] if k >= n else 0) for k, c in enumerate(at_most)]
        half = n * (n - 1) // 4 + 1
        lower = [2 * c / factorial(n) for c in accumulate(permutations[:half])]
        table[n, :half] = np.minimum(lower, 1.0)
    return table


@cache
def _extreme_pvalues() -> NDArray[np.float64]:
    """2 / m!, the p-value of no discordant pair among m entries, or of one among m + 1; 0 from 171 on."""
    return np.array([2 / factorial(m) for m in range(FACTORIALS)] + [0.0])
