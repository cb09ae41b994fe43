"""Passages as people have them: texts, files, folders, and what retrievers return."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from numbers import Real
from pathlib import Path
from typing import Any

import regex

from glasshead.data import check_utf8
from glasshead.errors import InputError, brief
from glasshead.results import Passage

TEXT_SUFFIXES = (".txt", ".md", ".rst")
TEXTS = ("text", "page_content", "content", "passage", "document", "body", "contents")
"""What the text of a passage is called."""
TITLES = ("title", "file_name", "name")
LINKS = ("link", "url", "source", "file_path")
INSIDE = ("node", "document")
"""What holds a passage next to its score."""


def read_passages(context: object, split: str | None = None) -> list[Passage]:
    """The passages of a context: a text, a file (txt, md, json, jsonl, csv, …), a folder of text files, or a
    list of any of these, of mappings with a text, or of objects of a retriever.

    A ``split`` of "paragraph" cuts every text at its blank lines; None: only if there is a single one.

    Raises:
        InputError: if there is no passage, or one has no text.
    """
    passages = gather(context)
    for number, one in enumerate(passages, 1):
        if not one.text.strip():
            raise InputError(f"passage {number} has no text: leave it out")
    if split == "paragraph" or (split is None and len(passages) == 1):
        passages = [part for one in passages for part in paragraphs(one)]
    if not passages:
        raise InputError("the context has no passage: give texts, files, or a folder of text files")
    check_utf8(*(words for one in passages for words in (one.text, one.title)))
    first: dict[str, int] = {}
    for number, one in enumerate(passages):
        words = " ".join(one.text.split())
        if words in first:
            passages[number] = replace(one, repeats=first[words])
        first.setdefault(words, number)
    return passages


def paragraphs(passage: Passage) -> list[Passage]:
    """A text cut at its blank lines."""
    parts = [part.strip("\n") for part in regex.split(r"\n\s*\n", passage.text)]
    return [replace(passage, text=part) for part in parts if part.strip()]


def gather(context: Any) -> list[Passage]:
    """The passages of anything that holds some."""
    if isinstance(context, Path):
        return read_path(context)
    if isinstance(context, str):
        if names_a_path(context):
            raise InputError(f"{context!r} is a file or a folder: give Path({context!r})")
        return [Passage(context)]
    if isinstance(context, Mapping):
        documents = context.get("documents")
        return gather(documents) if isinstance(documents, list) else [passage_of(context)]
    if is_retrieved(context):
        return [passage_of(context)]
    if hasattr(context, "to_dict") and hasattr(context, "columns"):  # a table of pandas
        return gather(context.to_dict("records"))
    if isinstance(context, tuple) and len(context) == 2 and isinstance(context[1], Real):
        return gather(context[0])  # with its score
    if isinstance(context, Iterable) and not isinstance(context, bytes):
        return [passage for one in context for passage in gather(one)]
    raise InputError(f"a passage must be a text, a file, or a mapping with a text, not {ascii(context)[:60]}")


def names_a_path(text: str) -> bool:
    """Whether a text is the name of a file or folder that is there."""
    try:
        return "\n" not in text and len(text) < 256 and ("/" in text or "." in text) and Path(text).exists()
    except (OSError, ValueError):
        return False


def is_retrieved(value: object) -> bool:
    """Whether a value is what a retriever returns."""
    return any(isinstance(getattr(value, name, None), str) for name in TEXTS) or hasattr(value, "node")


def passage_of(found: Any) -> Passage:
    """A mapping, or an object of a retriever, as a passage.

    Raises:
        InputError: if it has no text.
    """
    fields: dict[str, Any] = dict(found) if isinstance(found, Mapping) else attributes_of(found)
    for name in INSIDE:
        inner = fields.get(name)
        if isinstance(inner, Mapping):
            fields |= inner
        elif inner is not None and is_retrieved(inner):
            fields |= attributes_of(inner)
    metadata = fields.get("metadata")
    about = {**(metadata if isinstance(metadata, Mapping) else {}), **fields}
    text = first_text(fields, TEXTS)
    if not text:
        raise InputError(
            f"a passage has no text (it has: {', '.join(map(str, fields)) or 'nothing'}): call it 'text'"
        )
    return Passage(text, first_text(about, TITLES), first_text(about, LINKS))


def attributes_of(found: object) -> dict[str, Any]:
    """The fields of an object that may belong to a passage."""
    names = (*TEXTS, *TITLES, *LINKS, *INSIDE, "metadata")
    return {name: value for name in names if (value := getattr(found, name, None)) is not None}


def first_text(fields: Mapping[str, Any], names: Iterable[str]) -> str:
    """The first field that is a text; empty: none."""
    return next((value for name in names if isinstance(value := fields.get(name), str) and value), "")


def read_path(path: Path) -> list[Passage]:
    """The passages of a file or a folder.

    Raises:
        InputError: if there is none, and if it cannot be read.
    """
    if path.is_dir():
        files = sorted(
            one for one in path.rglob("*") if one.suffix.lower() in TEXT_SUFFIXES and one.is_file()
        )
        if not files:
            raise InputError(f"{path} has no text files ({', '.join(TEXT_SUFFIXES)})")
        return [passage for one in files for passage in read_path(one)]
    if not path.exists():
        raise InputError(f"there is no file or folder {path}")
    try:
        if path.suffix.lower() in (".json", ".jsonl"):
            return read_json(path)
        if path.suffix.lower() in (".csv", ".tsv"):
            import pandas as pd

            separator = "\t" if path.suffix.lower() == ".tsv" else ","
            return gather(pd.read_csv(path, sep=separator, dtype=str, keep_default_na=False))
        text = path.read_text(encoding="utf-8-sig")
    except InputError:
        raise
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text: convert it") from error
    except ValueError as error:  # of pandas
        raise InputError(f"{path} cannot be read as a table: {brief(error)}") from error
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    return [Passage(text, path.name)]


def read_json(path: Path) -> list[Passage]:
    """The passages of a JSON file: a list, an object with documents, or one on each line."""
    text = path.read_text(encoding="utf-8-sig")
    try:
        value = json.loads(text)
    except ValueError:
        try:
            value = [json.loads(line) for line in text.splitlines() if line.strip()]
        except ValueError as error:
            raise InputError(f"{path} is not JSON: {error}") from error
    return gather(value)
