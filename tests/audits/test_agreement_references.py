"""Agreement with any other explanation: what is compared, what is left out, and what chance gives."""

import numpy as np
import pytest

import glasshead
from glasshead.audits.agreement import round_digits
from glasshead.errors import InputError
from glasshead.explainers import EXPLAINERS
from glasshead.statistics import kendall_tau_b
from small import as_run, planted_model, planted_texts, random_model, split

TEXTS, LABELS = planted_texts(30)
DATA = split(TEXTS, LABELS)
REFERENCES = ("erasure-delete", "random", "value-norm", "captum:lime")


@pytest.fixture(scope="module")
def run():
    return as_run(random_model(activation="tanhmax", encoder="affine"), TEXTS, LABELS)


@pytest.fixture(scope="module")
def card(run):
    pytest.importorskip("captum")
    return glasshead.audit(run, DATA, audits=["agreement"], references=REFERENCES)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["erasure-delete", "captum:lime"])
def test_tau_is_that_of_the_explainers_themselves(run, card, name):
    ours, theirs = (
        EXPLAINERS[one](run.model.double(), run.tokenizer, TEXTS) for one in ("contribution", name)
    )
    run.model.float()
    taus = []
    for one, other in zip(ours, theirs, strict=True):
        mask = np.ones((1, len(one.scores)), dtype=bool)
        pair = [round_digits(np.array([each.scores]), mask) for each in (one, other)]  # a repeated word ties
        taus.append(kendall_tau_b(*pair, mask).tau.item())
    found = np.array(card.examples[f"tau.contribution.{name}"], dtype=float)
    np.testing.assert_allclose(found, taus, atol=1e-9)
    assert card.finding(f"agreement.contribution.{name}.all").estimate == pytest.approx(np.nanmean(taus))


def test_nothing_else_changes(run, card):
    plain = glasshead.audit(run, DATA, audits=["agreement"])
    for name, values in plain.examples.items():
        assert card.examples[name] == values, name
    known = {finding.name for finding in plain.findings}
    further = {finding.against for finding in card.findings if finding.name not in known}
    assert further == {*REFERENCES}


def test_a_random_reference_agrees_with_nothing(card):
    finding = card.finding("agreement.contribution.random.all")
    assert "not distinguishable from random weights" in finding.verdict


def test_a_reference_without_signs_is_compared_by_size(card):
    statistics = {finding.statistic for finding in card.findings if finding.against == "value-norm"}
    assert statistics >= {"attention-absolute", "contribution-absolute", "focus"}
    assert all(name == "focus" or name.endswith("-absolute") for name in statistics)


def test_the_settings_of_a_reference_are_said(card):
    assert any("captum:lime: " in note and "samples per token" in note for note in card.facts["notes"])


def test_planted_truth():
    """The decision rests on one word: attention and each deletion put it first, and random numbers do not."""
    run = as_run(planted_model("softmax"), TEXTS, LABELS)
    card = glasshead.audit(run, DATA, audits=["agreement"], references=["erasure-delete", "random"])
    held = card.finding("agreement.focus.erasure-delete.all"), card.finding("agreement.focus.random.all")
    assert held[0].estimate > 0.9
    assert "hold more than if all had the same" in held[0].verdict
    assert "not distinguishable" in held[1].verdict


def test_a_reference_with_the_numbers_of_the_explanation_is_left_out():
    """A classifier with one attention has one layer: their mean is the attention itself."""
    run = as_run(planted_model("softmax"), TEXTS, LABELS)
    card = glasshead.audit(run, DATA, audits=["agreement"], references=["layer-mean"])
    assert not any(finding.against == "layer-mean" for finding in card.findings)
    assert any("Agreement with 'layer-mean' was left out" in note for note in card.facts["notes"])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"references": "lime"}, "did you mean 'captum:lime'"),
        ({"references": "random,random"}, "`references` names 'random' twice"),
        ({"references": "attention"}, "`references` names 'attention', the audited explanation itself"),
        ({"references": "gradient"}, "`references` need not name 'gradient'"),
        ({"references": "random", "audits": "tokens"}, "`references` is for `audits='agreement'`"),
        ({"references": 7}, "`references` must be a word or a list of words, not 7"),
    ],
)
def test_what_cannot_be_compared_is_refused_before_anything_is_opened(options, said):
    with pytest.raises(InputError) as refused:
        glasshead.audit("no such model", "no such data", **options)
    assert said in str(refused.value)
