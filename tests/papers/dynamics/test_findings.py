"""What is found of groups: planted truths are found, chance is not, and every interval is one over tokens."""

import fake_histories
import numpy as np
import pytest

from glasshead.papers.dynamics.findings import LARGEST_PART, findings
from glasshead.papers.results import (
    MUCH_UNEXPLAINED,
    MUCH_UNEXPLAINED_BEFORE,
    NOT_EXPLAINED,
    History,
    trapezoid_error,
)
from glasshead.results import NO_SIGN, TOO_MUCH_LEFT, TOO_SPARSE


def by_name(history, **options):
    return {(f.statistic, f.against, f.group): f for f in findings(history, **options)}


def with_scores(scores, groups):
    """Two looks: nothing at first, then the given scores."""
    n = len(scores)
    tokens = {
        "step": np.repeat([0, 40], n),
        "token": np.tile([f"t{i}" for i in range(n)], 2),
        "group": np.tile(groups, 2),
        "score": np.concatenate([np.zeros(n), scores]),
        "polarity": np.zeros(2 * n),
        "weight": np.zeros(2 * n),
    }
    curves = {
        name: np.array([0, 40]) if name == "step" else np.array(["score"] * 2)
        for name in ("step", "quantity")
    }
    return History(fake_histories.facts(exact=False), curves, {}, tokens)


def test_levels_changes_and_gaps_are_the_planted_ones():
    found = by_name(fake_histories.history())
    level = found["level", "score", "positive"]
    assert level.estimate == pytest.approx(1.35 + 0.0)
    assert level.interval[0] < level.estimate < level.interval[1]
    assert level.n == 12
    assert found["change", "score", "negative"].estimate == pytest.approx(-1.35)
    assert found["change", "score", "negative"].verdict == "fallen"
    gap = found["gap", "score", "positive vs negative"]
    assert gap.estimate == pytest.approx(2.7)
    assert gap.verdict == "positive tokens have higher attention scores than negative ones"
    assert found["gap", "score", "negative vs neutral"].verdict.startswith("negative tokens have lower")


def test_parts_add_up_to_the_change():
    found = by_name(fake_histories.history())
    for quantity, terms in (("score", fake_histories.SCORE), ("polarity", fake_histories.POLARITY)):
        for group in fake_histories.GROUPS:
            parts = [found[f"added to {quantity}", name, group].estimate for name in [*terms, NOT_EXPLAINED]]
            assert sum(parts) == pytest.approx(found["change", quantity, group].estimate, abs=1e-12)
    assert found["added to score", "D", "positive"].verdict == LARGEST_PART
    assert found["added to score", "E", "positive"].verdict == ""
    assert not [
        f for f in found.values() if f.group == "neutral" and f.verdict == LARGEST_PART and f.estimate
    ]


def planted(learning_rate=1.0, **scaled):
    """The history with columns of its tokens times a number, or another function of the steps."""
    history = fake_histories.history(learning_rate=learning_rate)
    columns = {
        name: scaled.get(name.replace(" ", "_"), lambda column, steps: column)(column, history.tokens["step"])
        for name, column in history.tokens.items()
    }
    return by_name(History(history.facts, history.curves, history.products, columns))


def times(factor):
    return lambda column, steps: factor * column


def test_a_large_rest_is_said():
    """Of a change of 1.35, D has added 0.85 and nothing else anything; then also F 0.5 of it."""
    none = {"added_score_E": times(0), "added_score_F": times(0)}
    found = planted(added_score_D=times(0.85), **none)
    assert found["added to score", "D", "positive"].verdict == LARGEST_PART + MUCH_UNEXPLAINED
    found = planted(added_score_D=times(0.6))
    assert found["added to score", "D", "positive"].verdict == TOO_MUCH_LEFT.words


def test_a_rest_that_goes_away_again_is_said():
    """Half-way the score was 5 higher than its terms say."""
    found = planted(score=lambda column, steps: column + 5.0 * (steps == 20))
    assert found["added to score", "D", "positive"].verdict == LARGEST_PART + MUCH_UNEXPLAINED_BEFORE


def test_what_is_not_explained_may_belong_to_any_term():
    """0.1 is left of the score, then 5.1: every interval of a term is 5 wider on either side."""
    calm, left = planted(), planted(score=lambda column, steps: column + 5.0 * (steps == 40))
    for name in ("D", "E", "F"):
        (low, high), (lower, higher) = (
            each["added to score", name, "positive"].interval for each in (calm, left)
        )
        assert (low - lower, higher - high) == (pytest.approx(5), pytest.approx(5))
    assert low < calm["added to score", "F", "positive"].estimate - 0.1 + 1e-9
    own = [each["added to score", NOT_EXPLAINED, "positive"].interval for each in (calm, left)]
    assert own[1][1] - own[1][0] == pytest.approx(own[0][1] - own[0][0])


def test_looks_too_far_apart_for_a_rate_tell_no_largest_part():
    """A rate that is +1 at one look and −1 at the next: its integral is what the looks happen to be."""
    swinging = planted(rate_score_F=lambda column, steps: np.where(steps == 10, 1.0, -1.0))
    assert swinging["added to score", "D", "positive"].verdict == TOO_SPARSE.words
    low, high = swinging["added to score", "F", "positive"].interval
    calm = by_name(fake_histories.history())["added to score", "F", "positive"].interval
    # Looks at 0, 10, 20, 40: −20 over all; over 0, 20 and 40 −40.
    assert (calm[0] - low, high - calm[1]) == (pytest.approx(20), pytest.approx(20))


def test_what_is_owed_is_what_a_rate_moves_in_as_many_steps():
    """Half the learning rate: −20 and −40 over the looks are −10 and −20 of the score."""
    swing = {"rate_score_F": lambda column, steps: np.where(steps == 10, 1.0, -1.0)}
    for learning_rate, owed in ((1.0, 20), (0.5, 10), (0.01, 0.2)):
        wide, calm = (
            planted(learning_rate, **given)["added to score", "F", "positive"].interval
            for given in (swing, {})
        )
        assert (calm[0] - wide[0], wide[1] - calm[1]) == (pytest.approx(owed), pytest.approx(owed))
    # D has added 1, F 0.5: what F owes decides, whatever its rate is in itself.
    for learning_rate, verdict in ((0.5, TOO_SPARSE.words), (0.01, LARGEST_PART)):
        assert planted(learning_rate, **swing)["added to score", "D", "positive"].verdict == verdict


def test_what_an_integral_owes_to_every_second_look():
    steps = np.linspace(0, 2, 9)
    straight, curved = 3 * steps + 1, steps**2
    owed = trapezoid_error(steps, np.array([straight, curved]))
    assert owed[0] == pytest.approx(0)
    error = np.trapezoid(curved, steps) - 8 / 3
    assert owed[1] == pytest.approx(-3 * error)  # of a smooth rate the error is a third of it
    uneven = trapezoid_error(np.array([0.0, 1.0, 2.0, 3.0]), np.array([0.0, 1.0, 0.0, 0.0]))
    assert uneven == pytest.approx(1.0)  # the last look is always there
    assert np.isnan(trapezoid_error(np.array([0.0, 1.0]), np.ones((2, 2)))).all()


def test_two_looks_tell_no_largest_part():
    found = by_name(fake_histories.history(steps=np.array([0, 40])))["added to score", "D", "positive"]
    assert (found.verdict, found.interval) == (TOO_SPARSE.words, None)


def test_a_planted_difference_is_found():
    rng = np.random.default_rng(2)
    one, other = rng.normal(1.0, 1.0, 400), rng.normal(0.0, 2.0, 400)
    history = with_scores(np.concatenate([one, other]), ["positive"] * 400 + ["neutral"] * 400)
    assert by_name(history)["gap", "score", "positive vs neutral"].verdict.startswith(
        "positive tokens have higher"
    )


def test_one_token_is_no_group():
    found = by_name(with_scores(np.array([1.0, 0.0, 0.1]), ["positive", "neutral", "neutral"]))
    assert found["gap", "score", "positive vs neutral"].interval is None
    assert found["gap", "score", "positive vs neutral"].verdict == "undecided: too few tokens"
    assert found["level", "score", "positive"].interval is None


def test_numbers_that_nobody_saw_are_left_out():
    found = by_name(with_scores(np.array([1.0, np.nan, 2.0, 0.0, 0.0]), ["positive"] * 3 + ["neutral"] * 2))
    assert found["level", "score", "positive"].estimate == pytest.approx(1.5)
    assert found["level", "score", "positive"].n == 2


def test_the_same_seed_gives_the_same_and_a_step_is_the_nearest():
    history = fake_histories.history()
    assert findings(history) == findings(history)
    assert by_name(history, step=18)["change", "score", "positive"].estimate == pytest.approx(0.675)
    assert ("change", "score", "positive") not in by_name(history, step=3)
    assert findings(fake_histories.layered()) == []


def test_of_few_tokens_nothing_is_said():
    for n, said in ((9, "undecided: too few tokens"), (10, "positive tokens have higher")):
        history = with_scores(np.r_[np.ones(n), np.zeros(40)], ["positive"] * n + ["neutral"] * 40)
        found = by_name(history)
        assert found["gap", "score", "positive vs neutral"].verdict.startswith(said)
        assert found["change", "score", "positive"].verdict == (
            "undecided: too few tokens" if n < 10 else "risen"
        )


def test_signed_weights_tell_by_the_size_of_the_score():
    scores = np.r_[np.tile([2.0, -2.0], 20), np.tile([0.1, -0.1], 20)]
    history = with_scores(scores, ["positive"] * 40 + ["neutral"] * 40)
    assert by_name(history)["gap", "score", "positive vs neutral"].verdict == NO_SIGN.words
    history.facts["signed"] = True
    gap = by_name(history)["gap", "|score|", "positive vs neutral"]
    assert gap.estimate == pytest.approx(1.9)
    assert gap.verdict == "positive tokens have larger attention scores than neutral ones"


def test_signed_weights_of_two_polar_groups_are_told_by_the_score_itself():
    """As large on either side of zero: their sizes are alike, their scores are not."""
    scores = np.r_[np.full(40, 1.5), np.full(40, -1.5), np.tile([0.1, -0.1], 20)]
    history = with_scores(scores, ["positive"] * 40 + ["negative"] * 40 + ["neutral"] * 40)
    history.facts["signed"] = True
    found = by_name(history)
    gap = found["gap", "score", "positive vs negative"]
    assert gap.estimate == pytest.approx(3.0)
    assert gap.verdict == "positive tokens have higher attention scores than negative ones"
    assert found["gap", "|score|", "negative vs neutral"].estimate == pytest.approx(1.4)
    assert {name[1:] for name in found if name[0] == "gap"} == {
        ("|score|", "positive vs neutral"), ("|score|", "negative vs neutral"),
        ("score", "positive vs negative"),
    }  # fmt: skip
