"""A language model, asked about an answer that somebody gives: how likely is it behind the prompt?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor
from transformers import PreTrainedConfig, PreTrainedModel
from transformers.modeling_outputs import SequenceClassifierOutput

from glasshead.data import Encoded, check_utf8, encode, offsets_of
from glasshead.errors import InputError, ParameterError
from glasshead.huggingface import (
    Inputs,
    NextTokenClassifier,
    as_asked,
    class_name,
    new_like,
    quote,
)
from glasshead.spelling import spell
from glasshead.tasks.answer_models import OTHER, AnswerModel, AskedAnswer, log_p_at, names_of
from glasshead.tasks.places import PartModel
from glasshead.tasks.spans import log_rest
from glasshead.tasks.unknown_words import unknown_notes, unknown_parts

BORDER = 8
"""So many tokens before the answer are compared with those of the prompt alone."""


class AnswerClassifier(AnswerModel, PartModel):
    """A classifier of whether a model writes an answer: log p = Σ_t log p(y_t | prompt, y_<t), logits log(1
    − p) and log p.

    ``question`` [b, n] is 1 + y_t at each token of the answer in question, and 0 elsewhere. The place
    before it predicts it, even if tokens of the prompt were cut out.
    """

    asks_words = False

    def __init__(self, model: PreTrainedModel, vocabulary: Sequence[str], answer: str) -> None:
        super().__init__(model, names_of(answer))
        self.vocabulary, self.answer = tuple(vocabulary), answer

    def rebuild(self, config: PreTrainedConfig) -> AnswerClassifier:
        """The question for a model of another configuration, with new weights."""
        return AnswerClassifier(new_like(self.model, config), self.vocabulary, self.answer)

    def place(self, encoded: Encoded, row: int) -> slice:
        """The tokens of the question."""
        (marked,) = marks(encoded)[row].nonzero(as_tuple=True)
        return slice(int(marked[0]), int(marked[-1]) + 1)

    def answers(self, encoded: Encoded, row: int) -> Sequence[str]:
        """The answer (or one token of it) and anything else."""
        tokens = marks(encoded)[row]
        own = tokens[tokens > 0].sub(1).tolist()
        return OTHER, self.vocabulary[own[0]] if len(own) == 1 else quote(self.answer)

    def forward(self, question: Int[Tensor, "b n"] | None = None, **inputs: Any) -> SequenceClassifierOutput:
        """Logits [b, 2]; only the places before the tokens of the answer are mapped to the vocabulary.

        Raises:
            InputError: if an answer has no prompt.
        """
        if question is None:
            raise ValueError("the tokens of the answer are missing: pass question")
        rows, places = question.nonzero(as_tuple=True)
        if not bool(places.all()):
            raise nothing_before(self)
        tokens = question[rows, places] - 1
        output, log_p = log_p_at(self.model, rows, places - 1, tokens, len(question), **inputs)
        return as_asked(output, torch.stack([log_rest(log_p), log_p], dim=1))


def nothing_before(model: PreTrainedModel) -> InputError:
    """Why an answer cannot be predicted without its prompt."""
    return InputError(
        f"{class_name(model)} needs a prompt, but nothing is left of this one without its only token: use "
        "the method 'erasure-mean-embedding'"
    )


def marks(encoded: Encoded) -> Int[Tensor, "texts tokens"]:
    """What is asked about."""
    assert encoded.question is not None
    return encoded.question


def ask_answer_behind(model: NextTokenClassifier, prompts: Inputs, answer: str) -> AskedAnswer:
    """Ask about an answer behind each prompt: about the whole and, where it has several tokens, about each of
    these, in a text that ends with it.

    Tokens of the answer are not part of what is explained, and stay: their words are −1.

    Raises:
        InputError: where no token of a prompt is left.
    """
    texts = [prompt + answer for prompt in prompts.texts]
    encoded = encode(prompts.tokenizer, texts, unit=prompts.encoded.unit)
    split = [split_tokens(prompts, texts, encoded, row) for row in range(len(texts))]
    sizes = torch.tensor([size for size, _ in split])
    ends = encoded.mask.sum(dim=1)
    columns = torch.arange(encoded.ids.shape[1])
    own = (columns >= (ends - sizes)[:, None]) & (columns < ends[:, None])
    encoded = replace(
        encoded,
        words=np.where(own.numpy(), -1, encoded.words),
        question=torch.where(own, encoded.ids + 1, 0),
    )
    whole = Inputs(prompts.tokenizer, texts, None, encoded)
    asked: list[tuple[int, int | None]] = []
    for row, places in enumerate(own):
        each = places.nonzero()[:, 0].tolist()
        asked += [(row, None), *((row, place) for place in each if len(each) > 1)]
    moved = sum(differs for _, differs in split)
    unknown = [
        part
        for row, text in enumerate(texts)
        for part in unknown_parts(
            prompts.tokenizer,
            text,
            encoded.ids[row][own[row]].tolist(),
            encoded.offsets[row][own[row].numpy()],
        )
    ]
    notes: tuple[str, ...] = (border_note(moved, len(texts)),) if moved else ()
    notes += unknown_notes(prompts.tokenizer, unknown)
    classifier = AnswerClassifier(model.model, model.vocabulary, answer)
    return AskedAnswer(classifier, about_tokens(whole, asked), whole, notes)


def check_answer(model: PreTrainedModel, prompts: Inputs, answer: str) -> None:
    """Raise InputError where no answer can be given."""
    check_utf8(answer)
    if not isinstance(model, NextTokenClassifier) or model.asks_words:
        raise InputError(
            f"{class_name(model)} writes no answer to a text, so none can be explained: leave "
            f"{spell('answer')} out"
        )
    if prompts.pairs is not None:
        raise InputError(f"a language model reads one text: leave {spell('pairs')} out")


def split_tokens(prompts: Inputs, texts: Sequence[str], encoded: Encoded, row: int) -> tuple[int, bool]:
    """How many of the last tokens of a text are those of the answer, and whether the tokens before are other
    ones than the prompt has alone. A token that begins in the prompt and ends in the answer is the answer's.

    Raises:
        InputError: if no token of the prompt is left.
    """
    end = len(prompts.texts[row])
    # As the tokenizer gives them: those of `encoded` are without blanks.
    _, places = offsets_of(prompts.tokenizer, texts[row])
    size = sum(stop > end for _, stop in places)
    count = int(encoded.mask[row].sum())
    left = max(count - size, 0)
    before = encoded.ids[row, :left][encoded.words[row, :left] >= 0]
    if not len(before):
        raise ParameterError("answer", no_prompt_left(prompts.texts[row], count < len(places)))
    alone = prompts.encoded.ids[row][prompts.encoded.words[row] >= 0]
    compared = min(BORDER, len(before), len(alone))
    straddles = any(start < end < stop for start, stop in places)
    return size, straddles or before[-compared:].tolist() != alone[-compared:].tolist()


def no_prompt_left(prompt: str, is_cut: bool) -> str:
    """Why nothing of a prompt can be explained."""
    if is_cut:
        return "leaves no room for the prompt: use a shorter answer"
    return f"and the prompt {prompt[:40]!r} share a token: begin the answer with a blank"


def border_note(moved: int, texts: int) -> str:
    """What happened where the answer begins."""
    which = "of the prompt" if texts == 1 else f"of {moved} of {texts} prompts"
    return (
        f"with the answer after it, the tokenizer divides the end {which} differently, and a token that "
        "reaches into the answer belongs to the answer: is a blank missing or doubled between the two?"
    )


def about_tokens(whole: Inputs, asked: Sequence[tuple[int, int | None]]) -> Inputs:
    """Inputs by their number, each asked about the token at a place, with which its text then ends, or about
    the whole answer."""
    inputs = whole.take([row for row, _ in asked])
    encoded, texts = inputs.encoded, list(inputs.texts)
    question, mask = marks(encoded).clone(), encoded.mask.clone()
    for number, (_, place) in enumerate(asked):
        if place is not None:
            question[number, :place] = 0
            question[number, place + 1 :] = 0
            mask[number, place + 1 :] = False
            texts[number] = texts[number][: int(encoded.offsets[number, place, 1])]
    ids = encoded.ids.masked_fill(~mask, whole.tokenizer.pad_token_id or 0)
    return Inputs(whole.tokenizer, texts, None, replace(encoded, ids=ids, mask=mask, question=question))
