"""The generic form φ_i = g(s_i) / Σ_k h(s_k)."""

import pytest
import torch

from glasshead.attention import ACTIVATIONS, ElementwiseRatio
from tolerances import EXACT_MATHS


class Logarithm(ElementwiseRatio):
    """g = h = log s, which has no value at 0 and below."""

    paper, domain = "a test", (1.0, 9.0)

    def g(self, s):
        return torch.log(s)

    h = g


class ByHand(ElementwiseRatio):
    """TanhMax from its own g and h."""

    paper = "a test"

    def g(self, s):
        return torch.exp(s) - torch.exp(-s)

    def h(self, s):
        return torch.exp(s) + torch.exp(-s)


def test_tanhmax_from_its_g_and_h():
    torch.manual_seed(0)
    scores, mask = torch.randn(5, 8, dtype=torch.float64) * 3, torch.rand(5, 8) < 0.6
    torch.testing.assert_close(
        ByHand().weights(scores, mask), ACTIVATIONS["tanhmax"]().weights(scores, mask), **EXACT_MATHS
    )


def test_g_and_h_never_see_a_masked_score():
    """At 0, −3 and NaN the logarithm and its gradient are not finite; none of it reaches an allowed key."""
    scores = torch.tensor([2.0, 0.0, -3.0, 5.0, float("nan")], dtype=torch.float64, requires_grad=True)
    mask = torch.tensor([True, False, False, True, False])
    weights = Logarithm().weights(scores, mask)
    logs = torch.tensor([2.0, 5.0], dtype=torch.float64).log()
    torch.testing.assert_close(weights[mask], logs / logs.sum(), **EXACT_MATHS)
    (gradient,) = torch.autograd.grad(weights[0], scores)
    assert gradient.isfinite().all()
    assert gradient.tolist()[1:3] == [0, 0]


def test_a_denominator_of_zero_gives_zeros():
    scores = torch.tensor([[1.0, 1.0, 1.0], [1.0, 1.0, 2.0]], dtype=torch.float64, requires_grad=True)
    weights = Logarithm().weights(scores, torch.ones_like(scores, dtype=torch.bool))
    assert weights.tolist() == [[0, 0, 0], [0, 0, 1]]
    assert torch.autograd.grad(weights.sum(), scores)[0].isfinite().all()


@pytest.mark.parametrize("missing", ["g", "h"])
def test_g_and_h_are_both_needed(missing):
    given = {name: lambda self, s: s for name in ("g", "h") if name != missing}
    with pytest.raises(TypeError, match=missing):
        type("Half", (ElementwiseRatio,), given)()


def test_a_row_without_a_positive_score_has_no_weight_in_a_plain_sum():
    scores = torch.tensor([[-1.0, -2.0, 0.0], [-1.0, 1.0, 3.0]], dtype=torch.float64, requires_grad=True)
    weights = ACTIVATIONS["sum"]().weights(scores, torch.ones_like(scores, dtype=torch.bool))
    assert weights.tolist() == [[0, 0, 0], [0, 0.25, 0.75]]
    assert torch.autograd.grad(weights[:, 2].sum(), scores)[0].isfinite().all()


def test_the_dot_product_counts_allowed_keys_only():
    scores = torch.tensor([6.0, -3.0, 9.0, 7.0])
    mask = torch.tensor([True, True, True, False])
    assert ACTIVATIONS["dot-product"]().weights(scores, mask).tolist() == [2, -1, 3, 0]


def test_sigmoid_weights_add_up_to_one_where_every_sigmoid_is_zero():
    """σ(−10⁴) is 0 in any precision; the weights still tell the scores apart."""
    scores = torch.tensor([-10_000.0, -10_001.0, -20_000.0], dtype=torch.float64)
    weights = ACTIVATIONS["sigmoid"]().weights(scores, torch.ones(3, dtype=torch.bool))
    assert torch.sigmoid(scores).sum() == 0
    # σ(s) → e^s: softmax of the scores.
    torch.testing.assert_close(weights, scores.softmax(dim=0), **EXACT_MATHS)
