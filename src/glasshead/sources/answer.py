"""The answer whose sources are sought, in the model's tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from transformers import PreTrainedTokenizerBase

from glasshead.data import check_utf8, offsets_of
from glasshead.errors import InputError, ParameterError
from glasshead.generation import generate_texts, read_prompt
from glasshead.huggingface import NextTokenClassifier
from glasshead.requests import CiteRequest, GenerateRequest
from glasshead.sources.prompts import PromptFrame
from glasshead.sources.scores import Ids
from glasshead.sources.sentence_spans import Span
from glasshead.spelling import spell
from glasshead.trace import Subject


@dataclass(frozen=True)
class AnswerTokens:
    """An answer as the model wrote it: its text, its tokens, and the characters of each."""

    text: str
    ids: Ids
    offsets: tuple[Span, ...]

    def tokens_of(self, span: Span) -> list[int]:
        """The tokens that have a character of a part; a token of two parts belongs to the first."""
        start, stop = span
        return [
            place
            for place, (begin, end) in enumerate(self.offsets)
            if end > begin and begin < stop and end > start and not (begin < start < end and start > 0)
        ]


def write_answer(subject: Subject, prompt: str, request: CiteRequest) -> Any:
    """What the model writes behind all passages.

    Raises:
        InputError: if it writes nothing but the end.
    """
    asked = GenerateRequest(
        subject,
        prompt,
        tokens=request.tokens,
        strategy=request.strategy or "greedy",
        seed=request.seed,
    )
    written = generate_texts(subject, [prompt], asked)[0]
    if not written.answer.strip():
        raise InputError(f"{subject.name} answers nothing: give an {spell('answer')}")
    return written


def tokenize_answer(
    classifier: NextTokenClassifier,
    tokenizer: PreTrainedTokenizerBase,
    frame: PromptFrame,
    prompt: str,
    answer: Any,
) -> AnswerTokens:
    """The tokens of an answer behind its prompt; one that was written keeps its own, without its end.

    Raises:
        InputError: if a given answer is empty.
    """
    if not isinstance(answer, str):
        own = range(answer.start, len(answer.ids))
        begin = len(answer.prompt + answer.joint)
        kept = [n for n in own if answer.offsets[n][1] > answer.offsets[n][0]]
        spans = tuple((answer.offsets[n][0] - begin, answer.offsets[n][1] - begin) for n in kept)
        return AnswerTokens(answer.answer, tuple(answer.ids[n] for n in kept), spans)
    if not answer.strip():
        raise ParameterError("answer", "is a text, not an empty one")
    check_utf8(answer)
    if classifier.model.config.is_encoder_decoder:
        ids, offsets = offsets_of(tokenizer, answer)
        kept = [n for n, (start, stop) in enumerate(offsets) if stop > start]
        return AnswerTokens(answer, tuple(ids[n] for n in kept), tuple(offsets[n] for n in kept))
    joint = "" if frame.as_chat or prompt[-1:].isspace() or answer[:1].isspace() else " "
    begin = len(prompt + joint)
    read = read_prompt(tokenizer, prompt + joint + answer)
    kept = [n for n, (start, stop) in enumerate(read.offsets) if stop > begin]
    spans = tuple((max(read.offsets[n][0] - begin, 0), read.offsets[n][1] - begin) for n in kept)
    return AnswerTokens(answer, tuple(read.ids[n] for n in kept), spans)
