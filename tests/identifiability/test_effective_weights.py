"""Effective attention: the same output, the smallest norm, nothing in the left null space."""

import numpy as np
import pytest
import scipy.linalg
import torch

from glasshead.identifiability.effective_attention import effective_weights
from tolerances import EXACT_MATHS, ONE_MODEL


def drawn(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_it_is_the_smallest_with_the_same_output():
    T, weights = drawn(3, 9, 4), drawn(3, 5, 9, seed=1).softmax(-1)
    found = effective_weights(weights, T)
    torch.testing.assert_close(found @ T, weights @ T, **EXACT_MATHS)
    for each, a, values in zip(found.numpy(), weights.numpy(), T.numpy(), strict=True):
        least = np.linalg.lstsq(values.T, (a @ values).T)[0].T  # the solution of the smallest norm
        np.testing.assert_allclose(each, least, atol=1e-12)
        null = scipy.linalg.null_space(values.T).T
        assert len(null) > 0
        assert np.abs(each @ null.T).max() < 1e-12
        for step in np.random.default_rng(0).normal(size=(20, len(a), len(null))) @ null:
            assert (np.linalg.norm(a + step, axis=1) > np.linalg.norm(each, axis=1)).all()
    assert (weights.norm(dim=-1) - found.norm(dim=-1)).min() > 1e-3


def test_full_row_rank_changes_nothing():
    weights = drawn(3, 5, 6, seed=1).softmax(-1)
    torch.testing.assert_close(effective_weights(weights, drawn(3, 6, 8)), weights, **EXACT_MATHS)


def test_duplicated_tokens_share():
    T, weights = drawn(4, 6), torch.tensor([[0.5, 0.1, 0.3, 0.1]], dtype=torch.float64)
    T[2] = T[0]
    expected = torch.tensor([[0.4, 0.1, 0.4, 0.1]], dtype=torch.float64)
    torch.testing.assert_close(effective_weights(weights, T), expected, **EXACT_MATHS)


def test_no_value_no_weight():
    weights = torch.full((1, 3), 1 / 3)
    assert not effective_weights(weights, torch.zeros(3, 2)).any()
    T = torch.tensor([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
    torch.testing.assert_close(effective_weights(weights, T), weights * torch.tensor([1.0, 0.0, 1.0]))


def test_masked_keys_are_not_there():
    T, weights = drawn(2, 1, 9, 4), drawn(2, 3, 5, 9, seed=1)
    mask = torch.arange(9) < torch.tensor([9, 6])[:, None, None]
    weights = weights.masked_fill(~mask[..., None, :], -torch.inf).softmax(-1)
    found = effective_weights(weights, T.masked_fill(~mask[..., None], 1e9), mask)
    for text, keys in enumerate((9, 6)):
        expected = effective_weights(weights[text, ..., :keys], T[text, ..., :keys, :])
        torch.testing.assert_close(found[text, ..., :keys], expected, **EXACT_MATHS)
    assert not found[1, ..., 6:].any()


def test_rows_that_see_different_keys():
    T, causal = drawn(7, 3), torch.ones(7, 7, dtype=torch.bool).tril()
    weights = drawn(7, 7, seed=1).masked_fill(~causal, -torch.inf).softmax(-1)
    found = effective_weights(weights[:, None, :], T[None], causal)[:, 0]
    for row in range(7):
        expected = effective_weights(weights[row : row + 1, : row + 1], T[: row + 1])[0]
        torch.testing.assert_close(found[row, : row + 1], expected, **EXACT_MATHS)
        assert not found[row, row + 1 :].any()
    torch.testing.assert_close(found @ T, weights @ T, **EXACT_MATHS)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_the_rank_is_that_of_the_precision(dtype):
    # Rank 2 and rounding: the third direction is no direction.
    T = (drawn(8, 2) @ drawn(2, 5, seed=1)).to(dtype)
    weights = drawn(1, 8, seed=2).softmax(-1)
    found = effective_weights(weights, T)
    clean = effective_weights(weights, drawn(8, 2))
    torch.testing.assert_close(found, clean, rtol=0, atol=20 * torch.finfo(dtype).eps)
    exact = effective_weights(weights, T, eps=2.0**-52)
    assert (exact - clean).abs().max() > 40 * torch.finfo(dtype).eps
    assert effective_weights(weights.to(dtype), T).dtype == dtype


def test_embed_dim_of_other_coordinates():
    # σ = 1 and 3e-6: below max(n, d_e) ε only where d_e is 100.
    T, weights = torch.diag(torch.tensor([1.0, 3e-6])), torch.tensor([[0.5, 0.5]])
    torch.testing.assert_close(effective_weights(weights, T), torch.tensor([[0.5, 0.5]]), **ONE_MODEL)
    wide = effective_weights(weights, T, embed_dim=100)
    torch.testing.assert_close(wide, torch.tensor([[0.5, 0.0]]), **ONE_MODEL)
