"""What every audit asks stands in its file: title, unit, range, direction, null and claim."""

from dataclasses import replace

import numpy as np
import pytest
from test_conclude import card, finding

from glasshead.audits import AUDITS, audit, conclude
from glasshead.results import TOKEN
from glasshead.statistics import interval_of_equals
from planted_headlines import ignored, near_half
from small import as_run, split

ASKS_NOTHING = ("explanation",)
OPEN = ("undecided", "not settle", "not distinguishable", "too few")
"""What a verdict says that leaves something open."""


@pytest.mark.parametrize("name", [name for name in AUDITS if name not in ASKS_NOTHING])
def test_an_audit_has_a_title_a_place_and_questions(name):
    one = AUDITS[name]
    assert one.title
    assert one.about
    assert one.place < 100
    assert any(question.title for question in one.questions)
    assert all(question.unit for question in one.questions)
    assert all(bool(question.claim) == (question.holds is not None) for question in one.questions)
    # How many inputs would decide it follows from what it is compared with, or it says why not.
    assert all(bool(question.borders) != bool(question.no_number) for question in one.questions)


@pytest.mark.usefixtures("short_search")
@pytest.mark.slow
def test_every_finding_has_a_unit_and_a_null_or_a_reason_for_none():
    made = near_half((24, 24))
    run, data = as_run(made.model, made.texts, made.labels), split(made.texts, made.labels, made.classes)
    found = audit(run, data, audits=("explanation",), by=("class",))
    assert {one.audit for one in found.findings} >= {
        "performance",
        "agreement",
        "adversarial",
        "faithfulness",
    }
    for one in found.findings:
        quantity = found.quantities[one.quantity]
        asked = AUDITS[one.audit].question_of(one.statistic, one.against, found.statistic)
        says_open = any(words in one.verdict for words in OPEN)
        known = asked.no_number or one.reason or one.inputs_needed
        # What is the same in every text is so in more of them.
        never_varies = any(one_end == other for one_end, other in intervals_of(one))
        assert known or never_varies or not says_open, one.name
        assert says_open or one.inputs_needed is None, one.name
        assert quantity.unit, one.name
        has_null = any(value is not None for value in one.null.values())
        assert quantity.no_null or has_null or not one.n, one.name
        low, high = quantity.range
        assert one.estimate is None or low <= one.estimate <= high, one.name
        is_within(one.interval, (low, high), one.name, asked.counts)
        for null, over in one.over_null.items():
            is_within(over.interval, (low - high, high - low), f"{one.name} over {null}", asked.counts)


def intervals_of(one):
    """Its own and those of its differences."""
    ends = [one.interval, *(over.interval for over in one.over_null.values())]
    return [both for both in ends if both is not None]


def is_within(interval, ends, name, counts):
    """An interval within what a number can be, and of a share no point."""
    if interval is not None:
        assert ends[0] <= interval[0] <= interval[1] <= ends[1], name
        assert interval[0] < interval[1] or not counts, name


def test_predictions_of_twenty_texts_that_did_not_move_do_not_say_that_none_would():
    made = ignored((10, 10))
    run, data = as_run(made.model, made.texts, made.labels), split(made.texts, made.labels, made.classes)
    found = audit(run, data, audits=("perturbation",))
    for test in ("permutation", "uniform"):
        one = found.find(f"perturbation.{test}.absolute")
        assert one.estimate == pytest.approx(0.0, abs=1e-6)
        assert one.interval == pytest.approx((0.0, 0.0), abs=1e-6)
        share = found.find(f"perturbation.{test}.share")
        assert share.interval == pytest.approx(interval_of_equals(0.0, 20, least=0.0), abs=1e-6)


def test_what_bounds_a_number_follows_from_the_task():
    questions = AUDITS["perturbation"].question_of("permutation", "absolute")
    assert questions.range(None) == questions.range("token") == (0, 1)
    assert questions.range("regression") == (0, np.inf)
    faithful = AUDITS["faithfulness"]
    assert [faithful.question_of("deletion", "").range(task) for task in (None, "regression")] == [
        (0, 1),
        (-np.inf, np.inf),
    ]
    assert faithful.question_of("insertion", "").range(TOKEN) == (-np.inf, 0)
    assert AUDITS["tokens"].question_of("weight", "").range(None) == (-np.inf, np.inf)


def test_another_audit_is_on_the_first_screen_by_its_questions_alone():
    """One that this package does not know: what its numbers come to stands where all others do."""
    from glasshead.audits import Outcome, Question, QuestionSet
    from glasshead.report import audits_document, terminal_view
    from uncut import printed

    class Colours(QuestionSet):
        title = "Colours"
        about = "Are words green?"
        questions = (
            Question(
                "green",
                title="Are the {words} green?",
                unit="share",
                within=(0.0, 1.0),
                claim="the {words} are green",
                holds=lambda card, one: "yes" if one.interval[0] > 0.5 else "no",
            ),
        )

        def outcome(self, card):
            return Outcome("the words are green")

    one = finding(("colours", "green", ""), (0.7, 0.9))
    found = conclude(replace(card(), findings=[one]), {"colours": Colours()})
    assert found.conclusion.verdict == "The words are green."
    (claim,) = found.conclusion.claims
    assert (claim.says, claim.holds) == ("The words are green", "yes")
    assert found.conclusion.audits["colours"].title == "Colours"
    assert "Are the words green?" in printed(terminal_view(audits_document([found])), 100)
