"""A language model before data with answers: how likely is the answer of each row?"""

from __future__ import annotations

import copy
import json
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor
from transformers import PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerBase
from transformers.modeling_outputs import SequenceClassifierOutput

from glasshead.data import Encoded, GivenAnswer, LoadOptions, read_given
from glasshead.errors import InputError
from glasshead.huggingface import Inputs, NextTokenClassifier, PairsNeeded, TaskModel, as_asked, new_like
from glasshead.tasks.answer_models import log_p_at
from glasshead.tasks.answers import nothing_before, split_tokens
from glasshead.tasks.source_answers import label_tokens, separate_decoder
from glasshead.tasks.task import QUESTIONS, Chosen, Questions, question_rows

if TYPE_CHECKING:
    from datasets import Dataset, DatasetDict

LOG_PROBABILITY = "log-probability"
TOKENS = "tokens of the answer"
"""The column of the tokens of an answer, as JSON."""
NONE = -1
"""Behind the tokens of the shorter answers."""
LACKS = "a token of the prompt and one of its answer in what the model reads"
WHOLE = (
    "Each row is asked about its own answer as a whole: ŷ is the log-probability that the model gives it, "
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
    ``question``, or ``given`` beside it."""

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

    def rebuild(self, config: PreTrainedConfig) -> RowAnswerModel:
        """The question, put to a model of another configuration, with new weights."""
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
    """How likely a model gives the answer of each input: ŷ = log p(y | x) = Σ_t log p(y_t | x, y_<t).

    Logits [b, 1] are ŷ in nats: a change of 0.05 means an answer that is 5 % more or less likely. Behind a
    prompt ``question`` [b, n] is 1 + y_t at each token of the answer, and 0 elsewhere. Of an encoder–decoder
    ``given`` [b, 2m] are the tokens that its decoder reads and those of the answer, each filled up with −1.
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
        if encoded.given is not None:
            labels = encoded.given.chunk(2, dim=1)[1]
            return [self.reader.text(own[own != NONE].tolist()) for own in labels]
        assert encoded.question is not None
        return [self.reader.text((own[own > 0] - 1).tolist()) for own in encoded.question]

    def forward(
        self,
        question: Int[Tensor, "b n"] | None = None,
        given: Int[Tensor, "b m"] | None = None,
        **inputs: Any,
    ) -> SequenceClassifierOutput:
        """ŷ [b, 1]; the vocabulary is asked before each token of an answer only.

        Raises:
            InputError: if nothing stands before an answer.
        """
        if given is not None:
            output, log_p = log_p_decoded(self.model, given, **inputs)
        elif question is not None:
            rows, places = question.nonzero(as_tuple=True)
            if not bool(places.all()):
                raise nothing_before(self)
            tokens = question[rows, places] - 1
            output, log_p = log_p_at(self.model, rows, places - 1, tokens, len(question), **inputs)
        else:
            raise ValueError("say which tokens are the answer: question, or given")
        return as_asked(output, log_p[:, None])

    def ask_rows(self, inputs: Inputs, split: Dataset) -> Encoded:
        """About the answer of each row."""
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


def about_ends(encoded: Encoded, sizes: Sequence[int]) -> Encoded:
    """Texts, of which so many last tokens are an answer: they are asked about, and no part of what is
    explained."""
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
    """A prompt and its answer as one text, with a blank between them where neither has one."""
    has_blank = prompt[-1:].isspace() or answer[:1].isspace()
    return f"{prompt}{answer}" if has_blank else f"{prompt} {answer}"


class RowAnswers(Questions):
    """Questions to prompts with answers."""

    def read(
        self, source: str | Path | Dataset | DatasetDict, split: str, options: LoadOptions
    ) -> list[GivenAnswer]:
        """Prompts with their answers."""
        return read_given(source, split, options)

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
            text = one.prompt if model.decodes_answer else joined(one.prompt, one.answer)
            try:
                tokens = answer_tokens(model, tokenizer, one.prompt, one.answer)
            except InputError:
                continue
            added += not model.decodes_answer and len(text) > len(one.prompt) + len(one.answer)
            asked[row] = {"text": text, "label": 0.0, TOKENS: json.dumps(tokens)}
        note = WHOLE if not added else f"{WHOLE}; between {added:,} prompts and their answers a blank was put"
        return question_rows(None, chosen, asked, note, LACKS)


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
    behind = alone._replace(texts=[text[: len(text) - len(answer)]])
    size, _ = split_tokens(behind, [text], whole, 0)
    if not size:
        raise InputError("no token of the answer is read")
    return [whole.ids[0][whole.mask[0]][-size:].tolist()]


QUESTIONS.register("answers")(Likelihoods())
