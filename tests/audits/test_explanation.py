"""The verdict `explanation` on models whose truth is known: weights that decide, and weights for show."""

import dataclasses
import functools
import json
from unittest import mock

import pytest
import torch

from classifier_families import FAMILIES, labelled_data
from glasshead.audits import adversarial, audit
from glasshead.errors import InputError
from glasshead.report import audit_page, model_card
from glasshead.report.documents.audits import claim_numbers, claims_by_answer
from planted_decoration import decorated_texts, decoration
from planted_heads import DECIDES, IDLE, as_data
from planted_heads import planted_model as heads_model
from planted_heads import planted_texts as heads_texts
from small import as_run, planted_model, planted_texts, random_model, split

COUNTS = pytest.mark.parametrize(
    "counts",
    [pytest.param((22, 22), id="balanced", marks=pytest.mark.slow), pytest.param((36, 4), id="9 to 1")],
)
SHUFFLED = "Shuffling the weights among the tokens would change the predictions"
EVEN = "Uniform weights would change the predictions"
ONLY_SIMILAR = "Only similar weights give the same prediction"
RESTS = "The prediction depends on the heads whose attention is shown"


def judged(card):
    """What was decided of each claim."""
    return {claim.says: claim.holds for claim in card.conclusion.claims}


def explained(model, texts, labels):
    return audit(as_run(model, texts, labels), split(texts, labels), audits=["explanation"])


@pytest.mark.slow
@pytest.mark.usefixtures("short_search")
@COUNTS
def test_weights_that_decide_and_weights_for_show_are_told_apart(counts):
    texts, labels = planted_texts(counts=counts)
    model = planted_model("softmax")
    with torch.no_grad():
        model.classifier.weight.fill_(2.0)  # a prediction far from 1, where nothing could change it
    decides, show = explained(model, texts, labels), explained(decoration(), *decorated_texts(counts))
    asked = {SHUFFLED, EVEN, ONLY_SIMILAR}
    assert {judged(decides)[claim] for claim in asked} == {"yes"}
    assert {judged(show)[claim] for claim in asked} == {"no"}
    assert decides.conclusion.verdict.startswith("The weights decide these predictions")
    assert show.conclusion.verdict.startswith("The weights do not decide these predictions. ")
    for card in (decides, show):
        assert card.conclusion.verdict in audit_page([card])
        assert card.conclusion.verdict in model_card(card)


@pytest.mark.slow
@pytest.mark.usefixtures("short_search")
def test_a_deep_head_that_decides_and_an_idle_one_are_told_apart():
    """One text in five is good."""
    words = ["good", "bad", *(f"w{number}" for number in range(20))]
    model, tokens = heads_model(words)
    data, told = as_data(heads_texts(words, 60)), {}
    for head in (DECIDES, IDLE):
        card = audit(model, data, tokenizer=tokens, audits=["explanation"], layer=0, head=head)
        told[head] = judged(card)
    assert told[DECIDES][SHUFFLED] == told[DECIDES][EVEN] == told[DECIDES][RESTS] == "yes"
    assert told[IDLE][SHUFFLED] == told[IDLE][EVEN] == told[IDLE][RESTS] == "no"
    # A search found no other map, which is no proof; before the idle head every map is another one.
    assert told[DECIDES][ONLY_SIMILAR] == "undecided"
    assert told[DECIDES]["Other weights can change the prediction"] == "yes"
    assert card.finding("adversarial.flat.all").estimate == 1.0


@pytest.mark.usefixtures("short_search")
def test_what_has_no_meaning_is_left_out_with_its_reason_and_not_refused():
    texts, labels = planted_texts(counts=(6, 6))
    card = explained(random_model(activation="relu"), texts, labels)
    assert {finding.audit for finding in card.findings} >= {"agreement", "perturbation", "performance"}
    assert "adversarial" not in {finding.audit for finding in card.findings}
    assert any("'adversarial'" in note and "left out" in note for note in card.facts["remarks"])
    with pytest.raises(InputError, match="adversarial"):
        audit(
            as_run(random_model(activation="relu"), texts, labels),
            split(texts, labels),
            audits=["adversarial"],
        )


@pytest.mark.slow
def test_every_sentence_rests_on_a_finding_of_the_card():
    card = bert_card()
    for claim in card.conclusion.claims:
        if claim.finding:
            finding = card.finding(claim.finding)
            assert f"n = {finding.n}" in claim_numbers(card, claim)
        else:
            assert claim.says == "Attention gives some tokens more weight than others"
    assert {finding.audit for finding in card.findings} >= {"heads", "adversarial", "operators"}


@functools.cache
def bert_card(method="attention"):
    """What a search of one step says is as good a claim as any."""
    family = FAMILIES["Bert"]
    model = family.build(labels=2, id2label={0: "bad", 1: "good"})
    short = dataclasses.replace(adversarial.SEARCH, starts=1, passes=1, waves=1)
    with mock.patch.object(adversarial, "SEARCH", short):
        return audit(
            model, labelled_data(24), audits=["explanation"], tokenizer=family.tokenizer(), method=method
        )


def test_the_page_and_the_section_for_a_readme_say_every_claim():
    card = bert_card()
    page, section = audit_page([card]), model_card(card)
    for claim in card.conclusion.claims:
        assert claim.says in page
        assert f"**{claim.says}.**" in section
    assert section.startswith("## Attention as an explanation\n")
    headings = [line for line in section.splitlines() if line.startswith("### ")]
    assert headings == [f"### {heading}" for heading in claims_by_answer(card)]


def test_names_are_not_taken_for_markdown():
    card = dataclasses.replace(bert_card(), facts={"data": "/home/someone/my_*data*|<b>", "split": "test"})
    section = model_card(card)
    assert r"Data my\_\*data\*\|\<b\> (test)" in section
    assert "someone" not in section


def test_another_method_is_judged_without_what_asks_about_weights():
    card = bert_card("rollout")
    says = judged(card)
    assert SHUFFLED not in says
    assert "Where the method rollout is large, the prediction changes without the weight of the token" in says
    assert model_card(card).startswith("## The method rollout as an explanation\n")


def test_without_the_heads_a_change_is_that_of_a_model_with_zero_weights():
    """Against a model whose output projections of that layer are zero."""
    family = FAMILIES["Bert"]
    model = family.build(labels=2, id2label={0: "bad", 1: "good"}).double().eval()
    data = labelled_data(24)
    card = audit(model, data, audits=["heads"], tokenizer=family.tokenizer())
    last = model.bert.encoder.layer[-1].attention
    encoded = family.tokenizer()(list(data["text"]), padding=True, return_tensors="pt")
    with torch.no_grad():
        before = model(**encoded).logits.softmax(-1)[:, 1]
        last.self.value.weight.zero_()
        last.self.value.bias.zero_()
        after = model(**encoded).logits.softmax(-1)[:, 1]
    expected = (before - after).abs().numpy()
    assert card.examples["heads.removal"] == pytest.approx(expected, abs=1e-6)
    assert json.loads(card.to_json())["facts"]["examples"] == 24


@pytest.mark.usefixtures("short_search")
def test_the_json_of_a_card_has_verdict_and_claims():
    texts, labels = planted_texts(counts=(6, 6))
    card = explained(planted_model("softmax"), texts, labels)
    body = json.loads(card.to_json())
    assert body["verdict"] == card.conclusion.verdict
    assert [claim["says"] for claim in body["claims"]] == [claim.says for claim in card.conclusion.claims]
    assert set(body["claims"][0]) == {"says", "holds", "because", "finding", "note", "inputs_needed"}


@pytest.mark.usefixtures("short_search")
def test_all_audits_are_asked_of_slices():
    texts, labels = planted_texts(counts=(12, 12))
    run = as_run(planted_model("softmax"), texts, labels)
    card = audit(run, split(texts, labels), audits=["explanation"], by=["length", "confidence"])
    assert {test.by for test in card.slice_tests} == {"length", "confidence"}
    assert any(test.audit == "adversarial" for test in card.slice_tests)
