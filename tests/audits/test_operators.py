"""What deleting means, where the truth is planted: one token decides, or the number of tokens does."""

import numpy as np
import pytest
import torch
from transformers import BertForSequenceClassification

import glasshead
from classifier_families import FAMILIES, labelled_data, planted
from glasshead.audits.operators import Operators, differing_pairs, side, survival_verdict
from glasshead.data import encode
from glasshead.explainers import REMOVALS, make_context
from glasshead.huggingface import isolated_copy
from glasshead.nouns import TEXTS
from glasshead.opening import open_subject

INPUT = {"delete", "mask-token", "unknown-token", "mean-embedding"}
ALL = INPUT | {name for name, removal in REMOVALS.items() if removal.edits_attention}


class CountingBertForSequenceClassification(BertForSequenceClassification):
    """A classifier that counts its tokens, and reads no word."""

    def forward(self, input_ids=None, attention_mask=None, **options):
        output = super().forward(input_ids=input_ids, attention_mask=attention_mask, **options)
        count = attention_mask.sum(dim=1).to(output.logits.dtype)
        output.logits = torch.stack([torch.zeros_like(count), count / 4 - 2], dim=1) + 0 * output.logits
        return output


@pytest.fixture(scope="module")
def counting():
    family = FAMILIES["Bert"]
    model = family.build(labels=2)
    model.__class__ = CountingBertForSequenceClassification
    model.config.id2label = {0: "bad", 1: "good"}
    return model, family.tokenizer()


@pytest.fixture(scope="module")
def counted(counting):
    model, tokenizer = counting
    return glasshead.audit(model, labelled_data(60), tokenizer=tokenizer, audits=["operators"], limit=40)


def test_a_model_that_counts_tokens_is_changed_by_cutting_alone(counted):
    changes = {name: counted.finding(f"operators.change.{name}.all").estimate for name in ALL}
    assert changes.pop("delete") > 0.01
    assert all(change == pytest.approx(0, abs=1e-12) for change in changes.values())


def test_orders_that_do_not_exist_are_counted_by_reason(counted):
    finding = counted.finding("operators.order.delete+mask-token.all")
    assert finding.n == 0
    assert finding.undefined == {"all words tied": 40}
    assert finding.status == "undecided"


@pytest.fixture(scope="module")
def one_token():
    """A model whose decision rests on one word, so that every meaning of deleting agrees."""
    model, tokenizer = planted("funny")
    model.config.id2label = {0: "bad", 1: "good"}
    with torch.no_grad():
        model.classifier.weight *= 4
        model.classifier.bias[1] = -3.0
    data = labelled_data(200)
    rows = [{"text": row["text"], "label": ("bad", "good")[row["label"]]} for row in data]
    texts = [[row for row in rows if row["label"] == label] for label in ("good", "bad")]
    texts = texts[0][:30] + texts[1][:6]
    return glasshead.audit(model, texts, tokenizer=tokenizer, audits=["operators"])


def test_the_word_that_decides_survives_every_meaning_of_deleting(one_token):
    for statistic in ("attention-absolute", "contribution"):
        finding = one_token.finding(f"operators.{statistic}.survival.all")
        assert finding.estimate == 1.0
        assert finding.status == "evidence"
        assert finding.verdict.startswith("holds: better than random numbers")


def test_intervals_of_meanings_are_simultaneous(one_token):
    finding = one_token.finding("operators.contribution.delete.all")
    assert finding.level == pytest.approx(1 - 0.05 / len(ALL))
    assert finding.interval[0] > finding.null["random"]


def test_texts_whose_words_all_have_the_vector_zero_have_numbers():
    model, tokenizer = planted("funny")
    texts = ["a plot of scenes", "a funny plot"]
    for each in (texts, texts[:1]):
        (first, *_) = glasshead.explain(model, each, tokenizer=tokenizer, method="erasure-mean-embedding")
        assert np.isfinite(first.scores).all()
        assert np.abs(first.scores).max() > 1e-9  # the mean of all words is not zero


def test_one_edit_under_two_names_is_no_evidence(one_token):
    finding = one_token.finding("operators.order.zero-value+zero-weight.all")
    assert finding.reason == "by construction"


@pytest.mark.slow
def test_fifty_texts_unless_another_number_is_named(counting):
    model, tokenizer = counting
    data = labelled_data(80)
    few = glasshead.audit(model, data, tokenizer=tokenizer, audits=["operators"])
    assert few.facts["operators"]["texts"] == 50
    assert np.isfinite(np.array(few.examples["operators.change.delete"], dtype=float)).sum() == 50
    more = glasshead.audit(model, data, tokenizer=tokenizer, audits=["operators"], limit=60)
    assert more.facts["operators"]["texts"] == 60


def test_it_is_asked_by_name_alone(counting):
    model, tokenizer = counting
    card = glasshead.audit(model, labelled_data(20), tokenizer=tokenizer, draws=1)
    assert not any(finding.audit == "operators" for finding in card.findings)


def test_a_meaning_that_a_tokenizer_does_not_know_is_left_out(counting):
    model, _ = counting
    tokenizer = FAMILIES["Bert"].tokenizer()
    tokenizer.mask_token = None
    card = glasshead.audit(model, labelled_data(20), tokenizer=tokenizer, audits=["operators"], limit=3)
    assert set(card.facts["operators"]["left_out"]) == {"mask-token"}
    assert card.finding("operators.change.mask-token.all") is None


@pytest.mark.parametrize(
    ("sides", "differing", "words", "status"),
    [
        ({"a": 1, "b": 1}, [], "holds: better", "evidence"),
        ({"a": -1, "b": -1}, [], "holds: worse", "evidence"),
        ({"a": 1, "b": -1}, [], "depends", "evidence"),
        ({"a": 1, "b": 0}, [("a", "b")], "depends", "evidence"),
        ({"a": 1, "b": 0}, [], "undecided", "undecided"),
        ({"a": 0, "b": 0}, [], "not distinguishable", "evidence"),
        ({"a": 1, "b": 1, "c": None}, [], "undecided whether it holds", "undecided"),
        ({"a": 1, "b": -1, "c": None}, [], "depends", "evidence"),
        ({"a": 1}, [], "undecided whether it holds", "undecided"),
        ({"a": None, "b": None}, [], "undecided: too few", "undecided"),
    ],
)
def test_a_verdict_says_no_more_than_its_intervals(sides, differing, words, status):
    verdict = survival_verdict(sides, {frozenset(pair) for pair in differing}, TEXTS)
    assert verdict.words.startswith(words)
    assert verdict.status == status


def test_meanings_differ_by_paired_intervals():
    rng = np.random.default_rng(0)
    base = rng.normal(0.3, 0.2, 60)
    noise = rng.normal(0, 0.05, 60)
    taus = {"a": base, "b": base + noise, "c": base - 0.2 + noise}
    assert differing_pairs(taus, rng) == {frozenset("ac"), frozenset("bc")}
    known = {"a": 0.0, "b": 0.01, "c": 0.02}
    assert differing_pairs(taus, rng, floors=known) == {frozenset("ac"), frozenset("bc")}
    assert differing_pairs(taus, rng, floors=known | {"a": 0.3}) == {frozenset("bc")}
    assert differing_pairs(taus, rng, floors=known | {"c": None}) == set()
    assert (side((0.1, 0.2)), side((-0.1, 0.2)), side((-0.2, -0.1)), side(None)) == (1, 0, -1, None)


@pytest.mark.parametrize("name", sorted(INPUT))
def test_sets_of_tokens_are_removed_as_by_hand(name):
    """Two words are removed from one text: as a text that a person would write without them."""
    family = FAMILIES["Bert"]
    tokenizer = family.tokenizer()
    model = isolated_copy(open_subject(family.build(labels=2), tokenizer).model, torch.float64)
    context = make_context(model, encode(tokenizer, ["a warm , funny film", "bad"]), tokenizer)
    removed = torch.zeros(2, context.encoded.ids.shape[1], dtype=torch.bool)
    removed[0, [2, 4]] = True  # warm, funny
    removed[1, 1] = True
    logits = REMOVALS[name].logits(context, torch.tensor([0, 1]), removed)
    words = ["a", ",", "film"] if name == "delete" else ["a", "X", ",", "X", "film"]
    token = {"mask-token": "[MASK]", "unknown-token": "[UNK]"}.get(name, "a")
    ids = tokenizer.convert_tokens_to_ids(
        ["[CLS]", *[token if word == "X" else word for word in words], "[SEP]"]
    )
    table = model.get_input_embeddings().weight
    embedded = table[ids].clone()
    if name == "mean-embedding":
        embedded[[2, 4]] = table.mean(dim=0)
    with torch.no_grad():
        expected = model(inputs_embeds=embedded[None], attention_mask=torch.ones(1, len(ids))).logits[0]
    torch.testing.assert_close(logits[0], expected, rtol=0, atol=1e-9)
    assert (logits[0] - context.logits[0]).abs().max() > 1e-4


def test_a_number_of_texts_is_positive():
    with pytest.raises(glasshead.errors.InputError, match="at least one text"):
        Operators(0)
