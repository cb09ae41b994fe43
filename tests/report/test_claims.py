"""What may be said rests on intervals alone, and a search proves no absence."""

import pytest
from test_conclusion import AGAINST, DRAWN, ERASURE, FLAT, FOR, FREE, GRADIENT, MAPS, SHUFFLE, card, finding

from glasshead.report.claims import claims, verdict

UNIFORM = "perturbation", "uniform", "absolute"
EXACT, SEARCHED = {"adversarial": {"free": "exact"}}, {"adversarial": {"free": "4 starts of 80 steps"}}
OTHERS = "Quite other weights would give another prediction"
DRAW = "Quite other weights that the head could have drawn would give another prediction"
MOVES = "Some weights would change the prediction"
ALONE = "The weights are the only ones with which the head gives its output"
MATTERS = "It matters that the weights are not all the same"


def holds(*findings, **facts):
    return {claim.says: claim.holds for claim in claims(card(*findings, **facts))}


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
    [((0.99, 1.0), "yes"), ((0.1, 0.4), "no"), ((0.6, 0.9), "in part"), ((0.3, 0.995), "undecided")],
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
    assert verdict(card(*AGAINST, uniform)) == (
        "The weights do not decide these predictions: others would do as well."
    )
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
