"""Sentences with dependency trees, from a file in CoNLL-U."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glasshead.errors import InputError

if TYPE_CHECKING:
    from conllu import TokenList

TREE_SUFFIXES = (".conllu", ".conllu.gz")
ROOT = -1


@dataclass(frozen=True)
class Sentence:
    """A text, and for each syntactic word its span of characters, the place of its head among the words
    (`ROOT`: none), the relation to it, and its part of speech.

    Words that are written together (``don't``) have separate spans if their forms add up to what is
    written, else the span of the whole.
    """

    text: str
    spans: Sequence[tuple[int, int]]
    heads: Sequence[int]
    relations: Sequence[str]
    tags: Sequence[str] = ()


def is_conllu(source: str | Path) -> bool:
    """Whether a name is that of a file in CoNLL-U, plain or gzipped."""
    return str(source).lower().endswith(TREE_SUFFIXES)


def read_conllu(path: Path) -> list[Sentence]:
    """The sentences of a file; empty nodes are left out, since nothing is written there.

    Raises:
        InputError: if there is no such file, it is not UTF-8 or not CoNLL-U, a head is missing, or there is
            no sentence.

    Source: universaldependencies.org/format.html.
    """
    from conllu import parse_incr
    from conllu.exceptions import ParseException

    if not path.is_file():
        raise InputError(f"no such file: {path}")
    opened = gzip.open if path.name.lower().endswith(".gz") else open
    try:
        with opened(path, "rt", encoding="utf-8") as lines:
            sentences = [
                to_sentence(tokens, f"{path} sentence {n}") for n, tokens in enumerate(parse_incr(lines), 1)
            ]
    except (ParseException, UnicodeDecodeError, OSError, EOFError, zlib.error) as error:
        raise InputError(f"cannot read {path} as CoNLL-U: {str(error) or type(error).__name__}") from error
    if not sentences:
        raise InputError(f"{path} has no sentence")
    return sentences


def to_sentence(tokens: TokenList, source: str) -> Sentence:
    """The words of one sentence, where they stand in its text.

    Raises:
        InputError: if a word has no head, or one that is not there.
    """
    words = [token for token in tokens if isinstance(token["id"], int)]
    places = {token["id"]: place for place, token in enumerate(words)}
    heads = []
    for token in words:
        head = token.get("head")
        if head != 0 and head not in places:
            raise InputError(f"{source}: the word {token['id']} ({token['form']}) has no head in it")
        heads.append(ROOT if head == 0 else places[head])
    written = list(surface_tokens(tokens))
    text, starts = locate(
        [form for form, _, _ in written], [blank for _, _, blank in written], tokens.metadata
    )
    spans: dict[int, tuple[int, int]] = {}
    for (form, members, _), start in zip(written, starts, strict=True):
        parts = [next(token["form"] for token in words if token["id"] == number) for number in members]
        split = "".join(parts).lower() == form.lower() and len("".join(parts)) == len(form)
        for number, part in zip(members, parts, strict=True):
            length = len(part) if split else len(form)
            spans[number] = (start, start + length)
            start += length if split else 0
    relations = [str(token.get("deprel") or "_") for token in words]
    tags = [str(token.get("upos") or "_") for token in words]
    return Sentence(text, [spans[token["id"]] for token in words], heads, relations, tags)


def surface_tokens(tokens: TokenList) -> Iterator[tuple[str, list[int], bool]]:
    """What is written: form, numbers of the words in it, and whether a blank follows."""
    inside = 0
    for token in tokens:
        number = token["id"]
        if isinstance(number, tuple) and number[1] == "-":
            yield token["form"], list(range(number[0], number[2] + 1)), follows_blank(token)
            inside = number[2]
        elif isinstance(number, int) and number > inside:
            yield token["form"], [number], follows_blank(token)


def follows_blank(token: Any) -> bool:
    """Whether a blank stands behind a token."""
    return (token.get("misc") or {}).get("SpaceAfter") != "No"


def locate(forms: Sequence[str], blanks: Sequence[bool], metadata: Any) -> tuple[str, list[int]]:
    """The text of a sentence, and where every form begins: the text of the file where the forms stand in it
    in their order, else the forms one after the other."""
    text, starts, end = str((metadata or {}).get("text") or ""), [], 0
    for form in forms:
        start = text.find(form, end)
        if start < 0 or text[end:start].strip():
            break
        starts.append(start)
        end = start + len(form)
    if text and len(starts) == len(forms):
        return text, starts
    text, starts = "", []
    for form, blank in zip(forms, blanks, strict=True):
        starts.append(len(text))
        text += form + (" " if blank else "")
    return text.rstrip(), starts
