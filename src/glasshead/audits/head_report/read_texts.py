"""The texts of a request: rows of a data set, or sentences with their dependency trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from glasshead.audits.context import subsample, texts_of
from glasshead.audits.open_request import data_options, default_split, read_split, source_facts
from glasshead.audits.operators import TEXTS
from glasshead.audits.request import SubjectRequest
from glasshead.data import Sentence, is_conllu, read_conllu
from glasshead.errors import ParameterError
from glasshead.explainers import check_texts
from glasshead.trace import Subject


@dataclass(frozen=True)
class HeadTexts:
    """First and, of pairs, second texts, both as one text, the ``sentences`` of a CoNLL-U file (all, or as
    many as the limit says), and what is recorded about the data."""

    firsts: Sequence[str]
    seconds: Sequence[str] | None
    shown: Sequence[str]
    sentences: Sequence[Sentence]
    facts: Mapping[str, Any]


def read_texts(request: SubjectRequest, subject: Subject) -> HeadTexts:
    """A random part of the data of a request.

    Raises:
        InputError: if the data cannot be read, or do not fit the model.
    """
    limit = TEXTS if request.limit is None else request.limit
    if isinstance(request.data, str | Path) and is_conllu(request.data):
        if request.split is not None:
            raise ParameterError("split", "is for data sets: a CoNLL-U file is read as a whole")
        check_texts(subject.model, False)
        sentences = sample(read_conllu(Path(request.data)), request.limit, request.seed)
        texts = [sentence.text for sentence in sample(sentences, limit, request.seed)]
        facts = {"data": str(request.data), "sentences": len(sentences)}
        return HeadTexts(texts, None, texts, sentences, facts)
    options = data_options(request, subject)
    split = request.split or default_split(request.data, subject)
    _, rows = subsample(read_split(request.data, split, options), limit, request.seed)
    firsts, seconds, shown = texts_of(rows)
    check_texts(subject.model, seconds is not None)
    facts = source_facts(request, split, options) if isinstance(request.data, str | Path) else {}
    return HeadTexts(firsts, seconds, shown, (), facts)


def sample(sentences: Sequence[Sentence], limit: int | None, seed: int) -> list[Sentence]:
    """A random part of so many sentences, in order."""
    if limit is not None and limit < 1:
        raise ParameterError("limit", f"must be at least 1, not {limit}")
    if limit is None or limit >= len(sentences):
        return list(sentences)
    chosen = np.sort(np.random.default_rng(seed).choice(len(sentences), limit, replace=False))
    return [sentences[place] for place in chosen]
