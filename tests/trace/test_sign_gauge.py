"""Fixing the sign gauge."""

import pytest
import torch

from glasshead.results import MIN_TEXTS_PER_CLASS, ONE_SIGN, SIGN_IN_WEIGHTS, UNDECIDED
from glasshead.trace import class_sides, default_target, fix_gauges, target_polarity, text_sums
from planted_signs import RATIOS, TRUTHS, planted

NAMES = ("negative", "positive", "mixed")


def fixed(a, o, labels, *, signed=True):
    """The gauge of one head."""
    return fix_gauges(text_sums(a, o, -1)[:, None], labels, NAMES, [signed])[0]


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("truth", TRUTHS)
def test_where_the_sign_lives_does_not_depend_on_how_many_texts_a_class_has(truth, ratio, sign):
    a, o, labels = planted(truth, RATIOS[ratio])
    gauge = fixed(sign * a, sign * o, labels)
    assert gauge.kind == {"weights": SIGN_IN_WEIGHTS, "values": ONE_SIGN, "mixed": UNDECIDED}[truth]
    if truth != "mixed":
        assert gauge.sign == sign
    if truth == "weights":
        assert gauge.margin == pytest.approx(1.0)
    if truth == "values":  # one class leans to either side, so the mean says nothing, whichever is larger
        assert gauge.margin < 0.1


def test_a_sum_over_all_texts_would_be_wrong_at_these_ratios():
    """What the planted cases are there to catch: the majority class decides both sums."""
    a, o, _ = planted("values", RATIOS["3:1"])
    assert (a * o).sum() / (a * o.abs()).sum() > 0.2
    a, _, labels = planted("weights", RATIOS["20:1"], loud=9.0)
    assert a.clamp(min=0).sum() / a.abs().sum() > 0.95
    assert fixed(a, torch.ones_like(a), labels).kind == SIGN_IN_WEIGHTS


def test_three_classes():
    a, o, labels = planted("weights", (60, 60))
    third = torch.full_like(labels, 2)
    both = torch.cat([labels, third])
    gauge = fixed(torch.cat([a, a]), torch.cat([o, o]), both)
    assert (gauge.kind, [each.texts for each in gauge.classes]) == (SIGN_IN_WEIGHTS, [60, 60, 120])
    against = fixed(torch.cat([a, a]), torch.cat([o, -o]), both)
    assert against.kind == UNDECIDED  # the third class leans the other way
    assert against.margin == pytest.approx(1 / 3)


def test_a_class_of_few_texts_has_no_say_and_one_class_decides_nothing():
    a, o, labels = planted("weights", (60, 60))
    few = torch.full((MIN_TEXTS_PER_CLASS - 1,), 2)
    gauge = fixed(torch.cat([a, a[: len(few)]]), torch.cat([o, -o[: len(few)]]), torch.cat([labels, few]))
    assert (gauge.kind, gauge.margin) == (SIGN_IN_WEIGHTS, pytest.approx(1.0))
    for truth in ("weights", "values"):
        a, o, labels = planted(truth, (MIN_TEXTS_PER_CLASS - 1, 200))
        assert fixed(a, o, labels).kind == UNDECIDED


def test_the_numbers_are_those_of_the_definition_in_the_canonical_gauge():
    a, o, labels = planted("mixed", (60, 180))
    gauge, other = fixed(a, o, labels), fixed(-a, -o, labels)
    assert gauge.sign == -other.sign
    for one, turned in zip(gauge.classes, other.classes, strict=True):
        assert one.positive == pytest.approx(turned.positive)
        assert one.lean == pytest.approx(turned.lean)
    leans = []
    for k, one in enumerate(gauge.classes):
        mine_a, mine_o = gauge.sign * a[labels == k], gauge.sign * o[labels == k]
        size = mine_a.abs()
        leans.append(((size * mine_o).sum() / (size * mine_o.abs()).sum()).item())
        assert one.lean[0] == pytest.approx(leans[-1])
        assert one.positive[0] == pytest.approx((mine_a.clamp(min=0).sum() / size.sum()).item())
        for estimate, low, high in (one.lean, one.positive):
            assert low < estimate < high
    assert gauge.margin == pytest.approx(abs(sum(leans)) / 2)


def test_weights_that_cannot_be_negative_have_one_sign():
    a, o, labels = planted("values", (60, 60))
    gauge = fixed(a, -o, labels, signed=False)
    assert (gauge.sign, gauge.kind) == (1, ONE_SIGN)


def test_no_weights_no_answer():
    a, o, labels = planted("weights", (60, 60))
    gauge = fixed(0 * a, o, labels)
    assert (gauge.sign, gauge.kind, gauge.margin) == (1, UNDECIDED, 0.0)
    assert all(each.positive is None and each.lean is None for each in gauge.classes)


def test_ratings_are_split_at_their_mean():
    groups, names = class_sides(torch.tensor([1.0, 5.0, 5.0, 5.0]), ["rating"], regression=True)
    assert (groups.tolist(), len(names)) == ([0, 1, 1, 1], 2)
    assert class_sides(torch.tensor([1, 0]), NAMES, regression=False)[0].tolist() == [1, 0]


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
