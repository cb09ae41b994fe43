"""Data with an answer in each row: a language model is asked how likely it is, and what that rests on."""

import json

import numpy as np
import pytest
import torch
import transformers as hf
from datasets import Dataset
from typer.testing import CliRunner

import glasshead
from classifier_families import FAMILIES, WORDS
from glasshead.cli.app import app
from glasshead.data import LoadOptions, find_answer_columns, names_of_columns, read_given
from glasshead.errors import InputError
from planted_answers import FOLLOWS, planted

MODELS = {
    "GPT2": hf.GPT2LMHeadModel,
    "Llama": hf.LlamaForCausalLM,
    "T5": hf.T5ForConditionalGeneration,
    "Bart": hf.BartForConditionalGeneration,
}
WRITERS = ["GPT2", "Llama"]


def writer(family):
    """A tiny random model."""
    torch.manual_seed(0)
    model = MODELS[family](FAMILIES[family].config(**FAMILIES[family].options)).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return model, FAMILIES[family].tokenizer()


def rows_of(count, *, against=False, seed=0):
    """Prompts with answers of several lengths, and perhaps others."""
    random = np.random.default_rng(seed)

    def words(least, most):
        return " ".join(random.choice(WORDS.split(), random.integers(least, most), replace=False))

    other = {"against": None} if against else {}
    rows = [{"source": words(5, 9), "target": words(1, 4), **other} for _ in range(count)]
    return [{name: value or words(4, 6) for name, value in row.items()} for row in rows]


def own_log_p(model, tokenizer, prompt, answer):
    """log p of an answer, by the loss of the model itself."""
    if model.config.is_encoder_decoder:
        labels = tokenizer(text_target=answer, return_tensors="pt")["input_ids"]
        inputs = tokenizer(prompt, return_tensors="pt")
        kept = {name: inputs[name] for name in ("input_ids", "attention_mask")}
        with torch.no_grad():
            return -float(model(**kept, labels=labels).loss) * labels.numel()
    ids = tokenizer(f"{prompt} {answer}", return_tensors="pt")["input_ids"]
    size = len(answer.split())
    labels = ids.clone()
    labels[:, :-size] = -100
    with torch.no_grad():
        return -float(model(ids, labels=labels).loss) * size


@pytest.mark.parametrize("family", MODELS)
def test_the_number_is_the_log_probability_of_each_answer(family):
    model, tokenizer = writer(family)
    rows = rows_of(8)
    card = glasshead.audit(model, rows, tokenizer=tokenizer, audits=["agreement"])
    expected = [own_log_p(model, tokenizer, row["source"], row["target"]) for row in rows]
    assert np.ptp(expected) > 3, "answers of several lengths differ"
    np.testing.assert_allclose(card.examples["predicted"], expected, rtol=1e-4)
    assert card.facts["log_probability"] == pytest.approx(np.mean(expected), rel=1e-4)
    assert card.facts["task"] == "answer"
    assert list(card.examples["label"]) == [row["target"] for row in rows]
    assert "log-probability that the model gives it" in " ".join(card.facts["notes"])


@pytest.mark.parametrize("family", MODELS)
def test_an_answer_is_explained_as_by_its_name(family):
    """The scores that an audit reads are those of `explain` with this answer."""
    model, tokenizer = writer(family)
    rows = rows_of(3)
    card = glasshead.audit(model, rows, tokenizer=tokenizer, method="gradient", audits=["agreement"])
    behind = family in WRITERS
    for highlight in card.highlights:
        shown = highlight.attribution
        row = next(row for row in rows if shown.text.startswith(row["source"]))
        answer = f" {row['target']}" if behind else row["target"]
        one = glasshead.explain(
            model, row["source"], tokenizer=tokenizer, answer=answer, method="gradient", unit="token"
        )[0]
        size = len(one.scores)
        np.testing.assert_allclose(shown.scores[:size], one.scores, atol=1e-4)
        assert shown.prediction == pytest.approx(np.log(one.prediction), rel=1e-4)
        assert (highlight.label, shown.asked, shown.target) == (
            row["target"], row["target"], "log-probability",
        )  # fmt: skip
    assert card.highlights


@pytest.mark.slow
@pytest.mark.parametrize("family", ["GPT2", "T5"])
def test_usual_audits_rankings_and_heads_ask_about_answers(family):
    model, tokenizer = writer(family)
    rows = rows_of(5)
    card = glasshead.audit(model, rows, tokenizer=tokenizer, draws=2)
    asked = {finding.audit for finding in card.findings}
    assert {"agreement", "perturbation", "faithfulness", "identifiability"} <= asked
    assert "performance" not in asked
    assert "do not say how likely it should be" in " ".join(card.facts["notes"])
    ranking = glasshead.rank(model, rows, ["gradient", "random"], tokenizer=tokenizer, limit=3)
    assert {method.name for method in ranking.methods} == {"gradient", "random"}
    report = glasshead.heads(model, rows, tokenizer=tokenizer)
    removal = report.head(0, 0).finding("removal-size")
    assert removal.n == 5
    assert removal.estimate > 0


def test_an_effect_of_a_head_is_that_on_the_answer():
    model, tokenizer = writer("GPT2")
    rows = rows_of(1)
    report = glasshead.heads(model, rows, tokenizer=tokenizer)
    before = own_log_p(model, tokenizer, rows[0]["source"], rows[0]["target"])
    size = model.config.n_embd // model.config.n_head
    with torch.no_grad():
        model.transformer.h[0].attn.c_proj.weight[:size] = 0  # the rows of head 0
    after = own_log_p(model, tokenizer, rows[0]["source"], rows[0]["target"])
    assert abs(before - after) > 0.01
    assert report.head(0, 0).finding("removal").estimate == pytest.approx(before - after, rel=1e-3)


@pytest.mark.parametrize("family", MODELS)
def test_two_answers_are_compared(family):
    model, tokenizer = writer(family)
    rows = rows_of(12, against=True)
    card = glasshead.audit(model, rows, tokenizer=tokenizer, method="gradient", audits=["performance"])
    log_p = np.array(
        [
            [own_log_p(model, tokenizer, row["source"], row[name]) for name in ("against", "target")]
            for row in rows
        ]
    )
    first = np.array(card.examples["label"]) == "the first answer"
    assert 0 < first.sum() < len(rows), "the given answer is the first or the second"
    given = 1 / (1 + np.exp(log_p[:, 0] - log_p[:, 1]))
    is_first = np.array(card.examples["target"]) == "the first answer"
    expected = np.where(first == is_first, given, 1 - given)
    np.testing.assert_allclose(card.examples["probability"], expected, atol=1e-4)
    assert card.facts["accuracy"] == pytest.approx((given > 0.5).mean())
    names = [
        f"{row['target']} rather than {row['against']}" if own
        else f"{row['against']} rather than {row['target']}"
        for row, own in zip(rows, first, strict=True)
    ]  # fmt: skip
    assert list(card.examples["question"]) == names


def test_attention_has_no_part_in_comparing_answers():
    model, tokenizer = writer("GPT2")
    rows = rows_of(8, against=True)
    for ask in (glasshead.audit, glasshead.rank):
        with pytest.raises(InputError, match="no single attention determines the contrast"):
            ask(model, rows, tokenizer=tokenizer)
    ranking = glasshead.rank(model, rows, ["gradient", "erasure-mean-embedding"], tokenizer=tokenizer)
    assert len(ranking.methods) == 2
    card = glasshead.audit(model, rows, tokenizer=tokenizer, method="erasure-mean-embedding")
    against = {finding.against for finding in card.findings if finding.audit == "agreement"}
    assert against == {"gradient"}


def planted_rows():
    """Rows of the planted model whose answer follows from one word, and what these words are."""
    model, tokenizer, (prompts, answers, deciding) = planted()
    rows = [
        {"prompt": prompt, "completion": answer}
        for prompt, answer, word in zip(prompts, answers, deciding, strict=True)
        if word in FOLLOWS
    ]
    return model, tokenizer, rows


def test_the_word_that_decides_is_found_by_the_faithful_method():
    model, tokenizer, rows = planted_rows()
    methods = ["erasure-mean-embedding", "random"]
    ranking = glasshead.rank(model, rows, methods, tokenizer=tokenizer, removals=["unknown-token"])
    assert ranking.leaders("comprehensiveness", "unknown-token") == ["erasure-mean-embedding"]
    verdicts = {}
    for method in methods:
        card = glasshead.audit(model, rows, tokenizer=tokenizer, method=method, audits=["faithfulness"])
        found = card.finding("faithfulness.comprehensiveness.all")
        verdicts[method] = found.verdict
        if method != "random":  # without the word the answer is less likely by far
            assert found.interval[0] > 2
    assert "more faithful than random" in verdicts["erasure-mean-embedding"]
    assert "more faithful than random" not in verdicts["random"]


def test_the_planted_model_prefers_its_answer():
    model, tokenizer, rows = planted_rows()
    others = {" so warm": " so dull", " so dull": " so warm"}
    pairs = [
        {"prompt": row["prompt"], "chosen": row["completion"], "rejected": others[row["completion"]]}
        for row in rows
    ]
    card = glasshead.audit(model, pairs, tokenizer=tokenizer, method="erasure-mean-embedding")
    assert card.facts["accuracy"] == 1
    assert card.facts["against_guessing"] == "better"
    assert card.finding("faithfulness.comprehensiveness.all").status == "evidence"


def test_a_row_is_the_same_among_others():
    model, tokenizer = writer("T5")
    rows = rows_of(6)
    whole = glasshead.audit(model, rows, tokenizer=tokenizer, audits=["perturbation"], draws=3)
    half = glasshead.audit(model, rows[:3], tokenizer=tokenizer, audits=["perturbation"], draws=3)
    column = "permutation.median.absolute"
    np.testing.assert_allclose(whole.examples[column][:3], half.examples[column], rtol=1e-3)
    assert whole.examples["id"][:3] == half.examples["id"]
    other = [{**row, "target": "bad film"} for row in rows]
    changed = glasshead.audit(model, other, tokenizer=tokenizer, audits=["perturbation"], draws=3)
    assert not {*changed.examples["id"]} & {*whole.examples["id"]}, "another answer is another input"


def test_words_are_not_cut_out_where_nothing_would_be_left():
    model, tokenizer = writer("GPT2")
    with pytest.raises(InputError, match="needs a prompt, but without all its words nothing is left"):
        glasshead.rank(model, rows_of(4), ["gradient"], tokenizer=tokenizer, removals=["delete"])


FORMATS = [
    ("prompt", "completion", None),
    ("prompt", "chosen", "rejected"),
    ("question", "answer", None),
    ("source", "target", "against"),
    ("instruction", "output", None),
    ("text", "summary", None),
]


@pytest.mark.parametrize("names", FORMATS)
def test_columns_are_known_by_their_names(names):
    row = {name: name.upper() for name in names if name} | {"id": 3}
    (one,) = read_given(Dataset.from_list([row]), "test", LoadOptions())
    assert (one.prompt, one.answer, one.against) == tuple(name and name.upper() for name in names)


@pytest.mark.parametrize(
    ("columns", "options", "found"),
    [
        (("text", "label"), {}, None),
        (("text",), {}, None),
        (("question", "context", "answers"), {}, None),
        (("prompt", "completion"), {"text_column": "prompt"}, None),  # a column of texts alone is named
        (("a", "b"), {"text_column": "a", "label_column": "b"}, ("a", "b")),
        (("prompt", "b"), {"label_column": "b"}, ("prompt", "b")),
    ],
)
def test_plain_texts_are_no_prompts(columns, options, found):
    data = Dataset.from_dict({name: ["x"] for name in columns})
    read = LoadOptions(**options)
    own = find_answer_columns(names_of_columns(data, "test", read), read)
    assert (own and own[:2]) == found


def test_named_columns_are_all_that_is_read():
    row = {"prompt": "a film", "chosen": "good", "rejected": "bad"}
    named = LoadOptions(text_column="prompt", label_column="chosen")
    (one,) = read_given(Dataset.from_list([row]), "test", named)
    assert (one.answer, one.against) == ("good", None)


TEMPLATE = (
    "{% for m in messages %}[{{ m['role'] }}] {{ m['content'] }} {% endfor %}"
    "{% if add_generation_prompt %}[assistant] {% endif %}"
)
"""A chat template in words."""


def as_chats(rows):
    """The rows as whole chats, as a prompt with its answer in messages, and with the answer as a text."""
    asked = [[{"role": "user", "content": row["source"]}] for row in rows]
    said = [[{"role": "assistant", "content": row["target"]}] for row in rows]
    return {
        "whole": [{"messages": one + other} for one, other in zip(asked, said, strict=True)],
        "in parts": [{"prompt": one, "completion": other} for one, other in zip(asked, said, strict=True)],
        "answer in text": [
            {"prompt": one, "completion": row["target"]} for one, row in zip(asked, rows, strict=True)
        ],
    }


@pytest.mark.parametrize("form", ["whole", "in parts", "answer in text"])
def test_chats_are_what_their_template_makes_of_them(form):
    model, tokenizer = writer("GPT2")
    tokenizer.chat_template = TEMPLATE
    rows = rows_of(6)
    texts = [{"prompt": f"[user] {row['source']} [assistant] ", "completion": row["target"]} for row in rows]
    options = {"tokenizer": tokenizer, "audits": ["agreement", "faithfulness"]}
    expected = glasshead.audit(model, texts, **options)
    card = glasshead.audit(model, as_chats(rows)[form], **options)
    assert card.facts["task"] == "answer"
    assert card.examples["text"] == expected.examples["text"]
    for one, other in zip(card.findings, expected.findings, strict=True):
        assert (one.name, one.verdict) == (other.name, other.verdict)
        assert one.estimate == pytest.approx(other.estimate, nan_ok=True) if one.estimate else True


def test_the_heads_of_a_model_read_chats_with_their_answers():
    model, tokenizer = writer("GPT2")
    tokenizer.chat_template = TEMPLATE
    rows = rows_of(6)
    report = glasshead.heads(model, as_chats(rows)["whole"], tokenizer=tokenizer)
    texts = [f"[user] {row['source']} [assistant] {row['target']}" for row in rows]
    same = glasshead.heads(model, texts, tokenizer=tokenizer)
    assert len(report.findings) > 0
    assert {one.name for one in same.findings} & {one.name for one in report.findings}


def test_no_blank_is_put_behind_a_chat():
    from glasshead.data import ChatText
    from glasshead.tasks.likelihoods import joined

    assert joined(ChatText("<|assistant|>"), "yes") == "<|assistant|>yes"
    assert joined("<|assistant|>", "yes") == "<|assistant|> yes"


def test_two_answers_to_a_chat_are_compared(tmp_path):
    model, tokenizer = writer("GPT2")
    tokenizer.chat_template = TEMPLATE
    rows = [
        {
            "prompt": [{"role": "user", "content": row["source"]}],
            "chosen": [{"role": "assistant", "content": row["target"]}],
            "rejected": [{"role": "assistant", "content": row["against"]}],
        }
        for row in rows_of(6, against=True)
    ]
    file = tmp_path / "pairs.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    card = glasshead.audit(model, file, tokenizer=tokenizer, audits=["agreement"], method="gradient-l2")
    assert len(card.examples["text"]) == 6
    assert "[user] " in card.examples["text"][0]


def test_texts_without_answers_are_asked_about_the_next_token():
    model, tokenizer = writer("GPT2")
    rows = [{"prompt": row["source"], "completion": "good"} for row in rows_of(8)]
    asked = {"tokenizer": tokenizer, "audits": ["agreement"]}
    assert glasshead.audit(model, rows, **asked).facts["task"] == "answer"
    assert glasshead.audit(model, rows, text_column="prompt", **asked).facts["task"] == "token"


def test_rows_that_the_model_cannot_read_are_left_out_and_counted():
    model, tokenizer = writer("GPT2")
    tokenizer.model_max_length = 12
    rows = [*rows_of(3), {"source": "a film", "target": "good " * 12}]
    card = glasshead.audit(model, rows, tokenizer=tokenizer, audits=["agreement"])
    assert "1 of 4 rows do not have" in " ".join(card.facts["notes"])
    assert list(card.examples["index"]) == [0, 1, 2]


@pytest.mark.parametrize(
    ("row", "options", "says"),
    [
        ({"prompt": "a film", "completion": ""}, {}, "is not a text"),
        ({"prompt": "a film", "completion": 3}, {}, "is not a text"),
        (
            {"prompt": [{"role": "user", "content": "a film"}], "chosen": "good"},
            {},
            "the tokenizer has no chat template",
        ),
        (
            {"prompt": "a film", "chosen": [{"role": "user", "content": "a film"}]},
            {},
            "'chosen' does not end with one message of the assistant",
        ),
        ({"messages": [{"role": "user", "content": "a film"}]}, {}, "is not a chat of two messages or more"),
        (
            {"messages": [{"role": "user", "content": "a film"}, {"role": "user", "content": "good"}]},
            {},
            "'messages' does not end with one message of the assistant",
        ),
        (
            {"instruction": "shorten", "input": "a film", "output": "film"},
            {},
            "both 'input' and 'instruction'",
        ),
        ({"question": "which", "context": "a film", "answer": "film"}, {}, "both 'context' and 'question'"),
        ({"prompt": "a film", "completion": "good"}, {"audits": ["performance"]}, "how likely it should be"),
        ({"prompt": "a film", "completion": "good"}, {"audits": ["tokens"]}, "its own question"),
        ({"prompt": "a film", "completion": "good"}, {"by": "class"}, "ratings have no classes"),
    ],
)
def test_what_cannot_be_asked_is_refused(row, options, says):
    model, tokenizer = writer("GPT2")
    with pytest.raises(InputError, match=says):
        glasshead.audit(model, [row], tokenizer=tokenizer, **options)


@pytest.mark.parametrize("command", ["audit", "rank"])
def test_attention_of_two_answers_is_refused_before_anything_is_measured(command, tmp_path):
    model, tokenizer = writer("GPT2")
    model.save_pretrained(tmp_path / "model")
    tokenizer.save_pretrained(tmp_path / "model")
    file = tmp_path / "pairs.jsonl"
    file.write_text("\n".join(map(json.dumps, rows_of(6, against=True))), encoding="utf-8")
    before = {path.name for path in tmp_path.iterdir()}
    asked = [command, str(tmp_path / "model"), str(file), "--out", str(tmp_path / "out")]
    ended = CliRunner().invoke(app, asked)
    assert ended.exit_code == 2
    assert "no single attention determines the contrast" in ended.output
    assert "--resume" not in ended.output
    assert {path.name for path in tmp_path.iterdir()} == before


def test_on_the_command_line(tmp_path):
    model, tokenizer = writer("T5")
    model.save_pretrained(tmp_path / "model")
    tokenizer.save_pretrained(tmp_path / "model")
    file = tmp_path / "prompts.jsonl"
    file.write_text("\n".join(map(json.dumps, rows_of(6))), encoding="utf-8")
    asked = ["audit", str(tmp_path / "model"), str(file), "--out", str(tmp_path / "audit")]
    ended = CliRunner().invoke(app, [*asked, "--audits", "agreement"])
    assert ended.exit_code == 0, ended.output
    card = json.loads((tmp_path / "audit" / "card.json").read_text(encoding="utf-8"))
    assert card["facts"]["task"] == "answer"
    page = (tmp_path / "audit" / "report.html").read_text(encoding="utf-8")
    assert "log-probability" in page
    assert "given answer" in page
    assert "true rating" not in page
