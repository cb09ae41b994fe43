"""What you can claim rests on intervals alone, and a search proves no absence."""

from dataclasses import replace

import numpy as np
import pytest
from test_conclude import DRAWN, ERASURE, FLAT, FOR, FREE, GRADIENT, MAPS, card, finding

from glasshead.audits import AUDITS, conclude
from glasshead.report.documents.audits import claim_numbers
from glasshead.report.key_findings import cautions
from glasshead.results import AuditCard

UNIFORM = "perturbation", "uniform", "share"
SHUFFLED = "perturbation", "permutation", "share"
EXACT, SEARCHED = {"adversarial": {"free": "exact"}}, {"adversarial": {"free": "4 starts of 80 steps"}}
OTHERS = "Only similar weights give the same prediction"
DRAW = "Among the weights that the head can produce, only similar ones give the same prediction"
MOVES = "Other weights can change the prediction"
ALONE = "These are the only weights that give the output of the head"
MATTERS = "Uniform weights would change the predictions"


def holds(*findings, **facts):
    return {claim.says: claim.holds for claim in card(*findings, **facts).conclusion.claims}


NOT_FLAT = finding(FLAT, (0.0, 0.05))


@pytest.mark.parametrize(
    ("found", "flat", "facts", "expected"),
    [
        ((0.0, 0.05), (0.0, 0.05), EXACT, "yes"),
        ((0.0, 0.05), (0.0, 0.05), SEARCHED, "undecided"),
        ((0.0, 0.13), (0.0, 0.05), EXACT, "undecided"),
        ((0.0, 0.05), (0.5, 0.7), EXACT, "undecided"),
        ((0.2, 0.4), (0.0, 0.05), EXACT, "in part"),
        ((0.2, 0.4), (0.0, 0.05), SEARCHED, "undecided"),
        ((0.4, 0.6), (0.0, 0.05), EXACT, "in part"),
        ((0.6, 0.9), (0.0, 0.05), SEARCHED, "no"),
    ],
)
def test_other_maps(found, flat, facts, expected):
    assert holds(finding(FREE, found), finding(FLAT, flat), **facts)[OTHERS] == expected


def test_where_there_is_no_other_map_the_head_could_not_have_drawn_one():
    both = [finding(FREE, (0.0, 0.05)), finding(DRAWN, (0.0, 0.05)), NOT_FLAT]
    assert holds(*both, **EXACT)[DRAW] == "yes"
    assert holds(*both, **SEARCHED)[DRAW] == "undecided"
    assert holds(finding(DRAWN, (0.2, 0.4)), NOT_FLAT, **EXACT)[DRAW] == "undecided"


@pytest.mark.parametrize(
    ("flat", "facts", "expected"),
    [
        ((0.0, 0.05), SEARCHED, "yes"),
        ((0.6, 0.8), EXACT, "no"),
        ((0.6, 0.8), SEARCHED, "undecided"),
        ((0.0, 0.3), SEARCHED, "in part"),
        ((0.2, 0.4), EXACT, "in part"),
        ((0.0, 0.4), EXACT, "undecided"),
    ],
)
def test_flat_predictions(flat, facts, expected):
    assert holds(finding(FLAT, flat), **facts)[MOVES] == expected


@pytest.mark.parametrize(
    ("share", "expected"),
    [((0.9, 1.0), "yes"), ((0.1, 0.4), "no"), ((0.6, 0.8), "in part"), ((0.3, 0.995), "undecided")],
)
def test_the_only_map(share, expected):
    assert holds(finding(MAPS, share))[ALONE] == expected


@pytest.mark.parametrize(
    ("share", "expected"),
    [
        ((0.96, 1.0), "yes"),
        ((0.85, 0.97), "in part"),
        ((0.4, 0.6), "in part"),
        ((0.05, 0.18), "in part"),
        ((0.0, 0.15), "no"),
        ((0.01, 0.3), "undecided"),
    ],
)
def test_a_claim_on_texts_holds_of_nearly_all_of_some_or_of_hardly_any(share, expected):
    assert holds(finding(UNIFORM, share))[MATTERS] == expected


def first(*findings, **facts):
    return card(*findings, **facts).conclusion


def answers_of(*findings):
    """The first sentence and its two answers."""
    conclusion = first(*findings)
    return conclusion.verdict, conclusion.decides, conclusion.points


DECIDE, SOME, NOT = (finding(UNIFORM, ends) for ends in ((0.9, 1.0), (0.4, 0.6), (0.0, 0.04)))


def test_uniform_weights_alone_answer_whether_the_weights_decide():
    for shuffled in ((0.9, 1.0), (0.4, 0.6), (0.0, 0.04)):
        shuffle = finding(SHUFFLED, shuffled)
        assert first(DECIDE, shuffle).decides == "yes"
        assert first(SOME, shuffle).decides == "in part"
        assert first(NOT, shuffle).decides == "no"
    assert "shuffled weights would in 50" in first(NOT, finding(SHUFFLED, (0.4, 0.6))).verdict
    assert "shuffled" not in first(NOT, finding(SHUFFLED, (0.0, 0.04))).verdict
    assert first(finding(UNIFORM, (0.01, 0.3))).decides == "undecided"


def test_no_other_finding_changes_the_answers():
    others = [finding(MAPS, (0.99, 1.0)), finding(FREE, (0.0, 0.01)), finding(DRAWN, (0.9, 1.0))]
    for uniform in (DECIDE, SOME, NOT):
        same = first(uniform, *others, **EXACT)
        assert (same.verdict, same.decides, same.points) == answers_of(uniform)


@pytest.mark.parametrize(
    ("gradient", "erasure", "expected", "words"),
    [
        (
            (0.5, 0.6),
            (0.5, 0.6),
            "yes",
            "and they are large where a token matters, according to gradients and weight removal",
        ),
        (
            (0.5, 0.6),
            (0.2, 0.3),
            "in part",
            "a token matters according to gradients, but not to weight removal",
        ),
        ((0.5, 0.6), (0.3, 0.5), "in part", "according to gradients; by weight removal this is not settled"),
        ((0.2, 0.3), (0.2, 0.3), "no", "but they are at most weakly larger where a token matters"),
        ((0.2, 0.3), (0.3, 0.5), "undecided", "whether they are large where a token matters is not settled"),
    ],
)
def test_where_weights_are_large(gradient, erasure, expected, words):
    found = first(DECIDE, finding(GRADIENT, gradient), finding(ERASURE, erasure))
    assert found.points == expected
    assert words in found.verdict
    assert "large" not in first(NOT, finding(GRADIENT, gradient), finding(ERASURE, erasure)).verdict


def test_weights_that_are_nearly_uniform_point_nowhere():
    layer = {"name": "attention", "layer": 0, "signed": False, "sequences": 50, "rows": 50, "score_sd": 0.1}
    layer |= {"entropy": 0.995, "interval": (0.99, 0.998), "distance": 0.02, "zero_rows": 0.0}
    use = {"before": None, "after": [layer]}
    found = first(DECIDE, attention_use=use)
    assert found.points == "no"
    assert found.verdict.startswith("All tokens of a text have nearly the same weight (entropy 0.995")
    # One peak among many tokens leaves the entropy high, and both measures find it.
    assert first(DECIDE, *FOR, attention_use=use).points == "yes"


def test_a_model_that_guesses_has_nothing_to_explain():
    for findings in ((DECIDE, *FOR), FOR):
        guessing = first(*findings, against_guessing="not better").verdict
        assert guessing.startswith("The model is no better than guessing")


def numbers(*findings, **facts):
    one = card(*findings, **facts)
    return {claim.says: claim_numbers(one, claim) for claim in one.conclusion.claims}


def test_the_number_from_which_a_claim_may_be_said_stands_beside_it():
    removal = "heads", "removal", ""
    said = numbers(finding(GRADIENT, (0.3, 0.5)), finding(removal, (0.1, 0.2)))
    assert said["Where attention is large, the prediction is sensitive to the token"].endswith(
        "; moderate from 0.4"
    )
    depends = "The prediction depends on the heads whose attention is shown"
    assert said[depends].endswith("; a change from 0.05")
    ratings = {"task": "regression"}
    rated = replace(card(finding(removal, (0.1, 0.2)), **ratings), examples={"label": [1.0, 5.0]})
    (claim,) = conclude(rated).conclusion.claims
    assert claim.says == depends
    assert claim.note == "a change from 0.2"


FALLS = "Removing the tokens that attention ranks first lowers the prediction more than removing others"


@pytest.mark.parametrize(
    ("over", "expected"),
    [
        ((0.05, 0.1), "yes"),
        ((0.005, 0.05), "yes"),
        ((0.001, 0.009), "no"),
        ((-0.1, 0.1), "undecided"),
        ((-0.2, -0.1), "no"),
    ],
)
def test_a_negligible_fall_is_none(over, expected):
    fall = finding(("faithfulness", "comprehensiveness", ""), (0.1, 0.2), over=over)
    assert holds(fall)[FALLS] == expected


@pytest.mark.parametrize(
    ("over", "texts"),
    # From 0.06 to 0 are three quarters of the half below it: (4/3)² times as many. A mean of 0 is
    # decided where its interval ends below what is negligible, 0.01.
    [((-0.02, 0.14), "180"), ((-0.1, 0.1), "10,000")],
)
def test_an_undecided_claim_says_how_many_texts_would_decide_it(over, texts):
    fall = finding(("faithfulness", "comprehensiveness", ""), (0.1, 0.2), over=over)
    (claim,) = card(fall).conclusion.claims
    assert claim.because == f"Words that nobody may read. About {texts} texts would decide it."


def test_what_an_audit_leaves_undecided_although_its_interval_decides_says_no_number():
    """That it holds under one type of deletion of two, the other one being undecided, is no interval."""
    half = ("operators", "attention-absolute", "survival")
    (claim,) = card(finding(half, (0.4, 0.6), status="undecided")).conclusion.claims
    assert (claim.holds, claim.because) == ("undecided", "Words that nobody may read.")


def test_a_claim_that_no_number_of_texts_would_decide_says_none():
    fall = finding(FLAT, (0.5, 0.7))  # a search's bound: what did not change may still change
    (claim,) = (claim for claim in card(fall).conclusion.claims if claim.says == MOVES)
    assert (claim.holds, claim.because) == ("undecided", "Words that nobody may read.")


def test_the_heading_says_that_a_model_may_be_no_better_than_guessing():
    known = [finding(UNIFORM, (0.9, 1.0)), finding(GRADIENT, (0.5, 0.6))]
    open_end = "These texts do not settle whether the model is better than guessing."
    says = first(*known, against_guessing="undecided").verdict
    assert says.startswith(f"{open_end} If it is: the weights decide")
    assert open_end not in first(*known, against_guessing="better").verdict


def test_a_caution_says_by_how_much_a_model_is_better_than_guessing():
    numbers = {
        "score": "accuracy",
        "of_the_guess": 0.58,
        "difference": 0.03,
        "interval": (-0.05, 0.11),
        "n": 60,
    }
    (caution,) = cautions([card(against_guessing="undecided", accuracy=0.61, guessing=numbers)], ["It"])
    assert "(accuracy 0.610, the guess 0.580, difference +0.030 [−0.050, +0.110])" in caution
    (before,) = cautions([card(against_guessing="undecided")], ["It"])
    assert "(" not in before


@pytest.mark.parametrize(
    ("interval", "expected"),
    [((0.90, 0.95), "yes"), ((0.985, 0.99), "no"), ((0.974, 0.982), "undecided")],
)
def test_an_entropy_on_the_border_stays_open(interval, expected):
    layer = {"name": "attention", "layer": 0, "signed": False, "sequences": 50, "rows": 50, "score_sd": 1.0}
    layer |= {"entropy": sum(interval) / 2, "interval": interval, "distance": 0.07, "zero_rows": 0.0}
    use = {"before": None, "after": [layer]}
    (claim,) = [one for one in first(*FOR, attention_use=use).claims if "more weight" in one.says]
    assert claim.holds == expected
    assert ("or not" in claim.because) == (expected == "undecided")


@pytest.mark.parametrize(
    ("over_other", "over_parts", "expected", "words"),
    [
        ((0.5, 0.9), (0.4, 0.8), "yes", "is better than the map of another question"),
        ((0.5, 0.9), (-0.8, -0.4), "no", "is not better than random parts of the image"),
        ((0.5, 0.9), (-0.1, 0.8), "undecided", "whether it is better than random parts of the image"),
        ((-0.1, 0.9), (0.4, 0.8), "undecided", "whether it is better than the map of another question"),
        ((-0.9, -0.5), (0.4, 0.8), "no", "is not better than the map of another question"),
    ],
)
def test_a_map_of_an_image_has_to_be_better_than_random_parts_too(over_other, over_parts, expected, words):
    other = replace(finding(("image-map", "fall", "other-question"), over_other), null={}, over_null={})
    parts = finding(("image-map", "fall", ""), (0.1, 0.2), over_parts, "how it is beside random parts")
    found = card(other, parts, task="answer")
    (claim,) = found.conclusion.claims
    assert (claim.holds, claim.note) == (expected, "how it is beside random parts")
    outcome = AUDITS["image-map"].outcome(found)
    assert words in " ".join([outcome.words, *outcome.undecided])


CLAIMS = [(name, one) for name in AUDITS for one in AUDITS[name].questions if one.claim]
STEP = 0.001


@pytest.mark.parametrize(("name", "question"), CLAIMS, ids=[question.claim[:40] for _, question in CLAIMS])
def test_the_answer_of_a_claim_changes_at_the_thresholds_of_its_question_and_nowhere_else(name, question):
    def answer(value):
        """Of an interval that is nearly a point."""
        ends = (value - STEP / 100, value + STEP / 100)
        one = finding((name, question.statistic.format(method="attention"), question.against), ends, ends)
        one = replace(one, estimate=value)  # what survives is counted
        facts = {"signed": True, "adversarial": {"free": "exact", "producible": "exact"}}
        found = AuditCard(facts, [one] if one.name == NOT_FLAT.name else [one, NOT_FLAT])
        return question.holds(found, one)

    values = [0.0, *np.arange(STEP / 2, 1, STEP), 1.0]
    answers = [answer(value) for value in values]
    changes = [value for value, one, other in zip(values, answers, answers[1:], strict=False) if one != other]
    assert len(changes) == len(question.claim_at)
    assert all(abs(change - at) <= STEP for change, at in zip(changes, question.claim_at, strict=True))
