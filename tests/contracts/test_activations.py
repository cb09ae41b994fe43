"""Every registered activation keeps the promises of its kind; its declared facts are measured."""

from dataclasses import asdict

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from glasshead.attention import ACTIVATIONS
from glasshead.attention.activation import properties_of
from tolerances import EXACT_MATHS

patient = settings(deadline=None, max_examples=20)  # the first row of a process waits for torch
every_activation = pytest.mark.parametrize("name", list(ACTIVATIONS))
every_softmax = pytest.mark.parametrize(
    "name", [name for name in ACTIVATIONS if ACTIVATIONS[name]().softmax_logits(torch.zeros(1)) is not None]
)


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
@patient
@given(row=rows())
def test_masked_keys_weigh_exactly_nothing_and_do_not_matter(name, row):
    scores, mask = (torch.from_numpy(part) for part in row)
    weights = ACTIVATIONS[name]().weights(scores, mask)
    assert torch.isfinite(weights).all()
    assert (weights[~mask] == 0).all()
    elsewhere = torch.where(mask, scores, 99.0)
    torch.testing.assert_close(ACTIVATIONS[name]().weights(elsewhere, mask), weights)
    for nothing in (float("nan"), float("inf"), -float("inf")):
        elsewhere = torch.where(mask, scores, nothing).requires_grad_()
        same = ACTIVATIONS[name]().weights(elsewhere, mask)
        (gradient,) = torch.autograd.grad(same.sum(), elsewhere)
        torch.testing.assert_close(same, weights)
        assert (gradient[~mask] == 0).all()
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
@patient
@given(row=rows(), key=st.integers(0, 11))
def test_a_score_that_is_not_a_number_stays_visible(name, row, key):
    scores, mask = (torch.from_numpy(part.copy()) for part in row)
    key %= len(scores)
    scores[key], mask[key] = float("nan"), True
    weights = ACTIVATIONS[name]().weights(scores, mask)
    assert weights[key].isnan()
    assert (weights[~mask] == 0).all()


@every_activation
@patient
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
    (weights * torch.tensor([1.0, -2.0, 3.0, 0.5])).sum().backward()
    assert weights.dtype == dtype
    assert torch.isfinite(weights).all()
    assert torch.isfinite(scores.grad).all()


@every_activation
def test_its_facts_are_as_declared(name):
    """On its domain, as `activation_properties` measures them; undeclared ones are measured anyway."""
    facts = asdict(properties_of(ACTIVATIONS[name]()))
    assert {fact: getattr(ACTIVATIONS[name], fact) for fact in facts} == facts


@every_softmax
def test_its_exponent_makes_it_a_softmax(name):
    """φ(s) = softmax(t(s)), which softmax kernels rely on."""
    activation = ACTIVATIONS[name]()
    scores = torch.linspace(-30, 30, 60, dtype=torch.float64).reshape(5, 12)
    expected = activation.softmax_logits(scores).softmax(dim=-1)
    torch.testing.assert_close(activation.weights(scores, everything(scores)), expected, **EXACT_MATHS)


@every_activation
def test_its_linear_form_is_true(name):
    """φ_i = s_i / N or s_i / Σ_k s_k where it says so, which the linear kernel relies on."""
    activation = ACTIVATIONS[name]()
    scores = torch.linspace(0.1, 6, 24, dtype=torch.float64).reshape(3, 8)
    mask = torch.arange(8) < torch.tensor([[8], [3], [1]])
    allowed = scores * mask
    forms = {"count": allowed / mask.sum(1, keepdim=True), "sum": allowed / allowed.sum(1, keepdim=True)}
    agrees = {form for form, w in forms.items() if torch.allclose(activation.weights(scores, mask), w)}
    assert agrees == ({activation.linear} if activation.linear else set())


@every_activation
def test_it_names_its_source(name):
    assert ACTIVATIONS[name].paper
    assert ACTIVATIONS[name].__doc__
