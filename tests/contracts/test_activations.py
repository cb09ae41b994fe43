"""Every registered activation keeps the promises of its kind; its declared facts are measured."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from glasshead.attention import ACTIVATIONS

every_activation = pytest.mark.parametrize("name", list(ACTIVATIONS))


def everything(scores):
    return torch.ones_like(scores, dtype=torch.bool)


def rows(max_size=12, bound=30.0):
    """One row of scores with a mask of the same length."""
    return st.integers(1, max_size).flatmap(
        lambda n: st.tuples(
            arrays.arrays(np.float64, n, elements=st.floats(-bound, bound)),
            arrays.arrays(np.bool_, n),
        )
    )


@every_activation
@given(row=rows())
def test_masked_keys_weigh_exactly_nothing_and_do_not_matter(name, row):
    scores, mask = (torch.from_numpy(part) for part in row)
    weights = ACTIVATIONS[name]().weights(scores, mask)
    assert torch.isfinite(weights).all()
    assert (weights[~mask] == 0).all()
    elsewhere = torch.where(mask, scores, 99.0)
    torch.testing.assert_close(ACTIVATIONS[name]().weights(elsewhere, mask), weights)
    if mask.any():
        alone = ACTIVATIONS[name]().weights(scores[mask], everything(scores[mask]))
        torch.testing.assert_close(weights[mask], alone)


@every_activation
def test_a_fully_masked_row_is_zero_with_zero_gradient(name):
    scores = torch.randn(2, 5, dtype=torch.float64, requires_grad=True)
    mask = torch.tensor([[True] * 5, [False] * 5])
    weights = ACTIVATIONS[name]().weights(scores, mask)
    (weights * torch.arange(5)).sum().backward()
    assert (weights[1] == 0).all()
    assert (scores.grad[1] == 0).all()
    assert torch.isfinite(scores.grad).all()


@every_activation
@given(row=rows(), seed=st.integers(0, 99))
def test_permuting_keys_permutes_weights(name, row, seed):
    scores, mask = (torch.from_numpy(part) for part in row)
    order = torch.randperm(len(scores), generator=torch.Generator().manual_seed(seed))
    activation = ACTIVATIONS[name]()
    torch.testing.assert_close(
        activation.weights(scores[order], mask[order]), activation.weights(scores, mask)[order]
    )


@every_activation
def test_gradcheck(name):
    torch.manual_seed(0)
    # No score near 0 or a tie, where an activation may have a kink.
    scores = (torch.rand(3, 6, dtype=torch.float64) * 2 + 0.3) * torch.tensor([1.0, -1, 1, -1, 1, 1])
    mask = torch.tensor([[True] * 6, [True, False] * 3, [True] + [False] * 5])
    activation = ACTIVATIONS[name]()
    assert torch.autograd.gradcheck(lambda s: activation.weights(s, mask), scores.requires_grad_())


@every_activation
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
def test_finite_at_any_size_of_score(name, dtype):
    scores = torch.tensor(
        [[1e4, -1e4, 0.0, 1.0], [-1e4, -1e4, -1e4, -1e4], [1e4, 1e4, 1e4, 1e4], [1e-4, -1e-4, 0.0, 0.0]],
        dtype=dtype,
        requires_grad=True,
    )
    weights = ACTIVATIONS[name]().weights(scores, everything(scores))
    weights.sum().backward()
    assert weights.dtype == dtype
    assert torch.isfinite(weights).all()
    assert torch.isfinite(scores.grad).all()


@every_activation
def test_the_four_properties_of_table_3_and_two_more_are_as_declared(name):
    """Domain: rows of 2 to 9 scores in (−4, 4), one score moved at a time, in float64.

    Monotone: raising one score never lowers its own weight. Normalised: a weight depends on the other scores.
    Origin-symmetric: φ(−s) = −φ(s). Log-nonlinear: log |g| is not an affine function of the score; with
    φ_i / φ_j = g(s_i) / g(s_j), the second difference of log |φ_i / φ_j| along s_i tells.
    """
    activation = ACTIVATIONS[name]()
    generator = torch.Generator().manual_seed(1)
    found = {
        "monotone": True,
        "normalised": False,
        "origin_symmetric": True,
        "log_nonlinear": False,
        "signed": False,
        "rows_sum_to_one": True,
    }
    for _ in range(200):
        n = int(torch.randint(2, 10, (), generator=generator))
        scores = torch.rand(n, dtype=torch.float64, generator=generator) * 8 - 4
        weights = activation.weights(scores, everything(scores))
        step = torch.zeros(n, dtype=torch.float64)
        step[0] = 0.05
        raised = activation.weights(scores + step, everything(scores))
        lowered = activation.weights(scores - step, everything(scores))
        found["monotone"] &= bool(raised[0] >= weights[0] - 1e-12)
        found["normalised"] |= bool((raised[1:] - weights[1:]).abs().max() > 1e-9)
        opposite = activation.weights(-scores, everything(scores))
        found["origin_symmetric"] &= torch.allclose(opposite, -weights, atol=1e-12)
        found["signed"] |= bool((weights < -1e-9).any())
        found["rows_sum_to_one"] &= abs(float(weights.sum()) - 1) < 1e-9
        ratios = [w[0] / w[1] for w in (lowered, weights, raised)]
        if all(torch.isfinite(r) and r.abs() > 1e-9 for r in ratios):
            low, mid, high = (torch.log(r.abs()) for r in ratios)
            found["log_nonlinear"] |= bool((high - 2 * mid + low).abs() > 1e-6)
    assert found == {fact: getattr(activation, fact) for fact in found}


@every_activation
def test_it_names_its_source(name):
    assert ACTIVATIONS[name].paper
    assert ACTIVATIONS[name].__doc__


@settings(max_examples=50)
@given(row=rows(bound=20.0))
def test_softmax_against_torch(row):
    scores = torch.from_numpy(row[0])
    torch.testing.assert_close(
        ACTIVATIONS["softmax"]().weights(scores, everything(scores)), scores.softmax(dim=-1)
    )
