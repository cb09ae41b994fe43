"""τ-b and its p-value are SciPy's, row by row, whatever the ties, the lengths and the padding."""

from math import factorial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau

from glasshead.statistics import kendall
from glasshead.statistics.kendall import kendall_tau_b

SPECIAL = np.array([-np.inf, -1.5, -0.0, 0.0, 1e-300, 2.0, np.inf])


def scipy_loop(x, y, mask):
    """The slow, obviously right one: [A, N, L] against [B, N, L] → τ and p [A, B, N]."""
    result = np.full((2, len(x), len(y), len(mask)), np.nan)
    for a, b, row in np.ndindex(result.shape[1:]):
        real = mask[row]
        if real.sum() >= 2:  # SciPy answers NaN here too, with a warning
            result[:, a, b, row] = kendalltau(x[a, row, real], y[b, row, real])
    return result


def assert_scipy(x, y, mask):
    """Bit-equal τ, p to 1e-12 relative, NaN in the same places."""
    result = kendall_tau_b(x, y, mask)
    tau, pvalue = scipy_loop(x[None] if x.ndim == 2 else x, y[None] if y.ndim == 2 else y, mask)
    np.testing.assert_array_equal(result.tau, tau.reshape(result.tau.shape))
    np.testing.assert_allclose(result.pvalue, pvalue.reshape(result.tau.shape), rtol=1e-12, atol=0)
    np.testing.assert_array_equal(result.n, mask.sum(axis=-1))
    return result


def draw(rng, shape, kind):
    if kind == "distinct":
        return rng.permuted(np.broadcast_to(np.arange(shape[-1], dtype=float), shape), axis=-1)
    if kind == "special":
        return rng.choice(SPECIAL, size=shape)
    if kind == "integers":
        return rng.integers(-3, 4, size=shape)
    if kind == "constant":
        return np.full(shape, 0.25)
    return np.round(rng.normal(size=shape) * rng.integers(1, 40), 1).astype(kind)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    rows=st.integers(1, 12),
    longest=st.integers(0, 70),
    kinds=st.tuples(
        *[st.sampled_from(["distinct", "special", "integers", "constant", "float32", "float64"])] * 2
    ),
    padding=st.sampled_from(["right", "anywhere", "none"]),
)
def test_equals_scipy(seed, rows, longest, kinds, padding):
    rng = np.random.default_rng(seed)
    x, y = (draw(rng, (rows, longest), kind) for kind in kinds)
    mask = np.ones((rows, longest), dtype=bool)
    if padding == "right":
        mask = np.arange(longest) < rng.integers(0, longest + 1, size=rows)[:, None]
    elif padding == "anywhere":
        mask = rng.random((rows, longest)) < rng.random((rows, 1))
    assert_scipy(x, y, mask)


@pytest.mark.parametrize("length", [2, 3, 4, 5, 32, 33, 34, 35, 127, 128, 129, 170, 171, 172, 173])
def test_p_value_around_every_change_of_rule(length):
    """Zero, one, two and three discordant pairs, the reverse, and random orders."""
    rng = np.random.default_rng(length)
    y = np.tile(np.arange(length, dtype=float), (12, 1))
    for row, swaps in enumerate([0, 1, 2, 3]):
        for place in range(min(swaps, length // 2)):
            y[row, [2 * place, 2 * place + 1]] = y[row, [2 * place + 1, 2 * place]]
    y[4:8] = y[:4, ::-1]
    y[8:] = rng.permuted(y[8:], axis=1)
    x = np.broadcast_to(np.arange(length, dtype=float), y.shape)
    result = assert_scipy(x, y, np.ones(y.shape, dtype=bool))
    if 2 < length <= 170:
        assert result.tau[0] == pytest.approx(1.0, abs=1e-15)  # SciPy's two roots may miss 1 by a bit
        assert result.pvalue[0] == pytest.approx(2 / factorial(length), rel=1e-12)


def test_exact_p_values_are_counts_of_permutations():
    """All 24 orders of four entries: p is the share of orders at least as far from balance."""
    from itertools import permutations

    orders = np.array(list(permutations(range(4))), dtype=float)
    x = np.broadcast_to(np.arange(4.0), orders.shape)
    result = kendall_tau_b(x, orders, np.ones(orders.shape, dtype=bool))
    share = (np.abs(result.tau)[None] >= np.abs(result.tau)[:, None] - 1e-12).mean(axis=1)
    np.testing.assert_allclose(result.pvalue, share, rtol=1e-12)


def test_undefined_where_scipy_says_so():
    x = np.array([[1.0, 2, 3], [1, 2, 3], [1, 2, 3], [1, 1, 1], [1, 2, 3], [5, 5, 9]])
    y = np.array([[1.0, 2, 3], [1, 2, 3], [1, 2, 3], [1, 2, 3], [4, 4, 4], [1, 2, 2]])
    mask = np.array([[0, 0, 0], [0, 1, 0], [1, 0, 1], [1, 1, 1], [1, 1, 1], [1, 1, 0]], dtype=bool)
    result = assert_scipy(x, y, mask)
    np.testing.assert_array_equal(result.n, [0, 1, 2, 3, 3, 2])
    np.testing.assert_array_equal(np.isnan(result.tau), [True, True, False, True, True, True])
    np.testing.assert_array_equal(np.isnan(result.pvalue), np.isnan(result.tau))
    assert (result.tau[2], result.pvalue[2]) == (1.0, 1.0)


def test_zeros_of_either_sign_tie_and_so_do_infinities():
    x = np.array([[0.0, -0.0, 1.0, np.inf, np.inf, -np.inf]])
    y = np.array([[1.0, 2.0, 3.0, 4.0, 5.0, 0.0]])
    result = assert_scipy(x, y, np.ones((1, 6), dtype=bool))
    assert result.tau[0] == pytest.approx(13 / np.sqrt(13 * 15))


@pytest.mark.parametrize("budget", [1, 5_000, 40_000])
def test_blocks_do_not_matter(monkeypatch, budget):
    """The same bits from many small blocks (64 rows at least) as from one, and from every row alone."""
    rng = np.random.default_rng(3)
    x, y = np.round(rng.normal(size=(2, 331, 45)) * 3)
    mask = np.arange(45) < rng.integers(0, 46, size=331)[:, None]
    whole = kendall_tau_b(x, y, mask)
    monkeypatch.setattr(kendall, "BLOCK_BYTES", budget)
    for one, other in zip(whole, kendall_tau_b(x, y, mask), strict=True):
        np.testing.assert_array_equal(one, other)
    monkeypatch.setattr(kendall, "MAX_LENGTH_PER_VECTOR", 10**6)  # even one row alone stays with us
    for row in (0, 63, 64, 330):
        alone = kendall_tau_b(x[row : row + 1], y[row : row + 1], mask[row : row + 1])
        for one, other in zip(whole, alone, strict=True):
            np.testing.assert_array_equal(one[row : row + 1], other)


@pytest.mark.parametrize("limit", ["LONGEST_QUADRATIC", "MAX_LENGTH_PER_VECTOR"])
def test_rows_handed_to_scipy_give_the_same(monkeypatch, limit):
    rng = np.random.default_rng(4)
    x, y = rng.integers(0, 9, size=(2, 70, 40)).astype(float)
    mask = np.arange(40) < rng.integers(2, 41, size=70)[:, None]
    ours = kendall_tau_b(x, y, mask)
    calls = []
    monkeypatch.setattr(kendall, limit, 0)
    monkeypatch.setattr("scipy.stats.kendalltau", lambda a, b: calls.append(len(a)) or kendalltau(a, b))
    theirs = kendall_tau_b(x, y, mask)
    assert sorted(calls) == sorted(mask.sum(axis=1))
    np.testing.assert_array_equal(ours.tau, theirs.tau)
    np.testing.assert_allclose(ours.pvalue, theirs.pvalue, rtol=1e-12, equal_nan=True)


def test_long_and_short_rows_together():
    """One long row goes to SciPy; a block of int16 ranks and one of int8 ranks stay."""
    rng = np.random.default_rng(5)
    length = np.r_[rng.integers(2, 120, size=90), rng.integers(200, 300, size=30), 4000]
    mask = np.arange(length.max()) < rng.permutation(length)[:, None]
    x = rng.normal(size=mask.shape).astype(np.float32)
    y = np.round(x + rng.normal(size=mask.shape), 1)
    assert_scipy(x, y, mask)


@pytest.mark.parametrize("length", [128, 129, 400])
def test_largest_sums_do_not_overflow(length):
    """Perfect agreement makes every partial sum as large as it can be, in int8 and in int16."""
    rng = np.random.default_rng(6)
    x = rng.normal(size=(64, length))
    result = kendall_tau_b(x, np.stack([x, -x]), np.ones(x.shape, dtype=bool))
    np.testing.assert_allclose(result.tau, [[1.0] * 64, [-1.0] * 64], rtol=1e-15)


def test_every_x_meets_every_y():
    rng = np.random.default_rng(7)
    x, y = rng.normal(size=(5, 40, 21)), np.round(rng.normal(size=(3, 40, 21)))
    mask = rng.random((40, 21)) < 0.8
    assert assert_scipy(x, y, mask).tau.shape == (5, 3, 40)
    assert kendall_tau_b(x, y[0], mask).tau.shape == (5, 40)
    assert kendall_tau_b(x[:, None], y, mask).tau.shape == (5, 1, 3, 40)
    np.testing.assert_array_equal(kendall_tau_b(x[2], y, mask).tau, kendall_tau_b(x, y, mask).tau[2])


def test_padding_is_never_read_and_inputs_stay():
    rng = np.random.default_rng(8)
    x, y = rng.normal(size=(2, 30, 12))
    mask = rng.random((30, 12)) < 0.7
    clean = kendall_tau_b(x, y, mask)
    x[~mask], y[~mask] = np.nan, np.inf
    before = x.copy(), y.copy(), mask.copy()
    poisoned = kendall_tau_b(x, y, mask)
    for one, other in zip(clean, poisoned, strict=True):
        np.testing.assert_array_equal(one, other)
    for array, copy in zip((x, y, mask), before, strict=True):
        np.testing.assert_array_equal(array, copy)


@pytest.mark.parametrize(("rows", "longest"), [(0, 5), (3, 0), (0, 0)])
def test_nothing_gives_nothing(rows, longest):
    result = kendall_tau_b(*np.zeros((2, rows, longest)), np.ones((rows, longest), dtype=bool))
    assert np.isnan(result.tau).tolist() == [True] * rows
    assert result.n.tolist() == [0] * rows


def test_bad_input_is_refused():
    x, mask = np.arange(6.0).reshape(2, 3), np.ones((2, 3), dtype=bool)
    broken = x.copy()
    broken[1, 2] = np.nan
    with pytest.raises(ValueError, match="y is NaN at 1 real entries, the first in row 1"):
        kendall_tau_b(x, broken, mask)
    with pytest.raises(ValueError, match="x has shape"):
        kendall_tau_b(x[:, :2], x, mask)
    with pytest.raises(ValueError, match="cannot distinguish"):
        kendall_tau_b(np.full((2, 3), 2**53 + 1), x, mask)
    with pytest.raises(ValueError, match="complex128"):
        kendall_tau_b(x + 1j, x, mask)


@pytest.mark.parametrize("length", [3, 64, 65, 100])
def test_the_last_bits_of_a_number_count(length):
    """Neighbouring float64 numbers, which are equal in all bits but the last few."""
    rng = np.random.default_rng(length)
    steps = rng.permuted(np.tile(np.arange(length), (40, 1)), axis=1)
    x = 1 + steps * 2.0**-52
    y = -1e300 * (1 + rng.integers(0, length, size=x.shape) * 2.0**-52)
    mask = np.arange(length) < rng.integers(0, length + 1, size=40)[:, None]
    x[~mask] = np.nan
    assert_scipy(x, y, mask)
    assert assert_scipy(x, x, mask).tau[mask.sum(axis=1) > 2] == pytest.approx(1)
