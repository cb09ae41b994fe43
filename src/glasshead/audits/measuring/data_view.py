"""Texts of a split before a model: what audits are given."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from datasets import Dataset
from numpy.typing import NDArray
from transformers import PreTrainedModel

from glasshead.audits.judging.slices import (
    CLASS,
    COLUMN,
    CONFIDENCE,
    CORRECT,
    IDENTIFIABILITY,
    columns_to_read,
    slice_by_column,
)
from glasshead.audits.judging.table import Table, among_first
from glasshead.audits.measuring.map_intervals import reason_without_bounds
from glasshead.audits.measuring.memory import check_memory
from glasshead.audits.measuring.view import ModelView
from glasshead.data import (
    PLACE,
    RANK,
    Coverage,
    Encoded,
    EncodedTextsWithImages,
    Marks,
    Picture,
    TextWithImages,
    Unit,
    batches,
    column_values,
    coverage,
    encode,
    inputs_of,
    join_pair,
    marks_of,
)
from glasshead.errors import InputError, ParameterError, brief
from glasshead.explainers import (
    ExplanationContext,
    check_pairs,
    make_context,
)
from glasshead.huggingface import (
    Inputs,
    NextTokenClassifier,
    ask_rows,
    class_name,
    class_names,
    isolated_copy,
    narrow_products,
    with_images_of,
)
from glasshead.opening import dtype_between_products, dtype_name, halves_of
from glasshead.results import (
    ATTENTION,
    ONE_SIGN,
    SIGN_IN_WEIGHTS,
    UNDECIDED,
    UNIT,
)
from glasshead.spelling import spell
from glasshead.trace import AttentionSelector, AttentionSite, KnownStates, Subject
from glasshead.training import labels_for


@dataclass(frozen=True)
class Sample:
    """Inputs of a split [N] that are put before a model, in the order of the split; `view` puts some of them
    before it. ``model`` is a copy of the subject's in the precision of the audit; ``known`` is what earlier
    passes said."""

    subject: Subject
    model: PreTrainedModel
    encoded: Encoded
    inputs: tuple[list[Any], list[str] | None]
    texts: list[str]
    indices: NDArray[np.int64]
    ranks: NDArray[np.int64]
    ids: NDArray[np.int64]
    labels: NDArray[Any]
    label_note: str | None
    attention_selector: AttentionSelector
    by: tuple[str, ...]
    columns: Mapping[str, Sequence[Any]]
    method: str
    marks: Sequence[Marks] | None
    seed: int
    references: tuple[str, ...] = ()
    known: KnownStates = field(default_factory=KnownStates, repr=False, compare=False)

    @cached_property
    def coverage(self) -> Coverage:
        """How much of the texts is read."""
        return coverage(self.subject.tokenizer, *self.inputs, self.encoded)

    def asked(self, most: int | None) -> NDArray[np.bool_]:
        """Which inputs are among the first so many of the data in random order; None: all."""
        return among_first(self.ranks, most)

    @cached_property
    def slice_columns(self) -> Table:
        """The columns of the data by which inputs are sliced, as rows have them."""
        return {COLUMN + name: np.array(values, dtype=object) for name, values in self.columns.items()}

    @property
    def names(self) -> list[str]:
        """The texts, as tables have them."""
        firsts = self.inputs[0]
        return [
            first.written if isinstance(first, TextWithImages) else text
            for first, text in zip(firsts, self.texts, strict=True)
        ]

    def some(self, places: NDArray[np.int64]) -> Sample:
        """Some of the inputs."""
        firsts, seconds = self.inputs
        return replace(
            self,
            encoded=self.encoded.some(places),
            inputs=(
                [firsts[row] for row in places],
                None if seconds is None else [seconds[row] for row in places],
            ),
            texts=[self.texts[row] for row in places],
            indices=self.indices[places],
            ranks=self.ranks[places],
            ids=self.ids[places],
            labels=self.labels[places],
            columns={name: [values[row] for row in places] for name, values in self.columns.items()},
            marks=None if self.marks is None else [self.marks[row] for row in places],
        )

    def without_model(self) -> Sample:
        """The inputs alone, for a process that has the model."""
        nothing: Any = None
        return replace(self, subject=nothing, model=nothing)

    def in_float32(self) -> Sample:
        """The inputs before the model in float32, products and all."""
        model = isolated_copy(self.subject.model, torch.float32)
        return replace(self, model=model, known=KnownStates())

    def context(self) -> ExplanationContext:
        """All of the inputs for the model, and which attention is read."""
        return make_context(
            self.model,
            self.encoded,
            self.subject.tokenizer,
            attention_selector=self.attention_selector,
            reads_attention=True,
            known=self.known,
        )

    def view(self, places: NDArray[np.int64] | None = None) -> ModelView:
        """Some of the inputs for the model; None: all.

        Raises:
            InputError: if the model has no such reading, or its inputs cannot be sliced so.
        """
        if places is not None:
            return self.some(places).view()
        explanation = self.context()
        check_slicings(self.by, explanation, self.subject.model)
        kind, margin = read_gauge(self.subject.gauge, explanation)
        return ModelView(
            explanation,
            self.texts,
            self.indices,
            self.labels,
            [] if explanation.is_regression else class_names(self.model),
            self.subject.counts,
            kind,
            margin,
            self.subject.model,
            self.label_note,
            self.inputs,
            self.by,
            self.columns,
            self.method,
            self.references,
            self.marks,
            ids=self.ids,
            ranks=self.ranks,
            seed=self.seed,
        )


def read_sample(
    subject: Subject,
    split: Dataset,
    *,
    limit: int | None = None,
    seed: int = 0,
    attention_selector: AttentionSelector | None = None,
    by: Sequence[str] = (),
    dtype: torch.dtype | str = torch.float64,
    method: str = ATTENTION,
    references: tuple[str, ...] = (),
    unit: Unit = "word",
) -> Sample:
    """(A random ``limit`` of) a split as a model reads it; float64, so that ties and tiny changes are real;
    of the halves products alone. Words have numbers, or tokens.

    Raises:
        InputError: if the split is empty, or does not hold what the model predicts (its classes, ratings,
            pairs of texts) or what it is to be sliced ``by``.
    """
    all_labels, label_note = labels_for(subject.model, split)
    rows, split = sample_split(split, limit, seed)
    indices, ranks = places_in_data(split, rows, len(all_labels), seed)
    texts, seconds, shown = texts_of(split, subject.tokenizer)
    check_pairs(subject.model, seconds is not None)
    columns, marks = {name: column_values(split, name) for name in columns_to_read(by)}, marks_of(split)
    for name, values in columns.items():
        slice_by_column(name, values)  # refused before the model is asked
    encoded = encode(subject.tokenizer, texts, seconds, unit=unit)
    encoded = ask_rows(subject.model, Inputs(subject.tokenizer, texts, seconds, encoded), split)
    half, dtype = halves_of(dtype), dtype_between_products(dtype)
    check_memory(subject.model, encoded, dtype)
    subject, model = before_images(subject, encoded, dtype)
    if half is not None:
        narrow_products(model, half)
    if (half or dtype) != subject.model.dtype:
        check_precision(model, encoded, half or dtype)
    return Sample(
        subject=subject,
        model=model,
        encoded=encoded,
        inputs=(texts, seconds),
        texts=shown,
        indices=indices,
        ranks=ranks,
        ids=input_ids(texts, seconds, indices, all_labels[rows], marks, encoded),
        labels=all_labels[rows],
        label_note=label_note,
        attention_selector=attention_selector or AttentionSelector(),
        by=tuple(dict.fromkeys(by)),
        columns=columns,
        method=method,
        references=references,
        marks=marks,
        seed=seed,
    )


def before_images(subject: Subject, encoded: Encoded, dtype: torch.dtype) -> tuple[Subject, PreTrainedModel]:
    """A subject and a copy of its model in a precision, both with the images of texts, if these have some."""
    copied = with_images_of(isolated_copy(subject.model, dtype), encoded)
    return replace(subject, model=with_images_of(subject.model, encoded)), copied


@torch.no_grad()
def check_precision(model: PreTrainedModel, encoded: Encoded, dtype: torch.dtype) -> None:
    """Raise InputError if a model fails in the precision of an audit: the code of some names another one."""
    _, inputs = next(batches(encoded, torch.tensor([0]), model.device))
    try:
        problem = "its outputs are NaN" if bool(model(**inputs).logits.isnan().any()) else None
    except torch.OutOfMemoryError:
        raise
    except RuntimeError as error:
        problem = brief(error)
    if problem is not None:
        raise InputError(
            f"{class_name(model)} does not compute in {dtype_name(dtype)} ({problem}): use "
            f"{spell('dtype', 'float32')}"
        )


def build_view(subject: Subject, split: Dataset, **options: Any) -> ModelView:
    """All of a split (or a random ``limit``), ready for the model: The same as `read_sample`, in one view.

    Raises:
        InputError: as `read_sample` and `Sample.view`.
    """
    return read_sample(subject, split, **options).view()


def input_ids(
    texts: Sequence[Any],
    seconds: Sequence[str] | None,
    indices: NDArray[np.int64],
    labels: NDArray[Any],
    marks: Sequence[Any] | None,
    encoded: Encoded | None = None,
) -> NDArray[np.int64]:
    """A digest of each input, what it is asked and what is true of it, and its place in the data, in 63
    bits."""
    ids = []
    for row, text in enumerate(texts):
        second, marked = (None if column is None else column[row] for column in (seconds, marks))
        digest = hashlib.blake2b(digest_size=8)
        # Of an image its file; each part with its kind and length, so that no two inputs run together.
        for part in (text.content if isinstance(text, Picture) else str(text), second, marked):
            digest.update(repr(part).encode())
        digest.update(repr((indices[row].item(), labels[row].item())).encode())
        if encoded is not None and encoded.question is not None:
            digest.update(repr(encoded.question[row, encoded.mask[row]].tolist()).encode())
        if isinstance(encoded, EncodedTextsWithImages):
            digest.update(encoded.digest(row) + str(getattr(text, "other", None)).encode())
        elif encoded is not None and encoded.given is not None and not encoded.given.is_floating_point():
            tokens = encoded.given[row]
            digest.update(repr(tokens[tokens >= 0].tolist()).encode())  # without what fills up shorter ones
        ids.append(int.from_bytes(digest.digest()) >> 1)
    return np.array(ids, dtype=np.int64)


def check_slicings(by: Sequence[str], explanation: ExplanationContext, model: PreTrainedModel) -> None:
    """Raise ParameterError where texts cannot be sliced so."""
    for name in (CLASS, CORRECT):
        if name in by and explanation.is_regression:
            raise ParameterError("by", f"{name}: ratings have no classes, and are neither right nor wrong")
    if CLASS in by and isinstance(explanation.model, NextTokenClassifier):
        raise ParameterError("by", f"{CLASS}: every token is a class of a language model")
    if CONFIDENCE in by and explanation.is_regression:
        raise ParameterError("by", f"{CONFIDENCE}: ratings have no probability")
    if UNIT in by and not isinstance(explanation.encoded, EncodedTextsWithImages):
        raise ParameterError("by", f"{UNIT}: no image is read with these texts, so all units are words")
    if IDENTIFIABILITY in by:
        reason = explanation.unreadable_reason or reason_without_bounds(model, explanation.site)
        if reason is not None:
            raise ParameterError("by", f"{IDENTIFIABILITY}: {reason}")


def random_ranks_of_rows(count: int, seed: int) -> NDArray[np.int64]:
    """The place of each row in a random order: of more rows, the first ones stay the first."""
    ranks = np.empty(count, dtype=np.int64)
    ranks[np.random.default_rng(seed).permutation(count)] = np.arange(count)
    return ranks


def places_in_data(
    split: Dataset, rows: NDArray[np.int64], count: int, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where some rows of so many are in the data, and in their random order. For texts before a language
    model some are left out, and so the split says it."""
    if RANK in split.features:
        return np.array(split[PLACE][:]), np.array(split[RANK][:])
    return rows, random_ranks_of_rows(count, seed)[rows]


def sample_rows(count: int, limit: int | None, seed: int) -> NDArray[np.int64]:
    """The numbers of a random part of so many rows, in order; InputError on a limit below 1."""
    if limit is not None and limit < 1:
        raise ParameterError("limit", f"must be at least 1, not {limit}")
    if limit is None or limit >= count:
        return np.arange(count)
    return np.flatnonzero(random_ranks_of_rows(count, seed) < limit)


def sample_split(split: Dataset, limit: int | None, seed: int) -> tuple[NDArray[np.int64], Dataset]:
    """A random part of so many rows, in order, and their numbers.

    Raises:
        InputError: on a limit below 1, and if there is no row.
    """
    indices = sample_rows(len(split), limit, seed)
    if len(indices) < len(split):
        split = split.select(indices)
    if not len(split):
        raise InputError("there is no text to audit")
    return indices, split


def texts_of(split: Dataset, tokenizer: Any = None) -> tuple[list[Any], list[str] | None, list[str]]:
    """The first texts, or images, and of pairs the second ones; and what is shown of each as one text."""
    firsts, seconds = inputs_of(split, tokenizer)
    shown = list(map(str, firsts))
    return firsts, seconds, shown if seconds is None else list(map(join_pair, shown, seconds))


SHARED_MASS = 0.95
"""If heads with at least this share of their layer's effect on the score agree, it has their kind."""


def read_gauge(
    gauge: Mapping[str, Any] | None, explanation: ExplanationContext
) -> tuple[str | None, float | None]:
    """Where the sign of what is read lives, and the margin; None where no sign was fixed.

    For two layers whose weights are multiplied the product has a side where one of them has: their margin is
    that of the weaker.
    """
    if gauge is None:
        return None, None
    if "margin" in gauge:
        return gauge["kind"], float(gauge["margin"])
    if explanation.site is None:
        return None, None
    sites = [site for site in (explanation.site, explanation.site.above) if site is not None]
    kinds, margins = zip(*(layer_gauge(gauge, site) for site in sites), strict=True)
    return next(kind for kind in (UNDECIDED, SIGN_IN_WEIGHTS, ONE_SIGN) if kind in kinds), min(margins)


def layer_gauge(gauge: Mapping[str, Any], site: AttentionSite) -> tuple[str, float]:
    """The gauge of the selected heads in a layer: what those with 95 % of Σ |a| |∂z/∂a| share, else
    undecided, and the mean margin with these masses as weights."""
    heads = slice(None) if site.head is None else slice(site.head, site.head + 1)
    margins, masses = (np.array(gauge[name][site.layer])[heads] for name in ("margins", "masses"))
    total = masses.sum()
    if total <= 0:
        return UNDECIDED, 0.0
    kinds = np.array(gauge["kinds"][site.layer])[heads]
    shared = [
        kind for kind in (SIGN_IN_WEIGHTS, ONE_SIGN) if masses[kinds == kind].sum() >= SHARED_MASS * total
    ]
    return shared[0] if shared else UNDECIDED, float((margins * masses).sum() / total)
