"""A language model before data with answers: how likely is the answer of each row?"""

from __future__ import annotations

import copy
import json
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor
from transformers import PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerBase
from transformers.modeling_outputs import SequenceClassifierOutput

from glasshead.data import (
    OTHER_TEXT,
    SEEN_IMAGES,
    TEXT_BEHIND,
    ChatText,
    Encoded,
    GivenAnswer,
    LoadOptions,
    is_chat,
    read_given,
    reader_of,
    render_chat,
)
from glasshead.errors import InputError
from glasshead.huggingface import Inputs, NextTokenClassifier, PairsNeeded, TaskModel, as_asked, new_like
from glasshead.tasks.answer_models import log_p_at
from glasshead.tasks.answers import nothing_before, split_tokens
from glasshead.tasks.source_answers import label_tokens, separate_decoder
from glasshead.tasks.task import QUESTIONS, Chosen, Questions, question_rows

if TYPE_CHECKING:
    from datasets import Dataset, DatasetDict

AnyEncoded = TypeVar("AnyEncoded", bound=Encoded)
LOG_PROBABILITY = "log-probability"
TOKENS = "tokens of the answer"
"""The column of the tokens of an answer, as JSON."""
NONE = -1
"""Behind the tokens of the shorter answers."""
LACKS = "a token of the prompt and one of its answer within the model's maximum length"
WHOLE = (
    "Each row is about its own answer as a whole: ŷ is the log-probability that the model gives it, "
    "the sum over its tokens"
)


class Reader:
    """A tokenizer that copies of a model share."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase) -> None:
        self.tokenizer = tokenizer

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def text(self, tokens: Sequence[int]) -> str:
        """Tokens as they are written."""
        return str(self.tokenizer.decode(list(tokens), skip_special_tokens=True)).strip()


class RowAnswerModel(TaskModel):
    """A language model that is asked about an answer of its own to each input; what these are stands in the
    ``question``, or ``given`` next to it."""

    main_input_name = "input_ids"
    pairs: PairsNeeded = "none"

    def __init__(self, model: PreTrainedModel, reader: Reader) -> None:
        own = separate_decoder(model) if model.config.is_encoder_decoder else model
        super().__init__(own, copy.deepcopy(model.config))
        self.reader = reader
        self.decodes_answer = bool(model.config.is_encoder_decoder)

    @classmethod
    def of(cls, model: NextTokenClassifier, tokenizer: PreTrainedTokenizerBase) -> Self:
        """A language model, asked about answers."""
        return cls(model.model, Reader(tokenizer))

    def put_to(self, model: PreTrainedModel) -> Self:
        """The same questions to another model."""
        return type(self)(model, self.reader)

    def rebuild(self, config: PreTrainedConfig) -> RowAnswerModel:
        """The question for a model of another configuration, with new weights."""
        return type(self)(new_like(self.model, config), self.reader)

    @abstractmethod
    def answers_asked(self, encoded: Encoded) -> list[str]:
        """The answer that each input is asked about."""

    def question_names(self, encoded: Encoded) -> list[str]:
        """The answers."""
        return self.answers_asked(encoded)

    def question_in_words(self, encoded: Encoded, row: int, text: str) -> str:
        """The answer."""
        return self.answers_asked(encoded.take(slice(row, row + 1)))[0]


class LikelihoodModel(RowAnswerModel):
    """How likely a model finds the answer of each input: ŷ = log p(y | x) = Σ_t log p(y_t | x, y_<t).

    Logits [b, 1] are ŷ in nats: a change of 0.05 means an answer that is 5 % more or less likely. After a
    prompt, ``question`` [b, n] is 1 + y_t at each token of the answer, and 0 elsewhere. For an
    encoder–decoder ``given`` [b, 2m] are the tokens that its decoder reads and those of the answer, each
    padded with −1.
    """

    def __init__(self, model: PreTrainedModel, reader: Reader) -> None:
        super().__init__(model, reader)
        self.config.id2label = {0: LOG_PROBABILITY}
        self.config.label2id = {LOG_PROBABILITY: 0}
        self.config.problem_type = "regression"

    @property
    def rated(self) -> str:
        """Its logarithm."""
        return LOG_PROBABILITY

    def answers_asked(self, encoded: Encoded) -> list[str]:
        """Those of the rows."""
        if self.decodes_answer:
            assert encoded.given is not None
            labels = encoded.given.chunk(2, dim=1)[1]
            return [self.reader.text(own[own != NONE].tolist()) for own in labels]
        assert encoded.question is not None
        return [self.reader.text((own[own > 0] - 1).tolist()) for own in encoded.question]

    def forward(
        self,
        question: Int[Tensor, "b n"] | None = None,
        **inputs: Any,
    ) -> SequenceClassifierOutput:
        """ŷ [b, 1]; only the places before the tokens of an answer are mapped to the vocabulary.

        Raises:
            InputError: if an answer has no prompt.
        """
        if self.decodes_answer and "given" in inputs:
            output, log_p = log_p_decoded(self.model, **inputs)
        elif question is not None:
            rows, places = question.nonzero(as_tuple=True)
            if not bool(places.all()):
                raise nothing_before(self)
            tokens = question[rows, places] - 1
            output, log_p = log_p_at(self.model, rows, places - 1, tokens, len(question), **inputs)
        else:
            raise ValueError("the tokens of the answer are missing: pass question, or given")
        return as_asked(output, log_p[:, None])

    def ask_rows(self, inputs: Inputs, split: Dataset) -> Encoded:
        """Questions about the answer of each row."""
        tokens = [json.loads(own) for own in split[TOKENS][:]]
        if self.decodes_answer:
            return replace(inputs.encoded, given=side_by_side(tokens))
        return about_ends(inputs.encoded, [len(own[0]) for own in tokens])


def log_p_decoded(model: PreTrainedModel, given: Int[Tensor, "b m"], **inputs: Any) -> tuple[Any, Tensor]:
    """What an encoder–decoder gives, and log p of the answer to each source."""
    read, labels = given.chunk(2, dim=1)
    width = int((labels != NONE).sum(dim=1).max())
    read, labels = read[:, :width], labels[:, :width]
    rows, places = (labels != NONE).nonzero(as_tuple=True)
    begun = torch.where(read == NONE, labels.clamp(min=0), read)
    if begun.shape[1] == 1:  # a decoder that reads one token looks like one that reads from both sides
        begun = torch.cat([begun, labels.clamp(min=0)], dim=1)
    return log_p_at(model, rows, places, labels[rows, places], len(labels), decoder_input_ids=begun, **inputs)


def side_by_side(parts: Sequence[Sequence[Sequence[int]]]) -> Int[Tensor, "rows numbers"]:
    """Lists of tokens of each row, all filled up to the longest one, one behind the other."""
    width = max(len(own) for row in parts for own in row)
    filled = [[token for own in row for token in (*own, *[NONE] * (width - len(own)))] for row in parts]
    return torch.tensor(filled)


def about_ends(encoded: AnyEncoded, sizes: Sequence[int]) -> AnyEncoded:
    """Texts that end with the tokens of an answer, which are the question and are not explained."""
    ends, columns = encoded.mask.sum(dim=1)[:, None], torch.arange(encoded.ids.shape[1])
    own = (columns >= ends - torch.tensor(sizes)[:, None]) & (columns < ends)
    return replace(
        encoded,
        words=np.where(own.numpy(), -1, encoded.words),
        question=torch.where(own, encoded.ids + 1, 0),
        needs_words=begins_with_words(encoded),
    )


def begins_with_words(encoded: Encoded) -> bool:
    """Whether some text has no special token before its words, so that nothing is left without these."""
    return bool((encoded.words[:, 0] >= 0).any())


def joined(prompt: str, answer: str) -> str:
    """A prompt and its answer as one text, with a blank between them where neither has one; none behind a
    chat, whose template says how an answer begins."""
    has_blank = isinstance(prompt, ChatText) or prompt[-1:].isspace() or answer[:1].isspace()
    return prompt + (answer if has_blank else f" {answer}")  # a prompt may have an image


class RowAnswers(Questions):
    """Questions to prompts with answers."""

    def read(
        self, source: str | Path | Dataset | DatasetDict, split: str, options: LoadOptions
    ) -> list[GivenAnswer]:
        """Prompts with their answers."""
        return read_given(source, split, options)

    def as_read(self, tokenizer: PreTrainedTokenizerBase, rows: Sequence[GivenAnswer]) -> list[GivenAnswer]:
        """Prompts of chat messages as texts: those where the assistant's answer begins."""
        return [
            replace(one, prompt=ChatText(render_chat(tokenizer, one.prompt, writes=True)))
            if is_chat(one.prompt)
            else one
            for one in rows
        ]

    def texts(self, rows: Sequence[GivenAnswer]) -> tuple[list[str], None]:
        """The prompts, each with its answer behind it."""
        return [joined(one.prompt, one.answer) for one in rows], None


class Likelihoods(RowAnswers):
    """How likely is the answer?"""

    model = LikelihoodModel

    def draw(
        self, model: TaskModel, tokenizer: PreTrainedTokenizerBase, chosen: Chosen
    ) -> tuple[Dataset, str]:
        """Every row, asked about its answer; there is no label, since nothing says how likely it should be.

        Raises:
            InputError: if of no row the model reads a prompt and its answer.
        """
        asked: dict[int, dict[str, Any]] = {}
        added = 0
        for row, one in enumerate(chosen.rows):
            prompt = read_prompt(tokenizer, one) if one.images else one.prompt
            text = prompt if model.decodes_answer else joined(prompt, one.answer)
            try:
                tokens = answer_tokens(model, tokenizer, prompt, one.answer)
            except InputError:
                continue
            added += not model.decodes_answer and len(text) > len(prompt) + len(one.answer)
            asked[row] = {"text": text, "label": 0.0, TOKENS: json.dumps(tokens)}
            if one.images:
                cells = [{"bytes": own.content, "path": own.name} for own in one.images]
                asked[row] |= {"text": one.prompt, SEEN_IMAGES: cells, TEXT_BEHIND: text[len(prompt) :]}
                asked[row] |= {OTHER_TEXT: one.other or ""}
        note = WHOLE if not added else f"{WHOLE}; between {added:,} prompts and their answers a blank was put"
        return question_rows(None, chosen, asked, note, LACKS)


def read_prompt(tokenizer: PreTrainedTokenizerBase, one: GivenAnswer) -> str:
    """What a model reads of a prompt about images.

    Raises:
        InputError: if it does not read both.
    """
    prompt: str
    (prompt,) = reader_of(tokenizer).inputs([{"images": one.images, "text": one.prompt}])
    return prompt


def answer_tokens(
    model: TaskModel, tokenizer: PreTrainedTokenizerBase, prompt: str, answer: str
) -> list[list[int]]:
    """The tokens of an answer behind its prompt; of an encoder–decoder those that its decoder reads, and
    those of the answer.

    Raises:
        InputError: if the model does not read both.
    """
    alone = Inputs.read(tokenizer, [prompt], None)
    if not (alone.encoded.words >= 0).any():
        raise InputError("no token of the prompt is left")
    if model.decodes_answer:
        labels, read = label_tokens(model.model, alone, answer)
        return [read[: len(labels)], labels]
    text = joined(prompt, answer)
    whole = Inputs.read(tokenizer, [text], None).encoded
    behind = alone._replace(texts=[text[: len(text) - len(answer)]])  # with the blank that was put there
    size, _ = split_tokens(behind, [text], whole, 0)
    if not size:
        raise InputError("the model reads no token of the answer")
    return [whole.ids[0][whole.mask[0]][-size:].tolist()]


QUESTIONS.register("answers")(Likelihoods())
