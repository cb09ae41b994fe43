"""Our softmax family against torch and the entmax library (Peters, Niculae and Martins 2019).

α-entmax tends to softmax as α → 1, by bisection, with no exponential in it. What is a softmax of something
can be held against it: softmax, sigsoftmax and sigmoid through their exponent, TanhMax through doubled scores
[s, −s]. ReLU, the dot product and the plain sum are not a softmax; their oracle is the formula
written out in tests/attention/test_written_out.py.
"""

import pytest
import torch
from entmax import entmax_bisect

from glasshead.attention import ACTIVATIONS
from tolerances import EXACT_MATHS

SAME_FOR_EVERY_ALPHA = "uniform"
FAMILY = [
    name
    for name in ACTIVATIONS
    if ACTIVATIONS[name]().softmax_logits(torch.zeros(1)) is not None and name != SAME_FOR_EVERY_ALPHA
]


def random_scores():
    torch.manual_seed(0)
    return torch.randn(6, 8, dtype=torch.float64) * 3


def near(approximate, exact):
    """α-entmax is off by O(α − 1): a tenth of the distance to 1 leaves a tenth of the error."""
    errors = [float((approximate(1 + gap) - exact).abs().max()) for gap in (1e-3, 1e-4, 1e-5)]
    assert errors[2] < 1e-4
    assert errors[0] / errors[1] == pytest.approx(10, rel=0.05)
    assert errors[1] / errors[2] == pytest.approx(10, rel=0.05)


def test_the_family_is_complete():
    assert set(FAMILY) >= {"softmax", "sigsoftmax", "sigmoid"}
    assert not set(FAMILY) & {"relu", "dot-product", "sum", "tanhmax"}


@pytest.mark.parametrize("name", FAMILY)
def test_entmax_near_one(name):
    scores, activation = random_scores(), ACTIVATIONS[name]()
    exact = activation.weights(scores, torch.ones_like(scores, dtype=torch.bool))
    exponent = activation.softmax_logits(scores)
    near(lambda alpha: entmax_bisect(exponent, alpha=alpha, dim=-1, n_iter=80), exact)


@pytest.mark.parametrize("alpha", [1.001, 1.5, 2.0])
def test_equal_exponents_are_uniform_under_every_alpha(alpha):
    scores, activation = random_scores(), ACTIVATIONS[SAME_FOR_EVERY_ALPHA]()
    exact = activation.weights(scores, torch.ones_like(scores, dtype=torch.bool))
    exponent = activation.softmax_logits(scores)
    torch.testing.assert_close(entmax_bisect(exponent, alpha=alpha, dim=-1, n_iter=80), exact)


def test_entmax_near_one_of_doubled_scores_is_tanhmax():
    scores = random_scores()
    exact = ACTIVATIONS["tanhmax"]().weights(scores, torch.ones_like(scores, dtype=torch.bool))

    def doubled(alpha):
        up, down = entmax_bisect(torch.cat([scores, -scores], -1), alpha=alpha, n_iter=80).chunk(2, dim=-1)
        return up - down

    near(doubled, exact)


def test_softmax_is_the_softmax_of_torch_where_the_mask_allows():
    scores = random_scores()
    mask = torch.arange(8) < torch.tensor([[8], [5], [3], [2], [1], [8]])
    expected = scores.masked_fill(~mask, -torch.inf).softmax(dim=-1)
    torch.testing.assert_close(ACTIVATIONS["softmax"]().weights(scores, mask), expected, **EXACT_MATHS)
