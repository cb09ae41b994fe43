"""Kendall's τ-b and its p-value for many ragged rows at once: SciPy's numbers without SciPy's loop.

Every vector is sorted once. In the order of x the discordant pairs are the inversions of the ranks of y
(Knight 1966). Ranks are small integers, so that counting inversions pair by pair is cheap array arithmetic,
which runs across the rows of a block and all pairs of vectors.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import accumulate
from math import factorial, prod
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

EXACT_LENGTH = 33  # SciPy's `auto` rule: the exact null distribution up to this length, if nothing is tied
FACTORIALS = 171  # from here on SciPy takes 2 / n! for 0
LONGEST_QUADRATIC = 1000  # longer rows go to SciPy, one by one: its n·log n then wins over our n²
MAX_LENGTH_PER_VECTOR = 30  # so do rows longer than this times the number of vectors; both were measured
LARGEST_INTEGER = (1 << 63) - 1
BLOCK_BYTES = 1 << 21  # working set of one block of rows: about the caches of one core


class KendallResult(NamedTuple):
    """τ-b, its two-sided p-value, and the number of real entries of every row."""

    tau: NDArray[np.float64]
    pvalue: NDArray[np.float64]
    n: NDArray[np.int64]


class _Sorted(NamedTuple):
    """A vector of every row of a block in ascending order, padding last.

    ``places`` [C, L] are where its entries stand in the flat block [C · W], ``ranks`` [C, L] how many entries
    stand before the first that equals each, ``pairs`` and ``triples`` [C] are Σt(t−1)/2 and Σt(t−1)(t−2) of
    its ties.
    """

    places: NDArray[np.int64]
    ranks: NDArray[np.unsignedinteger]
    pairs: NDArray[np.int64]
    triples: NDArray[np.int64]


def kendall_tau_b(x: ArrayLike, y: ArrayLike, mask: ArrayLike) -> KendallResult:
    """Kendall's τ-b of every x with every y, row by row, with SciPy's two-sided p-value.

    τ_b = (C − D) / √((P − T_x)(P − T_y)), with C concordant, D discordant and P = n(n−1)/2 pairs, and T those
    tied in x or in y. The p-value is exact if nothing is tied and (n ≤ 33 or min(D, P − D) ≤ 1). Otherwise
    C − D is taken as normal, with a variance that accounts for ties. Both are NaN where τ is undefined:
    fewer than two entries, or a constant vector.

    Shapes: ``x`` [*A, N, L], ``y`` [*B, N, L], ``mask`` [N, L], True where an entry is real (what the others
    hold is never read) → ``tau`` and ``pvalue`` [*A, *B, N], ``n`` [N].

    Raises:
        ValueError: a real entry is NaN, the shapes do not fit, or the numbers do not fit into a float64.

    Source: Kendall, Biometrika 33 (1945); Knight, JASA 61 (1966); ``scipy.stats.kendalltau(method="auto")``.
    """
    mask = np.asarray(mask, dtype=bool)
    x, y = _check_values(x, "x", mask), _check_values(y, "y", mask)
    length = np.count_nonzero(mask, axis=-1).astype(np.int64)
    xs, ys = (v.reshape(prod(v.shape[:-2]), *mask.shape) for v in (x, y))  # [A, N, L], [B, N, L]
    tau = np.full((len(xs), len(ys), len(mask)), np.nan)
    pvalue = tau.copy()
    for rows in _blocks(length, len(xs), len(ys)):
        if length[rows[0]] > min(LONGEST_QUADRATIC, MAX_LENGTH_PER_VECTOR * len(rows) * len(xs) * len(ys)):
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
        raise ValueError(
            f"{name} holds {values.dtype}; Kendall's τ takes real numbers that fit into a float64"
        )
    floats = values.astype(np.result_type(values.dtype, np.float32), copy=False)
    if values.dtype.kind in "iu" and not np.array_equal(floats.astype(values.dtype), values):
        raise ValueError(f"{name} has integers that a float64 cannot distinguish")
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
        bytes_per_row = longest * (
            8 * (x_count + y_count) + 3 * _integer(longest)().itemsize * x_count * y_count
        )
        half = int(np.searchsorted(descending, -(longest // 2), side="left"))
        stop = min(start + max(BLOCK_BYTES // bytes_per_row, 64), max(half, start + 1), end)
        yield order[start:stop]
        start = stop


def _integer(longest: int) -> type[np.unsignedinteger]:
    """The smallest integer that holds a rank, or a number of entries."""
    return np.uint8 if longest <= 256 else np.uint16


def _block(
    x: NDArray[np.floating], y: NDArray[np.floating], mask: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """τ-b and p [A, B, C] of one block: x [A, C, L], y [B, C, L], mask [C, L]."""
    n = np.count_nonzero(mask, axis=-1)
    xs, ys = ([_sort(vector, mask, n) for vector in vectors] for vectors in (x, y))
    x_ties, x_triples = (np.stack(part)[:, None] for part in zip(*(v[2:] for v in xs), strict=True))
    y_ties, y_triples = (np.stack(part)[None] for part in zip(*(v[2:] for v in ys), strict=True))
    discordant, both_tied = _discordant(xs, ys, mask.size, n)  # [A, B, C]
    pairs = n * (n - 1) // 2
    balance = pairs - x_ties - y_ties + both_tied - 2 * discordant
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


def _sort(values: NDArray[np.floating], mask: NDArray[np.bool_], n: NDArray[np.intp]) -> _Sorted:
    """One vector [C, W] of a block, of which the n real entries of each row count.

    A float64 without its last bits, with its place in them, is a whole number that sorts in a third of the
    time of an argsort. Rows in which the bits that were lost make a difference are sorted once more.
    """
    (rows, width), longest = values.shape, int(n.max())
    last = (1 << width.bit_length()) - 1
    offset = np.arange(rows)[:, None] * width
    places = values.astype(np.float64).view(np.int64)
    places ^= (places >> 63) & LARGEST_INTEGER  # whole numbers in the order of the floats
    if n.min() < width:
        np.putmask(places, ~mask, LARGEST_INTEGER)
    places &= ~last
    places |= np.arange(width)
    places.sort(axis=-1)
    places = places[:, :longest]
    places &= last
    places += offset
    ascending = values.ravel()[places]
    wrong = ascending[:, 1:] < ascending[:, :-1]
    padding = np.arange(1, longest) >= n[:, None] if n.min() < longest else None
    if padding is not None:
        wrong[padding] = False
    if wrong.any():
        rows_again = wrong.any(axis=-1)
        again = np.where(mask[rows_again], values[rows_again], np.nan).argsort(axis=-1, kind="stable")
        places[rows_again] = again[:, :longest] + offset[rows_again]
        ascending[rows_again] = values.ravel()[places[rows_again]]
    equal = ascending[:, 1:] == ascending[:, :-1]
    if padding is not None:
        equal[padding] = False
    return _Sorted(places, *_runs(equal))


def _runs(
    equal: NDArray[np.bool_],
) -> tuple[NDArray[np.unsignedinteger], NDArray[np.int64], NDArray[np.int64]]:
    """The runs of equal sorted entries [C, L − 1]: the place of the first of each run of equals
    [C, L], and Σt(t−1)/2 and Σt(t−1)(t−2) of the runs [C]."""
    rows, longest = len(equal), equal.shape[1] + 1
    place = np.arange(longest, dtype=_integer(longest))
    if not equal.any():
        return np.broadcast_to(place, (rows, longest)), *np.zeros((2, rows), dtype=np.int64)
    first = _first_of_run(equal)
    earlier = np.subtract(place, first, dtype=np.int32)  # equal entries before this one: 0 … t−1
    pairs = earlier.sum(axis=-1, dtype=np.int64)
    return first, pairs, 3 * (np.vecdot(earlier, earlier) - pairs)


def _first_of_run(equal: NDArray[np.bool_]) -> NDArray[np.unsignedinteger]:
    """The place of the first entry of each run of equals [C, L]."""
    rows, longest = len(equal), equal.shape[1] + 1
    first = np.zeros((rows, longest), dtype=_integer(longest))
    np.multiply(~equal, np.arange(1, longest, dtype=first.dtype), out=first[:, 1:])
    np.maximum.accumulate(first, axis=-1, out=first)
    return first


def _discordant(
    xs: Sequence[_Sorted], ys: Sequence[_Sorted], size: int, n: NDArray[np.intp]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How many pairs of entries every x and every y order differently, and how many are tied in both
    [A, B, C]; a block has ``size`` entries."""
    rows, longest = xs[0].places.shape
    by_place = np.empty((len(ys), size), dtype=_integer(longest))
    for ranks, y in zip(by_place, ys, strict=True):
        ranks[y.places] = y.ranks
    in_order = np.empty((longest, len(xs), len(ys), rows), dtype=_integer(longest))
    both_tied = np.zeros((len(xs), len(ys), rows), dtype=np.int64)
    for a, x in enumerate(xs):
        tied = np.flatnonzero(x.pairs)
        for b, ranks in enumerate(by_place):
            ordered = ranks[x.places]  # [C, L]
            if len(tied):  # of entries that are tied in x the smaller y comes first: no inversion
                keys = (x.ranks[tied].astype(np.uint32) << 16) | ordered[tied]
                keys.sort(axis=-1)
                ordered[tied] = keys & 0xFFFF
                real = np.arange(1, longest) < n[tied, None]
                first = _first_of_run((keys[:, 1:] == keys[:, :-1]) & real)
                both_tied[a, b, tied] = longest * (longest - 1) // 2 - first.sum(axis=-1, dtype=np.int64)
            in_order[:, a, b] = ordered.T
    return _inversions(in_order), both_tied


def _inversions(ranks: NDArray[np.unsignedinteger]) -> NDArray[np.int64]:
    """#{i < j: r_i > r_j} along the first axis; the count of every j by itself fits the small integer."""
    longest = len(ranks)
    counts, larger = np.zeros_like(ranks), np.empty(ranks.shape, dtype=bool)
    added = larger.view(np.uint8)
    for i in range(longest - 1):
        np.greater(ranks[i], ranks[i + 1 :], out=larger[i + 1 :])
        counts[i + 1 :] += added[i + 1 :]
    return counts.sum(axis=0, dtype=np.int64)


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
