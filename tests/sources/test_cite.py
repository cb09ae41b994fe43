"""Planted truth: which passage an answer came from, in any place, by any method, or that none is shown."""

import math

import numpy as np
import pytest
import torch
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

import glasshead
from glasshead.errors import InputError
from librarian import BY_HEART, KNOWN, NAMES, VALUES, draw_question, librarian
from model_state import model_state
from passage_model import draw_question as draw_trained
from passage_model import prompt_of, tokenizer, trained
from slow_cases import slow_but

METHODS = ("contextcite", "leave-one-out", "shapley")


@pytest.fixture(scope="module")
def reader():
    """What answers from passages, with what is always asked of it."""
    model, words = librarian()
    return model, {"tokenizer": words, "split": "whole", "neutral": "nothing nothing"}


def sources_of(statement):
    return tuple(sorted(one.passage for one in statement.sources))


@pytest.mark.slow
@pytest.mark.parametrize("method", slow_but("leave-one-out", "contextcite", of=METHODS))
def test_the_passages_that_hold_the_key_are_named(reader, method):
    """In one passage, in two, or in none: then the model knows it by heart."""
    model, asked = reader
    random = np.random.default_rng(11)
    found = []
    for number in range(9):
        question = draw_question(random, number % 3)
        cited = glasshead.cite(
            model,
            question.passages,
            question.question,
            answer=question.answer,
            method=method,
            seed=number,
            **asked,
        )
        found.append(sources_of(cited.whole) == question.holders)
        if number % 3 == 0:
            assert "comes from none of the passages" in cited.whole.says[0]
    assert sum(found) >= 8


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_of_a_trained_model(method):
    """Of questions that it answers right, 95 % of the sources are those that hold the key."""
    model, words, random = trained(), tokenizer(), np.random.default_rng(101)
    right = []
    for number in range(60):
        question = draw_trained(random, ["none", "one", "two"][number % 3])
        ids = torch.tensor([words(prompt_of(question))["input_ids"]])
        with torch.no_grad():
            log_p = model(input_ids=ids).logits[0, -1].log_softmax(-1)
        if log_p[words(question.answer)["input_ids"][0]] < math.log(0.5):
            continue
        cited = glasshead.cite(
            model, question.passages, question.question, answer=question.answer, tokenizer=words,
            method=method, split="whole", seed=number,
        )  # fmt: skip
        right.append(sources_of(cited.whole) == question.holders)
    assert len(right) > 45
    assert np.mean(right) >= (0.95 if method != "shapley" else 0.85)


def test_passages_that_repeat_one_another(reader):
    model, asked = reader
    passages = ["Name1 value2", "Name3 value4 filler1", "filler2 Name3 value4", "Name5 value6"]
    cited = glasshead.cite(model, passages, "Name3", answer="value4", **asked)
    assert sources_of(cited.whole) == (1, 2)
    (pair,) = cited.whole.pairs
    assert (pair.first, pair.second, pair.kind) == (1, 2, "repeat")
    assert pair.removal > 10 * max(one.removal for one in cited.whole.effects)
    assert "Either of passages 2 and 3 is enough." in cited.whole.says


@pytest.mark.slow
def test_coarse_to_fine_finds_the_sentence_that_all_sentences_do(reader):
    """In 95 %: passages first and then the sentences of sources, against every sentence of all passages."""
    model, asked = reader
    random, same = np.random.default_rng(29), []
    for number in range(20):
        names, values = random.permutation(NAMES)[:12], random.choice(VALUES, 12)
        facts = [f"{name} {value} ." for name, value in zip(names, values, strict=True)]
        passages = [" ".join(facts[place : place + 3]) for place in range(0, 12, 3)]
        place = int(random.integers(12))
        given = {
            "question": str(names[place]),
            "answer": str(values[place]),
            "method": "leave-one-out",
            **asked,
        }
        coarse = glasshead.cite(model, passages, seed=number, **given).whole
        found = [one for one in coarse.spans if one.kind == "sentence"]
        most = max(found, key=lambda one: one.removal, default=None)
        every = glasshead.cite(model, facts, **given).whole
        top = int(np.argmax([one.removal for one in every.effects]))
        same.append(most is not None and passages[most.passage][most.start : most.stop] == facts[top])
        assert len(found) <= 3 * len(coarse.sources)
    assert np.mean(same) >= 0.95


def test_each_sentence_of_the_answer_is_a_statement_of_its_own(reader):
    model, asked = reader
    passages = ["Name1 value2 filler0", "Name3 value4 filler1", "Name5 value6"]
    cited = glasshead.cite(model, passages, "Name7", answer="Name5 value6 . Name1 value2 .", **asked)
    assert [cited.text_of(one) for one in cited.sentences] == ["Name5 value6 .", "Name1 value2 ."]
    assert cited.sentences[0].sources[0].passage == 2
    assert cited.whole.log_probability == pytest.approx(sum(one.log_probability for one in cited.sentences))
    words = [span for span in cited.sentences[0].spans if (span.kind, span.passage) == ("word", 2)]
    assert {passages[2][span.start : span.stop] for span in words} == {"Name5", "value6"}
    assert min(span.removal for span in words) > 1


@pytest.mark.parametrize("removal", ["delete", "replace", "mask"])
def test_whatever_removal_means(reader, removal):
    model, asked = reader
    passages = ["Name1 value2 filler0", "Name3 value4 filler1", "Name5 value6"]
    cited = glasshead.cite(model, passages, "Name3", answer="value4", removal=removal, **asked)
    assert sources_of(cited.whole) == (1,)
    (other,) = cited.whole.other
    assert other != removal
    assert np.argmax(cited.whole.other[other]) == 1


def test_it_writes_the_answer_itself(reader):
    model, asked = reader
    before = model_state(model)
    cited = glasshead.cite(model, ["Name3 value4", "Name1 value2"], "Name1", tokens=1, **asked)
    assert cited.answer.strip() == "value2"
    assert sources_of(cited.whole) == (1,)
    assert cited.facts["written"]
    assert model_state(model) == before


def test_effects_add_up(reader):
    """Shapley values of all subsets add up to what all passages add."""
    model, asked = reader
    passages = [f"{name} {value}" for name, value in zip(NAMES[:5], VALUES, strict=False)]
    whole = glasshead.cite(model, passages, NAMES[2], answer=VALUES[2], method="shapley", **asked).whole
    assert sum(one.effect for one in whole.effects) == pytest.approx(
        whole.log_probability - whole.without_any, abs=1e-4
    )
    assert all(one.interval is None for one in whole.effects)


@pytest.mark.slow
def test_what_is_drawn_has_intervals_and_a_seed(reader):
    model, asked = reader
    passages = [f"{name} {value}" for name, value in zip(NAMES[:12], VALUES, strict=True)]
    one, again, other = (
        glasshead.cite(model, passages, NAMES[2], answer=VALUES[2], seed=seed, **asked) for seed in (0, 0, 1)
    )
    assert one.rows() == again.rows() != other.rows()
    assert all(low < effect.effect < high for effect in one.whole.effects for low, high in [effect.interval])
    assert sources_of(one.whole) == sources_of(other.whole) == (2,)


@pytest.mark.slow
@pytest.mark.parametrize("method", slow_but("leave-one-out", of=METHODS))
def test_random_models_claim_nothing(method):
    """In 19 of 20: what a passage does for an answer is chance there, and little."""
    words = librarian()[1]
    claims = 0
    for seed in range(20):
        torch.manual_seed(seed)
        sizes = {"vocab_size": len(words), "bos_token_id": 0, "eos_token_id": 0}
        model = (
            GPT2LMHeadModel(GPT2Config(n_embd=32, n_layer=2, n_head=2, n_positions=128, **sizes))
            if seed % 2
            else LlamaForCausalLM(
                LlamaConfig(
                    hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2, **sizes
                )
            )
        )
        question = draw_question(np.random.default_rng(seed), 1)
        cited = glasshead.cite(
            model,
            question.passages,
            question.question,
            answer=question.answer,
            method=method,
            tokenizer=words,
        )
        claims += bool(cited.whole.sources)
    assert claims <= 1


def test_by_heart_although_passages_name_it(reader):
    """A passage that says what the model knows is not shown to matter."""
    model, asked = reader
    name = KNOWN[1]
    cited = glasshead.cite(model, ["Name1 value2", "Name5 value6"], name, answer=BY_HEART[name], **asked)
    assert not cited.whole.sources
    assert "Without any of them it is as probable." in cited.whole.says


def test_what_foretells_ablations(reader):
    """The surrogate does, beyond chance. Of few passages nothing is said."""
    model, asked = reader
    passages = [f"{name} {value}" for name, value in zip(NAMES[:10], VALUES, strict=False)]
    cited = glasshead.cite(model, passages, NAMES[2], answer=VALUES[2], **asked)
    own, attention = (cited.whole.foretells[name] for name in ("contextcite", "attention"))
    assert own.n == attention.n == 64
    assert own.interval[0] < own.rho < own.interval[1]
    assert own.rho > own.chance
    assert own.interval[0] > 0
    assert not glasshead.cite(model, passages[:2], NAMES[1], answer=VALUES[1], **asked).whole.foretells


def test_other_methods_stand_beside(reader):
    model, asked = reader
    passages = ["Name1 value2 filler0", "Name3 value4 filler1", "Name5 value6"]
    cited = glasshead.cite(
        model,
        passages,
        "Name3",
        answer="value4",
        beside=("attention", "gradient", "erasure-all-layers"),
        **asked,
    )
    assert set(cited.whole.maps) == {"attention", "gradient", "erasure-all-layers"}
    for shares in cited.whole.maps.values():
        assert all(0 <= share <= 1 for share in shares)
        assert sum(shares) <= 1 + 1e-6
    assert np.argmax(cited.whole.maps["erasure-all-layers"]) == 1
    table = cited.to_pandas()
    assert len(table) == len(passages) * len(cited.statements)
    assert {"effect", "removal", "source", "attention"} <= {*table.columns}


def test_a_chosen_head_stands_beside(reader):
    """The head that does induction looks at the source; the one that looks one token back does not."""
    model, asked = reader
    passages = ["Name1 value2 filler0", "Name3 value4 filler1", "Name5 value6"]
    shares = [
        glasshead.cite(model, passages, "Name3", answer="value4", layer=layer, head=head, **asked).whole.maps[
            "attention"
        ][1]
        for layer, head in ((1, 2), (0, 1))
    ]
    assert shares[0] > 0.9 > shares[1]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"context": []}, "has no passage"),
        ({"context": ["a"], "question": " "}, "question. must be a text"),
        ({"answer": " "}, "answer. must be a text"),
        ({"method": "chance"}, "method. must be .contextcite."),
        ({"prompt": "{question}"}, "must contain {context} once, and {question}"),
        ({"draws": 3}, "draws. must be from 16"),
        ({"context": [3]}, "a passage must be a text"),
        ({"context": ["Name1 value2"] * 90, "answer": "value2"}, "reads 160: give fewer or shorter passages"),
        ({"question": [{"role": "user", "content": "Name1"}]}, "no chat template"),
        ({"beside": ("guess",)}, "guess"),
        ({"beside": ("gradient",), "head": 1}, "are for attention: add it"),
        ({"layer": 7, "answer": "value2"}, "layer"),
    ],
)
def test_bad_input_has_one_line(reader, given, says):
    model, asked = reader
    with pytest.raises(InputError, match=says) as raised:
        glasshead.cite(model, **{"context": ["Name1 value2"], "question": "Name1", **asked, **given})
    assert len(str(raised.value)) <= 300
