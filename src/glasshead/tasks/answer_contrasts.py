"""A language model, asked about an answer that somebody gives, alone or rather than another one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import takewhile
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from transformers import PreTrainedConfig, PreTrainedModel
from transformers.modeling_outputs import SequenceClassifierOutput

from glasshead.data import check_utf8, encode
from glasshead.errors import InputError, ParameterError
from glasshead.huggingface import Inputs, NextTokenClassifier, as_asked, isolated_copy, new_like, quote
from glasshead.spelling import spell
from glasshead.tasks.answer_models import AnswerModel, AskedAnswer, log_p_at
from glasshead.tasks.answers import ask_answer_behind, border_note, check_answer, nothing_before, split_tokens
from glasshead.tasks.source_answers import (
    ask_source_answer,
    label_tokens,
    separate_decoder,
    source_log_p,
)
from glasshead.tasks.unknown_words import unknown_labels, unknown_notes, unknown_parts

Answer = tuple[list[int], list[int]]
"""The tokens of an answer, and what a decoder reads for them; nothing if there is none."""


class ContrastClassifier(AnswerModel):
    """Which of two answers a model writes: logits are their log p, and the log-odds log p(A) − log p(B).

    Each answer has a pass of its own, behind the prompt or in the decoder, so that a text is read twice.
    """

    def __init__(self, model: PreTrainedModel, names: Sequence[str], answers: Sequence[Answer]) -> None:
        super().__init__(separate_decoder(model) if model.config.is_encoder_decoder else model, names)
        self.names, self.tokens = tuple(names), tuple(answers)
        self.decodes_answer = model.config.is_encoder_decoder

    def rebuild(self, config: PreTrainedConfig) -> ContrastClassifier:
        """The question for a model of another configuration, with new weights."""
        return ContrastClassifier(new_like(self.model, config), self.names, self.tokens)

    @property
    def reads_twice(self) -> str:
        """Two passes."""
        return f"leave {spell('against')} out, or choose 'gradient' or 'erasure-delete'"

    @property
    def target_fn(self) -> str:
        """The contrast of both."""
        return "log-odds"

    def forward(self, **inputs: Any) -> SequenceClassifierOutput:
        """Logits [b, 2] of the other answer and the given one."""
        log_p: Callable[..., tuple[Any, Tensor]] = self.log_p_behind
        if self.model.config.is_encoder_decoder:
            asked = torch.zeros(len(inputs["input_ids"]), dtype=torch.long, device=inputs["input_ids"].device)
            log_p = partial(source_log_p, self.model, asked=asked)
        passes = [log_p(read=read, labels=labels, **inputs) for labels, read in self.tokens]
        return as_asked(passes[-1][0], torch.stack([own for _, own in passes], dim=1))

    def log_p_behind(
        self, read: Sequence[int], labels: Sequence[int], **inputs: Tensor
    ) -> tuple[Any, Float[Tensor, " b"]]:
        """log p of an answer behind prompts of one length.

        Raises:
            InputError: if nothing stands before it.
        """
        if not bool(inputs["attention_mask"].all()):
            raise nothing_before(self)
        size, length = inputs["input_ids"].shape
        own = torch.tensor(labels, device=inputs["input_ids"].device)
        longer = {
            name: torch.cat([values, values[:, -1:].expand(-1, len(own))], dim=1)
            for name, values in inputs.items()
        }
        longer["input_ids"] = torch.cat([inputs["input_ids"], own.expand(size, -1)], dim=1)
        rows = torch.arange(size, device=own.device).repeat_interleave(len(own))
        places = torch.arange(length - 1, length - 1 + len(own), device=own.device).repeat(size)
        return log_p_at(self.model, rows, places, own.repeat(size), size, **longer)


def ask_answer(model: PreTrainedModel, prompts: Inputs, answer: str, against: str | None) -> AskedAnswer:
    """Ask about an answer to each prompt: about the whole and, if it has several tokens, about each of
    them; or, ``against`` another answer, only about both as a whole.

    Raises:
        InputError: if the model writes no text, on equal answers, and if no token of a prompt is left.
    """
    check_answer(model, prompts, answer)
    assert isinstance(model, NextTokenClassifier)
    if against is not None:
        return ask_contrast(model, prompts, answer, against)
    if model.config.is_encoder_decoder:
        return ask_source_answer(model, prompts, answer)
    return ask_answer_behind(model, prompts, answer)


def ask_contrast(model: NextTokenClassifier, prompts: Inputs, answer: str, against: str) -> AskedAnswer:
    """Ask which of two answers is given.

    Raises:
        InputError: if they are the same to the model, and where no token of a prompt is left.
    """
    check_utf8(against)
    own = isolated_copy(model).model
    given, other = quote(answer), quote(against)
    names = f"{other} rather than {given}", f"{given} rather than {other}"
    if own.config.is_encoder_decoder:
        answers = [label_tokens(own, prompts, text) for text in (against, answer)]
        unknown = [
            part
            for text, (labels, _) in zip((against, answer), answers, strict=True)
            for part in unknown_labels(prompts.tokenizer, text, labels)
        ]
        notes = unknown_notes(prompts.tokenizer, unknown)
    else:
        prompts, tokens, notes = divide(prompts, (against, answer))
        answers = [(labels, []) for labels in tokens]
    if answers[0] == answers[1]:
        raise InputError(f"{answer!r} and {against!r} are the same tokens: name two answers")
    return AskedAnswer(ContrastClassifier(own, names, answers), prompts, prompts, notes)


def divide(prompts: Inputs, answers: Sequence[str]) -> tuple[Inputs, list[list[int]], tuple[str, ...]]:
    """The prompts as they begin with each of several answers behind them, the tokens of these, and what a
    person should know of the border. A token that begins in the prompt and ends in an answer is the answer's.

    Raises:
        InputError: if no token of a prompt is left, the model does not read both, or an answer has other
            tokens behind one prompt than behind another.
    """
    wholes = [
        encode(prompts.tokenizer, [text + answer for text in prompts.texts], unit=prompts.encoded.unit)
        for answer in answers
    ]
    sizes, tails, moved = [], [], 0
    unknown: list[str] = []
    for row, prompt in enumerate(prompts.texts):
        ids = [whole.ids[row][whole.mask[row]].tolist() for whole in wholes]
        split = [
            split_tokens(prompts.take([row]), [prompt + answer], whole.take(slice(row, row + 1)), 0)
            for whole, answer in zip(wholes, answers, strict=True)
        ]
        for answer, own in zip(answers, ids, strict=True):
            if len(own) < len(prompts.tokenizer(f"{prompt}{answer}", verbose=False)["input_ids"]):
                raise ParameterError(
                    "answer", "and the prompt are longer than the model's maximum: shorten one of them"
                )
        before = min(len(own) - size for own, (size, _) in zip(ids, split, strict=True))
        alike = (len({*pair}) == 1 for pair in zip(*(own[:before] for own in ids), strict=True))
        sizes.append(sum(takewhile(bool, alike)))
        tails.append([own[sizes[-1] :] for own in ids])
        moved += any(differs for _, differs in split)
        for answer, whole, tail in zip(answers, wholes, tails[-1], strict=True):
            places = whole.offsets[row][whole.mask[row].numpy()][sizes[-1] :]
            unknown += unknown_parts(prompts.tokenizer, f"{prompt}{answer}", tail, places)
        if tails[-1] != tails[0]:
            raise InputError(
                f"the tokenizer divides an answer differently after {prompt[:40]!r} and after "
                f"{prompts.texts[0][:40]!r}: explain these {spell('texts')} one by one"
            )
    first = wholes[0]
    mask = torch.arange(first.ids.shape[1]) < torch.tensor(sizes)[:, None]
    words = np.where(mask.numpy(), first.words, -1)
    if not (words >= 0).any(axis=1).all():
        raise ParameterError("answer", "shares all tokens of the prompt: begin it with a blank")
    ids_before = first.ids.masked_fill(~mask, prompts.tokenizer.pad_token_id or 0)
    encoded = replace(first, ids=ids_before, mask=mask, words=words, one_length=True).some(slice(None))
    notes: tuple[str, ...] = (border_note(moved, len(sizes)),) if moved else ()
    notes += unknown_notes(prompts.tokenizer, unknown)
    return prompts._replace(encoded=encoded), tails[0], notes
