"""The texts of a request: rows of a data set, or sentences with their dependency trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from datasets import Dataset

from glasshead.audits.data_view import sample_split, texts_of
from glasshead.audits.open_request import data_options, default_split, read_split, sample_values, source_facts
from glasshead.audits.operators import TEXTS_ASKED
from glasshead.data import (
    ALL_SPLITS,
    LoadOptions,
    NoLabelError,
    Sentence,
    has_lines,
    is_conllu,
    is_undivided,
    join_pair,
    read_conllu,
    read_plain,
)
from glasshead.errors import ParameterError
from glasshead.explainers import check_pairs
from glasshead.requests import DataRequest
from glasshead.trace import Subject


@dataclass(frozen=True)
class HeadTexts:
    """First and, of pairs, second texts (or images), both as one text, the ``sentences`` of a CoNLL-U file
    (all, or as many as the limit says), what is recorded about the data, and whether they have ``labels``."""

    firsts: Sequence[Any]
    seconds: Sequence[str] | None
    shown: Sequence[str]
    sentences: Sequence[Sentence]
    facts: Mapping[str, Any]
    labelled: bool = True


def read_head_texts(request: DataRequest, subject: Subject) -> HeadTexts:
    """A random part of the data of a request.

    Raises:
        InputError: if the data cannot be read, or do not fit the model.
    """
    limit = TEXTS_ASKED if request.limit is None else request.limit
    if isinstance(request.data, str | Path) and is_conllu(request.data):
        if request.split is not None:
            raise ParameterError("split", "is for data sets: a CoNLL-U file is read as a whole")
        check_pairs(subject.model, False)
        sentences = sample_values(read_conllu(Path(request.data)), request.limit, request.seed)
        texts = [sentence.text for sentence in sample_values(sentences, limit, request.seed)]
        facts = {"data": str(request.data), "sentences": len(sentences)}
        return HeadTexts(texts, None, texts, sentences, facts)
    options = data_options(request, subject)
    split = request.split or default_split(request.data, subject)
    if has_lines(request.data):
        return read_unlabelled(request, subject, options, limit)
    try:
        rows = read_split(request.data, split, options)
    except NoLabelError:
        if options.classes or not is_one_table(request.data):
            raise
        return read_unlabelled(request, subject, options, limit)
    _, rows = sample_split(rows, limit, request.seed)
    firsts, seconds, shown = texts_of(rows)
    check_pairs(subject.model, seconds is not None)
    facts = source_facts(request, split, options) if isinstance(request.data, str | Path) else {}
    return HeadTexts(firsts, seconds, shown, (), facts)


def is_one_table(data: object) -> bool:
    """Whether data are one file, one folder of images or one data set in memory, and not several splits."""
    if isinstance(data, str | Path):
        return Path(data).is_file() or is_undivided(Path(data))
    return isinstance(data, Dataset)


def read_unlabelled(request: DataRequest, subject: Subject, options: LoadOptions, limit: int) -> HeadTexts:
    """Read texts of a file or a data set without labels, of which nothing here needs one.

    Raises:
        InputError: if a split is asked for, or the texts do not fit the model.
    """
    if request.split not in (None, ALL_SPLITS):
        raise ParameterError("split", "is for data with labels: texts without them are read as a whole")
    source = request.data if isinstance(request.data, Dataset) else Path(str(request.data))
    texts = read_plain(source, options)
    check_pairs(subject.model, texts.seconds is not None)
    chosen = sample_values(range(len(texts.firsts)), limit, request.seed)
    firsts = [texts.firsts[place] for place in chosen]
    seconds = None if texts.seconds is None else [texts.seconds[place] for place in chosen]
    shown = list(map(str, firsts)) if seconds is None else list(map(join_pair, firsts, seconds))
    facts = {} if isinstance(source, Dataset) else {"data": str(request.data), "split": ALL_SPLITS}
    return HeadTexts(firsts, seconds, shown, (), facts, labelled=False)
