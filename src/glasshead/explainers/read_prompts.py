"""What is explained as the model reads it: chats become texts, and parts of a text become units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from glasshead.data import (
    TextWithImages,
    UnitReader,
    chat_note,
    find_segments,
    is_chat,
    join_pair,
    message_spans,
    render_chat,
    strip_marks,
    with_segments,
)
from glasshead.errors import InputError, ParameterError
from glasshead.huggingface import Inputs, NextTokenClassifier
from glasshead.requests import MethodRequest
from glasshead.spelling import spell
from glasshead.trace import Subject

Span = tuple[int, int]


class Prompts(NamedTuple):
    """Texts, or pictures, and the second ones of pairs. ``segments`` are the parts of each text, or of both
    of a pair with a line between, that are one unit; ``notes`` what a person should know of them."""

    texts: list[Any]
    pairs: list[str] | None
    segments: dict[str, list[Span]]
    notes: tuple[str, ...]


def read_prompts(
    subject: Subject, texts: Sequence[Any], pairs: Sequence[str] | None, request: MethodRequest
) -> Prompts:
    """Texts as the model reads them, with the segments that a request marks or names.

    Raises:
        InputError: on segments of images, on those that no text has, and as `render_chat` and `strip_marks`.
    """
    tokenizer, model = subject.tokenizer, subject.model
    writes = isinstance(model, NextTokenClassifier) and not model.asks_words
    names = request.segments or ()
    if isinstance(tokenizer, UnitReader):
        if names or request.unit in ("segment", "message"):
            raise InputError("segments are parts of texts, but this model reads images: leave them out")
        return Prompts([*texts], None if pairs is None else [*pairs], {}, ())
    plain, seconds, segments, notes = list[str](), list[str](), dict[str, list[Span]](), dict[str, None]()
    for number, first in enumerate(texts):
        spans: list[Span] = []
        text = render_chat(tokenizer, first, writes=writes) if is_chat(first) else first
        second = "" if pairs is None else pairs[number]
        if is_chat(first) and (note := chat_note(tokenizer, text)) is not None:
            notes[note] = None
        if request.unit == "message":
            if not is_chat(first):
                raise ParameterError("unit", "'message' is for chats: give a list of messages with roles")
            spans = message_spans(tokenizer, first, writes=writes)
        behind: list[Span] = []
        if isinstance(first, TextWithImages) and (request.unit == "segment" or pairs is not None):
            raise InputError(
                "a text with an image has no marked parts and no second text: name its parts with "
                f"{spell('segments')}, or write both texts into one"
            )
        if request.unit == "segment":
            (text, spans), (second, behind) = strip_marks(text), strip_marks(second)
        spans += find_segments(text, names)
        behind += find_segments(second, names)
        moved = len(join_pair(text, ""))
        spans += [(start + moved, end + moved) for start, end in behind]
        both = join_pair(text, None if pairs is None else second)
        if segments.setdefault(both, spans) != spans:
            raise InputError(f"{both[:40]!r} is there twice with different segments: explain one at a time")
        plain.append(text)
        seconds.append(second)
    check_found(names, segments, request)
    return Prompts(plain, None if pairs is None else seconds, segments, (*notes,))


def check_found(names: Sequence[str], segments: Mapping[str, list[Span]], request: MethodRequest) -> None:
    """Raise InputError if no text has a segment that is named, or none where they are marked."""
    for name in names:
        if not any(name in text for text in segments):
            raise ParameterError("segments", f"has {name[:40]!r}, which is not in any text: name others")
    if request.unit == "segment" and not any(segments.values()):
        raise ParameterError(
            "unit", f"'segment' needs parts between << and >>, or {spell('segments')}: mark a part"
        )


def gather_segments(inputs: Inputs, segments: Mapping[str, list[Span]]) -> Inputs:
    """Inputs whose segments are units. An answer, where there is one, follows the text.

    Raises:
        InputError: if the model is asked about a word, and as `with_segments`.
    """
    if not any(segments.values()):
        return inputs
    if inputs.encoded.asks_place:
        raise InputError("segments do not work for models of one word of a text: leave segments out")
    texts = [inputs.joined(row) for row in range(len(inputs.texts))]
    own = [spans_of(text, segments) for text in texts]
    return inputs._replace(encoded=with_segments(inputs.encoded, texts, own))


def spans_of(text: str, segments: Mapping[str, list[Span]]) -> list[Span]:
    """The segments of a text that may go on with an answer.

    Raises:
        InputError: if it may be one of two texts.
    """
    if text in segments:
        return segments[text]
    begun = [spans for start, spans in segments.items() if text.startswith(start)]
    if any(spans != begun[0] for spans in begun):
        raise InputError("one text is the beginning of another with other segments: explain one at a time")
    return begun[0]
