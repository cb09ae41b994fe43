"""What may be said rests on intervals alone, and a search proves no absence."""

from dataclasses import replace

import pytest
from test_conclusion import AGAINST, DRAWN, ERASURE, FLAT, FOR, FREE, GRADIENT, MAPS, SHUFFLE, card, finding

from glasshead.report.claims import judge_claims, verdict
from glasshead.report.key_findings import cautions

UNIFORM = "perturbation", "uniform", "absolute"
EXACT, SEARCHED = {"adversarial": {"free": "exact"}}, {"adversarial": {"free": "4 starts of 80 steps"}}
OTHERS = "No quite other weights give the same prediction"
DRAW = "No quite other weights that the head could have drawn give the same prediction"
MOVES = "Some weights would change the prediction"
ALONE = "The weights are the only ones with which the head gives its output"
MATTERS = "It matters that the weights are not all the same"


def holds(*findings, **facts):
    return {claim.says: claim.holds for claim in judge_claims(card(*findings, **facts))}


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


def test_less_than_of_random_weights_is_no_full_yes():
    assert holds(finding(UNIFORM, (0.1, 0.2), over=(0.01, 0.02)))[MATTERS] == "yes"
    assert holds(finding(UNIFORM, (0.1, 0.2), over=(-0.02, -0.01)))[MATTERS] == "in part"


def test_the_heading_says_whether_the_weights_decide():
    uniform = finding(UNIFORM, (0.1, 0.3))
    assert verdict(card(*FOR, uniform)) == (
        "The weights decide these predictions, and are large where a token matters."
    )
    assert verdict(card(*AGAINST, finding(UNIFORM, (0.001, 0.002)))) == (
        "The weights do not decide these predictions: others would do as well."
    )
    in_part = "The weights decide these predictions at most in part: some others would do as well."
    assert verdict(card(*AGAINST, uniform)) == in_part
    assert verdict(card(finding(SHUFFLE, (0.04, 0.06)), finding(UNIFORM, (0.001, 0.002)))) == in_part
    unclear = [
        finding(GRADIENT, (0.2, 0.3)),
        finding(ERASURE, (0.2, 0.3)),
        finding(SHUFFLE, (0.1, 0.3)),
        uniform,
    ]
    assert verdict(card(*unclear)).endswith("not shown to be large where a token matters.")
    assert verdict(card(finding(SHUFFLE, (0.01, 0.3)), uniform)).startswith("Whether the weights decide")
    guessing = card(*FOR, uniform, against_guessing="not better")
    assert verdict(guessing).startswith("The model is not better than guessing")


def numbers(*findings, **facts):
    return {claim.says: claim.numbers for claim in judge_claims(card(*findings, **facts))}


def test_the_number_from_which_a_claim_may_be_said_stands_beside_it():
    said = numbers(finding(GRADIENT, (0.3, 0.5)), finding(SHUFFLE, (0.1, 0.2)))
    assert said["Where attention is large, the prediction is sensitive to the token"].endswith(
        "; moderate from 0.4"
    )
    depends = "The prediction depends on which token has which weight"
    assert said[depends].endswith("; a change from 0.05")
    ratings = {"task": "regression"}
    rated = replace(card(finding(SHUFFLE, (0.1, 0.2)), **ratings), examples={"label": [1.0, 5.0]})
    assert {claim.says: claim.numbers for claim in judge_claims(rated)}[depends].endswith(
        "; a change from 0.2"
    )


FALLS = "Without the tokens that attention puts first the prediction falls more than without others"


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


def test_the_heading_says_that_a_model_may_be_no_better_than_guessing():
    known = [finding(SHUFFLE, (0.3, 0.4)), finding(UNIFORM, (0.3, 0.4)), finding(GRADIENT, (0.5, 0.6))]
    open_end = "Whether the model is better than guessing stays open."
    assert verdict(card(*known, against_guessing="undecided")).endswith(open_end)
    assert not verdict(card(*known, against_guessing="better")).endswith(open_end)


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
    (claim,) = [one for one in judge_claims(card(*FOR, attention_use=use)) if "more weight" in one.says]
    assert claim.holds == expected
    assert ("or not" in claim.because) == (expected == "undecided")
