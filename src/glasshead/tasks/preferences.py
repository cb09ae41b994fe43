"""A language model before data with two answers for each prompt: which of them does it prefer?"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerBase
from transformers.modeling_outputs import SequenceClassifierOutput

from glasshead.data import Encoded, GivenAnswer, encode
from glasshead.errors import InputError
from glasshead.huggingface import Inputs, TaskModel, as_asked, class_names
from glasshead.spelling import spell
from glasshead.tasks.answer_models import log_p_at
from glasshead.tasks.answers import nothing_before
from glasshead.tasks.likelihoods import (
    NONE,
    TOKENS,
    Reader,
    RowAnswerModel,
    RowAnswers,
    answer_tokens,
    begins_with_words,
    joined,
    log_p_decoded,
    side_by_side,
)
from glasshead.tasks.task import QUESTIONS, Chosen, question_rows

if TYPE_CHECKING:
    from datasets import Dataset

SECOND, FIRST = "the second answer", "the first answer"
BEHIND, SIZE = "prompt and first answer", "tokens of the prompt"
"""Columns of the text that begins with the tokens of a prompt, and of how many these are."""
LACKS = "two answers with different tokens within the model's maximum length"
EACH = (
    "For each row the question is which of its two answers is more likely: ŷ is p(first) / (p(first) + "
    "p(second)), each p that of the whole answer; the given answer comes first in half of the rows"
)


class PreferenceModel(RowAnswerModel):
    """Which of two answers is more likely: logits [b, 2] are log p of the second and of the first one.

    ``given`` [b, 2m] are the tokens of the second and the first answer after a prompt, padded with −1. For
    an encoder–decoder they are [b, 4m]: for each answer, the tokens that its decoder reads and those of the
    answer. Each answer needs a separate pass, so a text is read twice.
    """

    def __init__(self, model: PreTrainedModel, reader: Reader) -> None:
        super().__init__(model, reader)
        self.config.id2label = {0: SECOND, 1: FIRST}
        self.config.label2id = {SECOND: 0, FIRST: 1}
        self.config.problem_type = "single_label_classification"

    @property
    def reads_twice(self) -> str:
        """Two passes."""
        return (
            "leave the column of other answers out, or choose 'gradient' and 'erasure-mean-embedding', which "
            "need no attention"
        )

    def answers_asked(self, encoded: Encoded) -> list[str]:
        """Both of each row."""
        assert encoded.given is not None
        parts = encoded.given.chunk(4 if self.decodes_answer else 2, dim=1)
        second, first = parts[1::2] if self.decodes_answer else parts
        texts = [[self.reader.text(own[own != NONE].tolist()) for own in part] for part in (first, second)]
        return [f"{one} rather than {other}" for one, other in zip(*texts, strict=True)]

    def forward(self, given: Int[Tensor, "b m"] | None = None, **inputs: Any) -> SequenceClassifierOutput:
        """Logits [b, 2] of the second and the first answer."""
        if given is None:
            raise ValueError("the answers to compare are missing: pass given")
        log_p = log_p_decoded if self.decodes_answer else log_p_behind
        passes = [log_p(self.model, own, **inputs) for own in given.chunk(2, dim=1)]
        return as_asked(passes[-1][0], torch.stack([own for _, own in passes], dim=1))

    def ask_rows(self, inputs: Inputs, split: Dataset) -> Encoded:
        """Ask about the two answers of each row; a prompt has the tokens that it has before both."""
        given = side_by_side([json.loads(own) for own in split[TOKENS][:]])
        if self.decodes_answer:
            return replace(inputs.encoded, given=given)
        whole = encode(inputs.tokenizer, split[BEHIND][:], unit=inputs.encoded.unit)
        mask = torch.arange(whole.ids.shape[1]) < torch.tensor(split[SIZE][:])[:, None]
        return replace(
            whole,
            ids=whole.ids.masked_fill(~mask, inputs.tokenizer.pad_token_id or 0),
            mask=mask,
            words=np.where(mask.numpy(), whole.words, -1),
            given=given,
            one_length=True,
            needs_words=begins_with_words(whole),
        ).some(slice(None))


def log_p_behind(
    model: PreTrainedModel, tails: Int[Tensor, "b m"], **inputs: Tensor
) -> tuple[Any, Float[Tensor, " b"]]:
    """What a model gives, and log p of an answer behind each of some prompts of one length. What fills up a
    shorter answer is behind all that is asked about.

    Raises:
        InputError: if nothing stands before it.
    """
    if not bool(inputs["attention_mask"].all()):
        raise nothing_before(model)
    width, length = int((tails != NONE).sum(dim=1).max()), inputs["input_ids"].shape[1]
    tails = tails[:, :width]
    longer = {
        name: torch.cat([values, values[:, -1:].expand(-1, width)], dim=1) for name, values in inputs.items()
    }
    longer["input_ids"] = torch.cat([inputs["input_ids"], tails.clamp(min=0)], dim=1)
    rows, places = (tails != NONE).nonzero(as_tuple=True)
    return log_p_at(model, rows, places + length - 1, tails[rows, places], len(tails), **longer)


class Preferences(RowAnswers):
    """Which answer is more likely?"""

    model = PreferenceModel

    def texts(self, rows: Sequence[GivenAnswer]) -> tuple[list[str], None]:
        """The prompts."""
        return [one.prompt for one in rows], None

    def draw(
        self, model: TaskModel, tokenizer: PreTrainedTokenizerBase, chosen: Chosen
    ) -> tuple[Dataset, str]:
        """Both answers of each row, the given one as the first or, as often, as the second.

        Raises:
            InputError: if of no row the model reads a prompt and two answers.
        """
        if any(one.images for one in chosen.rows):
            raise InputError(
                "prompts with images take one answer, but these data have a second one: remove its column, "
                f"or name the columns ({spell('text_column')}, {spell('label_column')})"
            )
        asked: dict[int, dict[str, Any]] = {}
        for row, one in enumerate(chosen.rows):
            label = int(chosen.random(row).random() < 0.5)
            pair = (one.against, one.answer) if label else (one.answer, one.against)
            try:
                cells = both_answers(model, tokenizer, one.prompt, pair)
            except InputError:
                continue
            asked[row] = {"text": one.prompt, "label": label, **cells}
        return question_rows(class_names(model), chosen, asked, EACH, LACKS)


def both_answers(
    model: TaskModel, tokenizer: PreTrainedTokenizerBase, prompt: str, answers: Sequence[str]
) -> dict[str, Any]:
    """The tokens of the second and the first answer to a prompt, and where it ends.

    Raises:
        InputError: if the model does not read all of them, or they are the same to it.
    """
    tokens = [answer_tokens(model, tokenizer, prompt, answer) for answer in answers]
    if tokens[0] == tokens[1]:
        raise InputError("both answers are the same tokens")
    if model.decodes_answer:
        return {TOKENS: json.dumps([part for own in tokens for part in own])}
    texts = [joined(prompt, answer) for answer in answers]
    wholes = [Inputs.read(tokenizer, [text], None).encoded for text in texts]
    ids = [whole.ids[0][whole.mask[0]].tolist() for whole in wholes]
    for text, own in zip(texts, ids, strict=True):
        if len(own) < len(tokenizer(text, verbose=False)["input_ids"]):
            raise InputError("the model does not read all of the prompt and its answer")
    before = min(len(own) - len(tail) for own, (tail,) in zip(ids, tokens, strict=True))
    begins = zip(*(own[:before] for own in ids), strict=True)
    size = len([*takewhile(lambda pair: pair[0] == pair[1], begins)])
    if not (wholes[1].words[0, :size] >= 0).any():
        raise InputError("no token of the prompt is left")
    return {TOKENS: json.dumps([own[size:] for own in ids]), BEHIND: texts[1], SIZE: size}


QUESTIONS.register("preferences")(Preferences())
