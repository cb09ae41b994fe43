"""A model that finds answers in a text is asked about one part: p, and what decides it, are known."""

import json
from functools import cache

import numpy as np
import pytest
import torch
import transformers as hf
from datasets import Dataset

import glasshead
from classifier_families import FAMILIES, WORDS
from glasshead import explain
from glasshead.data import LoadOptions, read_answered
from glasshead.errors import InputError
from glasshead.explainers import EXPLAINERS
from glasshead.tasks import QUESTIONS, Chosen
from glasshead.tasks.spans import PART_FROM, PART_TO
from slow_cases import own_methods

FAMILY = FAMILIES["Bert"]
QUESTION, CONTEXT = "a warm film", "the plot is dull and not very good"
OTHERS = [word for word in WORDS.split() if word not in ("good", "bad")]


def reader(family="Bert"):
    """A tiny model that finds answers."""
    config = FAMILIES[family].config(**FAMILIES[family].options)
    torch.manual_seed(0)
    model = hf.AutoModelForQuestionAnswering.from_config(config).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return model, FAMILIES[family].tokenizer()


def planted_rows(random, count):
    """Questions with “good” or “bad”: the answer is the word behind that word in the text, which has both."""
    rows = []
    for _ in range(count):
        words = [str(word) for word in random.choice(OTHERS, 8, replace=False)]
        words[1], words[5] = ("good", "bad") if random.random() < 0.5 else ("bad", "good")
        asked = ("good", "bad")[random.integers(2)]
        question = [str(word) for word in random.choice(OTHERS, 2, replace=False)]
        question.insert(int(random.integers(3)), asked)
        answer = words.index(asked) + 1
        start = len(" ".join(words[:answer])) + 1
        rows.append(
            {
                "question": " ".join(question),
                "context": " ".join(words),
                "answers": {"text": [words[answer]], "answer_start": [start]},
            }
        )
    return rows


@cache
def planted():
    """A model that has learnt that, and rows that it has not seen."""
    torch.manual_seed(0)
    config = FAMILY.config(**FAMILY.options, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    model, tokenizer = hf.BertForQuestionAnswering(config), FAMILY.tokenizer()
    for parameter in model.parameters():
        if parameter.ndim > 1:  # content is told apart from the first step on
            torch.nn.init.normal_(parameter, std=0.4)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    random = np.random.default_rng(0)
    for _ in range(600):
        rows = planted_rows(random, 64)
        given = tokenizer(
            [row["question"] for row in rows],
            [row["context"] for row in rows],
            padding=True,
            return_tensors="pt",
        )
        places = torch.tensor(
            [
                given.char_to_token(number, row["answers"]["answer_start"][0], sequence_index=1)
                for number, row in enumerate(rows)
            ]
        )
        optimizer.zero_grad()
        model(**given, start_positions=places, end_positions=places).loss.backward()
        optimizer.step()
    return model.eval(), tokenizer, planted_rows(random, 60)


@pytest.mark.parametrize("family", ["Bert", "Roberta", "DistilBert", "Electra"])
def test_the_probability_is_that_of_both_ends(family):
    model, tokenizer = reader(family)
    given = tokenizer(QUESTION, CONTEXT, return_tensors="pt")
    first, last = (given.char_to_token(0, CONTEXT.index(word), sequence_index=1) for word in ("not", "very"))
    with torch.no_grad():
        output = model(**given)
    starts, ends = output.start_logits[0].softmax(-1), output.end_logits[0].softmax(-1)
    expected = {"start": starts[first], "end": ends[last], "span": starts[first] * ends[last]}
    sides = {"start": " (its beginning)", "end": " (its end)", "span": ""}
    for target, p in expected.items():
        (one,) = explain(model, QUESTION, pairs=CONTEXT, tokenizer=tokenizer, at="not very", target=target)
        assert one.prediction == pytest.approx(float(p), rel=1e-3, abs=1e-6)
        assert one.target == "here"
        assert one.asked.endswith(sides[target])
    assert one.asked == "not very"


def test_left_out_it_is_the_likeliest_part():
    model, tokenizer = reader()
    given = tokenizer(QUESTION, CONTEXT, return_tensors="pt")
    with torch.no_grad():
        output = model(**given)
    starts, ends = output.start_logits[0].softmax(-1), output.end_logits[0].softmax(-1)
    context = [place for place, which in enumerate(given.sequence_ids(0)) if which == 1]
    best = max(float(starts[a] * ends[b]) for a in context for b in context if a <= b)
    (one,) = explain(model, QUESTION, pairs=CONTEXT, tokenizer=tokenizer)
    assert one.prediction == pytest.approx(best, rel=1e-3)


def test_gradients_and_erasures_are_those_of_the_part():
    model, tokenizer = reader()
    given = tokenizer(QUESTION, CONTEXT, return_tensors="pt")
    first, last = (given.char_to_token(0, CONTEXT.index(word), sequence_index=1) for word in ("not", "very"))
    vectors = model.get_input_embeddings()(given["input_ids"]).detach().requires_grad_()

    def probability(output):
        return output.start_logits.softmax(-1)[0, first] * output.end_logits.softmax(-1)[0, last]

    others = {name: value for name, value in given.items() if name != "input_ids"}
    value = probability(model(inputs_embeds=vectors, **others))
    value.backward()
    asked = {"pairs": CONTEXT, "tokenizer": tokenizer, "at": "not very"}
    (one,) = explain(model, QUESTION, method="gradient", **asked)
    np.testing.assert_allclose(one.scores, (vectors * vectors.grad)[0].sum(-1).detach(), atol=1e-5)
    (one,) = explain(model, QUESTION, method="erasure-mask-token", **asked)
    for token in range(1, 4):
        ids = given["input_ids"].clone()
        ids[0, token] = tokenizer.mask_token_id
        with torch.no_grad():
            without = probability(model(input_ids=ids, **others))
        assert one.scores[token] == pytest.approx(float(value.detach() - without), abs=1e-5)


@pytest.mark.parametrize("method", own_methods())
def test_each_method_works_alone_as_in_a_batch(method):
    model, tokenizer = reader()
    questions, contexts = [QUESTION, "bad"], [CONTEXT, "so very good"]
    if EXPLAINERS[method].for_images or method == "erasure-delete":
        with pytest.raises(InputError, match="use the method"):
            explain(model, questions, pairs=contexts, tokenizer=tokenizer, method=method)
        return
    together = explain(model, questions, pairs=contexts, tokenizer=tokenizer, method=method)
    for one, question, context in zip(together, questions, contexts, strict=True):
        (other,) = explain(model, question, pairs=context, tokenizer=tokenizer, method=method)
        assert one.prediction == pytest.approx(other.prediction, abs=1e-5)
        if method != "random":
            np.testing.assert_allclose(one.scores, other.scores, atol=1e-4)


@pytest.mark.slow
def test_the_word_of_the_question_that_decides_is_found():
    model, tokenizer, rows = planted()
    questions, contexts = [row["question"] for row in rows], [row["context"] for row in rows]
    found = explain(model, questions, pairs=contexts, tokenizer=tokenizer, method="random")
    right = [one.asked == row["answers"]["text"][0] for one, row in zip(found, rows, strict=True)]
    assert np.mean(right) > 0.9
    # A model may take one of the words for granted: it decides where its absence changes the answer.
    without = [question.replace("good", "[MASK]").replace("bad", "[MASK]") for question in questions]
    hidden = explain(model, without, pairs=contexts, tokenizer=tokenizer, method="random")
    decided = [
        row for row, (one, other) in enumerate(zip(found, hidden, strict=True)) if one.asked != other.asked
    ]
    assert len(decided) >= 15

    def hits(method):
        found = explain(
            model,
            [questions[row] for row in decided],
            pairs=[contexts[row] for row in decided],
            tokenizer=tokenizer,
            method=method,
        )
        best = [max(zip(one.scores, one.tokens, strict=True))[1] for one in found]
        return np.mean([word in ("good", "bad") for word in best])

    assert hits("erasure-mean-embedding") >= 0.95
    assert hits("random") < 0.5


@pytest.mark.parametrize("as_file", [True, False])
def test_the_card_asks_about_the_answer_or_another_part(as_file, tmp_path):
    model, tokenizer, rows = planted()
    data = rows
    if as_file:
        data = tmp_path / "squad.jsonl"
        data.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    card = glasshead.audit(
        model,
        data,
        tokenizer=tokenizer,
        audits=["performance", "faithfulness"],
        method="erasure-mean-embedding",
    )
    assert card.finding("performance.accuracy.all").estimate > 0.9
    assert any("in half of them the answer" in note for note in card.facts["notes"])
    assert card.finding("faithfulness.comprehensiveness.all").over_null["random"].interval[0] > 0
    assert {*card.examples["label"]} == {"here", "elsewhere"}


def test_parts_that_are_right_are_not_asked_as_wrong_and_rows_without_answer_are_counted():
    model, tokenizer = reader()
    context = "film is good and film is bad"
    answers = {"text": ["film", "film"], "answer_start": [0, 17]}
    rows = [{"question": "what", "context": context, "answers": answers}] * 40
    none = [{"question": "why", "context": context, "answers": {"text": [], "answer_start": []}}] * 8
    card = glasshead.audit(model, rows + none, tokenizer=tokenizer, audits=["performance"])
    assert card.facts["examples"] == 40
    assert any("8 of 48 rows do not have an answer" in note for note in card.facts["notes"])
    chosen = Chosen(read_answered(Dataset.from_list(rows), "all", LoadOptions()), *[np.arange(40)] * 2, 0)
    drawn, _ = QUESTIONS["spans"].draw(glasshead.open(model, tokenizer).model, tokenizer, chosen)
    parts = {
        (label, context[start - 5 : end - 5])
        for label, start, end in zip(drawn["label"], drawn[PART_FROM], drawn[PART_TO], strict=True)
    }
    assert (1, "film") in parts
    assert {part for label, part in parts if label == 0} == {"is", "good", "and", "bad"}


def test_a_part_that_is_cut_away_is_not_shortened():
    model, tokenizer = reader()
    tokenizer.model_max_length = 10
    with pytest.raises(InputError, match="is beyond the model's maximum length"):
        explain(model, "bad", pairs=CONTEXT, tokenizer=tokenizer, at="dull and not very")


@pytest.mark.slow
def test_heads_and_rankings():
    model, tokenizer, rows = planted()
    assert len(glasshead.heads(model, rows[:8], tokenizer=tokenizer).heads) == 4
    ranking = glasshead.rank(model, rows[:8], tokenizer=tokenizer, methods=["gradient", "random"])
    assert "delete" not in ranking.removals


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"pairs": None}, "looks for the answer to a question in a text"),
        ({"at": "cold"}, "not there in"),
        ({"at": "t"}, "there more than once"),
        ({"at": " "}, "is empty"),
        ({"pairs": "  "}, "reads no word of the text"),
        ({"target": "middle"}, "predicts no 'middle' of an answer"),
    ],
)
def test_what_cannot_be_asked(changes, says):
    model, tokenizer = reader()
    with pytest.raises(InputError, match=says):
        explain(model, QUESTION, **{"pairs": CONTEXT, "tokenizer": tokenizer} | changes)


@pytest.mark.parametrize(
    ("answers", "says"),
    [
        ({"text": ["good"], "answer_start": [0]}, "row 1: the answer 'good' is not at answer_start"),
        ("plot plot", "is not at answer_start"),
        ({"text": [], "answer_start": []}, "none of these rows has an answer"),
        (3, "must be a text and the number of a character"),
        ("t", "more than once"),
    ],
)
def test_answers_that_are_not_there(answers, says):
    model, tokenizer = reader()
    rows = [{"question": QUESTION, "context": CONTEXT, "answers": answers}]
    with pytest.raises(InputError, match=says):
        glasshead.audit(model, rows, tokenizer=tokenizer, audits=["performance"])


def test_a_saved_reader_is_opened(tmp_path):
    model, tokenizer = reader()
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    (one,) = explain(str(tmp_path), QUESTION, pairs=CONTEXT, at="dull")
    (same,) = explain(model, QUESTION, pairs=CONTEXT, tokenizer=tokenizer, at="dull")
    assert one.scores == pytest.approx(same.scores, abs=1e-6)
