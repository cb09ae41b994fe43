"""Fixing the sign gauge."""

import pytest
import torch

from glasshead.models import default_target, fix_gauge, target_polarity


def everywhere(values):
    return torch.ones_like(values, dtype=torch.bool)


def test_the_canonical_sign_makes_polarities_positive_where_attention_is_strong():
    weights = torch.tensor([[0.5, -0.3, 0.1]])
    polarity = torch.tensor([[-2.0, -1.0, 0.5]])
    gauge = fix_gauge(weights, polarity, everywhere(weights), signed=True)
    assert gauge.sign == -1
    # Σ|a|o = −1 − 0.3 + 0.05, Σ|a||o| = 1.35
    assert gauge.margin == pytest.approx(1.25 / 1.35)
    assert gauge.positive_polarity == pytest.approx(2 / 3)


def test_it_does_not_depend_on_the_gauge_it_starts_from():
    torch.manual_seed(0)
    weights, polarity = torch.randn(4, 6), torch.randn(4, 6) + 0.5
    one = fix_gauge(weights, polarity, everywhere(weights), signed=True)
    other = fix_gauge(-weights, -polarity, everywhere(weights), signed=True)
    assert one.sign == -other.sign
    assert one.margin == pytest.approx(other.margin)
    assert one.positive_polarity == pytest.approx(other.positive_polarity)


def test_unsigned_weights_have_nothing_to_fix_and_padding_is_not_read():
    weights, polarity = torch.tensor([[0.9, 0.1, 7.0]]), torch.tensor([[-1.0, -1.0, 50.0]])
    mask = torch.tensor([[True, True, False]])
    assert fix_gauge(weights, polarity, mask, signed=False).sign == 1
    assert fix_gauge(weights, polarity, mask, signed=True).sign == -1


def test_no_tokens_no_margin():
    gauge = fix_gauge(torch.zeros(1, 2), torch.zeros(1, 2), torch.zeros(1, 2, dtype=torch.bool), signed=True)
    assert (gauge.sign, gauge.margin, gauge.positive_polarity) == (1, 0.0, 0.0)


def test_polarity_towards_a_class():
    binary = torch.tensor([[[2.0], [-1.0]], [[3.0], [0.0]]])
    torch.testing.assert_close(
        target_polarity(binary, torch.tensor([1, 0])), torch.tensor([[2.0, -1.0], [-3.0, 0.0]])
    )
    three = torch.tensor([[[1.0, 2.0, 6.0], [0.0, 3.0, 0.0]]])
    torch.testing.assert_close(target_polarity(three, torch.tensor([2])), torch.tensor([[3.0, -1.0]]))
    torch.testing.assert_close(target_polarity(three, torch.tensor([[0, 1]])), torch.tensor([[-2.0, 2.0]]))


def test_the_default_target_is_class_1_of_two_else_the_predicted():
    assert default_target(torch.tensor([[3.0, 0.0], [0.0, 1.0]])).tolist() == [1, 1]
    assert default_target(torch.tensor([[3.0, 0.0, 1.0], [0.0, 1.0, 4.0]])).tolist() == [0, 2]
