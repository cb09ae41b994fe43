"""The first sentence on an audit of models whose truth is planted, and everywhere the same one."""

import json
from io import StringIO

import numpy as np
import pytest
import torch
import transformers as hf
from datasets import Dataset, Features, Value
from rich.console import Console

from classifier_families import FAMILIES, labelled_data
from glasshead.audits import audit
from glasshead.escaping import visible
from glasshead.models import PooledClassifier, PooledConfig
from glasshead.report import audit_page, audits_document, model_card, terminal_view
from glasshead.report.markdown_view import escape
from planted_headlines import (
    WORLDS,
    ignored,
    mixed,
    one_class,
    one_token,
    sign_in_values,
    sign_in_weights,
    sum_in_weights,
    texts_of,
    uniform,
)
from small import as_run, random_model, split
from small import tokenizer as small_tokenizer

pytestmark = pytest.mark.usefixtures("undrawn")

COUNTS = {"balanced": (30, 30), "9 to 1": (54, 6), "1 to 9": (6, 54)}


def worlds():
    """Each with one share of classes, another for the next world; with the others where there is time."""
    for number, world in enumerate(WORLDS):
        for place, (name, counts) in enumerate(COUNTS.items()):
            marks = () if place == number % 2 else pytest.mark.slow
            yield pytest.param(world, counts, id=f"{world.__name__}, {name}", marks=marks)


AUDITS = ("performance", "agreement", "perturbation")


def audited(world, counts, audits=AUDITS):
    made = world(counts)
    run = as_run(made.model, made.texts, made.labels)
    return made, audit(run, split(made.texts, made.labels, made.classes), audits=audits)


@pytest.mark.parametrize(("world", "counts"), list(worlds()))
def test_the_headline_is_the_planted_truth(world, counts):
    made, card = audited(world, counts)
    first = card.conclusion
    assert first.decides == made.decides
    assert first.points in made.points
    assert ("he weights decide" in first.verdict) == (
        made.decides in ("yes", "in part") and first.points != "no"
    )
    assert_one_sentence(card)


def assert_one_sentence(card):
    """Page, terminal, section for a README, JSON and notebook say the same."""
    says = card.conclusion.verdict
    written = StringIO()
    Console(file=written, width=1000).print(terminal_view(audits_document([card])))
    assert says in written.getvalue()
    assert str(visible(says)) in audit_page([card])
    assert escape(says) in model_card(card)
    body = json.loads(card.to_json())
    assert body["verdict"] == says
    assert (body["decides"], body["points"]) == (card.conclusion.decides, card.conclusion.points)
    assert str(visible(says)) in card._repr_html_()


@pytest.mark.usefixtures("short_search")
@pytest.mark.parametrize(
    "world", [mixed, *(pytest.param(world, marks=pytest.mark.slow) for world in (uniform, sign_in_weights))]
)
def test_the_sentence_does_not_depend_on_which_other_audits_were_made(world):
    few = audited(world, (14, 14))[1]
    made, all_of_them = audited(world, (14, 14), ("explanation",))
    assert few.conclusion.decides == all_of_them.conclusion.decides == made.decides
    assert few.conclusion.points == all_of_them.conclusion.points
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
    assert card.conclusion.decides == "no"
    assert_one_sentence(card)


def bert_of_two_layers():
    """One whose first layer chooses, and whose last layer cannot."""
    tokenizer = FAMILIES["Bert"].tokenizer()
    config = hf.BertConfig(
        vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=32, id2label={0: "bad", 1: "good"},
    )  # fmt: skip
    torch.manual_seed(0)
    model = hf.BertForSequenceClassification(config).eval()
    with torch.no_grad():
        first, last = (layer.attention.self for layer in model.bert.encoder.layer)
        for part in (first.query, first.key, first.value):
            part.weight.mul_(40)
        for part in (last.query.weight, last.query.bias):
            part.zero_()
        model.classifier.weight.mul_(100)
    return model, tokenizer


@pytest.mark.slow
def test_the_words_name_the_layer_that_was_audited():
    model, tokenizer = bert_of_two_layers()
    texts = labelled_data(48)["text"]
    with torch.no_grad():
        logits = torch.cat([model(**tokenizer(text, return_tensors="pt")).logits for text in texts])
        model.classifier.bias[1] -= (logits[:, 1] - logits[:, 0]).median()
    labels = (logits[:, 1] - logits[:, 0] > (logits[:, 1] - logits[:, 0]).median()).int().tolist()
    data, audits = split(texts, labels, ("bad", "good")), ("agreement", "perturbation")
    last = audit(model, data, audits=audits, tokenizer=tokenizer)
    assert last.conclusion.verdict.startswith("Attention of the last layer is uniform")
    assert "other layers give some tokens more weight" in last.conclusion.verdict
    model.bert.encoder.layer[1].attention.self.query.weight.data.normal_(0.0, 2.0)
    last = audit(model, data, audits=audits, tokenizer=tokenizer)
    assert last.conclusion.decides in ("yes", "in part", "no")
    assert "eights of the last layer" in last.conclusion.verdict


def ratings(stray):
    """A model of ratings from −1 to 1 whose attention decides them, and one label that somebody mistyped."""
    made = sign_in_values((45, 45))
    config = PooledConfig(**made.model.config.to_dict() | {"num_labels": 1, "problem_type": "regression"})
    model = PooledClassifier(config).eval()
    model.load_state_dict(made.model.state_dict())
    with torch.no_grad():
        model.classifier.weight.fill_(1.0)
    labels = [2.0 * label - 1.0 + 0.01 * (number % 10) for number, label in enumerate(made.labels)]
    labels[7] += stray
    features = Features({"text": Value("string"), "label": Value("float64")})
    data = Dataset.from_dict({"text": made.texts, "label": labels}, features=features)
    return audit(model, data, audits=("agreement", "perturbation"), tokenizer=small_tokenizer())


def test_one_mistyped_label_does_not_decide_what_a_large_change_of_a_rating_is():
    clean, mistyped = ratings(0.0), ratings(1000.0)
    assert clean.conclusion.decides == mistyped.conclusion.decides == "yes"
    share = "perturbation.uniform.share.all"
    assert clean.finding(share).estimate == mistyped.finding(share).estimate == 1.0
    assert "move the rating by 0.1" in mistyped.conclusion.verdict


def test_each_world_gets_its_sentence():
    """Where no other weights are possible, or make no difference, the words say why, and do not count it."""
    assert "has a single token, which gets all the weight" in sentence_of(one_token)
    assert "All tokens of a text carry the same value" in sentence_of(ignored)
    assert "Attention is uniform" in sentence_of(uniform)
    assert "All tokens of a text carry the same value, so only the sum matters" in sentence_of(sum_in_weights)
    single = sentence_of(one_class)
    assert single.startswith("These texts do not settle whether the model is better than guessing. If it is:")


def sentence_of(world):
    return audited(world, (30, 30))[1].conclusion.verdict


def test_attention_that_is_there_and_ignored_decides_nothing():
    """The last layer looks at some tokens more than at others, and what it reads is thrown away."""
    model, tokenizer = bert_of_two_layers()
    with torch.no_grad():
        last = model.bert.encoder.layer[1].attention
        last.self.query.weight.normal_(0.0, 2.0)
        last.output.dense.weight.zero_()
        last.output.dense.bias.zero_()
    card = audit(model, labelled_data(48), audits=AUDITS, tokenizer=tokenizer, layer=1)
    assert card.conclusion.decides == "no"
    assert card.finding("perturbation.uniform.share.all").estimate == 0


def random_claims(seeds):
    """How many untrained models get a claim of evidence, on random labels, balanced and 9 to 1."""
    claims = 0
    for seed in seeds:
        texts, _ = texts_of((30, 30), seed=seed)
        labels = np.random.default_rng(seed).permutation(np.repeat([0, 1], ((30, 30), (54, 6))[seed % 2]))
        run = as_run(random_model(seed=seed), texts, labels.tolist())
        first = audit(run, split(texts, labels.tolist(), ("negative", "positive")), audits=AUDITS).conclusion
        claims += first.verdict.startswith("The weights decide") and first.points in ("yes", "in part")
    return claims


def test_untrained_models_get_no_claim():
    assert random_claims(range(8)) <= 1


@pytest.mark.slow
def test_untrained_models_get_a_claim_at_most_once_in_twenty():
    """None of 59 does, which would happen in 5 % of draws if one in twenty did."""
    assert random_claims(range(59)) == 0


def test_few_texts_settle_nothing():
    card = audited(sign_in_weights, (5, 5))[1]
    assert card.conclusion.decides == "undecided"
    assert "So few texts do not settle" in card.conclusion.verdict
