"""Sentences and words of a text, by their characters, in any script."""

from __future__ import annotations

import regex

Span = tuple[int, int]

# Unicode's Sentence_Terminal, closing marks behind it, then a blank that no small letter follows; or
# a terminal of a script that writes no blanks. Titles before names and numbers of a list end nothing.
END = regex.compile(
    r"(?<!\b(?:Dr|Mr|Mrs|Ms|Prof|St|vs|Fig|cf|ca|e\.g|i\.e|\p{Lu})|^\s*\d{1,3})(?!(?<=\bNo)\.\s*\d)"
    r"\p{Sentence_Terminal}+[\p{Pe}\p{Pf}\p{Pi}\"'’”»*_]*(?=\s+(?!\p{Ll}))"
    r"|[。！？｡]+[\p{Pe}\p{Pf}」』”’]*"
    r"|\n+",
    regex.MULTILINE,
)
WORD = regex.compile(r"\S+")


def sentence_spans(text: str) -> list[Span]:
    """Where the sentences of a text stand, without the blanks around them."""
    ends = [match.end() for match in END.finditer(text)]
    spans = []
    for start, stop in zip([0, *ends], [*ends, len(text)], strict=True):
        piece = text[start:stop]
        if any(letter.isalnum() for letter in piece):
            begin = start + len(piece) - len(piece.lstrip())
            spans.append((begin, start + len(piece.rstrip())))
        elif spans and piece.strip():  # marks alone belong to what stands before
            spans[-1] = (spans[-1][0], start + len(piece.rstrip()))
    return spans or ([(0, len(text))] if text else [])


def word_spans(text: str, start: int, stop: int) -> list[Span]:
    """Where the words between two places of a text stand."""
    return [match.span() for match in WORD.finditer(text, start, stop)]
