"""What holds for a language model of any family that is asked about its next token."""

import pytest
import torch

import glasshead
from classifier_families import FAMILIES, TEXTS, word_tokenizer
from family_table import METHODS, YES, read_exceptions
from glasshead.errors import InputError
from glasshead.huggingface import NextTokenClassifier
from model_state import model_state
from tolerances import ALL_LAYERS, ONE_MODEL

WRITERS = [
    "GPT2",
    "GPTNeo",
    "GPTNeoX",
    "GPTJ",
    "OPT",
    "Llama",
    "Mistral",
    "Qwen3",
    "Gemma",
    "Gemma2",
    "Bloom",
    "Falcon",
]
TABLE = read_exceptions()
each_family = pytest.mark.parametrize("name", WRITERS)
some_families = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name == "GPT2" else pytest.mark.slow) for name in WRITERS]
)


def language_model(name):
    family = FAMILIES[name]
    return family.language_model(), family.tokenizer()


@each_family
def test_classes_are_the_tokens_that_the_model_expects_after_each_text(name):
    model, tokenizer = language_model(name)
    before = model_state(model, tokenizer)
    subject = glasshead.open(model, tokenizer)
    assert isinstance(subject.model, NextTokenClassifier)
    assert subject.labels[tokenizer.convert_tokens_to_ids("funny")] == "“funny”"
    attributions = glasshead.explain(subject, TEXTS, method="random")
    for text, attribution in zip(TEXTS, attributions, strict=True):
        with torch.no_grad():
            logits = model(tokenizer(text, return_tensors="pt")["input_ids"]).logits[0, -1]
        probability, token = logits.softmax(dim=-1).max(dim=-1)
        assert attribution.target == attribution.predicted == subject.labels[int(token)]
        assert attribution.prediction == pytest.approx(float(probability), rel=1e-4)
    assert model_state(model, tokenizer) == before


@pytest.mark.slow
@some_families
def test_every_method_that_reads_the_classifier_reads_the_language_model(name):
    model, tokenizer = language_model(name)
    before = model_state(model, tokenizer)
    subject = glasshead.open(model, tokenizer)
    for method in METHODS:

        def explained(texts, method=method):
            return glasshead.explain(subject, texts, method=method, target="funny")

        if TABLE[FAMILIES[name].config.model_type][method] != YES:
            with pytest.raises(InputError):
                explained(TEXTS)
            continue
        for text, attribution in zip(TEXTS, explained(TEXTS), strict=True):
            (alone,) = explained([text])
            torch.testing.assert_close(attribution.scores, alone.scores, **ALL_LAYERS, msg=method)
    assert model_state(model, tokenizer) == before


@each_family
def test_a_contrast_is_the_difference_of_two_log_probabilities(name):
    model, tokenizer = language_model(name)
    subject = glasshead.open(model, tokenizer)

    def erasures(**options):
        attributions = glasshead.explain(subject, TEXTS, method="erasure-unknown-token", **options)
        return torch.tensor([score for each in attributions for score in each.scores])

    contrast = erasures(target="warm", against="dull")
    torch.testing.assert_close(contrast, erasures(target="warm") - erasures(target="dull"), **ONE_MODEL)
    torch.testing.assert_close(contrast, -erasures(target="dull", against="warm"), **ONE_MODEL)
    assert contrast.abs().max() > 0.1


def test_erasure_is_the_change_of_the_log_probability():
    model, tokenizer = language_model("GPT2")
    (attribution,) = glasshead.explain(
        model, TEXTS[0], tokenizer=tokenizer, method="erasure-unknown-token", target="film"
    )
    ids = torch.tensor([tokenizer(TEXTS[0])["input_ids"]])
    film = tokenizer.convert_tokens_to_ids("film")
    with torch.no_grad():
        whole = model(ids).logits[0, -1].log_softmax(dim=-1)[film]
        for place, score in enumerate(attribution.scores):
            erased = ids.clone()
            erased[0, place] = tokenizer.unk_token_id
            changed = whole - model(erased).logits[0, -1].log_softmax(dim=-1)[film]
            assert score == pytest.approx(float(changed), abs=1e-5)


def test_a_long_text_keeps_its_end():
    family = FAMILIES["GPT2"]
    model, tokenizer = family.language_model(n_positions=4), family.tokenizer()
    whole, end = glasshead.explain(model, [TEXTS[1], "not very good"], tokenizer=tokenizer, method="random")
    assert whole.tokens == ("and", "not", "very", "good")
    assert end.tokens == ("not", "very", "good")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"target": "warm film"}, "is 2 tokens of this model ('warm', 'film')"),
        ({"target": "lukewarm"}, "'lukewarm' is not a token of this model"),
        ({"against": "dull"}, "name the other one, too"),
        ({"target": "dull", "against": "dull"}, "contrasted with itself"),
    ],
)
def test_tokens_that_cannot_come_next_are_refused(options, says):
    model, tokenizer = language_model("GPT2")
    with pytest.raises(InputError) as raised:
        glasshead.explain(model, TEXTS, tokenizer=tokenizer, **options)
    assert says in str(raised.value)


def test_classes_are_not_contrasted():
    family = FAMILIES["GPT2"]
    with pytest.raises(InputError, match="only next tokens can be contrasted"):
        glasshead.explain(family.build(), TEXTS, tokenizer=family.tokenizer(), target=1, against="dull")


def test_a_tokenizer_that_closes_texts_is_refused():
    with pytest.raises(InputError, match="behind which nothing is written"):
        glasshead.open(FAMILIES["GPT2"].language_model(), word_tokenizer("end"))
