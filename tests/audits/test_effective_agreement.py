"""Does the identifiable part of attention agree better than all of it? Planted both ways."""

import numpy as np
import pytest
import torch

from glasshead.audits import audit
from small import WORDS, as_run, planted_model, planted_texts, random_model, split, tokenizer

MEASURES = ("gradient", "erasure-zero-weight", "erasure-renormalise")
ROWS = ("effective", "effective-absolute", "effective-gain", "effective-gain-absolute")


def audited(model, texts, labels):
    names = list(model.config.id2label.values())
    return audit(as_run(model, texts, labels), split(texts, labels, names), audits=["agreement"])


def test_weights_that_reach_no_output_are_dropped():
    """The fillers have the value zero and weights of their own: only erasing good or bad does anything."""
    texts, labels = planted_texts(40)
    model = planted_model("softmax")
    fillers = tokenizer().convert_tokens_to_ids(list(WORDS[2:]))
    with torch.no_grad():
        model.pooling.score.context.weight[0, fillers] = torch.linspace(-1, 4, len(fillers))
    card = audited(model, texts, labels)
    found = card.finding("agreement.effective-absolute.erasure-zero-weight.all")
    assert found.estimate == pytest.approx(1)
    attention = card.finding("agreement.attention-absolute.erasure-zero-weight.all")
    assert attention.estimate < 0.9
    gain = card.finding("agreement.effective-gain-absolute.erasure-zero-weight.all")
    assert gain.estimate == pytest.approx(found.estimate - attention.estimate)
    assert gain.interval[0] > 0.1
    assert gain.verdict == "the identifiable part agrees better than the attention"
    assert (gain.null, gain.significant_fraction) == ({}, None)
    for name in ("effective", "effective-absolute"):
        assert card.finding(f"agreement.{name}.gradient.all").null.keys() == attention.null.keys()
    column = np.array(card.examples["tau.effective-gain-absolute.erasure-zero-weight"], dtype=float)
    assert np.nanmean(column) == pytest.approx(gain.estimate)
    assert "p.effective.gradient" in card.examples
    assert "p.effective-gain.gradient" not in card.examples


def test_a_model_whose_output_shows_the_sum_alone():
    """All values are one number: effective attention is uniform and orders nothing."""
    texts, labels = planted_texts(30)
    card = audited(planted_model("tanhmax"), texts, labels)
    for name in ROWS:
        finding = card.finding(f"agreement.{name}.gradient.all")
        assert (finding.n, finding.undefined) == (0, {"all tokens tied": 30})
        assert (
            finding.verdict
            == "undecided: in most texts all tokens have equal numbers, so there is no order to compare"
        )


def test_where_nothing_is_hidden_it_says_so():
    """No more words than directions, and equal words have equal weights: there is no other part."""
    texts, labels = planted_texts(24)
    texts = [" ".join(text.split()[:6]) for text in texts]
    card = audited(random_model(activation="softmax"), texts, labels)
    for against in MEASURES:
        for name in ROWS:
            finding = card.finding(f"agreement.{name}.{against}.all")
            assert finding.verdict.startswith("the attention itself by construction")
            assert (finding.status, finding.reason) == ("not evidence", "by construction")
        for name in ("", "-absolute"):
            ours, theirs = (
                card.finding(f"agreement.{each}{name}.{against}.all") for each in ("effective", "attention")
            )
            assert (ours.estimate, ours.interval, ours.null) == (
                theirs.estimate,
                theirs.interval,
                theirs.null,
            )


def test_long_texts_hide_something():
    """More words than directions: the same model, and a verdict that rests on an interval."""
    texts, labels = planted_texts(24)
    rng = np.random.default_rng(0)
    texts = [f"{text} {' '.join(rng.permutation(WORDS))}" for text in texts]
    card = audited(random_model(activation="softmax"), texts, labels)
    for against in MEASURES:
        finding = card.finding(f"agreement.effective-gain.{against}.all")
        assert finding.verdict.startswith(
            ("the identifiable part agrees", "not distinguishable on these texts")
        )
        assert finding.estimate != 0
        low, high = finding.interval
        worse, better = (f"agrees {word} than" in finding.verdict for word in ("worse", "better"))
        assert (worse, better) == (high < 0, low > 0)
