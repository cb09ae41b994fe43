"""Parts that nearly every head looks at, and heads that agree by chance."""

from itertools import product

import numpy as np
import pytest

from glasshead.statistics import can_have_sinks, find_sinks, much_attended
from glasshead.statistics.attention_sinks import tail_of_choices


def test_the_tail_is_that_of_all_outcomes():
    chances = np.array([0.1, 0.5, 0.25])
    expected = np.zeros(4)
    for chosen in product([0, 1], repeat=3):
        expected[sum(chosen)] += np.prod(np.where(chosen, chances, 1 - chances))
    np.testing.assert_allclose(tail_of_choices(chances), expected[::-1].cumsum()[::-1])


def heads(count=8, parts=16, loud=(3,)):
    weights = np.random.default_rng(0).random((count, 2, parts))
    weights[..., list(loud)] += 20
    return weights


def test_a_part_that_all_heads_look_at_is_found_whatever_the_sign():
    assert np.flatnonzero(much_attended(heads())).tolist() == [3]
    assert np.flatnonzero(much_attended(-heads())).tolist() == [3]


@pytest.mark.parametrize(
    "weights", [heads(loud=()), heads(count=1), np.zeros((4, 1, 16)), np.zeros((0, 1, 16))]
)
def test_even_weights_and_a_single_head_say_nothing(weights):
    assert not much_attended(weights).any()


def test_heads_that_choose_by_themselves_seldom_agree():
    rng = np.random.default_rng(0)
    found = 0
    for _ in range(400):
        weights = rng.dirichlet(np.full(16, 0.1), (6, 1))
        found += much_attended(weights).any()
    assert found <= 0.05 * 400


def test_a_part_with_more_effect_than_others_is_no_sink_and_effects_are_measured_if_there_is_need():
    asked = []

    def effects(chosen):
        asked.append(chosen)
        return np.where(chosen == 3, 2.0, 1.0)

    options = {"small": 5.0, "tokens": np.arange(3)}
    assert find_sinks(heads(loud=(3, 5)), effects, **options).tolist() == [5]
    assert sorted(asked[0][:2]) == [3, 5]
    assert find_sinks(heads(loud=()), effects, **options).tolist() == []
    assert len(asked) == 1


PARTS, LIKED = 64, [3, 17]


def found(effects, tokens=(1, 2, 3)):
    return find_sinks(
        heads(parts=PARTS, loud=LIKED), lambda some: effects[some], small=0.05, tokens=np.array(tokens)
    ).tolist()


@pytest.mark.parametrize(
    ("own", "others", "sinks"),
    [(0.001, 0.01, LIKED), (0.02, 0.01, []), (0.5, 1.0, []), (0.0, 0.0, LIKED)],
)
def test_a_sink_has_a_small_effect_and_no_larger_one_than_others(own, others, sinks):
    effects = np.full(PARTS, others)
    effects[LIKED] = own
    assert found(effects) == sinks


def test_large_effects_that_could_be_exchanged_are_no_sinks():
    rng = np.random.default_rng(0)
    assert not any(found(rng.exponential(size=PARTS) + 0.05) for _ in range(100))


def test_the_parts_for_comparison_follow_from_the_tokens():
    calls = []

    def remember(some):
        calls.append(some.tolist())
        return np.zeros(len(some))

    for tokens in ((1, 2), (1, 2), (1, 3)):
        find_sinks(heads(parts=PARTS, loud=LIKED), remember, small=0.05, tokens=np.array(tokens))
    assert calls[0] == calls[1] != calls[2]


FEW_AND_MANY = [(0, 16, False), (1, 16, False), (2, 16, False), (3, 16, True), (2, 64, True), (8, 3, False)]


@pytest.mark.parametrize(("count", "parts", "can"), FEW_AND_MANY)
def test_few_heads_cannot_agree_by_more_than_chance(count, parts, can):
    own = np.ones((count, 1, parts))
    own[..., :1] = 100.0
    assert can_have_sinks(own) == can
    assert much_attended(own).any() == can
    assert can_have_sinks(np.ones((count, 1, parts))) == can  # even weights show that there is none
