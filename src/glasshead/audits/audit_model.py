"""Audit any model on any data: `glasshead.audit`.

Keywords, or options of the command line, become an `AuditRequest`. `run_audit` opens the model and the data,
and `audit_subject` runs the audits. A model without predictions is audited for identifiability alone, by
`audit_heads`. Either way the result is an `AuditCard`.
"""

from __future__ import annotations

from pathlib import Path

from glasshead.audits.agreement import AGREEMENT
from glasshead.audits.audit_heads import audit_heads
from glasshead.audits.audit_subject import audit_subject
from glasshead.audits.identifiability import IDENTIFIABILITY, Identifiability
from glasshead.audits.judging.base import AUDITS, NO_WEIGHTS
from glasshead.audits.judging.slices import columns_to_read
from glasshead.audits.measuring.progress import StageProgress
from glasshead.audits.measuring.view import IMPORTANCE
from glasshead.audits.measuring.workers import check_workers
from glasshead.audits.open_request import (
    check_attention_is_one,
    default_split,
    load_options_of,
    make_load_options,
    open_request,
    read_unlabelled_texts,
    source_facts,
    with_datasets,
)
from glasshead.data import reader_of
from glasshead.errors import InputError, ParameterError
from glasshead.explainers import check_heads, find_explainer
from glasshead.opening import OpenOptions, Run, dtype_between_products, halves_of, is_run, open_subject
from glasshead.progress import OnProgress
from glasshead.registry import did_you_mean
from glasshead.requests import AuditRequest, takes
from glasshead.results import ATTENTION, AuditCard
from glasshead.spelling import spell
from glasshead.torch_modes import in_own_modes
from glasshead.trace import AttentionSelector, Subject

FOR_INTERVALS = ("layers", "heads", "rows", "top", "tolerance")
"""Fields of a request that are about identifiability."""


@in_own_modes
def run_audit(request: AuditRequest) -> AuditCard:
    """Open the model and the data of a request that has passed `check_audit`, and audit.

    Raises:
        InputError: as `audit`.
    """
    progress = request.tell
    request = with_datasets(request)
    if request.audits == (IDENTIFIABILITY,) and not is_trained_here(request.model):
        return audit_model_heads(request, progress)
    subject, split, data_facts = open_request(request, columns_to_read(request.by))
    check_attention_is_one(subject.model, [request.method])
    return audit_subject(subject, split, request, data_facts | dict(request.facts or {}), progress)


@takes(AuditRequest)
def audit(request: AuditRequest) -> AuditCard:
    """Test whether the attention of a model, or another ``method``, deserves to be called an explanation, on
    data with labels.

    ``model`` is a folder (of a run, or one that ``save_pretrained`` wrote), a Hub id, a
    ``pipeline("text-classification")``, or a model, which needs its ``tokenizer``; it stays as it is.
    ``data`` is a file, a folder, a Hub name, a `datasets.Dataset`, a `pandas.DataFrame`, or a list of rows.

    Raises:
        InputError: if the model cannot be opened (`glasshead.open`) or the data cannot be read, if the labels
            are not the model's, on an unknown option or method, on a method that cannot explain this model,
            and on a named audit that does not apply.
    """
    check_audit(request)
    return run_audit(request)


def check_audit(request: AuditRequest) -> None:
    """Raise InputError for options that no model supports, before a model is opened.

    Raises:
        InputError: on an unknown method or audit, one whose package is missing, and on options of an audit
            that does not run.
    """
    explainer, selector = find_explainer(request.method), AttentionSelector.of(request)
    check_heads(explainer, selector)
    if explainer.reads_weights and selector.combines_heads:
        raise ParameterError("head", "is a number or mean in an audit of attention weights")
    if request.audits is not None and not request.audits:
        raise ParameterError("audits", "is empty: give at least one")
    for name in request.audits or ():
        AUDITS[name]
    for name in request.until_decided:
        audit_name = name.partition(".")[0]
        AUDITS[audit_name]
        if request.audits is not None and audit_name not in request.audits:
            raise ParameterError("until_decided", f"{name} is unused: name the audit {audit_name}, too")
        check_is_asked(name)
    dtype_between_products(request.dtype)
    chosen = request.processes is not None or any(getattr(request, name) for name in FOR_INTERVALS)
    if chosen and request.audits is not None and IDENTIFIABILITY not in request.audits:
        names = ", ".join(map(spell, FOR_INTERVALS))
        raise InputError(
            f"{names} and {spell('processes')} are for {spell('audits', IDENTIFIABILITY)}: name it, or leave "
            "them out"
        )
    Identifiability.of(request)
    check_references(request)
    check_workers(request)


def check_references(request: AuditRequest) -> None:
    """Raise InputError where agreement cannot be asked about one of the references."""
    if request.references and request.audits is not None and AGREEMENT not in request.audits:
        raise ParameterError("references", f"is for {spell('audits', AGREEMENT)}: name it, or leave this out")
    for number, name in enumerate(request.references):
        check_heads(find_explainer(name), AttentionSelector.of(request))
        if name in (*IMPORTANCE, *IMPORTANCE.values()):
            raise ParameterError(
                "references", f"need not name {name!r}: agreement is measured with it anyway"
            )
        if name == request.method:
            raise ParameterError(
                "references", f"names {name!r}, the audited explanation itself: leave it out"
            )
        if name in request.references[:number]:
            raise ParameterError("references", f"names {name!r} twice")


def check_is_asked(name: str) -> None:
    """Raise ParameterError for the name of a finding about which its audit has no question."""
    audit_name, statistic, against = (*name.split("."), "", "")[:3]
    questions = AUDITS[audit_name].questions
    if not any(one.matches(statistic, side, ATTENTION) for one in questions for side in (against, "")):
        known = [f"{audit_name}.{one.statistic}.{one.against}".strip(".") for one in questions]
        advice = did_you_mean(name, [one for one in known if "*" not in one])
        raise ParameterError("until_decided", f"{name} is not a finding: {advice}")


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
    if halves_of(request.dtype) is not None:
        raise ParameterError(
            "dtype", "float16 and bfloat16 are too coarse for ranks and intervals: leave it out"
        )
    for name in ("by", "workers", "ray", "budget", "until_decided"):
        if getattr(request, name):
            raise ParameterError(name, "is for audits that read predictions: add another audit")
    if request.train is not None:
        raise ParameterError("train", "is for audits of classes: add another audit")
    load_options = make_load_options(load_options_of(request))
    split_name = request.split or default_split(request.data, None)
    split = read_unlabelled_texts(request.data, split_name, load_options)
    selector = AttentionSelector.of(request)
    if selector.is_customised or selector.level != "word" or request.draws is not None:
        raise InputError(
            f"{spell('layer')}, {spell('head')}, {spell('row')}, {spell('level')} and {spell('draws')} "
            f"are for other audits: use {spell('layers')}, {spell('heads')} and "
            f"{spell('rows')}"
        )
    subject = open_subject(request.model, request.tokenizer, OpenOptions.of(request, classifies=False))
    tokenizer = reader_of(subject.tokenizer).with_limit(request.max_length, request.blocks)
    facts = source_facts(request, split_name, load_options) | dict(request.facts or {})
    return audit_heads(subject.model, tokenizer, split, request, facts=facts, stages=StageProgress(progress))
