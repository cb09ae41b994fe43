"""Audit any model on any data: `glasshead.audit`.

The chain: `audit` and the command line make an `AuditRequest`; `run_request` opens the model and the data;
`audit_subject` asks the audits. A model that predicts nothing is asked about identifiability alone, by
`audit_heads`. All end in an `AuditCard`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from datasets import Dataset, DatasetDict
from transformers import PreTrainedTokenizerBase

from glasshead.audits.audit_heads import audit_heads
from glasshead.audits.audit_subject import audit_subject
from glasshead.audits.base import NO_WEIGHTS
from glasshead.audits.identifiability import Identifiability
from glasshead.audits.open_request import (
    default_split,
    open_request,
    read_texts,
    source_facts,
    with_datasets,
)
from glasshead.audits.request import (
    IDENTIFIABILITY,
    AuditRequest,
    OnProgress,
    SubjectOptions,
    no_progress,
    subject_settings,
)
from glasshead.audits.slices import columns_to_read
from glasshead.cluster import Cluster
from glasshead.data import LoadOptions, reader_of
from glasshead.errors import InputError, ParameterError
from glasshead.explainers import find_explainer
from glasshead.opening import Run, dtype_of, is_run, open_subject
from glasshead.options import check_instances, check_kinds, check_options
from glasshead.results import ATTENTION, AuditCard
from glasshead.torch_modes import in_own_modes
from glasshead.trace import Subject

if TYPE_CHECKING:
    import pandas as pd


class AuditOptions(SubjectOptions, total=False):
    """What can be said beside the audits: which explanation is audited (``method``, the name of an explainer;
    attention, if none is named), what every finding is sliced ``by`` (class, length, correct, confidence,
    identifiability, or a column of the data; one or several), how many ``draws`` a perturbation test has,
    which heads and rows the audit of ``identifiability`` reads, more ``facts`` for the card, the Ray
    ``cluster`` whose workers are asked about texts without some of their tokens, and all
    `SubjectOptions`."""

    method: str
    by: str | Sequence[str]
    draws: int | None
    identifiability: Identifiability | None
    facts: Mapping[str, Any]
    cluster: Cluster | None


@in_own_modes
def audit(
    model: object,
    data: str | Path | Dataset | DatasetDict | pd.DataFrame | list[dict[str, Any]],
    *,
    tokenizer: PreTrainedTokenizerBase | None = None,
    audits: Sequence[str] | None = None,
    limit: int | None = None,
    seed: int = 0,
    **options: Unpack[AuditOptions],
) -> AuditCard:
    """Test whether the attention of a model, or another ``method``, deserves to be called an explanation, on
    data with labels.

    ``model`` is a folder (of a run, or one that ``save_pretrained`` wrote), a Hub id, a
    ``pipeline("text-classification")``, or a model, which needs its ``tokenizer``; it stays as it is.
    ``data`` is a file, a folder, a Hub name, a `datasets.Dataset`, a `pandas.DataFrame`, or a list of rows.
    ``audits`` are names (None: all that have a meaning), ``limit`` is the size of a random part of the texts.
    ``options`` are `AuditOptions`.

    Raises:
        InputError: if the model cannot be opened (`glasshead.open`) or the data cannot be read, if the labels
            are not the model's, on an unknown option or method, on a method that cannot explain this model,
            and on an audit that was named and has no meaning.
    """
    check_options(options, ("tokenizer", "audits", "limit", "seed", *AuditOptions.__annotations__), "audit")
    check_kinds({"audits": audits, "limit": limit, "seed": seed}, required=["seed"])
    check_instances(options, {"identifiability": Identifiability, "cluster": Cluster})
    by = options.get("by") or ()
    request = AuditRequest(
        model=model,
        data=data,
        tokenizer=tokenizer,
        audits=None if audits is None else (audits,) if isinstance(audits, str) else tuple(audits),
        limit=limit,
        seed=seed,
        draws=options.get("draws"),
        identifiability=options.get("identifiability"),
        by=(by,) if isinstance(by, str) else tuple(by),
        method=options.get("method") or ATTENTION,
        cluster=options.get("cluster"),
        **subject_settings(options),
    )
    return run_request(request, options.get("progress") or no_progress, options.get("facts") or {})


def run_request(
    request: AuditRequest, progress: OnProgress = no_progress, facts: Mapping[str, Any] | None = None
) -> AuditCard:
    """Open the model and the data of a request, and audit.

    Raises:
        InputError: as `audit`.
    """
    request = with_datasets(request)
    if request.audits == (IDENTIFIABILITY,) and not is_trained_here(request.model):
        return audit_model_heads(request, progress)
    subject, split, data_facts = open_request(request, columns_to_read(request.by))
    request = replace(request, identifiability=with_progress(request.identifiability, progress))
    return audit_subject(subject, split, request, data_facts | dict(facts or {}), progress)


def is_trained_here(model: object) -> bool:
    """Whether Glasshead trained it, so that it has classes and all audits have a meaning."""
    if isinstance(model, str | Path):
        return is_run(Path(model))
    return isinstance(model, Run) or (isinstance(model, Subject) and bool(model.record))


def audit_model_heads(request: AuditRequest, progress: OnProgress) -> AuditCard:
    """Ask about identifiability, which needs no prediction and no label that fits.

    Raises:
        InputError: on options of other audits, and as `audit_heads`.
    """
    if not find_explainer(request.method).reads_weights:
        raise InputError(
            f"the audit {IDENTIFIABILITY!r} has no meaning here: {NO_WEIGHTS.format(request.method)}"
        )
    if request.by:
        raise ParameterError(
            "by", "is for audits that read predictions: ask another one beside identifiability"
        )
    if request.train is not None:
        raise ParameterError("train", "is for audits of classes: ask another one beside identifiability")
    if request.cluster is not None:
        raise ParameterError(
            "cluster", "is for audits that take tokens out of texts, which this one does not"
        )
    dtype_of(request.dtype)
    load_options = LoadOptions(**request.load_options)
    split_name = request.split or default_split(request.data, None)
    split = read_texts(request.data, split_name, load_options)
    selector = request.attention_selector
    if selector.is_customised or selector.level != "word" or request.draws is not None:
        raise InputError(
            "`layer`, `head`, `row`, `level` and `draws` are for other audits: use `layers`, `heads` and "
            "`rows`"
        )
    subject = open_subject(request.model, request.tokenizer, replace(request.opening, classifies=False))
    tokenizer = reader_of(subject.tokenizer).limited(request.max_length, None)
    identifiability = request.identifiability or Identifiability()
    request = replace(request, identifiability=with_progress(identifiability, progress))
    facts = source_facts(request, split_name, load_options)
    return audit_heads(subject.model, tokenizer, split, request, facts=facts, progress=progress)


def with_progress(identifiability: Identifiability | None, progress: OnProgress) -> Identifiability | None:
    """The same audit, which says how many texts it has read."""

    def on_texts(done: int, total: int) -> None:
        progress(f"identifiability: {done:,} of {total:,} texts", done / total)

    return None if identifiability is None else replace(identifiability, progress=on_texts)
