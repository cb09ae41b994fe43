"""What is left open says about how many inputs would decide it, and with so many most of it is decided."""

import math
from dataclasses import replace

import numpy as np
import pytest
from test_claims import DECIDE, SOME, UNIFORM
from test_conclude import ERASURE, FAITHFUL, GRADIENT, SHUFFLE, card, finding

from glasshead.audits import AUDITS
from glasshead.audits.judging.border import at, estimated
from glasshead.audits.judging.inputs_needed import fewest, inputs_needed, round_to_two
from glasshead.audits.judging.question import HOW_MANY
from glasshead.nouns import TEXTS
from glasshead.report.findings_in_words import verdict_sentence
from glasshead.results import Finding, PairedDifference
from glasshead.statistics import mean_interval, share_ends
from glasshead.wording import MOST_INPUTS, decided_by

QUESTIONS = [(name, one) for name in AUDITS for one in AUDITS[name].questions if one.borders]


def number_of(values, least, most):
    """A mean with the interval of every finding."""
    rng = np.random.default_rng(0)
    found = mean_interval(values, rng=rng, within=(least, most))
    return estimated(PairedDifference(found.mean, found.interval_or_point, found.n), 0.95)


def exact(n, share):
    """A share of ``n`` texts with its exact interval."""
    ones = round(share * n)
    return PairedDifference(ones / n, share_ends(ones, n), n)


def needed_of(number, border):
    return fewest(number.n, lambda factor: border.decides(number.ends(factor), 1.0))


def share_decided(draw, border, n, trials):
    """Of the samples of ``n`` that leave a border open: how many of the size that these name decide."""
    decided = []
    for _ in range(trials):
        first = draw(n)
        needed = needed_of(first, border)
        if needed is not None and needed <= 5_000:
            decided.append(border.decides(draw(needed).ends(1.0), 1.0))
    assert len(decided) >= 30  # the planted truth leaves it open often enough to be tried
    return float(np.mean(decided))


@pytest.mark.parametrize(
    ("share", "n"),
    # Hardly any, at 30 texts still perhaps over a fifth; and some, at 30 perhaps hardly any.
    [(0.1, 30), (0.13, 30)],
)
def test_most_shares_are_decided_with_as_many_texts_as_they_name(share, n):
    rng = np.random.default_rng(1)

    def draw(size):
        return estimated(exact(size, rng.binomial(size, share) / size), 0.95)

    assert share_decided(draw, HOW_MANY, n, 400) > 0.6


@pytest.mark.parametrize("law", ["normal", "like a change"])
def test_most_means_are_decided_with_as_many_texts_as_they_name(law):
    rng, cut = np.random.default_rng(2), at(0.05)

    def draw(size):
        """Of mean 0.08, standard deviation about 0.08: half of the samples of 20 hold 0.05."""
        values = rng.normal(0.08, 0.08, size) if law == "normal" else rng.gamma(1.0, 0.08, size)
        return number_of(values, *((-np.inf, np.inf) if law == "normal" else (0.0, np.inf)))

    assert share_decided(draw, cut, 20, 90) > 0.6


def test_an_exact_interval_is_exact_for_other_numbers_of_texts():
    for share, n, times in ((0.0, 30, 4), (0.2, 30, 3), (1.0, 20, 5)):
        found = exact(n, share)
        assert estimated(found, 0.95).ends(times) == pytest.approx(
            share_ends(round(share * n) * times, n * times)
        )
    # Nothing else is: half as wide with four times as many.
    assert estimated(PairedDifference(0.3, (0.1, 0.6), 40), 0.95).ends(4) == pytest.approx((0.2, 0.45))


def straddling(border, question, name, cut):
    """A finding whose verdict is open at a cut of one border, and decided by the others."""
    ends, own, over = (cut - 0.01, cut + 0.02), (0.3, 0.4), {}
    for other in question.borders:
        if other.minus:
            over[other.minus] = PairedDifference(0.35, (0.3, 0.4), 100)
    if border.minus:
        over[border.minus] = PairedDifference(cut + 0.005, ends, 100)
    else:
        own = ends
    return Finding(
        audit=name, statistic=question.statistic, against=question.against, group="all",
        estimate=sum(own) / 2, std=0.1, interval=own, null={}, n=100, undefined={}, significant_fraction=None,
        citation="", verdict="not settled", over_null=over, status="evidence",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "question"), QUESTIONS, ids=[f"{n}.{q.statistic}.{q.against}" for n, q in QUESTIONS]
)
def test_every_question_says_how_many_texts_decide_what_it_leaves_open(name, question):
    for border in question.borders:
        tried = 0
        for cut in border.cuts:
            one = straddling(border, question, name, cut)
            number = border.number(one)
            if number is None or border.decides(number.ends(1.0), 1.0):
                continue  # sides that overlap, or the verdict does not look at it
            tried += 1
            needed = inputs_needed(one, question, 1.0)
            assert 100 < needed <= MOST_INPUTS
            said = verdict_sentence(replace(one, inputs_needed=needed), TEXTS)
            assert said == f"Not settled. About {needed:,} texts would decide it."
            assert border.decides(number.ends(1.03 * needed / 100), 1.0)
            assert not border.decides(number.ends(0.9 * needed / 100), 1.0)
        assert tried or "is_the_guess" in border.applies.__qualname__ or len(border.cuts) > 1


def test_what_nothing_moves_is_said_in_words():
    never = replace(finding(SHUFFLE, (0.04, 0.06)), status="undecided")
    (one,) = card(never).findings
    assert one.inputs_needed > MOST_INPUTS
    assert verdict_sentence(one, TEXTS).endswith("It would take more than 100,000 texts to decide it.")
    assert decided_by(None, "texts") == ""
    assert round_to_two(1234) == 1300
    # What never varies is so in more texts, too.
    assert (
        inputs_needed(
            finding(FAITHFUL, (0.1, 0.2), over=(0.0, 0.0)), AUDITS["faithfulness"].questions[0], 1.0
        )
        is None
    )


@pytest.mark.parametrize(
    ("gradient", "erasure", "needed"),
    [
        # From 0.42 to the threshold 0.4 is a fourth of the half below it, from 0.43 three eighths.
        ((0.34, 0.5), (0.35, 0.51), 1_600),
        ((0.34, 0.5), (0.5, 0.6), 1_600),
        ((0.5, 0.6), (0.35, 0.51), 720),
        ((0.5, 0.6), (0.5, 0.6), None),
    ],
)
def test_the_first_sentence_says_how_many_texts_would_settle_all_that_it_leaves_open(
    gradient, erasure, needed
):
    found = card(SOME, finding(GRADIENT, gradient), finding(ERASURE, erasure)).conclusion
    if needed is None:
        assert "would take" not in found.verdict
        return
    assert f"is not settled (it would take about {needed:,} texts). Uniform weights" in found.verdict
    open_claims = [claim for claim in found.claims if claim.holds == "undecided"]
    assert max(claim.inputs_needed for claim in open_claims) == needed
    for claim in open_claims:
        assert claim.because.endswith(f" About {claim.inputs_needed:,} texts would decide it.")


def test_the_first_sentence_says_how_many_texts_would_show_whether_weights_decide():
    verdict = card(finding(UNIFORM, (0.01, 0.3), status="undecided")).conclusion.verdict
    number = int(verdict.partition("about ")[2].partition(" texts)")[0].replace(",", ""))
    # From 0.155 down to a fiftieth, or up to a fifth, which is nearer.
    assert number == round_to_two(100 * (0.145 / (0.155 - 0.02)) ** 2)


def test_the_first_sentence_says_how_many_texts_would_show_whether_a_model_guesses():
    numbers = {"score": "accuracy", "difference": 0.03, "interval": (-0.05, 0.11), "n": 60}
    facts = {"against_guessing": "undecided", "guessing": numbers | {"inputs_needed": 430}}
    open_end = "whether the model is better than guessing (it would take about 430 texts)."
    assert open_end in card(DECIDE, finding(GRADIENT, (0.5, 0.6)), **facts).conclusion.verdict
    assert open_end in card(finding(SHUFFLE, (0.1, 0.3)), **facts).conclusion.verdict
    before = card(DECIDE, against_guessing="undecided", guessing=numbers).conclusion.verdict
    assert "than guessing. If it is" in before


def test_an_entropy_on_the_border_says_how_many_texts_would_decide_it():
    layer = {"name": "attention", "layer": 0, "signed": False, "sequences": 50, "rows": 50, "score_sd": 1.0}
    layer |= {"entropy": 0.978, "interval": (0.974, 0.982), "distance": 0.07, "zero_rows": 0.0}
    found = card(DECIDE, attention_use={"before": None, "after": [layer]}).conclusion
    (claim,) = (one for one in found.claims if "more weight" in one.says)
    assert claim.because == "Attention is nearly uniform or not. About 200 texts would decide it."
    assert math.isclose(50 * (0.004 / 0.002) ** 2, 200)
