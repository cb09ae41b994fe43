"""The first sentence on an audit of models whose truth is planted, and everywhere the same one."""

import json
from io import StringIO

import pytest
import torch
import transformers as hf
from rich.console import Console

from classifier_families import FAMILIES, labelled_data
from glasshead.audits import audit
from glasshead.escaping import visible
from glasshead.report import audit_page, card_table, model_card
from glasshead.report.headline import headline, verdict
from glasshead.report.model_card import escape
from planted_headlines import WORLDS, mixed, sign_in_weights, uniform
from small import as_run, split

COUNTS = pytest.mark.parametrize("counts", [(45, 45), (81, 9), (9, 81)], ids=["balanced", "9 to 1", "1 to 9"])
EACH = pytest.mark.parametrize("world", WORLDS, ids=[world.__name__ for world in WORLDS])
AUDITS = ("performance", "agreement", "perturbation", "identifiability")


def audited(world, counts, audits=AUDITS):
    made = world(counts)
    run = as_run(made.model, made.texts, made.labels)
    return made, audit(run, split(made.texts, made.labels), audits=audits)


@EACH
@COUNTS
def test_the_headline_is_the_planted_truth(world, counts):
    made, card = audited(world, counts)
    first = headline(card)
    assert first.decides == made.decides
    assert first.points in made.points
    assert ("The weights decide" in first.says) == (
        made.decides in ("yes", "in part") and first.points != "no"
    )
    assert_one_sentence(card)


def assert_one_sentence(card):
    """Page, terminal, section for a README, JSON and notebook say the same."""
    says = verdict(card)
    written = StringIO()
    Console(file=written, width=1000).print(card_table([card]))
    assert says in written.getvalue()
    assert str(visible(says)) in audit_page([card])
    assert escape(says) in model_card(card)
    body = json.loads(card.to_json())
    assert body["verdict"] == says
    assert (body["decides"], body["points"]) == (headline(card).decides, headline(card).points)
    assert str(visible(says)) in card._repr_html_()


@pytest.mark.parametrize("world", [uniform, sign_in_weights, mixed])
def test_the_sentence_does_not_depend_on_which_other_audits_were_made(world):
    few = audited(world, (24, 24), ("performance", "agreement", "perturbation"))[1]
    made, all_of_them = audited(world, (24, 24), ("explanation",))
    assert headline(few).decides == headline(all_of_them).decides == made.decides
    assert headline(few).points == headline(all_of_them).points
    assert_one_sentence(all_of_them)


def test_an_untrained_bert_explains_nothing():
    tokenizer = FAMILIES["Bert"].tokenizer()
    config = hf.BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        id2label={0: "bad", 1: "good"},
    )
    torch.manual_seed(0)
    model = hf.BertForSequenceClassification(config)
    card = audit(model, labelled_data(48), audits=AUDITS, tokenizer=tokenizer)
    assert headline(card).decides == "no"
    assert_one_sentence(card)


def test_few_texts_settle_nothing():
    card = audited(sign_in_weights, (5, 5))[1]
    assert headline(card).decides == "undecided"
    assert "So few texts do not settle" in verdict(card)
