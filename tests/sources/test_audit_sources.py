"""The rank of methods that name sources, and the audit of attention and place, on planted truths."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from transformers import GPT2LMHeadModel

import glasshead
from first_reader import first_reader
from glasshead.errors import InputError
from glasshead.results import Standing
from glasshead.sources.questions import read_questions, read_row
from librarian import NAMES, VALUES, draw_question, librarian
from passage_model import draw_question as draw_trained
from passage_model import tokenizer, trained

ASKED = {"split": "whole", "neutral": "nothing nothing"}


def rows_of(count, seed=3, least=4, most=6, holders=1):
    """Questions of few passages, which are read in every subset."""
    random = np.random.default_rng(seed)
    drawn = [draw_question(random, holders, int(random.integers(least, most + 1))) for _ in range(count)]
    return [{"question": one.question, "context": one.passages, "answer": one.answer} for one in drawn]


def standings(audit, statistic):
    return {one.name: one.by_statistic[statistic][1] for one in audit.methods}


@pytest.fixture(scope="module")
def reader():
    return librarian()


@pytest.fixture(scope="module")
def of_a_reader(reader):
    """The audit of a model that answers from the passage that holds the key, wherever it is."""
    model, words = reader
    return glasshead.audit_sources(model, rows_of(30), tokenizer=words, **ASKED)


@pytest.mark.slow
def test_what_removes_passages_leads_and_their_order_does_not(of_a_reader):
    for statistic in ("top-1", "prediction"):
        found = standings(of_a_reader, statistic)
        assert found["contextcite"] == Standing.LEADS
        assert found["position"] == Standing.NOT_SHOWN
    assert found["leave-one-out"] == Standing.LEADS
    assert "position is not shown to do better than a random order." in of_a_reader.conclusion


def test_attention_that_reads_the_source_is_shown_to(of_a_reader):
    top = of_a_reader.finding("attention.top").finding
    assert top.n == 30
    assert top.interval[0] > top.null["another question"]
    assert "attention is highest on the passage whose removal costs most" in top.verdict


def test_the_key_passage_moves_among_five_or_more(of_a_reader):
    assert {one.passages for one in of_a_reader.questions} == {4, 5, 6}
    for one in of_a_reader.questions:
        assert len(one.places) == len(one.reshuffled) == (0 if one.passages < 5 else 5)
    few = sum(one.passages == 4 for one in of_a_reader.questions)
    assert (
        f"{few} of 30 questions have fewer than 5 passages: no place is tested there" in of_a_reader.remarks
    )


def test_place_is_not_shown_to_matter_where_it_does_not(of_a_reader):
    assert all(not of_a_reader.finding(name).says for name in ("place.moved", "place.ends", "place.start"))
    assert "no sink shown" in of_a_reader.finding("attention.first").finding.verdict


def test_one_row_for_each_question(of_a_reader, tmp_path):
    table = of_a_reader.to_pandas()
    assert len(table) == 30
    assert {"question", "sources", "contextcite.top-1", "attention.prediction"} <= {*table.columns}
    np.testing.assert_allclose(
        table["leave-one-out.top-1"].max(), max(max(q.alone) for q in of_a_reader.questions)
    )
    for kind in ("html", "json", "md", "csv"):
        of_a_reader.save(tmp_path / f"audit.{kind}")
    kept = json.loads((tmp_path / "audit.json").read_text(encoding="utf-8"))
    assert len(kept["questions"]) == 30
    assert "Which method names sources best?" in (tmp_path / "audit.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_place_matters_where_only_the_first_passage_is_read():
    """Each passage is the first where it is alone, so that it is key; among others only the first counts."""
    model, words = first_reader()
    random, rows = np.random.default_rng(5), []
    for _ in range(24):
        values = random.permutation(VALUES)[:5]
        names = random.permutation(NAMES)[:5]
        said = [f"{name} {value}" for name, value in zip(names, values, strict=True)]
        rows.append({"question": str(names[2]), "context": said, "answer": str(values[random.integers(5)])})
    audit = glasshead.audit_sources(model, rows, tokenizer=words, **ASKED)
    assert "place matters: moving the key passage" in audit.finding("place.moved").finding.verdict
    assert "higher with its key passage first than" in audit.finding("place.start").finding.verdict
    first, *others = (one.estimate for one in audit.curve)
    assert first > 1 > max(others)
    written = [{"question": row["question"], "context": row["context"]} for row in rows]
    own = glasshead.audit_sources(model, written, tokenizer=words, tokens=1, **ASKED)
    assert standings(own, "top-1")["position"] == Standing.LEADS


@pytest.mark.slow
def test_a_sink_of_attention_is_found(reader):
    """A head of the last layer looks at the first passage whatever is asked, and moves nothing."""
    model, words = reader
    sink = GPT2LMHeadModel(model.config)
    sink.load_state_dict(model.state_dict())
    wide, places = model.config.n_embd, len(words)
    with torch.no_grad():
        attention = sink.transformer.h[1].attn
        attention.c_attn.bias[0] += 20.0
        attention.c_attn.weight[places + 1 : places + 3, wide] += 1.0
        attention.c_attn.weight[:, 2 * wide : 2 * wide + wide // model.config.n_head] = 0.0
    rows = rows_of(24, seed=8, most=4)
    for row in rows:  # the source is never first
        row["context"].sort(key=lambda text, name=row["question"]: f"{name} " in f"{text} ")
    audit = glasshead.audit_sources(sink.eval(), rows, tokenizer=words, **ASKED)
    first = audit.finding("attention.first").finding
    assert "the first passage is a sink" in first.verdict
    assert first.interval[0] > max(first.null.values())


@pytest.mark.slow
def test_the_rank_of_a_trained_model():
    """It answers from the passage that holds the key among distractors, in any place."""
    random, rows = np.random.default_rng(7), []
    for number in range(30):
        drawn = draw_trained(random, ["one", "one", "two"][number % 3], 5)
        rows.append({"question": drawn.question, "context": drawn.passages, "answer": drawn.answer})
    audit = glasshead.audit_sources(trained(), rows, tokenizer=tokenizer(), split="whole")
    for statistic in ("top-1", "prediction"):
        found = standings(audit, statistic)
        assert found["contextcite"] == Standing.LEADS
        if statistic == "prediction":
            assert found["leave-one-out"] in (Standing.LEADS, Standing.BEHIND)
        assert found["position"] in (Standing.NOT_SHOWN, Standing.UNDECIDED)


@pytest.mark.slow
def test_attention_with_random_weights_claims_nothing(reader):
    """A head that moves nothing shows a random attention of a model that answers from its passages."""
    model, words = reader
    wide, own = model.config.n_embd, model.config.n_embd // model.config.n_head
    claims = 0
    for seed in range(10):
        shown = GPT2LMHeadModel(model.config).eval()
        shown.load_state_dict(model.state_dict())
        random = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            weights = shown.transformer.h[1].attn.c_attn.weight
            for part in (0, wide):  # queries and keys
                weights[:, part : part + own].normal_(0.0, 0.3, generator=random)
            weights[:, 2 * wide : 2 * wide + own] = 0.0
        audit = glasshead.audit_sources(
            shown, rows_of(24, seed, least=5, most=5), tokenizer=words, layer=1, head=0, **ASKED
        )
        assert standings(audit, "top-1")["contextcite"] == Standing.LEADS
        found = [one for one in audit.findings if one.finding.statistic.startswith("attention.")]
        assert {one.finding.n for one in found} == {24}
        said = any(one.says and " not shown " not in one.says for one in found)
        claims += said or standings(audit, "top-1")["attention"] != Standing.NOT_SHOWN
    assert claims <= 1


@pytest.mark.slow
def test_an_interrupted_audit_goes_on(reader, tmp_path):
    """What was measured is found again, and nothing of other questions or options."""
    model, words = reader
    store, rows = tmp_path / "questions.jsonl", rows_of(4)

    class Interrupted(Exception):
        pass

    def stop(stage, share=None):
        if share is not None and share > 0.6:
            raise Interrupted

    asked = {"tokenizer": words, "store": store, **ASKED}
    with pytest.raises(Interrupted):
        glasshead.audit_sources(model, rows, progress=stop, **asked)
    before = store.read_text(encoding="utf-8")
    assert len(before.splitlines()) == 4  # a head and three questions
    store.write_text(before + '{"asked": "cut off', encoding="utf-8")
    whole = glasshead.audit_sources(model, rows, **asked)
    assert store.read_text(encoding="utf-8").startswith(before)
    assert len([*map(json.loads, store.read_text(encoding="utf-8").splitlines())]) == 5
    alone = glasshead.audit_sources(model, rows, tokenizer=words, **ASKED)
    assert [replace(one, notes=()) for one in whole.questions][3].alone == alone.questions[3].alone
    assert json.loads(whole.to_json())["questions"] == json.loads(alone.to_json())["questions"]
    with pytest.raises(InputError, match="other options"):
        glasshead.audit_sources(model, rows, **{**asked, "draws": 32})
    head = before.splitlines()[0]
    for begun in ("", head[:20], head):  # stopped before the first question was kept
        store.write_text(begun, encoding="utf-8")
        glasshead.audit_sources(model, rows[:1], **asked)
        assert store.read_text(encoding="utf-8").startswith(before.splitlines(keepends=True)[0])
        assert len([*map(json.loads, store.read_text(encoding="utf-8").splitlines())]) == 2


def test_questions_as_people_have_them(reader, tmp_path):
    """A table whose cells hold lists, a text of paragraphs, and other names of columns, are the same."""
    model, words = reader
    (row,) = rows_of(1)
    (tmp_path / "a.csv").write_text(
        'user_input,retrieved_contexts,response\n{},"{}",{}\n'.format(
            row["question"], json.dumps(row["context"]).replace('"', '""'), row["answer"]
        ),
        encoding="utf-8",
    )
    lines = {**row, "context": "\n\n".join(row["context"]), "answer": None}
    (tmp_path / "b.jsonl").write_text(json.dumps(lines) + "\n", encoding="utf-8")
    one, other = (
        glasshead.audit_sources(model, tmp_path / name, tokenizer=words, neutral="nothing nothing", tokens=1)
        for name in ("a.csv", "b.jsonl")
    )
    assert one.questions[0].passages == other.questions[0].passages == len(row["context"])
    assert one.questions[0].answer == other.questions[0].answer.strip() == row["answer"]


def test_answers_and_contexts_of_tables():
    """A column with gaps holds whole numbers as 1984.0; a text may begin with a footnote."""
    table = pd.DataFrame({"question": "When?", "context": "[1] Smith says so.", "answer": [1984, None]})
    first, second = read_questions(table)
    assert (first.answer, second.answer) == ("1984", None)
    assert [one.text for one in first.passages] == ["[1] Smith says so."]
    assert read_row({"question": "Who?", "context": "a", "answer": 0.5}, "", None).answer == "0.5"


@pytest.mark.parametrize(
    ("questions", "says"),
    [
        ([], "questions are a file, a table or a list of rows"),
        ([{"question": "Name1"}], "row 1 has no context"),
        ([{"question": "", "context": ["Name1 value1"]}], "row 1 has nothing in the column 'question'"),
        ([{"question": "Name1", "context": ["Name1 value1", " "]}], "row 1: passage 2 has no text"),
        ([{"question": "Name1", "context": "[Name1]"}], "is not a JSON list"),
        ([{"question": "Name1", "context": "[1]"}], "row 1: a passage must be a text"),
        ([{"question": "Name1", "context": "a", "answer": True}], "a text or a number, not True"),
        (
            [{"question": "Name1", "context": ["Name1 value1"] * 90, "answer": "value1"}],
            "no question can be measured",
        ),
    ],
)
def test_bad_questions_have_one_line(reader, questions, says):
    with pytest.raises(InputError, match=says) as raised:
        glasshead.audit_sources(reader[0], questions, tokenizer=reader[1], **ASKED)
    assert len(str(raised.value)) <= 300
