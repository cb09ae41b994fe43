"""Parts of a text that somebody marks or names: each is one unit, as a word is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from glasshead.data.encoded import Encoded
from glasshead.errors import InputError

Span = tuple[int, int]
MARKS = re.compile("<<|>>")
OPEN = "<<"
SHOWN = 40
"""Letters of a segment in a message."""


def strip_marks(text: str) -> tuple[str, list[Span]]:
    """A text without the marks ``<<`` and ``>>``, and the places of the parts between them.

    Raises:
        InputError: on an unpaired mark, a nested part, and an empty one.
    """
    plain, spans, opened, at = "", list[Span](), -1, 0
    for mark in MARKS.finditer(text):
        plain += text[at : mark.start()]
        at = mark.end()
        if (mark[0] == OPEN) != (opened < 0):
            raise InputError(
                f"{mark[0]!r} behind {text[: mark.start()][-SHOWN:]!r} is not closed: write each segment "
                "between << and >>, without nesting"
            )
        if mark[0] == OPEN:
            opened = len(plain)
            continue
        if not plain[opened:].strip():
            raise InputError("a segment between << and >> is empty: write a text in it, or remove the marks")
        spans.append((opened, len(plain)))
        opened = -1
    if opened >= 0:
        raise InputError(f"'<<' before {text[at:][:SHOWN]!r} is not closed: close the segment with >>")
    return plain + text[at:], spans


def find_segments(text: str, names: Sequence[str]) -> list[Span]:
    """The places of these parts in a text."""
    return [match.span() for name in names for match in re.finditer(re.escape(name), text)]


def check_apart(text: str, spans: Sequence[Span]) -> None:
    """Raise InputError if two segments share letters."""
    ordered = sorted(spans)
    for (start, end), (after, last) in pairwise(ordered):
        if after < end:
            raise InputError(
                f"the segments {text[start:end][:SHOWN]!r} and {text[after:last][:SHOWN]!r} share letters: "
                "name parts that do not overlap"
            )


def with_segments(encoded: Encoded, texts: Sequence[str], segments: Sequence[Sequence[Span]]) -> Encoded:
    """Encoded ``texts`` in which every segment is one unit; words stay units elsewhere.

    A token that is partly inside a segment belongs to the segment. So do special tokens within
    it, such as the marks of a chat.

    Raises:
        InputError: if a segment has no token of its own, and if two share letters.
    """
    words, (first, last) = encoded.words.copy(), np.moveaxis(encoded.offsets, -1, 0)
    beyond = words.max(initial=-1) + 1
    for row, spans in enumerate(segments):
        check_apart(texts[row], spans)
        is_read, own = encoded.mask[row].numpy(), encoded.words[row]
        for number, (start, end) in enumerate(sorted(spans)):
            inside = (start <= first[row]) & (first[row] < end) & (last[row] <= end)
            shared = (first[row] < end) & (start < last[row])
            is_written = first[row] < last[row]
            tokens = is_read & ((inside & ((own >= 0) | is_written)) | (shared & (own >= 0)))
            tokens &= words[row] < beyond  # a token of two segments is the first one's
            if not tokens.any():
                raise InputError(
                    f"the segment {texts[row][start:end][:SHOWN]!r} has no token of its own: the text is cut "
                    "before it, or the tokenizer joins it with another segment"
                )
            words[row, tokens] = beyond + number
    starts = (np.diff(words, axis=1, prepend=-1) != 0) & (words >= 0)
    return replace(encoded, words=np.where(words < 0, -1, starts.cumsum(axis=1) - 1), unit="word")
