"""A tagger is asked about one word: with the row of that word, and the words that decide its tag."""

from functools import cache

import numpy as np
import pytest
import torch
import transformers as hf
from datasets import ClassLabel, Dataset, Features, Sequence, Value
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

import glasshead
from classifier_families import FAMILIES, TEXTS, WORDS
from glasshead import explain
from glasshead.errors import InputError
from glasshead.explainers import EXPLAINERS
from slow_cases import own_methods

FAMILY = FAMILIES["Bert"]
TAGS = {0: "O", 1: "GOOD", 2: "BAD"}
OTHERS = [word for word in WORDS.split() if word not in ("not", "film")]


def tagger(scale=0.3, **changes):
    """A tiny model that gives words three tags."""
    config = FAMILY.config(**FAMILY.options | changes)
    config.num_labels, config.id2label = 3, TAGS
    torch.manual_seed(0)
    model = hf.BertForTokenClassification(config).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=scale)
    return model


@cache
def planted():
    """A tagger of the word “film”, bad behind “not” and good elsewhere, and texts that it has not seen."""
    torch.manual_seed(0)
    config = FAMILY.config(**FAMILY.options)
    config.num_labels, config.id2label = 3, TAGS
    model, tokenizer = hf.BertForTokenClassification(config), FAMILY.tokenizer()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    random = np.random.default_rng(0)
    for _ in range(700):
        rows = planted_rows(random, 64)
        given = tokenizer([" ".join(row["tokens"]) for row in rows], padding=True, return_tensors="pt")
        wanted = torch.full(given["input_ids"].shape, -100)
        for row, own in enumerate(rows):
            numbers = torch.tensor([list(TAGS.values()).index(tag) for tag in own["ner_tags"]])
            wanted[row, 1 : 1 + len(numbers)] = numbers
        optimizer.zero_grad()
        model(**given, labels=wanted).loss.backward()
        optimizer.step()
    return model.eval(), tokenizer, planted_rows(random, 60)


def planted_rows(random, count):
    """Words with their tags."""
    rows = []
    for _ in range(count):
        words = [str(word) for word in random.choice(OTHERS, 5)]
        bad, place = random.random() < 0.5, int(random.integers(1, 5))
        words[place:place] = ["not", "film"] if bad else [str(random.choice(OTHERS)), "film"]
        tags = [("BAD" if bad else "GOOD") if word == "film" else "O" for word in words]
        rows.append({"tokens": words, "ner_tags": tags})
    return rows


def test_attention_is_that_of_the_word_that_is_asked_about():
    model, tokenizer = tagger(), FAMILY.tokenizer()
    for text in TEXTS:
        given = tokenizer(text, return_tensors="pt")
        with torch.no_grad():
            output = hf.BertForTokenClassification.from_pretrained(
                None, config=model.config, state_dict=model.state_dict(), attn_implementation="eager"
            ).eval()(**given, output_attentions=True)
        maps = output.attentions[-1][0].mean(dim=0)
        for word in range(len(text.split())):
            (one,) = explain(model, text, tokenizer=tokenizer, at=word)
            np.testing.assert_allclose(one.scores, maps[1 + word], atol=1e-5)
            assert one.asked == text.split()[word]
            probabilities = output.logits[0, 1 + word].softmax(dim=-1)
            assert one.prediction == pytest.approx(float(probabilities.max()), abs=1e-5)


def test_gradients_and_erasures_are_those_of_the_word():
    model, tokenizer = tagger(), FAMILY.tokenizer()
    text, place = "a warm funny film", 3
    given = tokenizer(text, return_tensors="pt")
    vectors = model.get_input_embeddings()(given["input_ids"]).detach().requires_grad_()
    logits = model(inputs_embeds=vectors, attention_mask=given["attention_mask"]).logits
    value = logits[0, place].softmax(-1)[2]
    value.backward()
    (one,) = explain(model, text, tokenizer=tokenizer, at="funny", target="BAD", method="gradient")
    np.testing.assert_allclose(one.scores, (vectors * vectors.grad)[0].sum(-1).detach(), atol=1e-5)
    (one,) = explain(model, text, tokenizer=tokenizer, at="funny", target="BAD", method="erasure-mask-token")
    for token in range(1, 5):
        ids = given["input_ids"].clone()
        ids[0, token] = tokenizer.mask_token_id
        with torch.no_grad():
            without = model(ids, attention_mask=given["attention_mask"]).logits[0, place].softmax(-1)[2]
        assert one.scores[token] == pytest.approx(float(value.detach() - without), abs=1e-5)


@pytest.mark.parametrize("method", own_methods())
def test_each_method_works_or_says_why(method):
    model, tokenizer = tagger(), FAMILY.tokenizer()
    if EXPLAINERS[method].for_images or method == "erasure-delete":
        with pytest.raises(InputError, match="use the method"):
            explain(model, TEXTS, tokenizer=tokenizer, method=method, at=0)
        return
    together = explain(model, TEXTS, tokenizer=tokenizer, method=method, at=0)
    alone = [explain(model, text, tokenizer=tokenizer, method=method, at=0)[0] for text in TEXTS]
    for one, other in zip(together, alone, strict=True):
        assert one.prediction == pytest.approx(other.prediction, abs=1e-5)
        if method != "random":
            np.testing.assert_allclose(one.scores, other.scores, atol=1e-4)


def test_a_word_that_is_asked_about_is_not_cut_out():
    with pytest.raises(InputError, match="use the method 'erasure-mean-embedding'"):
        explain(tagger(), TEXTS, tokenizer=FAMILY.tokenizer(), method="erasure-delete", at=0)


@pytest.mark.slow
def test_left_out_it_is_every_word_with_a_tag():
    model, tokenizer, rows = planted()
    texts = [" ".join(row["tokens"]) for row in rows[:10]]
    found = explain(model, texts, tokenizer=tokenizer)
    assert [one.asked for one in found] == ["film"] * 10
    assert [one.predicted for one in found] == [max(row["ner_tags"], key=len) for row in rows[:10]]
    # Where no word has a tag, it is the one that is most likely to.
    (one,) = explain(model, "the plot is dull", tokenizer=tokenizer)
    assert one.asked in ["the", "plot", "is", "dull"]


def test_the_word_that_decides_a_tag_is_found():
    model, tokenizer, rows = planted()
    texts = [" ".join(row["tokens"]) for row in rows if "BAD" in row["ner_tags"]]

    def hits(method):
        found = explain(model, texts, tokenizer=tokenizer, method=method, at="film", target="BAD")
        best = [
            max((s, t) for s, t in zip(one.scores, one.tokens, strict=True) if t != "film")[1]
            for one in found
        ]
        return np.mean(np.array(best) == "not")

    assert hits("erasure-mean-embedding") >= 0.95
    assert hits("random") < 0.5


def test_the_card_of_a_tagger_is_about_words():
    model, tokenizer, rows = planted()
    card, control = (
        glasshead.audit(
            model, rows, tokenizer=tokenizer, audits=["faithfulness", "performance"], method=method
        )
        for method in ("erasure-mean-embedding", "random")
    )
    assert card.finding("performance.accuracy.all").estimate > 0.9
    assert any("about one word" in note for note in card.facts["notes"])
    good, bad = (one.finding("faithfulness.comprehensiveness.all") for one in (card, control))
    assert good.over_null["random"].interval[0] > 0
    assert bad.over_null["random"].interval[0] <= 0
    assert all(shown.attribution.asked for shown in card.highlights)


@pytest.mark.slow
def test_heads_and_rankings_of_a_tagger():
    model, tokenizer, rows = planted()
    assert len(glasshead.heads(model, rows[:8], tokenizer=tokenizer).heads) == 4
    ranking = glasshead.rank(model, rows[:8], tokenizer=tokenizer, methods=["gradient", "random"])
    assert "delete" not in ranking.removals


def test_what_is_no_word_is_named():
    model, tokenizer = tagger(), FAMILY.tokenizer()
    for at, says in (
        ("warmth", "not a word of 'a warm film': did you mean 'warm'"),
        (9, "is 9, and 'a warm film' has 3 words"),
        ("9", "'9', which is not a word"),
    ):
        with pytest.raises(InputError, match=says):
            explain(model, "a warm film", tokenizer=tokenizer, at=at)
    with pytest.raises(InputError, match=r"more than once: give its number \(0, 2\)"):
        explain(model, "bad and bad", tokenizer=tokenizer, at="bad")
    with pytest.raises(InputError, match="for models that predict one word of a text"):
        explain(FAMILY.build(3), "a warm film", tokenizer=tokenizer, at=0)


def test_a_pipeline_brings_its_tagger():
    model, tokenizer = tagger(), FAMILY.tokenizer()
    tag = hf.pipeline("token-classification", model=model, tokenizer=tokenizer, aggregation_strategy="simple")
    (one,) = explain(tag, "a warm film", at="warm")
    (same,) = explain(model, "a warm film", tokenizer=tokenizer, at="warm")
    assert one.scores == pytest.approx(same.scores)


def test_a_saved_tagger_is_opened(tmp_path):
    model, tokenizer = tagger(), FAMILY.tokenizer()
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    (one,) = explain(str(tmp_path), "a warm film", at="warm")
    (same,) = explain(model, "a warm film", tokenizer=tokenizer, at="warm")
    assert one.scores == pytest.approx(same.scores, abs=1e-6)


def byte_level():
    """A tokenizer to which blanks are letters, and lines have tokens of their own."""
    pieces = Tokenizer(models.BPE(unk_token="<unk>"))
    pieces.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    words = [*WORDS.split(), "key", "old"]
    trainer = trainers.BpeTrainer(special_tokens=["<pad>", "<unk>"], vocab_size=400, show_progress=False)
    pieces.train_from_iterator([f" {word} {word}" for word in words] * 5, trainer)
    return hf.PreTrainedTokenizerFast(tokenizer_object=pieces, pad_token="<pad>", unk_token="<unk>")


@pytest.mark.parametrize("text", ["a film\nthe key is old", "a film  the  key is old"])
def test_a_blank_that_is_a_token_is_no_part_of_the_word_behind_it(text):
    tokenizer = byte_level()
    model = tagger(vocab_size=len(tokenizer))
    given = tokenizer(text, return_tensors="pt", return_offsets_mapping=True)
    offsets = given.pop("offset_mapping")[0].tolist()
    with torch.no_grad():
        logits = model(given["input_ids"]).logits[0]
    for word in text.split():
        start = text.index(word)
        (place,) = [n for n, (a, b) in enumerate(offsets) if text[a:b].strip() and a <= start < b]
        (one,) = explain(model, text, tokenizer=tokenizer, at=word, method="gradient")
        assert one.asked == word
        assert one.prediction == pytest.approx(float(logits[place].softmax(-1).max()), abs=1e-5)


def test_a_pipeline_cuts_where_its_tokenizer_says():
    model, tokenizer = tagger(), FAMILY.tokenizer()
    tokenizer.model_max_length = 6
    tag = hf.pipeline("token-classification", model=model, tokenizer=tokenizer)
    text = "a warm film and a dull plot"
    assert len(tag(text, ignore_labels=[])) == 4
    (one,) = explain(tag, text, at="and", method="gradient")
    assert one.asked == "and"
    with pytest.raises(InputError, match="not a word of"):
        explain(tag, text, at="dull")


def test_numbers_are_numbers_and_words_with_hyphens_are_words():
    model, tokenizer = tagger(), FAMILY.tokenizer()
    (one,) = explain(model, "two one film", tokenizer=tokenizer, at=1)
    assert one.asked == "one"
    (one,) = explain(model, "a well-known film", tokenizer=tokenizer, at="well-known")
    assert one.asked == "well"


@pytest.mark.parametrize(
    ("row", "options", "says"),
    [
        ({"tokens": ["a", None], "ner_tags": ["O", "O"]}, {}, "row 1 has a word without letters: None"),
        ({"tokens": ["a", "film"], "ner_tags": ["O", "O"]}, {"classes": ["BAD", "GOOD"]}, "leave it out"),
        (
            {"tokens": ["a", "film"], "ner_tags": ["O", "O"]},
            {"by": ["topic"]},
            "other columns cannot be used",
        ),
    ],
)
def test_data_that_ask_nothing_are_refused(row, options, says):
    with pytest.raises(InputError, match=says):
        glasshead.audit(tagger(), [row], tokenizer=FAMILY.tokenizer(), audits=["performance"], **options)


def test_a_tag_without_a_number_is_no_tag():
    features = Features(
        {"tokens": Sequence(Value("string")), "ner_tags": Sequence(ClassLabel(names=["O", "BAD"]))}
    )
    data = Dataset.from_dict({"tokens": [["a", "film"]], "ner_tags": [[0, -1]]}, features=features)
    with pytest.raises(InputError, match="row 1 has the tag -1, and the data name 2"):
        glasshead.audit(tagger(), data, tokenizer=FAMILY.tokenizer(), audits=["performance"])


@pytest.mark.parametrize("task", ["labels", "regression"])
def test_a_tagger_is_no_model_of_labels_or_ratings(task):
    with pytest.raises(InputError, match=r"no separate labels|no rating"):
        explain(tagger(), TEXTS, tokenizer=FAMILY.tokenizer(), task=task)
    opened = glasshead.open(tagger(), FAMILY.tokenizer())
    with pytest.raises(InputError, match=r"no separate labels|no rating"):
        explain(opened, TEXTS, task=task)


def test_heads_need_no_tags():
    report = glasshead.heads(tagger(), [{"text": text} for text in TEXTS], tokenizer=FAMILY.tokenizer())
    assert len(report.heads) == 4


def test_a_class_of_ones_own_is_what_it_is_made_of():
    class Own(hf.BertForTokenClassification):
        pass

    config = tagger().config
    own = Own(config).eval()
    own.load_state_dict(tagger().state_dict())
    (one,) = explain(own, "a warm film", tokenizer=FAMILY.tokenizer(), at="warm")
    (same,) = explain(tagger(), "a warm film", tokenizer=FAMILY.tokenizer(), at="warm")
    assert one.scores == pytest.approx(same.scores)
