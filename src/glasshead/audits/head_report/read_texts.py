"""The texts of a request: rows of a data set, or sentences with their dependency trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from datasets import Dataset
from numpy.typing import NDArray

from glasshead.arrays import Flags
from glasshead.audits.head_report.relations import SENTENCE
from glasshead.audits.head_report.text_statistics import LayerFacts
from glasshead.audits.head_report.token_kinds import frequent_tokens, make_token_table
from glasshead.audits.head_report.views import attention_views
from glasshead.audits.measuring.data_view import (
    Sample,
    before_images,
    check_precision,
    input_ids,
    random_ranks_of_rows,
    sample_rows,
    sample_split,
    texts_of,
)
from glasshead.audits.measuring.memory import check_memory
from glasshead.audits.open_request import data_options, default_split, source_facts
from glasshead.audits.operators import TEXTS_ASKED
from glasshead.data import (
    ALL_SPLITS,
    PLACE,
    LoadOptions,
    NoLabelError,
    NoTextError,
    Sentence,
    has_lines,
    is_conllu,
    is_undivided,
    join_pair,
    no_prompts,
    read_conllu,
    read_plain,
    read_split,
    reader_of,
)
from glasshead.errors import InputError, ParameterError
from glasshead.explainers import TARGETS, ExplanationContext, check_pairs, make_context
from glasshead.huggingface import Inputs, NextTokenClassifier, ask_rows, ask_usual
from glasshead.opening import dtype_of
from glasshead.requests import DataRequest, HeadsRequest
from glasshead.results import ATTENTION
from glasshead.tasks import Chosen, LikelihoodModel, questions_to
from glasshead.trace import AttentionSelector, Subject


@dataclass(frozen=True)
class HeadTexts:
    """First and, of pairs, second texts (or images), their ``rows`` in the data of so many (``count``), the
    ``sentences`` of a CoNLL-U file, what is recorded about the data, and whether they have labels; and the
    rows that ask about answers of their own (``asked``), with a ``note`` on these."""

    firsts: Sequence[Any]
    seconds: Sequence[str] | None
    rows: NDArray[np.int64]
    count: int
    sentences: Sequence[Sentence]
    facts: Mapping[str, Any]
    labelled: bool = True
    asked: Dataset | None = None
    note: str | None = None


@dataclass(frozen=True)
class HeadSample(Sample):
    """Texts before a model that may predict nothing of them; labels are not read."""

    predicts: bool = True

    def context(self) -> ExplanationContext:
        if self.predicts:
            return make_context(self.model, self.encoded, self.subject.tokenizer)
        logits, target = torch.zeros(len(self.ids), 0), torch.zeros(len(self.ids), dtype=torch.int64)
        return ExplanationContext(
            self.model, self.subject.tokenizer, self.encoded, logits, target, TARGETS["log-odds"]
        )


def read_head_sample(
    request: HeadsRequest, subject: Subject, predicts: bool
) -> tuple[HeadSample, HeadTexts, NDArray[np.bool_]]:
    """A random part of the data of a request as the model reads it, and which of the texts are asked about
    heads: of trees all are asked about relations.

    Raises:
        InputError: if the data cannot be read, do not fit the model, or are empty.
    """
    texts = read_head_texts(request, subject)
    subject = replace(
        subject, tokenizer=reader_of(subject.tokenizer).with_limit(request.max_length, None), gauge=None
    )
    inputs = Inputs.read(subject.tokenizer, texts.firsts, texts.seconds)
    if texts.asked is None:
        encoded = ask_usual(subject.model, inputs, request.classes)
    else:
        encoded = ask_rows(subject.model, inputs, texts.asked)
    if not encoded.mask.any():
        raise InputError("there is no text to look at: every text is empty")
    dtype = dtype_of(request.dtype)
    check_memory(subject.model, encoded, dtype)
    subject, model = before_images(subject, encoded, dtype)
    if predicts and dtype != subject.model.dtype:
        check_precision(model, encoded, dtype)
    shown, firsts = list(map(str, texts.firsts)), list(texts.firsts)
    seconds, labels = None if texts.seconds is None else list(texts.seconds), np.zeros(len(shown), np.int64)
    trees = [(sentence.heads, sentence.relations) for sentence in texts.sentences] or None
    sample = HeadSample(
        subject=subject,
        model=model,
        encoded=encoded,
        inputs=(firsts, seconds),
        texts=shown if seconds is None else list(map(join_pair, shown, seconds)),
        indices=texts.rows,
        ranks=random_ranks_of_rows(texts.count, request.seed)[texts.rows],
        ids=input_ids(firsts, seconds, texts.rows, labels, trees, None if texts.asked is None else encoded),
        labels=labels,
        label_note=None,
        attention_selector=AttentionSelector(),
        by=(),
        columns={SENTENCE: texts.sentences} if texts.sentences else {},
        method=ATTENTION,
        marks=None,
        seed=request.seed,
        predicts=predicts,
    )
    return sample, texts, sample.asked(TEXTS_ASKED if request.limit is None else request.limit)


def describe_layers(sample: HeadSample) -> tuple[LayerFacts, ...]:
    """What the longest text says of all attention calls.

    Raises:
        InputError: if the model shows no attention.
    """
    longest = sample.encoded.some(sample.encoded.mask.sum(dim=1).argmax()[None].numpy())
    batches = attention_views(sample.model, longest)
    layers = {view.facts.layer: view.facts for batch in batches for view in batch}
    return tuple(layers[number] for number in sorted(layers))


def masks_of_tokens(sample: Sample) -> list[tuple[Flags, Flags]]:
    """For each text which places are special tokens, and which are frequent words that these texts never
    split; before them stands what a decoder begins with."""
    encoded = sample.encoded
    frequent = frequent_tokens(make_token_table(sample.subject.tokenizer, encoded, sample.texts))
    return [
        (np.append(True, encoded.words[row][keep] < 0), np.append(False, frequent[row][keep]))
        for row, keep in enumerate(encoded.mask.numpy())
    ]


def read_head_texts(request: DataRequest, subject: Subject) -> HeadTexts:
    """A random part of the data of a request.

    Raises:
        InputError: if the data cannot be read, or do not fit the model.
    """
    if isinstance(request.data, str | Path) and is_conllu(request.data):
        if request.split is not None:
            raise ParameterError("split", "is for data sets: all of a CoNLL-U file is used")
        check_pairs(subject.model, False)
        trees = read_conllu(Path(request.data))
        rows = sample_rows(len(trees), request.limit, request.seed)
        sentences = [trees[row] for row in rows]
        facts = {"data": str(request.data), "sentences": len(sentences)}
        texts = [sentence.text for sentence in sentences]
        return HeadTexts(texts, None, rows, len(trees), sentences, facts)
    limit = TEXTS_ASKED if request.limit is None else request.limit
    options = data_options(request, subject)
    split = request.split or default_split(request.data, subject)
    questions = questions_to(subject.model)
    if isinstance(subject.model, NextTokenClassifier) or has_lines(request.data):
        questions = None
    if questions is not None:
        try:
            found = questions.as_read(subject.tokenizer, questions.read(request.data, split, options))
        except NoLabelError:  # heads need none
            return read_unlabelled(request, subject, options, limit)
        rows = sample_rows(len(found), limit, request.seed)
        facts = source_facts(request, split, options) if isinstance(request.data, str | Path) else {}
        if isinstance(subject.model, LikelihoodModel):
            ranks = random_ranks_of_rows(len(found), request.seed)[rows]
            chosen = Chosen([found[row] for row in rows], rows, ranks, request.seed)
            asked, note = questions.draw(subject.model, subject.tokenizer, chosen)
            places = np.array(asked[PLACE][:])
            asked_texts, _, _ = texts_of(asked, subject.tokenizer)
            return HeadTexts(asked_texts, None, places, len(found), (), facts, asked=asked, note=note)
        firsts, seconds = questions.texts([found[row] for row in rows])
        return HeadTexts(firsts, seconds, rows, len(found), (), facts)
    if has_lines(request.data):
        return read_unlabelled(request, subject, options, limit)
    try:
        whole = read_split(request.data, split, options)
    except NoLabelError:
        if options.classes or not is_one_table(request.data):
            raise
        return read_unlabelled(request, subject, options, limit)
    except NoTextError as error:
        raise (no_prompts(error) if isinstance(subject.model, NextTokenClassifier) else error) from None
    rows, chosen = sample_split(whole, limit, request.seed)
    firsts, seconds, _ = texts_of(chosen)
    check_pairs(subject.model, seconds is not None)
    facts = source_facts(request, split, options) if isinstance(request.data, str | Path) else {}
    return HeadTexts(firsts, seconds, rows, len(whole), (), facts)


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
        raise ParameterError("split", "is for data with labels: without labels all texts are used")
    source = request.data if isinstance(request.data, Dataset) else Path(str(request.data))
    texts = read_plain(source, options)
    check_pairs(subject.model, texts.seconds is not None)
    rows = sample_rows(len(texts.firsts), limit, request.seed)
    firsts = [texts.firsts[row] for row in rows]
    seconds = None if texts.seconds is None else [texts.seconds[row] for row in rows]
    facts = {} if isinstance(source, Dataset) else {"data": str(request.data), "split": ALL_SPLITS}
    return HeadTexts(firsts, seconds, rows, len(texts.firsts), (), facts, labelled=False)
