"""The sentence on a whole audit rests on intervals and statuses, and names what they leave open."""

from dataclasses import replace

import pytest

from glasshead.audits import AUDITS, conclude
from glasshead.audits.judging.conclude import audits_of, findings_sentence
from glasshead.report.key_findings import comparison_headline
from glasshead.results import (
    RAW_SIGN,
    TOO_FEW_EXAMPLES,
    UNDECIDED,
    AuditCard,
    Difference,
    Finding,
    PairedDifference,
)

GRADIENT = "agreement", "attention-absolute", "gradient"
ERASURE = "agreement", "attention-absolute", "erasure-renormalise"
SHUFFLE = "perturbation", "permutation", "absolute"
MAPS = "identifiability", "identifiable", ""
FAITHFUL = "faithfulness", "comprehensiveness", ""
FREE, DRAWN = (("adversarial", "found", kind) for kind in ("free", "producible"))
FLAT = "adversarial", "flat", ""


def finding(kind, interval, over=(0.1, 0.2), words="words that nobody may read", **more):
    audit, statistic, against = kind
    return Finding(
        audit=audit, statistic=statistic, against=against, group="all", estimate=sum(interval) / 2, std=0.1,
        interval=interval, null={"random": 0.0}, n=100, undefined=more.pop("undefined", {}),
        significant_fraction=None, citation="–",
        over_null={"random": PairedDifference(sum(over) / 2, over, 100)},
        **{"verdict": words, "status": "evidence"} | more,
    )  # fmt: skip


def card(*findings, **facts):
    return conclude(AuditCard({"name": "card"} | facts, list(findings)))


def words_on(card):
    """What its audits found, in one sentence, whatever it says first."""
    made = audits_of(card, AUDITS)
    outcomes = {name: audit.outcome(card) for name, audit in made.items()}
    return findings_sentence(card, outcomes, card.conclusion.claims)


FOR = [
    finding(GRADIENT, (0.5, 0.6)),
    finding(ERASURE, (0.75, 0.8)),
    finding(SHUFFLE, (0.1, 0.3)),
    finding(MAPS, (0.9, 1.0)),
]
AGAINST = [
    finding(GRADIENT, (0.2, 0.3)),
    finding(ERASURE, (0.0, 0.1)),
    finding(SHUFFLE, (0.0, 0.01)),
    finding(MAPS, (0.1, 0.2)),
]


def test_what_each_audit_found_in_one_sentence():
    assert words_on(card(*FOR)) == (
        "Attention agrees strongly with weight removal but moderately with gradients; shuffling the weights "
        "changes the answer; in most maps no other weights give the same output."
    )
    assert words_on(card(*AGAINST)) == (
        "Attention agrees weakly with gradients but hardly with weight removal; shuffling the weights hardly "
        "changes the answer; in most maps other weights give the same output."
    )


def test_an_interval_on_both_sides_of_a_threshold_is_named_as_undecided():
    # From 0.06 to the threshold 0.05 is a third of the half below it; nothing moves an estimate of 0.05.
    for ends, needed in (((0.03, 0.09), "about 900"), ((0.04, 0.06), "more than 100,000")):
        straddling = finding(SHUFFLE, ends)
        words = words_on(card(*[straddling if f.name == straddling.name else f for f in FOR]))
        assert words.endswith(
            "; undecided: whether shuffling the weights changes the answer by more than a little "
            f"(it would take {needed} texts)."
        )


def test_what_stayed_undecided_is_named():
    few = replace(FOR[0], **TOO_FEW_EXAMPLES.fields)
    assert words_on(card(few, *FOR[1:])).endswith("; undecided: agreement with gradients.")
    nothing = card(*[replace(f, **TOO_FEW_EXAMPLES.fields) for f in FOR])
    assert words_on(nothing) == (
        "Undecided, with too few texts: agreement with gradients, agreement with weight removal, whether "
        "shuffling the weights changes the answer by more than a little and whether other weights give the "
        "same output."
    )
    unsure = words_on(card(*FOR, against_guessing="undecided", signed=True, gauge={"kind": UNDECIDED}))
    assert unsure.endswith(
        "; undecided: whether the model is better than guessing and what the sign of the weights means."
    )
    left = words_on(card(finding(MAPS, (0.9, 1.0), undefined={"no solver had an answer": 7})))
    assert left == "In most maps of those decided (7 were not) no other weights give the same output."


def test_random_weights_must_be_beaten_text_by_text():
    unclear = words_on(card(finding(GRADIENT, (0.5, 0.6), over=(-0.1, 0.1)), FOR[1]))
    assert unclear == (
        "Attention agrees strongly with weight removal but is not shown to agree with gradients more than "
        "random weights do."
    )
    below = words_on(card(finding(GRADIENT, (0.1, 0.2), over=(-0.2, -0.1))))
    assert below == "Attention agrees with gradients less than random weights do."


def test_one_audit_alone_says_what_it_found():
    assert (
        words_on(card(*FOR[:2]))
        == "Attention agrees strongly with weight removal but moderately with gradients."
    )
    assert words_on(card(finding(MAPS, (1.0, 1.0)))) == "In every map no other weights give the same output."
    assert words_on(card(finding(MAPS, (0.99, 1.0)))).startswith("In almost every map no other")
    assert words_on(card()) == ""


def test_contributions_stand_in_for_weights_that_are_no_evidence():
    raw = [replace(f, **RAW_SIGN.fields) for f in FOR[:2]]
    contribution = replace(FOR[0], statistic="contribution")
    words = "What tokens contribute agrees moderately with gradients."
    assert words_on(card(*raw, contribution)) == words
    over = {"random": FOR[0].over_null["random"], "uniform": PairedDifference(0.0, (-0.1, 0.1), 100)}
    uniform = words_on(card(*raw, replace(contribution, over_null=over)))
    assert uniform == (
        "What tokens contribute is not shown to agree with gradients more than under uniform weights."
    )


def test_changes_of_a_rating_are_shares_of_the_range_of_ratings():
    def rated(*labels):
        return words_on(
            AuditCard({"task": "regression"}, [finding(SHUFFLE, (0.1, 0.15))], examples={"label": labels})
        )

    assert rated(1.0, 5.0) == "Shuffling the weights hardly changes the answer."
    assert rated(1.0, 1.5) == "Shuffling the weights changes the answer much."
    assert rated() == ""


def test_two_cards_are_told_apart_by_paired_differences_alone():
    names = [f.name for f in FOR[:3]]
    intervals = [(0.1, 0.2), (-0.1, 0.2), None]
    paired = [Difference(name, 1, 0, 0.1, ends, 50, "") for name, ends in zip(names, intervals, strict=True)]
    cards = [card(*FOR), card(*AGAINST)]
    assert comparison_headline(cards, ["a", "b"], paired) == (
        "a and b are shown to differ in 1 of 2 questions asked of the same texts, at 95\u00a0% each"
    )
    assert comparison_headline(cards, ["a", "b"], []) == "a and b"


@pytest.mark.parametrize(("n", "status"), [(50, "undecided"), (50, "not evidence"), (19, "evidence")])
def test_no_difference_of_what_was_not_decided_is_counted(n, status):
    gradient = FOR[0]
    paired = [Difference(gradient.name, 1, 0, 0.1, (0.05, 0.15), n, "too few examples")]
    cards = [card(gradient), card(replace(gradient, status=status))]
    assert comparison_headline(cards, ["a", "b"], paired) == "a and b"
    assert comparison_headline(cards[::-1], ["a", "b"], paired) == "a and b"


def test_faithfulness_is_named_by_its_interval():
    def of(over, **more):
        return words_on(card(*FOR, finding(FAITHFUL, (0.3, 0.4), over, **more)))

    assert "it is more faithful than random tokens" in of((0.1, 0.2))
    assert "not shown to be more faithful" in of((-0.1, 0.2))
    assert "it is less faithful than random tokens" in of((-0.2, -0.1))
    assert "undecided: faithfulness" in of((0.1, 0.2), **TOO_FEW_EXAMPLES.fields)
    assert "faithful" not in of((0.1, 0.2), **RAW_SIGN.fields)
    alone = words_on(card(finding(FAITHFUL, (0.3, 0.4))))
    assert alone == "Attention is more faithful than random tokens."
