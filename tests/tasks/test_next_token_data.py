"""Audits of language models, asked about the next token of texts without labels."""

import json

import numpy as np
import pytest
import torch
from datasets import Dataset

import glasshead
from classifier_families import FAMILIES, WORDS, word_tokenizer
from glasshead.errors import InputError
from glasshead.tasks.next_tokens import draw_prompts
from glasshead.tasks.task import Chosen

FAMILY = FAMILIES["GPT2"]


def texts_of(count, seed=0):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS.split(), rng.integers(6, 13))) for _ in range(count)]


@pytest.fixture(scope="module")
def language_model():
    return FAMILY.language_model(), FAMILY.tokenizer()


@pytest.fixture
def texts_file(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(texts_of(40)), encoding="utf-8")
    return path


def test_a_beginning_and_the_token_that_comes_next():
    texts = [*texts_of(60), "warm", "", "warm film"]
    tokenizer = word_tokenizer("")
    numbers = np.arange(len(texts))
    prompts = draw_prompts(tokenizer, Chosen(texts, numbers, numbers, 0))
    assert prompts.rows == [*range(60), 62]
    for text, beginning, token in zip([texts[row] for row in prompts.rows], *prompts[:2], strict=True):
        assert text.startswith(beginning)
        rest = tokenizer(text)["input_ids"][len(tokenizer(beginning)["input_ids"]) :]
        assert rest[0] == token
        assert len(beginning.split()) >= 4 or text == "warm film"
    lengths = {len(beginning.split()) for beginning in prompts.texts}
    assert len(lengths) > 4, "places are drawn"
    assert draw_prompts(tokenizer, Chosen(texts, numbers, numbers, 0)) == prompts
    few = [5, 61, 2]  # whatever is beside them
    again = draw_prompts(tokenizer, Chosen([texts[row] for row in few], numbers[few], numbers[few], 0))
    assert (again.rows, again.texts) == ([0, 2], [prompts.texts[5], prompts.texts[2]])


def test_identifiability_alone_reads_lines_of_any_model(language_model, texts_file):
    model, tokenizer = language_model
    card = glasshead.audit(model, texts_file, tokenizer=tokenizer, audits=["identifiability"], limit=3)
    assert card.facts["examples"] == 3
    assert card.finding("identifiability.identifiable.all").n == 3
    assert "row of the last token" in card.facts["identifiability"]["read"], "the first sees itself alone"


@pytest.mark.slow
def test_an_audit_of_lines(language_model, texts_file):
    model, tokenizer = language_model
    card = glasshead.audit(model, texts_file, tokenizer=tokenizer)
    assert card.facts["task"] == "token"
    assert card.facts["model"] == type(model).__name__
    assert "labels" not in card.facts
    assert card.facts["examples"] == 40
    asked = {finding.audit for finding in card.findings}
    assert {"performance", "agreement", "perturbation", "faithfulness", "identifiability"} <= asked
    assert "drawn at random from those that begin a word" in " ".join(card.facts["notes"])
    # Surprisals are those of the model itself.
    surprisals = []
    for text, label in zip(card.examples["text"], card.examples["label"], strict=True):
        with torch.no_grad():
            logits = model(tokenizer(text, return_tensors="pt")["input_ids"]).logits[0, -1]
        token = tokenizer.convert_tokens_to_ids(label.strip("“”"))
        surprisals.append(-float(logits.log_softmax(dim=-1)[token]))
    np.testing.assert_allclose(card.examples["surprisal"], surprisals, rtol=1e-4)
    found = next(each for each in card.findings if each.statistic == "cross-entropy")
    assert found.estimate == pytest.approx(np.mean(surprisals), rel=1e-4)
    assert card.facts["perplexity"] == pytest.approx(np.exp(np.mean(surprisals)), rel=1e-4)
    counts = {label: list(card.examples["label"]).count(label) for label in card.examples["label"]}
    unigram = [-np.log(counts[label] / (39 + 60)) for label in card.examples["label"]]
    assert found.null["unigram"] == pytest.approx(np.mean(unigram))
    assert found.verdict == "worse than guessing each token as often as it is the target"
    json.dumps(card.facts["guessing"])


def test_changes_are_those_of_the_probability(language_model):
    """However unlikely a token is, shuffled weights cannot move its probability by more than one."""
    model, tokenizer = language_model
    card = glasshead.audit(
        model, [{"text": text} for text in texts_of(20)], tokenizer=tokenizer, audits=["perturbation"]
    )
    assert 0 < np.nanmax(card.examples["permutation.median.absolute"]) <= 1
    assert np.all((np.array(card.examples["probability"]) > 0) & (np.array(card.examples["probability"]) < 1))


def test_labels_are_not_read(language_model):
    """A data set of classes is asked about its texts."""
    model, tokenizer = language_model
    rows = [{"text": text, "label": "good"} for text in texts_of(10)]
    card = glasshead.audit(model, Dataset.from_list(rows), tokenizer=tokenizer, audits=["agreement"])
    assert "good" not in card.examples["label"]


@pytest.mark.slow
def test_heads_and_ranking_of_a_language_model(language_model, texts_file):
    model, tokenizer = language_model
    report = glasshead.heads(model, texts_file, tokenizer=tokenizer, limit=10)
    assert report.head(0, 0).finding("removal-size").estimate <= 1
    ranking = glasshead.rank(model, texts_file, tokenizer=tokenizer, limit=4, removals=["delete"])
    assert {method.name for method in ranking.methods} >= {"attention", "erasure", "gradient"}


@pytest.mark.parametrize(
    ("data", "options", "says"),
    [
        (texts_of(4), {"by": "class"}, "every token is a class of a language model"),
        (texts_of(4), {"train": [{"text": "a film", "label": "x"}]}, "is for classifiers"),
        (["warm", "film"], {}, "none of these rows has a token, after the first word, that"),
    ],
)
def test_what_a_language_model_cannot_be_asked(data, options, says, language_model):
    model, tokenizer = language_model
    with pytest.raises(InputError) as raised:
        glasshead.audit(model, [{"text": text} for text in data], tokenizer=tokenizer, **options)
    assert says in str(raised.value)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("others", "options"),
    [({}, {}), ({"completion": "good"}, {"text_column": "prompt"})],
)
def test_a_table_without_labels_is_plain_texts(others, options, language_model, tmp_path):
    model, tokenizer = language_model
    name = options.get("text_column", "text")
    path = tmp_path / "texts.jsonl"
    path.write_text("\n".join(json.dumps({name: text, **others}) for text in texts_of(8)), encoding="utf-8")
    card = glasshead.audit(model, path, tokenizer=tokenizer, audits=["agreement"], **options)
    assert (card.facts["task"], card.facts["examples"]) == ("token", 8)
    own = glasshead.audit(model, texts_of(8), tokenizer=tokenizer, audits=["agreement"])
    assert list(card.examples["label"]) == list(own.examples["label"])
    asked = {"removals": ["delete"], "tokenizer": tokenizer, **options}
    assert len(glasshead.rank(model, path, ["gradient", "random"], **asked).methods) == 2


def test_the_splits_of_a_folder_without_labels(language_model, tmp_path):
    model, tokenizer = language_model
    for split, size in (("train", 6), ("test", 5)):
        (tmp_path / f"{split}.csv").write_text("\n".join(["text", *texts_of(size)]), encoding="utf-8")
    asked = {"tokenizer": tokenizer, "audits": ["agreement"]}
    for split, size in (("test", 5), ("all", 11)):
        assert glasshead.audit(model, tmp_path, split=split, **asked).facts["examples"] == size
    with pytest.raises(InputError, match="no split 'dev'"):
        glasshead.audit(model, tmp_path, split="dev", **asked)


@pytest.mark.parametrize("ask", [glasshead.audit, glasshead.rank, glasshead.heads])
def test_columns_that_are_not_known_can_be_named(ask, language_model, tmp_path):
    model, tokenizer = language_model
    rows = [{"input": text, "reply": "good"} for text in texts_of(4)]
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    for data in (path, rows):
        with pytest.raises(InputError) as raised:
            ask(model, data, tokenizer=tokenizer)
        assert "prompts and their answers with `text_column` and `label_column`" in str(raised.value)
        assert "(it has: input, reply)" in str(raised.value)
