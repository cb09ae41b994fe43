"""Texts of a split before a model: what audits are given."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from datasets import Dataset
from numpy.typing import NDArray
from transformers import PreTrainedModel

from glasshead.audits.context import AuditContext
from glasshead.audits.map_statistics import reason_without_bounds
from glasshead.audits.memory import check_memory
from glasshead.audits.slices import (
    CLASS,
    CONFIDENCE,
    CORRECT,
    IDENTIFIABILITY,
    columns_to_read,
    slice_by_column,
)
from glasshead.data import column_values, encode, inputs_of, join_pair, marks_of
from glasshead.errors import InputError, ParameterError
from glasshead.explainers import (
    ExplanationContext,
    check_pairs,
    make_context,
)
from glasshead.huggingface import NextTokenClassifier, isolated_copy
from glasshead.results import (
    ATTENTION,
    ONE_SIGN,
    SIGN_IN_WEIGHTS,
    UNDECIDED,
)
from glasshead.trace import AttentionSelector, AttentionSite, Subject
from glasshead.training import labels_for


def build_context(
    subject: Subject,
    split: Dataset,
    *,
    limit: int | None = None,
    seed: int = 0,
    attention_selector: AttentionSelector | None = None,
    by: Sequence[str] = (),
    dtype: torch.dtype = torch.float64,
    method: str = ATTENTION,
) -> AuditContext:
    """Put the model before (a random ``limit`` of) a split; float64, so that ties and tiny changes are real.

    Raises:
        InputError: if the split is empty, does not hold what the model predicts (its classes, ratings, pairs
            of texts) or what it is to be sliced ``by``, or the model has no such reading.
    """
    all_labels, label_note = labels_for(subject.model, split)
    indices, split = sample_split(split, limit, seed)
    texts, seconds, shown = texts_of(split)
    check_pairs(subject.model, seconds is not None)
    columns = {name: column_values(split, name) for name in columns_to_read(by)}
    for name, values in columns.items():
        slice_by_column(name, values)  # refused before the model is asked
    encoded = encode(subject.tokenizer, texts, seconds)
    check_memory(subject.model, encoded, dtype)
    model = isolated_copy(subject.model, dtype)
    explanation = make_context(
        model, encoded, subject.tokenizer, attention_selector=attention_selector or AttentionSelector()
    )
    check_slicings(by, explanation, subject.model)
    kind, margin = read_gauge(subject.gauge, explanation)
    return AuditContext(
        explanation,
        shown,
        indices,
        all_labels[indices],
        [] if explanation.is_regression else subject.labels,
        subject.counts,
        kind,
        margin,
        subject.model,
        label_note,
        (texts, seconds),
        tuple(dict.fromkeys(by)),
        columns,
        method,
        marks_of(split),
    )


def check_slicings(by: Sequence[str], explanation: ExplanationContext, model: PreTrainedModel) -> None:
    """Raise ParameterError where texts cannot be sliced so."""
    for name in (CLASS, CORRECT):
        if name in by and explanation.is_regression:
            raise ParameterError("by", f"{name}: ratings have no classes, and are neither right nor wrong")
    if CLASS in by and isinstance(explanation.model, NextTokenClassifier):
        raise ParameterError("by", f"{CLASS}: every token is a class of a language model")
    if CONFIDENCE in by and explanation.is_regression:
        raise ParameterError("by", f"{CONFIDENCE}: ratings have no probability")
    if IDENTIFIABILITY in by:
        reason = explanation.unreadable_reason or reason_without_bounds(model, explanation.site)
        if reason is not None:
            raise ParameterError("by", f"{IDENTIFIABILITY}: {reason}")


def sample_rows(count: int, limit: int | None, seed: int) -> NDArray[np.int64]:
    """The numbers of a random part of so many rows, in order; InputError on a limit below 1."""
    if limit is not None and limit < 1:
        raise ParameterError("limit", f"must be at least 1, not {limit}")
    if limit is None or limit >= count:
        return np.arange(count)
    return np.sort(np.random.default_rng(seed).choice(count, limit, replace=False))


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


def texts_of(split: Dataset) -> tuple[list[Any], list[str] | None, list[str]]:
    """The first texts, or images, and of pairs the second ones; and what is shown of each as one text."""
    firsts, seconds = inputs_of(split)
    shown = list(map(str, firsts))
    return firsts, seconds, shown if seconds is None else list(map(join_pair, shown, seconds))


SHARED_MASS = 0.95
"""If heads with at least this share of their layer's effect on the score agree, it has their kind."""


def read_gauge(
    gauge: Mapping[str, Any] | None, explanation: ExplanationContext
) -> tuple[str | None, float | None]:
    """Where the sign of what is read lives, and the margin; None where no sign was fixed.

    Of two layers whose weights are multiplied the product has a side where one of them has: their margin is
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
    """The gauge of the heads that are read in a layer: what those with 95 % of Σ |a| |∂z/∂a| share, else
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
