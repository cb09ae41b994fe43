"""Texts of which every word has a tag: tables with lists, and the files of the CoNLL tasks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glasshead.data.dependency_trees import is_conllu, read_conllu
from glasshead.data.label_columns import columns_of, refuse_choices
from glasshead.data.options import LoadOptions
from glasshead.data.read import Columns
from glasshead.data.schema import NoLabelError
from glasshead.data.text_files import read_text
from glasshead.errors import InputError
from glasshead.spelling import spell

if TYPE_CHECKING:
    from datasets import Dataset, DatasetDict

CONLL = (".conll", ".conll.gz", ".iob", ".iob2", ".bio")
"""Files with a word in each line, its tag at the end, and a blank line behind each text."""
WORD_COLUMNS, TAG_COLUMNS = ("tokens", "words"), ("ner_tags", "pos_tags", "tags", "labels")
"""What columns of lists are called."""
BEGIN = "-DOCSTART-"


@dataclass(frozen=True)
class TaggedText:
    """A text, and the characters and the tag of each word."""

    text: str
    spans: Sequence[tuple[int, int]]
    tags: Sequence[str | int]


def read_tagged(
    source: str | Path | Dataset | DatasetDict, split: str, options: LoadOptions
) -> list[TaggedText]:
    """The texts of a split; the words of a list are joined by blanks.

    Raises:
        InputError: if there are none, and with the row of a text that has no tag for some word.
    """
    refuse_choices(options)
    if isinstance(source, str | Path) and is_conllu(source):
        return [TaggedText(one.text, one.spans, one.tags) for one in read_conllu(Path(source))]
    if isinstance(source, str | Path) and str(source).lower().endswith(CONLL):
        return [join_words(words, tags) for words, tags in read_lines(Path(source), options.encoding)]
    return tagged_rows(columns_of(source, split, options), options)


def tagged_rows(columns: Columns, options: LoadOptions) -> list[TaggedText]:
    """The rows of a table with a list of words and a list of tags.

    Raises:
        InputError: as `read_tagged`.
    """
    words = find_column(columns, WORD_COLUMNS, options.text_column, "words", "text_column")
    tags = find_column(columns, TAG_COLUMNS, options.label_column, "tags", "label_column")
    names = columns.coded.get(tags)
    texts = []
    for row, (own, given) in enumerate(zip(columns.values[words], columns.values[tags], strict=True), 1):
        if not isinstance(own, list) or not isinstance(given, list) or len(own) != len(given):
            raise InputError(
                f"{columns.source} row {row} has no tag for each word: give "
                f"lists of equal length in {words!r} "
                f"and {tags!r}"
            )
        where = f"{columns.source} row {row}"
        for word in own:
            if not str(word if word is not None else "").strip():
                raise InputError(f"{where} has a word without letters: {word!r}")
        texts.append(join_words(own, given if names is None else [named(tag, names, where) for tag in given]))
    return texts


def named(tag: int, names: Sequence[str], where: str) -> str:
    """The name of a tag that is a number in the data.

    Raises:
        InputError: if there is none.
    """
    if tag not in range(len(names)):
        raise InputError(
            f"{where} has the tag {tag!r}, and the data name {len(names)}: give a tag for each word"
        )
    return names[tag]


def find_column(columns: Columns, usual: Sequence[str], named: str | None, what: str, option: str) -> str:
    """The name of a column of lists.

    Raises:
        InputError: if there is none.
    """
    names = usual if named is None else (named,)
    found = next((name for name in names if name in columns.values), None)
    if found is None:
        raise NoLabelError(
            f"{columns.source} has no lists of {what} (it has: {', '.join(columns.values)}): name their "
            f"column with {spell(option)}"
        )
    return found


def read_lines(path: Path, encoding: str | None = None) -> Iterable[tuple[list[str], list[str]]]:
    """The words and the tags of each text of a file.

    Raises:
        InputError: if it cannot be read, has no text, or a line has no tag.
    """
    if not path.is_file():
        raise InputError(f"no such file: {path}")
    texts: list[tuple[list[str], list[str]]] = [([], [])]
    for number, line in enumerate(read_text(path, encoding).split("\n"), 1):
        parts = line.split()
        if not parts or parts[0] == BEGIN:
            texts.append(([], []))
            continue
        if len(parts) < 2:
            raise InputError(f"{path} line {number} has no tag behind its word: {line.strip()[:40]!r}")
        texts[-1][0].append(parts[0])
        texts[-1][1].append(parts[-1])
    found = [text for text in texts if text[0]]
    if not found:
        raise InputError(f"{path} has no word")
    return found


def join_words(words: Sequence[Any], tags: Sequence[str | int]) -> TaggedText:
    """Words with blanks between them."""
    spans, start = [], 0
    for word in words:
        spans.append((start, start + len(str(word))))
        start += len(str(word)) + 1
    return TaggedText(" ".join(map(str, words)), spans, tags)
