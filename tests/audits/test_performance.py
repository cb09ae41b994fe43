"""Better than a guess, no better, or not shown: the same texts decide."""

import numpy as np
import pytest

from glasshead.audits.judging.inputs_needed import inputs_needed
from glasshead.audits.judging.slices import Group
from glasshead.audits.judging.summary import summarise
from glasshead.audits.performance import Performance, beside_guess, performance_verdict
from glasshead.nouns import TEXTS
from glasshead.results import TOO_FEW_EXAMPLES, PairedDifference, guess_in_words

GUESS = guess_in_words({})


def paired(right, majority):
    (found,) = summarise([right], [{"majority": majority}], rng=np.random.default_rng(0), within=(0, 1))
    return found, found.over_null["majority"]


def answers(n, right, majority):
    """So many right answers of the model and of the guess, spread over each other."""
    rows = np.arange(n)
    return (rows * 7 % n < right).astype(float), (rows < majority).astype(float)


def needed_of(summary, verdict):
    """How many texts its finding names."""
    group = Group("all", np.ones(summary.n, dtype=bool))
    finding = summary.finding("performance", "accuracy", verdict, group=group, citation="")
    return inputs_needed(finding, Performance().question_of("accuracy", ""), None)


@pytest.mark.parametrize(("n", "stands"), [(20, "undecided"), (60, "undecided"), (80, "not better")])
def test_few_answers_that_are_those_of_the_guess_do_not_show_that_others_will_be(n, stands):
    """A model that is right in half of a rare class answers as the guess does in one sample of 20 out of
    three."""
    guess = (np.arange(n) < 0.9 * n).astype(float)
    (found,) = summarise(
        [guess], [{"majority": guess}], rng=np.random.default_rng(0), within=(0, 1), counts=True
    )
    difference = found.over_null["majority"]
    assert beside_guess(difference, same=True) == stands
    said = performance_verdict(difference, GUESS, TEXTS, same=True)
    assert "as good as" in said.words
    # Of 72 and more the exact interval ends below 0.05.
    assert needed_of(found, said) == (72 if stands == "undecided" else None)


def test_few_texts_do_not_show_what_many_do():
    """0.79 against 0.64 on 566 texts, and nearly that on 60."""
    many, difference = paired(*answers(566, 445, 361))
    assert (round(many.estimate, 3), round(many.null["majority"], 3)) == (0.786, 0.638)
    assert beside_guess(difference) == "better"
    few, difference = paired(*answers(60, 44, 38))
    assert few.interval[0] < few.null["majority"]
    assert beside_guess(difference) == "undecided"
    said = performance_verdict(difference, GUESS, TEXTS)
    said_of = "not settled on these 60 texts whether it is better than always guessing the commonest class"
    assert said.words == said_of
    needed = 60 * ((difference.interval[0] - difference.estimate) / difference.estimate) ** 2
    assert needed <= needed_of(few, said) <= 1.1 * needed
    # A gate on the accuracy asks something else.
    assert said.status == "evidence"


def test_a_paired_difference_shows_what_two_intervals_do_not():
    """Four texts more, and none less, out of 60: the interval of the accuracy holds the null."""
    majority = (np.arange(60) < 38).astype(float)
    found, difference = paired(np.maximum(majority, np.arange(60) >= 55), majority)
    assert found.interval[0] < found.null["majority"]
    assert beside_guess(difference) == "better"


@pytest.mark.parametrize(
    ("interval", "stands", "errs", "word"),
    [
        ((0.01, 0.2), "better", "not better", "better than"),
        ((-0.2, -0.01), "not better", "better", "worse than"),
        ((0.0, 0.0), "not better", "not better", "as good as"),
        ((-0.1, 0.0), "undecided", "undecided", "not settled"),
    ],
)
def test_three_outcomes(interval, stands, errs, word):
    difference = PairedDifference(sum(interval) / 2, interval, 60)
    assert beside_guess(difference) == stands
    assert beside_guess(difference, errors=True) == errs
    assert word in performance_verdict(difference, GUESS, TEXTS).words
    few = PairedDifference(sum(interval) / 2, interval, 19)
    assert beside_guess(few) == "undecided"
    assert performance_verdict(few, GUESS, TEXTS) == TOO_FEW_EXAMPLES


def test_a_null_is_that_of_the_units_that_have_the_statistic():
    values, null = np.array([0.5, np.nan, 0.7]), np.array([0.1, 0.9, 0.3])
    (found,) = summarise([values], [{"random": null}], rng=np.random.default_rng(0), within=(0, 1))
    assert found.estimate - found.null["random"] == pytest.approx(found.over_null["random"].estimate)
