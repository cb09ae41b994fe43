"""The answer whose sources are sought, in the model's tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from transformers import PreTrainedTokenizerBase

from glasshead.data import check_utf8, offsets_of
from glasshead.errors import InputError, ParameterError
from glasshead.generation import generate_texts, read_prompt
from glasshead.huggingface import NextTokenClassifier, class_name, positions_of
from glasshead.requests import GenerateRequest, PassagesRequest
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
        """The tokens whose first letter, behind blanks, is in a part of the answer."""
        return [place for place, first in enumerate(self.first_letters) if span[0] <= first < span[1]]

    @property
    def first_letters(self) -> list[int]:
        """Where the first letter of each token stands; of one without letters where it begins, and −1 of
        one without characters."""
        places = []
        for begin, end in self.offsets:
            own = self.text[begin:end]
            blanks = len(own) - len(own.lstrip())
            places.append(-1 if end <= begin else begin + blanks % len(own))
        return places


def write_answer(subject: Subject, prompt: str, request: PassagesRequest) -> Any:
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
        raise InputError(f"{subject.name} gives no answer: pass an {spell('answer')}")
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
        begin = len(answer.prompt + answer.joint)
        own = [n for n in range(answer.start, len(answer.ids)) if answer.offsets[n][1] > answer.offsets[n][0]]
        written = range(answer.start, own[-1] + 1)  # special tokens inside belong to what was written
        spans = tuple((answer.offsets[n][0] - begin, answer.offsets[n][1] - begin) for n in written)
        return AnswerTokens(answer.answer, tuple(answer.ids[n] for n in written), spans)
    if not answer.strip():
        raise ParameterError("answer", "must be a text that is not empty")
    check_utf8(answer)
    if classifier.model.config.is_encoder_decoder:
        ids, offsets = offsets_of(tokenizer, answer)
        last = max((n for n, (start, stop) in enumerate(offsets) if stop > start), default=-1)
        return checked(AnswerTokens(answer, tuple(ids[: last + 1]), tuple(offsets[: last + 1])), classifier)
    joint = "" if frame.as_chat or prompt[-1:].isspace() or answer[:1].isspace() else " "
    begin = len(prompt + joint)
    read = read_prompt(tokenizer, prompt + joint + answer)
    kept = [n for n, (start, stop) in enumerate(read.offsets) if stop > begin]
    spans = tuple((max(read.offsets[n][0] - begin, 0), read.offsets[n][1] - begin) for n in kept)
    return checked(AnswerTokens(answer, tuple(read.ids[n] for n in kept), spans), classifier)


def checked(answer: AnswerTokens, classifier: NextTokenClassifier) -> AnswerTokens:
    """The tokens of an answer that is given.

    Raises:
        InputError: if there are none, or more than a decoder reads.
    """
    if not answer.ids:
        raise InputError("this answer has no token: use another one")
    most = positions_of(classifier.model)
    if most is not None and len(answer.ids) > most:
        raise InputError(
            f"the answer has {len(answer.ids):,} tokens, and {class_name(classifier)} reads {most:,}: "
            "shorten it"
        )
    return answer
