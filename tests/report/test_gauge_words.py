"""Where the sign of signed weights lives, as the page and the terminal say it."""

from dataclasses import replace

import pytest

from glasshead.report.sign_gauge import sign_caution, sign_fact, sign_sentence
from glasshead.results import ONE_SIGN, SIGN_IN_WEIGHTS, UNDECIDED, AuditCard


def of_kind(card: AuditCard, kind: str | None, **more: object) -> AuditCard:
    fixed = card.facts["gauge"] | {"kind": kind} | more
    return replace(card, facts=card.facts | {"gauge": fixed})


def test_weights_that_carry_the_sign(tanhmax: AuditCard) -> None:
    card = of_kind(tanhmax, SIGN_IN_WEIGHTS)
    assert "their sign mostly says which class a token supports (margin 0.93 of 1" in sign_sentence(card)
    assert "their sign was reversed after training." in sign_sentence(card)
    assert sign_caution(card) is None


def test_weights_of_one_sign_say_how_much_of_them_has_it_and_never_more(tanhmax: AuditCard) -> None:
    classes = [
        {"name": "a", "texts": 50, "positive": [1.0, 0.99967, 1.0], "lean": [0.6, 0.5, 0.7]},
        {"name": "b", "texts": 50, "positive": [1.0, 0.99999, 1.0], "lean": [-0.6, -0.7, -0.5]},
        {"name": "few", "texts": 3, "positive": [0.5, 0.1, 0.9], "lean": None},
    ]
    card = of_kind(tanhmax, ONE_SIGN, classes=classes, margin=0.02)
    assert "have one sign (at least 99.9\u00a0% of Σ|a| in the texts of every class)" in sign_sentence(card)
    assert "the values say for which class" in sign_sentence(card)
    assert "margin" not in sign_sentence(card)
    whole = [each | {"positive": [1.0, 1.0, 1.0]} for each in classes]
    assert "one sign (all of Σ|a| in the texts" in sign_sentence(of_kind(tanhmax, ONE_SIGN, classes=whole))
    assert sign_caution(card) is None
    fact = sign_fact(card.facts["gauge"])
    assert "few, 3 texts (fewer than 30, so not counted)" in fact
    assert "b, 50 texts: Σ|a| positive 1.000 [1.000, 1.000], Σ|a|o / Σ|a||o| −0.60 [−0.70, −0.50]" in fact


def test_undecided_is_a_caution(tanhmax: AuditCard) -> None:
    card = of_kind(tanhmax, UNDECIDED, margin=0.3)
    assert "the meaning of their sign is undecided (margin 0.30 of 1)" in sign_sentence(card)
    assert "trust contributions" in (sign_caution(card) or "")


@pytest.mark.parametrize("kinds", [[ONE_SIGN] * 2, [ONE_SIGN, UNDECIDED]])
def test_heads_of_several_kinds_are_counted(tanhmax: AuditCard, kinds: list[str]) -> None:
    fixed = {"signs": [1, -1], "kinds": kinds, "kind": kinds[-1], "margin": 0.5}
    said = sign_sentence(replace(tanhmax, facts=tanhmax.facts | {"gauge": fixed}))
    assert "the sign of 1 of 2 heads was reversed" in said
    assert ("1 one sign, 1 undecided" in said) == (len(set(kinds)) == 2)
