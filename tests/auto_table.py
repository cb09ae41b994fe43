"""What every text model of Transformers' AutoModel classes can do: measured, its numbers checked, and written
into docs/reference/families.md.

`make families` computes every row; slow tests compute them anew and compare.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from typing import Any
from unittest import mock

import numpy as np
import torch
from datasets import Dataset
from numpy.typing import NDArray
from torch import Tensor
from transformers import PreTrainedModel

import glasshead
from auto_classes import build, kinds
from classifier_families import FAMILIES, SPECIAL, labelled_data, word_tokenizer
from families import VOCABULARY
from family_table import PAGE, YES, Row, exceptions, outcome, row_of
from glasshead.audits.head_report import rows, text_statistics
from glasshead.huggingface import own_model
from glasshead.trace import record
from model_state import model_state
from task_table import MANY, TASKS
from tolerances import ALL_LAYERS

AnyFloats = NDArray[np.floating[Any]]

NEXT = "next tokens"
SHORT = "a warm , funny film"
LONG = "the plot is dull and not very good one two longer text than first so that of them padded was bad"
"""More words than any window of the tiny models, each of them once."""
METHODS = ("attention", "gradient", "erasure-delete", "erasure-mean-embedding")
CAPABILITIES = (*METHODS, "intervals", "audit")
OF_WRITERS = ("attention", "gradient", "erasure-delete", "intervals", "generate", "heads")
"""What is tried of models that write."""
ASKED: dict[str, dict[str, Any]] = {
    "tags": {"at": 1},
    "spans": {"at": "dull"},
    "choices": {"choices": ["bad film", "dull plot"]},
}
LABELS = {"classes": {0: "bad", 1: "good"}, "tags": {0: "O", 1: "A", 2: "B"}}


SEPARATED_TWICE = ("longformer",)
"""Kinds that find the second text behind a second separator."""


class Tried:
    """A model of a kind, asked about a short text and a long one, as its task has it."""

    def __init__(self, task: str, model_type: str) -> None:
        names = LABELS.get(task)
        self.task, self.model_type = task, model_type
        self.changes: dict[str, Any] = {} if names is None else named(names)
        self.model = build(task, model_type, **self.changes)
        marks = "end" if self.model.config.is_encoder_decoder else "bert"
        marks = "open" if task == NEXT else marks
        self.tokenizer = word_tokenizer("roberta" if model_type in SEPARATED_TWICE else marks)
        self.compared: list[str] = []
        """Layers whose maps were compared with those that the model gives itself."""

    @cached_property
    def subject(self) -> glasshead.Subject:
        """The model as it is read."""
        return glasshead.open(self.model, self.tokenizer)

    @property
    def texts(self) -> list[str]:
        """What is explained."""
        if self.task == "hidden words":
            return ["a [MASK] funny film", LONG.replace("good", "[MASK]")]
        return ["bad film", SHORT] if self.task == "spans" else [SHORT, LONG]

    @property
    def asked(self) -> dict[str, Any]:
        """The question about each."""
        return ASKED.get(self.task, {})

    def explain(self, texts: list[str], method: str = "attention", **options: Any) -> glasshead.Attributions:
        """Texts, explained."""
        pairs = [LONG] * len(texts) if self.task == "spans" else None
        return glasshead.explain(self.subject, texts, pairs=pairs, method=method, **self.asked, **options)

    def audit(self, **options: Any) -> None:
        """Some data of the task, audited."""
        data: Any = labelled_data(6) if self.task == "classes" else TASKS[self.task].data
        data = Dataset.from_dict({"text": MANY[:6]}) if data is MANY else data
        glasshead.audit(self.subject, data, limit=2, draws=1, **options)

    def check_writing(self) -> None:
        """Raise AssertionError if the model did not write by the probabilities that are said, or the
        explanation of the first token is not that of the text before it."""
        written = glasshead.generate(self.subject, SHORT, tokens=3)
        own = self.logits(torch.tensor([written.ids[:-1]]))[written.start - 1 :].log_softmax(-1)
        assert written.answer_tokens
        for row, token, said in zip(own, written.ids[written.start :], written.answer_tokens, strict=True):
            np.testing.assert_allclose(said.log_probability, float(row[token]), **ALL_LAYERS)
        first = written.explain("gradient").row(0)
        if written.answer_tokens[0].rank > 1:  # Transformers predicts otherwise while some write
            assert any(note.startswith("the probabilities during writing") for note in written.notes)
            return
        before = self.logits(torch.tensor([written.ids[: written.start]]))[-1].log_softmax(-1)
        if not torch.allclose(before, own[0], **ALL_LAYERS):  # ProphetNet: numbers change with the length
            return
        (alone,) = self.explain([SHORT], "gradient")
        np.testing.assert_allclose(first.scores, alone.scores, **near(alone.scores))

    def logits(self, ids: Tensor) -> Tensor:
        """What the model predicts behind each token of a text."""
        model = copy.deepcopy(self.model)
        with torch.no_grad():
            logits: Tensor = model(input_ids=ids, use_cache=False).logits[0]
        return logits

    def look_at_heads(self) -> None:
        """Two texts, drawn by every head."""
        with (
            mock.patch.object(rows, "RANDOM_MODELS", 1),
            mock.patch.object(text_statistics, "RANDOM_MODELS", 1),
        ):
            glasshead.heads(self.subject, [SHORT, LONG], effects=False)

    def row(self, names: Sequence[str] = CAPABILITIES) -> Row:
        """What it can do, of some capabilities.

        Raises:
            AssertionError: if a number is not that of the model, or the model has been changed.
        """
        before = model_state(self.model, self.tokenizer)
        ways: dict[str, Callable[[], object]] = {
            **{method: partial(self.check_method, method) for method in METHODS},
            "intervals": partial(self.explain, self.texts[:1], intervals=True),
            "audit": self.audit,
            "generate": self.check_writing,
            "heads": self.look_at_heads,
        }
        row = {name: without_kinds(outcome(ways[name])) for name in names}
        assert model_state(self.model, self.tokenizer) == before
        return row

    def check_method(self, method: str) -> None:
        """Raise AssertionError if a method does not say the same of a text that is padded as of it alone, or
        not what the model itself says."""
        together = list(self.explain(self.texts, method))
        for one, other in zip(together, self.explain(self.texts[:1], method), strict=False):
            assert one.tokens == other.tokens
            np.testing.assert_allclose(one.scores, other.scores, **near(other.scores), err_msg=method)
        for number, (one, value) in enumerate(zip(together, self.own_predictions, strict=True)):
            np.testing.assert_allclose(one.prediction, value, **ALL_LAYERS)
            if method == "gradient":
                some = [
                    place
                    for place, token in enumerate(one.ids)
                    if token >= len(SPECIAL) and one.ids.count(token) == 1
                ]
                assert some
                expected = self.own_slopes[number][[one.ids[place] for place in some]]
                np.testing.assert_allclose(np.array(one.scores)[some], expected, **near(expected))
        if method == "attention":
            for text, one in zip(self.texts, together[:: len(together) // 2], strict=True):
                self.check_attention(text, one)

    def read(self, text: str) -> dict[str, Tensor]:
        """What the model reads of a text."""
        if self.task == "choices":
            choices = self.asked["choices"]
            read = self.subject.tokenizer([text] * len(choices), choices, padding=True, return_tensors="pt")
            return {name: tensor[None] for name, tensor in read.items()}
        second = LONG if self.task == "spans" else None
        read = dict(self.subject.tokenizer(text, second, return_tensors="pt"))
        return {"input_ids": read["input_ids"], "use_cache": False} if self.task == NEXT else read

    @cached_property
    def own_predictions(self) -> list[float]:
        """The probabilities that are explained, by the model itself."""
        model = copy.deepcopy(self.model)  # some change themselves when they are called
        with torch.no_grad():
            read = [self.read(text) for text in self.texts]
            values = [self.probabilities(model(**inputs), inputs["input_ids"]) for inputs in read]
        return [float(value) for own in values for value in own]

    @cached_property
    def own_slopes(self) -> list[AnyFloats]:
        """Σ e · ∂ŷ/∂e over all places of each token of the vocabulary, by autograd through the model."""
        model, found = copy.deepcopy(self.model), []
        for text in self.texts:
            read = self.read(text)
            scale = torch.ones(read["input_ids"].shape[-2], VOCABULARY, requires_grad=True)
            with scaled_words(model, scale):
                values = self.probabilities(model(**read), read["input_ids"])
            for row, value in enumerate(values):
                explained = value.log() if self.task in ("hidden words", NEXT) else value
                (slopes,) = torch.autograd.grad(explained, scale, retain_graph=True)
                found.append(slopes[row].numpy())
        return found

    def probabilities(self, output: Any, ids: Tensor) -> list[Tensor]:
        """What is explained, by the formula of the task."""
        if self.task == "classes":
            return [output.logits.softmax(-1)[0, 1]]
        if self.task == "choices":
            return list(output.logits.softmax(-1)[0])
        place = self.place(ids)
        if self.task == "spans":
            return [output.start_logits.softmax(-1)[0, place] * output.end_logits.softmax(-1)[0, place]]
        return [output.logits[0, place].softmax(-1).max()]

    def place(self, ids: Tensor) -> int:
        """The token that a tagger, a guesser or a finder of answers is asked about, or that a writer goes on
        behind."""
        if self.task == NEXT:
            return ids.shape[1] - 1
        if self.task == "tags":
            return int(self.tokenizer("a")["input_ids"][0] < len(SPECIAL)) + 1
        word = "[MASK]" if self.task == "hidden words" else self.asked["at"]
        return ids[0].tolist().index(self.tokenizer.convert_tokens_to_ids(word))

    @torch.no_grad()
    def check_attention(self, text: str, one: Any) -> None:
        """Raise AssertionError if maps are not those that the model itself gives where it attends eagerly, or
        the row of a word that is asked about is not in what is shown."""
        eager = build(self.task, self.model_type, **self.changes, attn_implementation="eager")
        read = self.read(text)
        output = eager(**read, output_attentions=True)
        kinds = ("encoder_attentions", "attentions", "decoder_attentions", "cross_attentions")
        own = [
            part for kind in kinds for part in getattr(output, kind, None) or () if isinstance(part, Tensor)
        ]
        if any(float(part.amax()) > 1.01 for part in own):  # SqueezeBERT gives its scores
            own = [part.softmax(-1) for part in own]
        readable = own_model(self.subject.model)
        with record(readable) as trace:
            readable(**read)
        maps = [layer.weights for layer in trace.only]
        if len(own) != len(maps) or {part.shape for part in own} != {part.shape for part in maps}:
            return  # T5Gemma keeps some of them to itself
        for layer, weights in zip(trace.only, maps, strict=True):
            alike = [part for part in own if part.shape == weights.shape]
            assert any(torch.allclose(weights, part, **ALL_LAYERS) for part in alike), layer.name
            self.compared.append(layer.name)
        of_one_row = self.task in ("tags", "hidden words", NEXT) and "weighted" not in one.reading
        if of_one_row and not self.model.config.is_encoder_decoder:
            row = self.place(read["input_ids"])
            shown = [part[0, :, row].mean(dim=0) for part in own]
            assert any(np.allclose(one.scores, part, **ALL_LAYERS) for part in shown), one.reading


@contextmanager
def scaled_words(model: PreTrainedModel, scale: Tensor) -> Iterator[None]:
    """In the block the vector of each token of the vocabulary is ``scale`` [texts, tokens] times as long."""
    table = model.get_input_embeddings()
    weight = getattr(table, "weight", None)
    tables = [
        part
        for part in model.modules()
        if part is table or (isinstance(part, torch.nn.Embedding) and part.weight is weight)
    ]

    def stretch(module: Any, args: Any, output: Any) -> Any:
        rows = torch.arange(len(scale))[:, None]
        factor = scale[rows, args[0]][..., None]
        return output * factor if isinstance(output, Tensor) else (output[0] * factor, *output[1:])

    hooks = [part.register_forward_hook(stretch) for part in tables]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def without_kinds(reason: str) -> str:
    """A reason that is true of every kind alike."""
    reason = re.sub(r"has \d+ scores for \d+ tokens", "has more scores than tokens", reason)
    return re.sub(r"\b[A-Z]\w+(For[A-Z]\w+|LMHeadModel)\b", "the model", reason)


def named(names: Mapping[int, str]) -> dict[str, Any]:
    """A configuration that calls classes so."""
    return {
        "num_labels": len(names),
        "id2label": dict(names),
        "label2id": {name: n for n, name in names.items()},
    }


def near(numbers: Any) -> dict[str, float]:
    """Float32 through all layers, on the scale of the largest number."""
    return {"rtol": 5e-3, "atol": max(1e-4 * float(np.abs(np.asarray(numbers)).max(initial=0.0)), 1e-6)}


Table = dict[str, dict[str, Row]]
"""Task → kind of model → what it can do."""
HEAD = """# Families of models

What can be explained and audited in the text models of Transformers: every kind (the `model_type` in its
`config.json`) that its AutoModel classes load for a task. Kinds that can do the same share a row; to find
one, search this page. A number refers to the reason below why something does not work.

Support is detected at run time, not from a list: a kind that is not here works in the same way, or an error
says why not.

"""
TITLES = {
    "classes": "Classes of a text: AutoModelForSequenceClassification",
    "tags": "Tags of words: AutoModelForTokenClassification",
    "spans": "Answers in a text: AutoModelForQuestionAnswering",
    "hidden words": "Hidden words: AutoModelForMaskedLM",
    "choices": "Multiple choice: AutoModelForMultipleChoice",
    NEXT: "Next tokens: AutoModelForCausalLM",
}
CHECKED = """
Every row was computed with a tiny random model of the kind (`make families`): a short text, and one longer
than its windows. Tests compute it anew. They compare predictions with those of the model itself, attention
with what it gives where it attends eagerly, gradients with those of autograd by hand, and a padded text with
the same alone; the model is afterwards what it was. Models that write write three tokens, whose
probabilities are compared with those of the model itself; `heads` draws two texts. Where a model has layers
with and without attention (Jamba, Qwen3-Next, LFM2), the maps are those of its attention layers.

Not tried: LayoutLMv2, which needs detectron2; Gemma 3n with images, which needs timm; the assistants of
Gemma 4, which write from the states of another model.

"""


def capabilities(task: str) -> tuple[str, ...]:
    """What is tried of models of a task."""
    return OF_WRITERS if task == NEXT else CAPABILITIES


def rows_of(task: str, names: Mapping[str, Sequence[str]] | None = None) -> dict[str, Row]:
    """What every kind of a task can do; ``names`` are the capabilities that are tried, by kind."""
    return {
        kind: Tried(task, kind).row(capabilities(task) if names is None else names[kind])
        for kind in kinds(task)
    }


def page(table: Table, of_families: Mapping[str, Row]) -> str:
    """The whole page."""
    every = [row for kinds_of_task in table.values() for row in kinds_of_task.values()]
    reasons = dict.fromkeys(value for row in every for value in row.values() if value != YES)
    marks = {YES: YES} | {reason: f"[^{number}]" for number, reason in enumerate(reasons, 1)}
    parts = [HEAD]
    for task, by_kind in table.items():
        columns = capabilities(task)
        alike: dict[tuple[str, ...], list[str]] = {}
        for kind, row in by_kind.items():
            alike.setdefault(tuple(row[name] for name in columns), []).append(f"`{kind}`")
        lines = [["", *map(shown, columns)], ["---"] * (len(columns) + 1)]
        for row_alike in sorted(alike, key=lambda each: -len(alike[each])):
            lines.append([", ".join(alike[row_alike]), *(marks[value] for value in row_alike)])
        table_text = "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
        parts.append(f"## {TITLES[task]}\n\n{table_text}\n")
    notes = "".join(f"\n[^{number}]: {reason}.\n" for number, reason in enumerate(reasons, 1))
    return "".join([*parts, "## How this is known\n", CHECKED, exceptions(of_families), notes])


def shown(name: str) -> str:
    """Names of methods stand in backquotes, and may be broken at their dashes."""
    return f"`{name}`" if name in METHODS else name


def read(text: str) -> Table:
    """The tables of a page."""
    reasons = dict(re.findall(r"^(\[\^\d+\]): (.*)\.$", text, re.MULTILINE)) | {YES: YES}
    table: Table = {}
    for task, title in TITLES.items():
        section = text.split(f"## {title}\n")[1].split("\n## ")[0]
        found: dict[str, Row] = {}
        for line in [line for line in section.splitlines() if line.startswith("| `")]:
            cells = [cell.strip() for cell in line.split("|")[1:-1]]
            row = {name: reasons[mark] for name, mark in zip(capabilities(task), cells[1:], strict=True)}
            found |= {kind: dict(row) for kind in re.findall(r"`([^`]+)`", cells[0])}
        table[task] = found
    return table


if __name__ == "__main__":
    PAGE.write_text(
        page(
            {task: rows_of(task) for task in TITLES},
            {family.config.model_type: row_of(family) for family in FAMILIES.values()},
        )
    )
