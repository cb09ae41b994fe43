"""Proposition 1 of Huang, Yang and Wang (2024) against autograd, and where it does not hold."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.functional import softplus

from glasshead.attention import ACTIVATIONS
from glasshead.papers.dynamics.score_update import general_update, slope_norms, tanhmax_update
from tolerances import EXACT_MATHS

SIZE, WIDTH = 6, 4
RATIOS = {
    "softmax": (torch.exp, torch.exp),
    "tanhmax": (lambda s: torch.exp(s) - torch.exp(-s), lambda s: torch.exp(s) + torch.exp(-s)),
    "softplus": (softplus, softplus),
    "sigmoid": (torch.sigmoid, torch.sigmoid),
    "sigsoftmax": (lambda s: torch.exp(s) * torch.sigmoid(s), lambda s: torch.exp(s) * torch.sigmoid(s)),
    "dot-product": (lambda s: s, torch.ones_like),
    "softplus over exp": (softplus, torch.exp),
    "sine over softplus": (torch.sin, softplus),
}
"""g and h of φ_i = g(s_i) / Σ_k h(s_k) (eq. 5)."""

rng = torch.Generator().manual_seed(3)
MIX, AXIS = (
    torch.randn(WIDTH, WIDTH, generator=rng, dtype=torch.float64),
    torch.linspace(-1, 1, WIDTH).double(),
)
SCORES = {
    "dot product": lambda q, k: (q * k).sum(dim=-1),
    "scaled": lambda q, k: (q * k).sum(dim=-1) / 3,
    "additive": lambda q, k: torch.tanh(q + k @ MIX) @ AXIS,
    "cosine": lambda q, k: torch.nn.functional.cosine_similarity(q, k, dim=-1),
}


def draw(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def bernoulli(z, label):
    """y = σ(z) and the binary cross-entropy."""
    return torch.nn.functional.binary_cross_entropy(torch.sigmoid(z), label)


def squared(z, label):
    """y = tanh(z) and the squared error."""
    return (torch.tanh(z) - label).square()


TASKS = {"binary": bernoulli, "squared": squared}


def pooled(scores, polarity, g, h):
    """z = Σ_i φ_i o_i."""
    return (g(scores) / h(scores).sum()) @ polarity


def slope_of(scores, polarity, g, h, label, task=bernoulli):
    """σ′ ∂R/∂y = ∂R/∂z."""
    return torch.func.grad(task)(pooled(scores, polarity, g, h), label)


def flows(read, leaves, risk):
    """ds/dτ as the leaves run downhill: scores and their change."""
    held = [each.clone().requires_grad_() for each in leaves]
    slopes = torch.autograd.grad(risk(read(*held)), held)
    return torch.func.jvp(read, tuple(leaves), tuple(-each for each in slopes))


@pytest.mark.parametrize("label", [0.0, 1.0])
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("ratio", RATIOS)
def test_proposition_1(ratio, score, task, label):
    """Eq. 4 with Q_i and K_i of every token as parameters of their own."""
    (g, h), f = RATIOS[ratio], SCORES[score]
    label = torch.tensor(label, dtype=torch.float64)
    query, key, polarity = draw(SIZE, WIDTH, seed=1), draw(SIZE, WIDTH, seed=2), 2 * draw(SIZE, seed=3)
    scores, change = flows(f, (query, key), lambda s: TASKS[task](pooled(s, polarity, g, h), label))
    slope = slope_of(scores, polarity, g, h, label, TASKS[task])
    found = general_update(scores, polarity, slope_norms(f, query, key), slope, g, h)
    torch.testing.assert_close(found, change, **EXACT_MATHS)
    assert change.abs().max() > 1e-4


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("ratio", RATIOS)
@given(
    size=st.integers(1, 9),
    stretch=st.floats(0.1, 2),
    seed=st.integers(0, 10_000),
    label=st.sampled_from([0.0, 1.0]),
)
@settings(max_examples=20, deadline=None)
def test_proposition_1_for_any_draw(ratio, score, size, stretch, seed, label):
    """Against autograd in float64: the scores along −∂R/∂Q and −∂R/∂K."""
    (g, h), f = RATIOS[ratio], SCORES[score]
    label = torch.tensor(label, dtype=torch.float64)
    query, key = draw(2, size, WIDTH, seed=seed).mul(stretch)
    polarity = draw(size, seed=seed + 1)
    scores, change = flows(f, (query, key), lambda s: bernoulli(pooled(s, polarity, g, h), label))
    slope = slope_of(scores, polarity, g, h, label)
    found = general_update(scores, polarity, slope_norms(f, query, key), slope, g, h)
    torch.testing.assert_close(found, change, **EXACT_MATHS)


@pytest.mark.parametrize("score", SCORES)
def test_the_inner_part_is_the_sum_of_squares_of_the_derivatives(score):
    f = SCORES[score]
    query, key = draw(SIZE, WIDTH, seed=1), draw(SIZE, WIDTH, seed=2)
    for i, found in enumerate(slope_norms(f, query, key)):
        d_q, d_k = torch.autograd.functional.jacobian(f, (query[i], key[i]))
        torch.testing.assert_close(found, d_q @ d_q + d_k @ d_k, **EXACT_MATHS)
    assert (slope_norms(f, query, key) >= 0).all()


@pytest.mark.parametrize("ratio", ["softmax", "tanhmax", "sigmoid", "sigsoftmax"])
def test_g_and_h_are_those_of_our_activations(ratio):
    g, h = RATIOS[ratio]
    scores = draw(SIZE)
    weights = ACTIVATIONS[ratio]().weights(scores, torch.ones(SIZE, dtype=torch.bool))
    torch.testing.assert_close(g(scores) / h(scores).sum(), weights, **EXACT_MATHS)


@pytest.mark.parametrize("score", SCORES)
def test_tanhmax_is_the_general_case(score):
    f, (g, h) = SCORES[score], RATIOS["tanhmax"]
    label = torch.tensor(1.0, dtype=torch.float64)
    query, key, polarity = draw(SIZE, WIDTH, seed=4), draw(SIZE, WIDTH, seed=5), draw(SIZE, seed=6)
    scores, change = flows(f, (query, key), lambda s: bernoulli(pooled(s, polarity, g, h), label))
    parts = scores, polarity, slope_norms(f, query, key), slope_of(scores, polarity, g, h, label)
    torch.testing.assert_close(tanhmax_update(*parts), general_update(*parts, g, h), **EXACT_MATHS)
    torch.testing.assert_close(tanhmax_update(*parts), change, **EXACT_MATHS)


def test_tanhmax_of_large_scores_is_finite():
    """ŵ = w̃ = (½, ½, 0) and Σ ŵ o = 1.5."""
    scores, polarity = torch.tensor([[800.0, 800.0, -5.0], [2.0, 1.0, 3.0]]).double()
    found = tanhmax_update(scores, polarity, torch.full((3,), 4.0).double(), 0.5)
    torch.testing.assert_close(found, torch.tensor([-0.5, 0.5, 0.0]).double(), **EXACT_MATHS)


def test_measured_steps():
    """A real step of SGD moves the scores by η times the update, with an error that shrinks with η."""
    f, (g, h) = SCORES["dot product"], RATIOS["tanhmax"]
    label = torch.tensor(1.0, dtype=torch.float64)
    query, key, polarity = draw(SIZE, WIDTH, seed=1), draw(SIZE, WIDTH, seed=2), draw(SIZE, seed=3)
    scores = f(query, key)
    told = tanhmax_update(
        scores, polarity, slope_norms(f, query, key), slope_of(scores, polarity, g, h, label)
    )
    errors = []
    for rate in (2.0**-6, 2.0**-7, 2.0**-8):
        leaves = [query.clone().requires_grad_(), key.clone().requires_grad_()]
        optimizer = torch.optim.SGD(leaves, lr=rate)
        bernoulli(pooled(f(*leaves), polarity, g, h), label).backward()
        optimizer.step()
        errors.append(float(((f(*leaves).detach() - scores) / rate - told).abs().max()))
    assert errors[1] / errors[0] == pytest.approx(0.5, abs=0.02)
    assert errors[2] / errors[1] == pytest.approx(0.5, abs=0.02)


class TestSharedMaps:
    """Q_i = W_q x_i and K_i = W_k x_i, as in every model: the scores also move each other."""

    f = staticmethod(SCORES["dot product"])
    label = torch.tensor(1.0, dtype=torch.float64)

    def measure(self, x, ratio):
        """The change of the scores as W_q and W_k run downhill, what eq. 4 says, and Q, K, ∂R/∂s."""
        g, h = RATIOS[ratio]
        W_q, W_k, polarity = (
            draw(WIDTH, x.shape[1], seed=7),
            draw(WIDTH, x.shape[1], seed=8),
            draw(len(x), seed=9),
        )

        def read(W_q, W_k):
            return self.f(x @ W_q.T, x @ W_k.T)

        scores, change = flows(read, (W_q, W_k), lambda s: bernoulli(pooled(s, polarity, g, h), self.label))
        query, key = x @ W_q.T, x @ W_k.T
        slope = slope_of(scores, polarity, g, h, self.label)
        told = general_update(scores, polarity, slope_norms(self.f, query, key), slope, g, h)
        return change, told, query, key

    @pytest.mark.parametrize("ratio", RATIOS)
    def test_cross_terms(self, ratio):
        """ds_i/dτ = Σ_j (x_iᵀx_j)(K_iᵀK_j + Q_iᵀQ_j)(−∂R/∂s_j); eq. 4 is its diagonal, for ‖x_i‖ = 1."""
        x = torch.nn.functional.normalize(draw(SIZE, 3, seed=10), dim=1)
        change, told, query, key = self.measure(x, ratio)
        downhill = told / slope_norms(self.f, query, key)  # −∂R/∂s_j
        crossed = ((x @ x.T) * (key @ key.T + query @ query.T)) @ downhill
        torch.testing.assert_close(change, crossed, **EXACT_MATHS)
        assert (change - told).abs().max() > 0.1 * change.abs().max()

    @pytest.mark.parametrize("ratio", RATIOS)
    def test_none_between_tokens_at_right_angles(self, ratio):
        """Inputs that are orthonormal have Q_i and K_i of their own: there eq. 4 is exact."""
        change, told, *_ = self.measure(torch.eye(SIZE, dtype=torch.float64), ratio)
        torch.testing.assert_close(change, told, **EXACT_MATHS)

    def test_a_token_can_move_against_what_equation_4_says(self):
        """Two tokens that are nearly one word move together, whatever their own polarity."""
        generator = np.random.default_rng(0)
        signs = set()
        for _ in range(20):
            x = torch.from_numpy(generator.normal(size=(1, 3))).expand(2, 3) + 0.01 * torch.eye(2, 3)
            change, told, *_ = self.measure(x, "softmax")
            signs |= set((torch.sign(change) * torch.sign(told)).tolist())
        assert signs == {1.0, -1.0}
