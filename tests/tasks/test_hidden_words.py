"""A model that guesses hidden words is asked about one: with the row of that word, and what decides it."""

from functools import cache

import numpy as np
import pytest
import torch
import transformers as hf
from datasets import Dataset

import glasshead
from auto_classes import build
from classifier_families import FAMILIES, TEXTS, WORDS, word_tokenizer
from glasshead import explain
from glasshead.errors import InputError
from glasshead.explainers import EXPLAINERS
from slow_cases import own_methods

FAMILY = FAMILIES["Bert"]
OTHERS = [word for word in WORDS.split() if word not in ("good", "bad", "warm", "dull")]
FOLLOWS = {"good": "warm", "bad": "dull"}


def guesser(family="Bert", cls=None):
    """A tiny model that guesses hidden words."""
    config = FAMILIES[family].config(**FAMILIES[family].options)
    torch.manual_seed(0)
    model = (cls or hf.AutoModelForMaskedLM).from_config(config).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return model, FAMILIES[family].tokenizer()


def planted_texts(random, count, hidden="[MASK]"):
    """Texts with a hidden word, which is warm where the text has “good”, and dull where it has “bad”."""
    texts, answers, deciding = [], [], []
    for _ in range(count):
        words = [str(word) for word in random.choice(OTHERS, 5, replace=False)]
        decides = ("good", "bad")[random.integers(2)]
        first, second = random.permutation(6)[:2]
        words.insert(min(first, second), decides if first < second else hidden)
        words.insert(max(first, second), hidden if first < second else decides)
        texts.append(" ".join(words))
        answers.append(FOLLOWS[decides])
        deciding.append(decides)
    return texts, answers, deciding


@cache
def planted():
    """A model that has learnt that, and texts that it has not seen."""
    torch.manual_seed(0)
    config = FAMILY.config(**FAMILY.options, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    model, tokenizer = hf.BertForMaskedLM(config), FAMILY.tokenizer()
    for parameter in model.parameters():
        if parameter.ndim > 1:  # content is told apart from the first step on
            torch.nn.init.normal_(parameter, std=0.4)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    random = np.random.default_rng(0)
    for _ in range(200):
        texts, answers, _ = planted_texts(random, 64)
        given = tokenizer(texts, padding=True, return_tensors="pt")
        wanted = torch.tensor(tokenizer.convert_tokens_to_ids(answers))[:, None]
        hidden = given["input_ids"] == tokenizer.mask_token_id
        optimizer.zero_grad()
        model(**given, labels=torch.where(hidden, wanted, -100)).loss.backward()
        optimizer.step()
    return model.eval(), tokenizer, planted_texts(random, 40)


@pytest.mark.parametrize("kind", ["mobilebert", "xlm", "flaubert"])
def test_a_word_is_asked_for_where_it_is_hidden(kind):
    """MobileBERT never calls its map onto the vocabulary; the class of XLM writes as well."""
    model, tokenizer = build("hidden words", kind), FAMILY.tokenizer()
    given = tokenizer("a warm [MASK] film", return_tensors="pt")["input_ids"]
    with torch.no_grad():
        expected = model(given).logits[0].softmax(dim=-1).amax(dim=-1)
    (one,) = explain(model, "a warm [MASK] film", tokenizer=tokenizer, method="random")
    assert one.prediction == pytest.approx(float(expected[3]), abs=1e-5)
    assert abs(float(expected[0]) - one.prediction) > 1e-3


def test_a_model_of_that_class_that_sees_nothing_ahead_writes():
    model = build("hidden words", "xlm", causal=True)
    (one,) = explain(model, "a warm film", tokenizer=word_tokenizer(""), method="random")
    with torch.no_grad():
        expected = model(torch.tensor([word_tokenizer("")("a warm film")["input_ids"]])).logits[0, -1]
    assert one.prediction == pytest.approx(float(expected.softmax(dim=-1).max()), abs=1e-5)


def test_attention_is_that_of_the_hidden_word():
    model, tokenizer = guesser()
    given = tokenizer("a [MASK] film", return_tensors="pt")
    model.set_attn_implementation("eager")
    with torch.no_grad():
        output = model(**given, output_attentions=True)
    (one,) = explain(model, "a [MASK] film", tokenizer=tokenizer)
    np.testing.assert_allclose(one.scores, output.attentions[-1][0].mean(dim=0)[2], atol=1e-5)
    probabilities = output.logits[0, 2].softmax(dim=-1)
    assert one.prediction == pytest.approx(float(probabilities.max()), abs=1e-5)
    assert one.asked == "[MASK]"


def test_gradients_and_contrasts_are_those_of_the_hidden_word():
    model, tokenizer = guesser()
    given = tokenizer("a [MASK] film", return_tensors="pt")
    vectors = model.get_input_embeddings()(given["input_ids"]).detach().requires_grad_()
    logits = model(inputs_embeds=vectors, attention_mask=given["attention_mask"]).logits[0, 2]
    warm, dull = tokenizer.convert_tokens_to_ids(["warm", "dull"])
    (logits[warm] - logits[dull]).backward()
    (one,) = explain(
        model, "a [MASK] film", tokenizer=tokenizer, target="warm", against="dull", method="gradient"
    )
    np.testing.assert_allclose(one.scores, (vectors * vectors.grad)[0].sum(-1).detach(), atol=1e-4)


@pytest.mark.parametrize("family", ["Bert", "Roberta", "DistilBert", "Electra", "Albert"])
def test_families_predict_what_they_predict_alone(family):
    model, tokenizer = guesser(family)
    (one,) = explain(model, f"a {tokenizer.mask_token} film", tokenizer=tokenizer, method="gradient")
    given = tokenizer(f"a {tokenizer.mask_token} film", return_tensors="pt")
    place = int((given["input_ids"][0] == tokenizer.mask_token_id).nonzero()[0])
    given.pop("token_type_ids", None)
    with torch.no_grad():
        alone = model(**given).logits[0, place].softmax(dim=-1)
    assert one.prediction == pytest.approx(float(alone.max()), rel=1e-4)


def test_a_named_word_is_hidden_or_each_in_turn():
    model, tokenizer = guesser()
    (one,) = explain(model, "a warm film", tokenizer=tokenizer, at="warm")
    (same,) = explain(model, "a [MASK] film", tokenizer=tokenizer)
    assert (one.text, one.scores) == (same.text, pytest.approx(same.scores))
    each = explain(model, ["a warm film", "so [MASK]"], tokenizer=tokenizer)
    assert [one.text for one in each] == ["[MASK] warm film", "a [MASK] film", "a warm [MASK]", "so [MASK]"]
    two = explain(model, "[MASK] and [MASK]", tokenizer=tokenizer)
    assert [one.text for one in two] == ["[MASK] and [MASK]"] * 2
    assert two[0].scores != pytest.approx(two[1].scores), "each is asked about"
    (pair,) = explain(model, "a warm film", pairs="not bad", tokenizer=tokenizer, at="bad")
    assert pair.text == "a warm film\nnot [MASK]"


def test_one_of_several_hidden_words_is_asked_about():
    model, tokenizer = guesser()
    both = explain(model, "[MASK] and [MASK]", tokenizer=tokenizer, method="gradient")
    for number, at in enumerate((0, 2)):
        (one,) = explain(model, "[MASK] and [MASK]", tokenizer=tokenizer, at=at, method="gradient")
        assert one.scores == pytest.approx(both[number].scores, abs=1e-6)
    (one,) = explain(model, "[MASK] and bad", tokenizer=tokenizer, at="bad", method="gradient")
    (_, other) = explain(model, "[MASK] and [MASK]", tokenizer=tokenizer, method="gradient")
    assert one.scores == pytest.approx(other.scores, abs=1e-6)


@pytest.mark.parametrize("method", own_methods())
def test_each_method_works_alone_as_in_a_batch(method):
    model, tokenizer = guesser()
    texts = ["a [MASK] , funny film", "[MASK]", "the plot is [MASK] and not very good"]
    if EXPLAINERS[method].for_images or method == "erasure-delete":
        with pytest.raises(InputError, match="use the method"):
            explain(model, texts, tokenizer=tokenizer, method=method)
        return
    together = explain(model, texts, tokenizer=tokenizer, method=method)
    alone = [explain(model, text, tokenizer=tokenizer, method=method)[0] for text in texts]
    for one, other in zip(together, alone, strict=True):
        assert one.prediction == pytest.approx(other.prediction, abs=1e-5)
        if method != "random":
            np.testing.assert_allclose(one.scores, other.scores, atol=1e-4)


@pytest.mark.slow
def test_the_word_that_decides_is_found():
    model, tokenizer, (texts, answers, deciding) = planted()

    def hits(method):
        found = explain(model, texts, tokenizer=tokenizer, method=method)
        right = [one.predicted.strip("“”") == own for one, own in zip(found, answers, strict=True)]
        assert np.mean(right) > 0.95
        best = [
            max((s, t) for s, t in zip(one.scores, one.tokens, strict=True) if t != "[MASK]")[1]
            for one in found
        ]
        return np.mean(np.array(best) == deciding)

    assert hits("erasure-mean-embedding") >= 0.95
    assert hits("random") < 0.5


def test_the_card_asks_for_one_word_of_each_text():
    model, tokenizer, _ = planted()
    texts, answers, _ = planted_texts(np.random.default_rng(5), 60)
    whole = [text.replace("[MASK]", word) for text, word in zip(texts, answers, strict=True)]
    card = glasshead.audit(
        model, whole, tokenizer=tokenizer, audits=["performance", "faithfulness"], limit=50
    )
    assert card.facts["examples"] == 50
    assert any("one random word of a single token is hidden" in note for note in card.facts["notes"])
    for text, label in zip(card.examples["text"], card.examples["label"], strict=True):
        assert text.count("[MASK]") == 1
        assert text.replace("[MASK]", str(label).strip("“”")) in whole
    hidden = np.isin([str(label).strip("“”") for label in card.examples["label"]], ["warm", "dull"])
    assert 0 < hidden.mean() < 1


@pytest.mark.slow
def test_heads_and_rankings():
    model, tokenizer, _ = planted()
    rows = Dataset.from_dict({"text": TEXTS * 4})
    assert len(glasshead.heads(model, rows, tokenizer=tokenizer).heads) == 4
    ranking = glasshead.rank(model, rows, tokenizer=tokenizer, methods=["gradient", "random"])
    assert "delete" not in ranking.removals


def test_a_pipeline_and_a_folder(tmp_path):
    model, tokenizer = guesser()
    (same,) = explain(model, "a [MASK] film", tokenizer=tokenizer)
    (one,) = explain(hf.pipeline("fill-mask", model=model, tokenizer=tokenizer), "a [MASK] film")
    assert one.scores == pytest.approx(same.scores)
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    (one,) = explain(str(tmp_path), "a [MASK] film")
    assert one.scores == pytest.approx(same.scores, abs=1e-6)


def test_what_cannot_be_asked():
    model, tokenizer = guesser()
    with pytest.raises(InputError, match="not a word of 'a warm film'"):
        explain(model, "a warm film", tokenizer=tokenizer, at="cold")
    with pytest.raises(InputError, match="writes no text"):
        glasshead.generate(model, "a warm", tokenizer=tokenizer)
    long = " ".join(["film"] * 600 + ["[MASK]"])
    with pytest.raises(InputError, match="beyond the model's maximum length"):
        explain(model, long, tokenizer=tokenizer)
    blind = FAMILY.tokenizer()
    blind.mask_token = None
    with pytest.raises(InputError, match="no token for hidden words"):
        explain(model, "a warm film", tokenizer=blind)
