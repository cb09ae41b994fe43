"""Surrogates, Shapley values and their intervals, against slow twins, planted weights, and ContextCite."""

from itertools import permutations

import numpy as np
import pytest

from glasshead.sources.effects import (
    Effects,
    draw_masks,
    draw_orders,
    exact_shapley,
    log_odds,
    sampled_shapley,
    subsets_of_orders,
    surrogate_effects,
)
from glasshead.sources.judge import Removals, find_pairs, judge_sources, says


def game(passages, seed=0):
    """What each subset is worth: passages add, two of them only together, and of three one is enough."""
    weights = np.random.default_rng(seed).normal(size=passages)
    return lambda subset: float(weights @ subset + 2.0 * (subset[0] & subset[1]) + 3.0 * subset[-3:].any())


def slow_shapley(value, passages):
    total = np.zeros(passages)
    orders = list(permutations(range(passages)))
    for order in orders:
        subset = np.zeros(passages, bool)
        for one in order:
            before = value(subset)
            subset[one] = True
            total[one] += value(subset) - before
    return total / len(orders)


def test_exact_shapley_is_the_mean_over_all_orders():
    value = game(4)
    masks = draw_masks(4, 256, 0)
    found = exact_shapley({tuple(map(bool, row)): value(row) for row in masks}, 4)
    np.testing.assert_allclose(found.values, slow_shapley(value, 4), atol=1e-12)


def test_sampled_shapley_covers_the_exact():
    """All at once, in 19 of 20."""
    value, covered = game(6), 0
    exact = slow_shapley(value, 6)
    for seed in range(60):
        orders = draw_orders(6, 200, seed)
        found = sampled_shapley(orders, np.array([value(row) for row in subsets_of_orders(orders, 6)]), 6)
        covered += bool(np.all((found.low <= exact + 1e-9) & (exact <= found.high + 1e-9)))
    assert covered >= 52


def test_sampled_shapley_covers_passages_that_repeat_one_another():
    """With as few draws as may be, of ten passages three are the same."""
    covered = 0
    exact = np.array([1 / 3] * 3 + [0.5] + [0.0] * 6)
    for seed in range(60):
        orders = draw_orders(10, 16, seed)
        subsets = subsets_of_orders(orders, 10)
        found = sampled_shapley(orders, subsets[:, :3].any(axis=1) + 0.5 * subsets[:, 3], 10)
        covered += bool(np.all((found.low <= exact + 1e-9) & (exact <= found.high + 1e-9)))
    assert covered >= 51


@pytest.mark.slow
def test_intervals_of_the_surrogate_cover_passages_that_repeat_one_another():
    """What ever more draws come to, in 19 of 20; of eight passages two are the same."""

    def log_p(masks, random):
        return -4.0 + 3.5 * masks[:, :2].any(axis=1) + 0.05 * random.normal(size=len(masks))

    many = draw_masks(8, 256, 0)
    limit = surrogate_effects(many, log_p(many, np.random.default_rng(0)), 1, 0).values
    covered = 0
    for seed in range(40):
        masks = draw_masks(8, 64, seed)
        found = surrogate_effects(masks, log_p(masks, np.random.default_rng(seed)), 1, seed)
        covered += bool(np.all((found.low <= limit) & (limit <= found.high)))
    assert covered >= 35


def test_few_passages_are_read_in_every_subset():
    masks = draw_masks(4, 64, 0)
    assert len({tuple(row) for row in masks}) == len(masks) == 16
    assert draw_masks(20, 64, 0).shape == (64, 20)
    assert 0.4 < draw_masks(20, 64, 0).mean() < 0.6


@pytest.mark.slow
def test_intervals_of_the_surrogate_leave_out_what_does_nothing():
    """Planted: two of 15 passages matter; of those that do nothing, hardly ever one lies above 0."""
    false, missed = 0, 0
    for seed in range(30):
        random = np.random.default_rng(seed)
        masks = draw_masks(15, 64, seed)
        log_p = -4.0 + 2.0 * masks[:, 3] + 1.5 * masks[:, 8] + 0.3 * random.normal(size=64)
        found = surrogate_effects(masks, np.minimum(log_p, -0.01), 1, seed)
        others = [place for place in range(15) if place not in (3, 8)]
        false += bool((found.low[others] > 0).any())
        missed += bool((found.low[[3, 8]] <= 0).any())
    assert false <= 3
    assert missed <= 1


# MadryLab/context-cite at 0e646f5b: LassoRegression().fit(masks, aggregate_logit_probs(logits), 3)[0] of the
# masks and numbers below.
CONTEXT_CITE = [-0.09527854, -0.04374340, 3.20795923, -0.25798426, -0.72073384, -0.18431194]


def given():
    random = np.random.RandomState(5)
    masks = random.random((32, 6)) < 0.5
    logits = random.normal(size=(32, 3)) + 2.0 * masks[:, [2]] - 0.5 * masks[:, [4]]
    return masks, logits


def test_equal_to_context_cite():
    masks, logits = given()
    log_p = -np.logaddexp(0.0, -logits).sum(axis=1)
    found = surrogate_effects(masks, log_p, 3, 0)
    np.testing.assert_allclose(found.values, CONTEXT_CITE, atol=1e-5)


def test_log_odds_near_both_ends():
    log_p = np.array([-1e-9, -1.0, -50.0, 0.0])
    np.testing.assert_allclose(log_odds(log_p)[1], -1.0 - np.log(1 - np.exp(-1.0)))
    np.testing.assert_allclose(log_odds(log_p)[2], -50.0, atol=1e-12)
    assert log_odds(log_p)[0] == log_odds(log_p)[3] < 14  # both are 1 but for rounding
    assert np.isfinite(log_odds(log_p)).all()


NAMES = ["1", "2", "3"]


def judged(alone, by_itself, pairs=None, log_p=-0.1, none=-5.0):
    removals = Removals(log_p, none, alone, by_itself, pairs or {})
    found = find_pairs(removals)
    return removals, judge_sources(Effects(np.array(alone)), removals.gain, removals, found), found


def test_a_passage_without_which_it_is_less_probable_is_a_source():
    removals, found, pairs = judged([3.0, 0.1, 0.0], [4.0, 0.2, 0.1])
    assert [one.is_source for one in found] == [True, False, False]
    assert says(removals, found, pairs, -3.1, NAMES, "The answer") == (
        "The answer comes from passage 1",
        "Without it the answer is 1/20 as probable.",
    )


def test_two_that_say_the_same():
    removals, found, pairs = judged(
        [0.0, 0.02, 0.0], [4.9, 4.8, 0.1], {(0, 1): 4.5, (0, 2): 0.1, (1, 2): 0.1}
    )
    assert [one.is_source for one in found] == [True, True, False]
    assert says(removals, found, pairs, -4.6, NAMES, "The answer")[-1] == (
        "Either of passages 1 and 2 is enough."
    )


def test_two_that_are_needed_together():
    _, found, pairs = judged([4.5, 4.6, 0.0], [0.1, 0.1, 0.1], {(0, 1): 4.8})
    assert [one.is_source for one in found] == [True, True, False]
    assert [pair.kind for pair in pairs] == ["together"]


def test_two_that_each_add_their_part_are_no_pair():
    assert not judged([2.0, 2.5, 0.0], [2.0, 2.5, 0.0], {(0, 1): 4.5})[2]


def test_what_is_known_without_passages_has_no_source():
    removals, found, pairs = judged([0.05, 0.3, 0.0], [0.0, 0.0, 0.0], log_p=-0.1, none=-0.12)
    assert not any(one.is_source for one in found)
    assert says(removals, found, pairs, -0.1, NAMES, "The answer") == (
        "The answer comes from none of the passages",
        "Without any of them it is as probable.",
    )


def test_what_helps_and_what_hurts_come_to_nothing():
    removals = Removals(-1.0, -1.0, [0.05, -2.0, 0.0], [2.0, -2.0, 0.0], {})
    found = judge_sources(Effects(np.array([0.05, -2.0, 0.0])), 0.0, removals, ())
    first, second = says(removals, found, (), -1.0, NAMES, "The answer")
    assert first == "No passage is shown to be where the answer comes from"
    assert second == "Some passages make it more probable and others less; together they add nothing."


def test_other_passages_make_up_for_a_source():
    removals, found, pairs = judged([0.6, 0.0, 0.0], [4.8, 4.8, 4.8])
    assert says(removals, found, pairs, -0.12, NAMES, "The answer")[1] == (
        "Without it, other passages compensate."
    )


def test_all_together_but_no_single_one():
    removals, found, pairs = judged([0.2, 0.2, 0.2], [0.1, 0.1, 0.1])
    first, second = says(removals, found, pairs, -0.1, NAMES, "This sentence")
    assert first == "No passage is shown to be where this sentence comes from"
    assert "130 times as probable" in second
