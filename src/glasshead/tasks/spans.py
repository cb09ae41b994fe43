"""A model that finds the answer to a question in a text, asked about one part of it: is it the answer?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from transformers import (
    AutoModelForQuestionAnswering,
    PreTrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)
from transformers.modeling_outputs import SequenceClassifierOutput

from glasshead.data import AnsweredQuestion, Encoded, LoadOptions, batches, read_answered
from glasshead.errors import InputError, ParameterError
from glasshead.huggingface import At, Inputs, Target, TaskModel, as_asked, class_names, new_like
from glasshead.registry import did_you_mean
from glasshead.spelling import spell
from glasshead.tasks.places import PartModel, characters_at, first_tokens
from glasshead.tasks.task import QUESTIONS, Chosen, Task, question_rows

if TYPE_CHECKING:
    from datasets import Dataset, DatasetDict

ELSEWHERE, HERE = "elsewhere", "here"
SPAN, START, END = "span", "start", "end"
BEGINS, ENDS = 1, 2
"""What a ``question`` says of a token, added up: the answer begins there, ends there."""
LONGEST = 15
"""Tokens of the longest answer that is looked for, as in pipelines of Transformers."""


class SpanClassifier(PartModel):
    """Whether the answer is one part of a text: p = p(it begins here) · p(it ends here), each a softmax over
    all tokens that are read, as such models are trained.

    Logits [b, 2] are log(1 − p) and log p. A question without an end is about the beginning alone, and the
    reverse.
    """

    pairs = "needed"

    def __init__(self, model: PreTrainedModel) -> None:
        super().__init__(model)
        self.config.id2label = {0: ELSEWHERE, 1: HERE}
        self.config.label2id = {ELSEWHERE: 0, HERE: 1}
        self.config.problem_type = "single_label_classification"

    def rebuild(self, config: PreTrainedConfig) -> SpanClassifier:
        """The questions for a model of another configuration, with new weights."""
        return SpanClassifier(new_like(self.model, config))

    @property
    def target_names(self) -> list[str]:
        """What is asked: the whole answer, where it begins or where it ends."""
        return [SPAN, START, END]

    @property
    def usual(self) -> str:
        """The whole answer."""
        return SPAN

    def forward(
        self,
        attention_mask: Int[Tensor, "b n"] | None = None,
        question: Int[Tensor, "b n"] | None = None,
        **inputs: Any,
    ) -> SequenceClassifierOutput:
        """Logits [b, 2] of elsewhere and here."""
        if question is None:
            raise ValueError("no question: name the part of the text")
        output = self.model(attention_mask=attention_mask, **inputs)
        read = torch.ones_like(question) if attention_mask is None else attention_mask
        log_p = log_probability(output, question, read > 0)
        return as_asked(output, torch.stack([log_rest(log_p), log_p], dim=1))

    def place(self, encoded: Encoded, row: int) -> slice:
        """The tokens of the part that an input is asked about."""
        assert encoded.question is not None
        (marked,) = (encoded.question[row] & (BEGINS | ENDS)).nonzero(as_tuple=True)
        return slice(int(marked[0]), int(marked[-1]) + 1)

    def question_in_words(self, encoded: Encoded, row: int, text: str) -> str:
        """The part of the text, and which side of it."""
        assert encoded.question is not None
        sides = {BEGINS: " (its beginning)", ENDS: " (its end)"}
        return super().question_in_words(encoded, row, text) + sides.get(int(encoded.question[row].sum()), "")

    def about(self, inputs: Inputs, spans: Int[Tensor, "texts 2"], target: Target = None) -> Encoded:
        """Inputs, each asked about a part from a token to another, or where this begins or ends alone."""
        question = torch.zeros_like(inputs.encoded.ids)
        marks = {START: (BEGINS, 0), END: (0, ENDS)}.get(str(target), (BEGINS, ENDS))
        for side, mark in enumerate(marks):
            question.scatter_add_(1, spans[:, side : side + 1], torch.full((len(spans), 1), mark))
        return replace(inputs.encoded, question=question, asks_place=True)

    def ask(self, inputs: Inputs, target: Target, at: At = None) -> tuple[Inputs, Target]:
        """Ask whether the answer is the part ``at`` which the second text has these words; left out, the part
        that is most likely the answer. ``target`` is span, start or end.

        Raises:
            InputError: without second texts, on another target, and where a text has no such part.
        """
        if inputs.pairs is None:
            raise InputError(
                f"this model looks for the answer to a question in a text: give the text as {spell('pairs')}"
            )
        if at is not None and not str(at).strip():
            raise ParameterError("at", "is empty: give some words of the text")
        if target is not None and target not in self.target_names:
            meant = did_you_mean(str(target), self.target_names)
            raise InputError(f"the model predicts no {target!r} of an answer: {meant}")
        spans = self.likeliest(inputs) if at is None else find_parts(inputs, str(at))
        return inputs._replace(encoded=self.about(inputs, spans, target)), HERE

    def ask_usual(self, inputs: Inputs, classes: Sequence[str] | None = None) -> Encoded:
        """About the part that is most likely the answer."""
        return self.ask(inputs, None)[0].encoded

    def ask_rows(self, inputs: Inputs, split: Dataset) -> Encoded:
        """About the part that each row names."""
        parts = zip(split[PART_FROM][:], split[PART_TO][:], strict=True)
        spans = [tokens_of_part(inputs, row, start, end) for row, (start, end) in enumerate(parts)]
        return self.about(inputs, torch.tensor(spans))

    @torch.no_grad()
    def likeliest(self, inputs: Inputs) -> Int[Tensor, "texts 2"]:
        """Where the answer most likely begins and ends."""
        spans = torch.zeros(len(inputs.texts), 2, dtype=torch.long)
        context = words_of_context(inputs)
        if not bool(context.any(dim=1).all()):
            number = int((~context.any(dim=1)).nonzero()[0, 0])
            raise InputError(f"the model reads no word of the text of question {number + 1}: give one")
        plain = replace(inputs.encoded, question=None, asks_place=False)
        for rows, own in batches(plain, device=self.model.device):
            output = self.model(**own)
            n = own["attention_mask"].shape[1]
            begins, ends = (
                logits.float().cpu()[:, :n].masked_fill(~context[rows, :n], -torch.inf)
                for logits in (output.start_logits, output.end_logits)
            )
            both = begins[:, :, None] + ends[:, None, :]
            later = torch.arange(n) - torch.arange(n)[:, None]  # tokens from the beginning to the end
            allowed = (later >= 0) & (later < LONGEST)
            best = both.masked_fill(~allowed, -torch.inf).flatten(1).argmax(dim=1)
            spans[rows] = torch.stack([best // n, best % n], dim=1)
        return spans


def log_probability(
    output: Any, question: Int[Tensor, "b n"], read: Bool[Tensor, "b n"]
) -> Float[Tensor, " b"]:
    """log p of the part that is marked, among the tokens that are read."""
    total = torch.zeros(len(question), dtype=output.start_logits.dtype, device=output.start_logits.device)
    question, padding = (part.to(output.start_logits.device) for part in (question, ~read))
    for logits, mark in ((output.start_logits, BEGINS), (output.end_logits, ENDS)):
        marked = (question & mark) > 0
        log_p = logits.masked_fill(padding, -torch.inf).log_softmax(dim=1)
        own = log_p.gather(1, marked.long().argmax(dim=1, keepdim=True))[:, 0]
        total = total + torch.where(marked.any(dim=1), own, 0.0)
    return total


def log_rest(log_p: Float[Tensor, " b"]) -> Float[Tensor, " b"]:
    """log(1 − p), finite where p is 1 to rounding."""
    most = torch.finfo(log_p.dtype).eps
    return torch.log(-torch.expm1(log_p.clamp(max=-most)))


def words_of_context(inputs: Inputs) -> Bool[Tensor, "texts tokens"]:
    """Which tokens are words of the second text."""
    behind = np.array([len(str(text)) + 1 for text in inputs.texts])
    own = (inputs.encoded.offsets[..., 0] >= behind[:, None]) & (inputs.encoded.words >= 0)
    return torch.from_numpy(own) & inputs.encoded.mask


def find_parts(inputs: Inputs, part: str) -> Int[Tensor, "texts 2"]:
    """The first and the last token of a part of each second text.

    Raises:
        ParameterError: if it is not there, as far as it is read, or more than once.
    """
    assert inputs.pairs is not None
    spans = []
    for row, context in enumerate(inputs.pairs):
        if context.count(part) != 1:
            times = "not there" if part not in context else "there more than once"
            raise ParameterError("at", f"is {part!r}, which is {times} in {context[:40]!r}")
        start = len(str(inputs.texts[row])) + 1 + context.index(part)
        spans.append(tokens_of_part(inputs, row, start, start + len(part)))
    return torch.tensor(spans)


def tokens_of_part(inputs: Inputs, row: int, start: int, end: int) -> tuple[int, int]:
    """The first and the last token of characters of both texts.

    Raises:
        ParameterError: if they are not read.
    """
    offsets = inputs.encoded.offsets[row]
    inside = (offsets[:, 0] < end) & (offsets[:, 1] > start) & words_of_context(inputs)[row].numpy()
    if not inside.any() or end > offsets[words_of_context(inputs)[row].numpy(), 1].max():
        text = inputs.joined(row)[start:end]
        raise ParameterError("at", f"is {text[:40]!r}, which is beyond the model's maximum length")
    (places,) = inside.nonzero()
    return int(places[0]), int(places[-1])


PART_FROM, PART_TO = "first character of the part", "end of the part"
"""Columns of the part that a row is asked about, in characters of both texts."""
ASKED = (
    "each question is about one part of its text, drawn at random: in half of them the answer, else "
    "another part of as many words, where there is one"
)


class Spans(Task):
    """Is this part of the text the answer?"""

    head = ("ForQuestionAnswering", "ForQuestionAnsweringSimple")
    auto = AutoModelForQuestionAnswering
    model = SpanClassifier

    def wrap(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> SpanClassifier:
        """The model, asked about one part of a text."""
        return SpanClassifier(model)

    def numbers(self, output: Any) -> Tensor:
        """Where the answer begins and ends.

        Raises:
            InputError: if the model does not say that of every token.
        """
        if not hasattr(output, "end_logits"):
            raise InputError("the model does not say for every token whether an answer begins or ends there")
        return torch.stack([output.start_logits, output.end_logits], dim=-1)

    def read(
        self, source: str | Path | Dataset | DatasetDict, split: str, options: LoadOptions
    ) -> list[AnsweredQuestion]:
        """Questions, texts and the answers in them."""
        return read_answered(source, split, options)

    def texts(self, rows: Sequence[AnsweredQuestion]) -> tuple[list[str], list[str]]:
        """Questions, and the texts."""
        return [one.question for one in rows], [one.context for one in rows]

    def draw(
        self, model: TaskModel, tokenizer: PreTrainedTokenizerBase, chosen: Chosen
    ) -> tuple[Dataset, str]:
        """The answer or, as often, another part of as many words.

        Raises:
            InputError: if no answer is read.
        """
        firsts, seconds = self.texts(chosen.rows)
        inputs = Inputs.read(tokenizer, firsts, seconds)
        begins = (first_tokens(inputs.encoded) & words_of_context(inputs)).numpy()
        asked: dict[int, dict[str, Any]] = {}
        for row, one in enumerate(chosen.rows):
            behind = len(one.question) + 1
            if not one.answers:
                continue
            start, end = (place + behind for place in one.answers[0])
            places = np.flatnonzero(begins[row])
            words = [characters_at(inputs.encoded, row, int(place)) for place in places]
            starts, ends = np.array(words, dtype=int).reshape(-1, 2).T
            inside = (starts < end) & (ends > start)
            right = np.zeros(len(places), dtype=bool)
            for first, stop in one.answers:
                right |= (starts < stop + behind) & (ends > first + behind)
            if not inside.any() or end > ends.max():
                continue
            random, size = chosen.random(row), int(inside.sum())
            others = [
                first for first in range(len(places) - size + 1) if not right[first : first + size].any()
            ]
            label = 1
            if others and random.random() < 0.5:
                label, first = 0, int(random.choice(others))
                start, end = int(starts[first]), int(ends[first + size - 1])
            asked[row] = {
                "text": one.question, "text_pair": one.context, "label": label,
                PART_FROM: start, PART_TO: end,
            }  # fmt: skip
        return question_rows(
            class_names(model), chosen, asked, ASKED, "an answer within the model's maximum length"
        )


QUESTIONS.register("spans")(Spans())
