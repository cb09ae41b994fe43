"""What is explained of a `SentenceTransformer` is the similarity that it gives two texts."""

import numpy as np
import pytest
import torch
from datasets import Dataset

import glasshead
from classifier_families import FAMILIES
from glasshead.errors import InputError
from glasshead.explainers import EXPLAINERS
from slow_cases import own_methods
from typed import glasshead as command

sentence_transformers = pytest.importorskip("sentence_transformers")
modules = pytest.importorskip("sentence_transformers.sentence_transformer.modules")
pytestmark = pytest.mark.usefixtures("quiet")
FIRST, SECOND = "a warm , funny film", "the plot is dull and not very good"


@pytest.fixture
def encoder(tmp_path):
    """A tiny model of sentence-transformers, with some pooling and a layer behind it."""

    def encoder(pooling="mean", family="Bert", dense=False, **settings):
        model = FAMILIES[family].build()
        torch.manual_seed(0)
        for parameter in model.parameters():
            torch.nn.init.normal_(parameter, std=0.4)
        model.base_model.save_pretrained(tmp_path)
        FAMILIES[family].tokenizer().save_pretrained(tmp_path)
        first = modules.Transformer(str(tmp_path))
        size = first.get_embedding_dimension()
        behind = [modules.Pooling(size, pooling_mode=pooling)]
        behind += [modules.Dense(size, 5)] if dense else []
        return sentence_transformers.SentenceTransformer(modules=[first, *behind], device="cpu", **settings)

    return encoder


def similarity(encoder, first=FIRST, second=SECOND):
    """What the encoder itself says."""
    vectors = encoder.encode([first, second], convert_to_tensor=True)
    return float(encoder.similarity_pairwise(vectors[:1], vectors[1:]))


@pytest.mark.parametrize("settings", [
    {}, {"pooling": "cls"}, {"pooling": "max", "family": "DistilBert"}, {"dense": True, "family": "Roberta"},
    {"similarity_fn_name": "dot"}, {"similarity_fn_name": "euclidean"},
])  # fmt: skip
def test_the_similarity_is_that_of_the_encoder(settings, encoder):
    own = encoder(**settings)
    found = glasshead.explain(own, [FIRST, "bad"], pairs=[SECOND, "good film"], method="gradient")
    expected = [similarity(own), similarity(own), *[similarity(own, "bad", "good film")] * 2]
    assert [one.prediction for one in found] == pytest.approx(expected, abs=1e-4)
    assert [one.asked for one in found] == ["first text", "second text"] * 2
    assert [one.text for one in found] == [FIRST, SECOND, "bad", "good film"]


def test_gradients_and_erasures_are_those_by_hand(encoder):
    own = encoder()
    model, tokenizer = own[0].auto_model, own.tokenizer
    read = tokenizer(FIRST, return_tensors="pt")
    other = own.encode([SECOND], convert_to_tensor=True)
    vectors = model.get_input_embeddings()(read["input_ids"]).detach().requires_grad_()

    def likeness(**inputs):
        states = model(**inputs, attention_mask=read["attention_mask"]).last_hidden_state
        return torch.cosine_similarity(states.mean(dim=1), other)[0]

    value = likeness(inputs_embeds=vectors)
    value.backward()
    asked = {"pairs": SECOND, "target": "first text"}
    (one,) = glasshead.explain(own, FIRST, method="gradient", **asked)
    np.testing.assert_allclose(one.scores, (vectors * vectors.grad)[0].sum(-1).detach(), atol=1e-5)
    (one,) = glasshead.explain(own, FIRST, method="erasure-mask-token", **asked)
    for token in range(1, read["input_ids"].shape[1] - 1):
        ids = read["input_ids"].clone()
        ids[0, token] = tokenizer.mask_token_id
        with torch.no_grad():
            without = likeness(input_ids=ids)
        assert one.scores[token] == pytest.approx(float(value.detach() - without), abs=1e-5)


@pytest.mark.parametrize("method", own_methods())
def test_each_method_works_alone_as_in_a_batch(method, encoder):
    own = glasshead.open(encoder())
    if EXPLAINERS[method].for_images:
        with pytest.raises(InputError):
            glasshead.explain(own, FIRST, pairs=SECOND, method=method)
        return
    together = glasshead.explain(own, [FIRST, "bad film"], pairs=[SECOND, "good"], method=method)
    alone = glasshead.explain(own, "bad film", pairs="good", method=method)
    for one, other in zip(together[2:], alone, strict=True):
        assert one.prediction == pytest.approx(other.prediction, abs=1e-5)
        if method != "random":
            np.testing.assert_allclose(one.scores, other.scores, atol=1e-4)


def test_a_saved_one_is_opened_as_it_is(encoder, tmp_path):
    own = encoder()
    own.save(str(tmp_path / "saved"))
    typed = command("explain", tmp_path / "saved", FIRST, "--pair", SECOND, "--target", "second text")
    assert typed.exit_code == 0
    assert f"{similarity(own):.2f} for “second text”" in typed.stdout


def test_a_saved_cross_encoder_is_none(tmp_path):
    FAMILIES["Bert"].build(labels=1).save_pretrained(tmp_path)
    FAMILIES["Bert"].tokenizer().save_pretrained(tmp_path)
    rates = sentence_transformers.CrossEncoder(str(tmp_path), device="cpu")
    rates.save(str(tmp_path / "saved"))
    assert (tmp_path / "saved" / "modules.json").is_file()
    (one,) = glasshead.explain(tmp_path / "saved", FIRST, pairs=SECOND)
    logits = rates.predict([(FIRST, SECOND)], activation_fn=torch.nn.Identity())
    assert one.prediction == pytest.approx(float(logits[0]), abs=1e-5)


def test_an_audit_is_about_either_text(encoder):
    own = encoder()
    firsts, seconds = [FIRST, SECOND, "bad film", "good"] * 6, [SECOND, "the film", "good film", FIRST] * 6
    rows = {"text": firsts, "text_pair": seconds, "label": [number / 24 for number in range(24)]}
    card = glasshead.audit(own, Dataset.from_dict(rows), audits=["agreement", "performance"], draws=2)
    assert {finding.audit for finding in card.findings} == {"agreement", "performance"}
    asked = dict(zip(card.examples["text"], card.examples["question"], strict=True))
    assert set(asked.values()) == {"first text", "second text"}
    for text, question in asked.items():
        own_side, other = (firsts, seconds) if question == "first text" else (seconds, firsts)
        assert any(
            text.startswith(one) and text.endswith(two) for one, two in zip(own_side, other, strict=True)
        )
    scaled = rows | {"label": [5.0 * label for label in rows["label"]]}
    divided = glasshead.audit(own, Dataset.from_dict(scaled), audits=["performance"], draws=2)
    assert any("divided by it" in note for note in divided.facts["notes"])
    largest = max(rows["label"])
    np.testing.assert_allclose(divided.examples["label"], np.array(card.examples["label"]) / largest)


@pytest.mark.parametrize(
    ("asked", "message"), [({}, "give the other"), ({"pairs": SECOND, "target": "third"}, "third")]
)
def test_what_cannot_be_asked_is_refused(asked, message, encoder):
    with pytest.raises(InputError, match=message):
        glasshead.explain(encoder(), FIRST, **asked)


def test_one_in_halves_is_computed_in_float32(encoder):
    own = encoder(dense=True)
    halves = own.bfloat16()
    (one, _) = glasshead.explain(halves, FIRST, pairs=SECOND, method="gradient")
    assert one.prediction == pytest.approx(similarity(own.float()), abs=1e-4)


def test_it_has_a_tokenizer(encoder):
    own = encoder()
    with pytest.raises(InputError, match="already has a tokenizer"):
        glasshead.explain(own, FIRST, pairs=SECOND, tokenizer=own.tokenizer)


def test_a_prompt_is_noticed(encoder):
    own = encoder(prompts={"query": "the film is "}, default_prompt_name="query")
    with pytest.raises(InputError, match="because of a prompt"):
        glasshead.open(own)
