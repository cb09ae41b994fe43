"""A model of inference is asked which name fits a text, as zero-shot pipelines of Transformers ask it."""

from functools import cache

import numpy as np
import pytest
import torch
import transformers as hf

import glasshead
from classifier_families import FAMILIES, WORDS, labelled_data
from glasshead import explain
from glasshead.errors import InputError

FAMILY = FAMILIES["Bert"]
TEXT, NAMES = "a warm , funny film", ["good", "dull plot", "long"]
CLASSES = {0: "contradiction", 1: "neutral", 2: "entailment"}


def inference(classes=CLASSES):
    """A tiny model that says whether a text entails another."""
    label2id = {name: number for number, name in classes.items()}
    config = FAMILY.config(**FAMILY.options, id2label=classes, label2id=label2id)
    torch.manual_seed(0)
    model = hf.BertForSequenceClassification(config).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    return model, FAMILY.tokenizer()


def zero_shot(**settings):
    """Its pipeline."""
    model, tokenizer = inference()
    return hf.pipeline("zero-shot-classification", model=model, tokenizer=tokenizer, **settings)


def printed(pipeline, names, **asked):
    """The probabilities of names, in their order."""
    scores = pipeline(TEXT, names, **asked)
    by_name = dict(zip(scores["labels"], scores["scores"], strict=True))
    return [by_name[name] for name in names]


@pytest.mark.parametrize("template", [None, "the film is {}"])
def test_probabilities_are_those_that_the_pipeline_prints(template):
    pipeline = zero_shot()
    asked = {} if template is None else {"hypothesis_template": template}
    for source, more in ((pipeline, {}), (pipeline.model, {"tokenizer": pipeline.tokenizer})):
        found = explain(source, TEXT, choices=NAMES, template=template, method="gradient", **more)
        expected = printed(pipeline, NAMES, **asked)
        np.testing.assert_allclose([one.prediction for one in found], expected, atol=1e-5)
        assert [one.predicted for one in found].index("chosen") == int(np.argmax(expected))


def test_a_name_that_stands_alone_is_chosen_against_contradiction():
    pipeline = zero_shot()
    (one,) = explain(pipeline, TEXT, choices="good")
    assert one.prediction == pytest.approx(printed(pipeline, ["good"])[0], abs=1e-6)
    assert one.prediction == pytest.approx(printed(pipeline, ["good"], multi_label=True)[0], abs=1e-6)


@cache
def planted():
    """A model that has learnt that a text entails a sentence which has its word of three, and such texts."""
    torch.manual_seed(0)
    classes = {0: "contradiction", 1: "entailment"}
    sizes = {"hidden_size": 64, "num_attention_heads": 4, "intermediate_size": 128}
    rest = {"id2label": classes, "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    config = FAMILY.config(**FAMILY.options | sizes | rest)
    model, tokenizer = hf.BertForSequenceClassification(config), FAMILY.tokenizer()
    for parameter in model.parameters():
        if parameter.ndim > 1:  # content is told apart from the first step on
            torch.nn.init.normal_(parameter, std=0.2)
    names, random = ["good", "bad", "long"], np.random.default_rng(0)
    others = [word for word in WORDS.split() if word not in names]

    def text(name):
        words = [str(word) for word in random.choice(others, random.integers(3, 7), replace=False)]
        if name is not None:
            words.insert(int(random.integers(len(words) + 1)), name)
        return " ".join(words)

    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for _ in range(600):
        # Some texts have none of the words, so that none is taken for granted.
        asked = [((*names, None)[random.integers(4)], names[random.integers(3)]) for _ in range(64)]
        read = tokenizer(
            [text(own) for own, _ in asked],
            [f"This example is {name}." for _, name in asked],
            padding=True,
            return_tensors="pt",
        )
        labels = torch.tensor([int(own == name) for own, name in asked])
        optimizer.zero_grad()
        model(**read, labels=labels).loss.backward()
        optimizer.step()
    return model.eval(), tokenizer, names, [(text(name), name) for name in names * 20]


@pytest.mark.slow
def test_the_word_that_decides_is_found():
    model, tokenizer, names, rows = planted()
    for method, least, most in (("erasure-mask-token", 0.95, 1.0), ("random", 0.0, 0.5)):
        best = []
        for text, name in rows:
            asked = {"choices": names, "target": name, "method": method}
            (one,) = explain(model, text, tokenizer=tokenizer, **asked)
            if one.predicted == "chosen":
                own = len(text.split())  # the words of the text, behind [CLS]
                best.append(one.tokens[1 + int(np.argmax(one.scores[1 : own + 1]))] == name)
        assert len(best) > 54
        assert least <= np.mean(best) <= most


def test_gradients_and_erasures_are_those_by_hand():
    model, tokenizer = inference()
    read = tokenizer(
        [TEXT] * 3, [f"This example is {name}." for name in NAMES], padding=True, return_tensors="pt"
    )
    vectors = model.get_input_embeddings()(read["input_ids"]).detach().requires_grad_()
    others = {name: value for name, value in read.items() if name != "input_ids"}
    value = model(inputs_embeds=vectors, **others).logits[:, 2].softmax(-1)[1]
    value.backward()
    asked = {"choices": NAMES, "tokenizer": tokenizer, "target": "dull plot"}
    (one,) = explain(model, TEXT, method="gradient", **asked)
    np.testing.assert_allclose(one.scores, (vectors * vectors.grad)[1].sum(-1).detach(), atol=1e-5)
    (one,) = explain(model, TEXT, method="erasure-mask-token", **asked)
    for token in range(1, 5):
        ids = read["input_ids"].clone()
        ids[1, token] = tokenizer.mask_token_id
        with torch.no_grad():
            without = model(input_ids=ids, **others).logits[:, 2].softmax(-1)[1]
        assert one.scores[token] == pytest.approx(float(value.detach() - without), abs=1e-5)


def test_an_audit_takes_the_classes_of_the_data_for_names():
    model, tokenizer = inference()
    card = glasshead.audit(
        model, labelled_data(24), tokenizer=tokenizer, task="zero-shot", audits=["agreement"], draws=2
    )
    assert any("This example is {}." in note for note in card.facts["notes"])
    numbered = [{"text": row["text"], "label": row["label"]} for row in labelled_data(8)]
    with pytest.raises(InputError, match="is not a name"):
        glasshead.audit(model, numbered, tokenizer=tokenizer, task="zero-shot", audits=["agreement"])
    opened = glasshead.open(zero_shot())
    assert glasshead.audit(opened, labelled_data(24), audits=["performance"], draws=2).findings


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({}, "chooses between texts"),
        ({"choices": NAMES, "template": "no place"}, "one place"),
        ({"choices": NAMES, "pairs": "more"}, "second texts already"),
        ({"choices": NAMES, "target": "other"}, "other"),
        ({"choices": "good, dull plot"}, "comma"),
    ],
)
def test_what_cannot_be_asked_is_refused(asked, message):
    with pytest.raises(InputError, match=message):
        explain(zero_shot(), TEXT, **asked)


@pytest.mark.parametrize("settings", [{"multi_label": True}, {"hypothesis_template": "a {}"}])
def test_settings_that_are_not_followed_are_named(settings):
    with pytest.raises(InputError, match=next(iter(settings))):
        glasshead.open(zero_shot(**settings))


def test_a_model_without_entailment_says_so():
    model, tokenizer = inference({0: "bad", 1: "good"})
    with pytest.raises(InputError, match="entailment"):
        glasshead.open(model, tokenizer, task="zero-shot")
    named = glasshead.open(model, tokenizer, labels={"good": "entailment"})
    assert len(explain(named, TEXT, choices=NAMES)) == len(NAMES)
