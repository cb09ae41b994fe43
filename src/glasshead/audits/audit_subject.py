"""Ask every audit about a model on a split, and gather the findings into one card."""

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from typing import Any

import numpy as np
from datasets import Dataset
from numpy.typing import NDArray

from glasshead.audits.agreement import AGREEMENT
from glasshead.audits.comparing.slice_tests import slice_tests
from glasshead.audits.example_selection import read_highlights
from glasshead.audits.identifiability import IDENTIFIABILITY, Identifiability
from glasshead.audits.judge import (
    REFERENCE,
    SUBJECT_FILE,
    SUFFIXES,
    Wanted,
    judge_all,
    rows_wanted,
    slice_columns,
)
from glasshead.audits.judging.base import AUDITS, Audit, AuditResult
from glasshead.audits.judging.conclude import conclude
from glasshead.audits.judging.measurements import Measurements
from glasshead.audits.judging.settings import Settings
from glasshead.audits.judging.slices import interval_facts, slicings_of
from glasshead.audits.judging.table import Table, jsonable
from glasshead.audits.judging.until_decided import LEVEL_NOTE, Looks
from glasshead.audits.measuring.data_view import Sample, read_sample
from glasshead.audits.measuring.measure import Clock, InThisProcess, Measurer, measure_parts
from glasshead.audits.measuring.measured_with import find_measurements
from glasshead.audits.measuring.noise_floor import measure_shifts
from glasshead.audits.measuring.progress import StageProgress
from glasshead.audits.measuring.reference import REFERENCE_INPUTS, measure_reference
from glasshead.audits.measuring.view import ModelView
from glasshead.audits.measuring.workers import executor_of, pool_of
from glasshead.audits.operators import OPERATORS, Operators
from glasshead.audits.perturbation import Perturbation
from glasshead.audits.subject_facts import card_title, subject_facts
from glasshead.data import QUESTION, reader_of
from glasshead.durations import duration
from glasshead.errors import InputError
from glasshead.explainers import remarks_of
from glasshead.huggingface import question_names
from glasshead.nouns import INPUTS, Nouns
from glasshead.opening import halves_of
from glasshead.progress import OnProgress
from glasshead.requests import AuditRequest
from glasshead.results import SINK_SHARE, AuditCard
from glasshead.trace import AttentionSelector, Subject
from glasshead.wording import join_names, percent


def audit_subject(
    subject: Subject,
    split: Dataset,
    request: AuditRequest,
    data_facts: Mapping[str, Any],
    progress: OnProgress,
    clock: Clock = time.perf_counter,
) -> AuditCard:
    """Ask the audits that the request names (None: all that have a meaning) about a model on a split.

    ``progress`` is called with the name of each stage as it begins; a budget is spent by the ``clock``.

    Raises:
        InputError: on an unknown audit, an empty split, labels or texts that are not the model's, a reading
            that the model does not have, a method that cannot explain it, and an audit that was named and has
            no meaning.
    """
    started = clock()
    stages = StageProgress(progress)
    selected, perturbation = select_audits(request)
    reader = reader_of(subject.tokenizer)
    stages.nouns = reader.nouns
    stages.begin(f"reading the {stages.nouns.texts}")
    sample = read_sample(
        subject,
        split,
        limit=request.limit if request.limit is not None or is_open_ended(request) else reader.usual_limit,
        seed=request.seed,
        attention_selector=AttentionSelector.of(request),
        unit=request.whole,
        by=request.by,
        dtype=request.dtype,
        method=request.method,
        references=tuple(request.references),
    )
    known = np.flatnonzero(sample.ranks < REFERENCE_INPUTS)
    view = sample.view(None if len(known) == len(sample.texts) else known)
    left_out = leave_out(selected, view, request, subject)
    kept = find_measurements(request.store, sample, request)
    with pool_of(request, sample) as pool:
        view = view.watched(stages.on_texts)
        if not view.explainer.reads_weights:
            stages.begin(request.method)
            view.scores  # noqa: B018 — a method that cannot explain this model says so before any audit
        for name in request.references if AGREEMENT in selected else ():
            replace(view.some(np.arange(1)), method=name).scores  # noqa: B018 — likewise
        reference = kept.reference(REFERENCE, partial(measure_reference, view))
        view = view.but(reference=reference)
        has_sinks = (view.known.on_first or 0.0) > SINK_SHARE
        wanted = rows_wanted(selected, has_sinks, sample.by)
        of_parts = measure_parts(kept, wanted, view)
        settings = view.settings
        if halves_of(request.dtype) is not None:
            shifts = measure_shifts(sample, wanted, reference, settings, stages, clock)
            settings = replace(settings, shifts=shifts)
        executor = executor_of(pool, InThisProcess(sample, view, known, of_parts, stages.measure, clock))
        to_decide = {
            name.partition(".")[0] + end for name in request.until_decided for end in SUFFIXES.values()
        }
        looks = Looks(request.until_decided, partial(look_card, wanted, kept, sample, settings))
        measurer = Measurer(
            sample,
            wanted,
            kept,
            {one.key: None if one.key in to_decide else one.most(settings) for one in wanted},
            workers=1 if pool is None else pool.count,
            deadline=None if request.budget is None else started + float(request.budget),
            is_enough=looks if request.until_decided else None,
            clock=clock,
        )
        measurer.measure(executor, stages)
    notes = [*subject.notes]
    measured = measurer.complete()
    if request.until_decided:
        looks.end(measured)
        measured, settings = looks.places, replace(settings, level=looks.level)
        notes.append(looks_note(measured, sample, request, looks))
    elif len(measured) < len(sample.texts):
        notes.append(part_note(measured, sample, request))
    if len(measured) < len(sample.texts):
        view = view.some(np.flatnonzero(np.isin(known, measured)))
        sample = sample.some(measured)
    if (cost := reader.cost_note(len(sample.texts), len(split))) is not None:
        notes.append(cost)
    subject = replace(subject, notes=tuple(notes))
    kept.describe(SUBJECT_FILE, replace(settings, level=view.settings.level).to_json())
    result, inputs = judge_all(wanted, kept, sample.ids, settings, sample.by, sample.slice_columns)
    stages.begin("choosing examples")
    examples = {**example_columns(sample, view.settings, inputs), **result.examples}
    # Contributions colour a map, unless somebody asked how sure the weights are; those of halves are not.
    asks = IDENTIFIABILITY in (request.audits or ()) and view.half is None
    named = selected.get(IDENTIFIABILITY) if asks else None
    tolerance = named.interval_options.tolerance if isinstance(named, Identifiability) else None
    chosen_texts = read_highlights(sample, view, inputs, examples, tolerance=tolerance)
    slicings = slicings_of(inputs, view.label_names, sample.by)
    data_facts = {"data": subject.record.get("data", {}).get("source", "data")} | dict(data_facts)
    remarks = remarks_on_selection(view, selected, left_out, result)
    card = AuditCard(
        facts={"name": card_title(subject, view, str(data_facts["data"]))}
        | subject_facts(subject, sample, view, inputs, slicings, remarks, settings)
        | ({"draws": perturbation.num_draws(view.settings)} if view.explainer.reads_weights else {})
        | ({"sink_share": view.known.on_first} if has_sinks else {})
        | {name: value for name, value in result.facts.items() if name != AGREEMENT}
        | interval_facts(slicings, sample.by, len(sample.texts), settings.level)
        | data_facts
        | {"date": date.today().isoformat(), "seconds": round(clock() - started, 2)},
        findings=result.findings,
        highlights=chosen_texts,
        examples={name: jsonable(column) for name, column in examples.items()},
        tokens={name: jsonable(column) for name, column in result.tokens.items()},
    )
    return conclude(replace(card, slice_tests=slice_tests(card, slicings, request.seed)))


def is_open_ended(request: AuditRequest) -> bool:
    """Whether something else than a number of inputs ends the audit."""
    return request.budget is not None or bool(request.until_decided)


def look_card(
    wanted: Sequence[Wanted],
    kept: Measurements,
    sample: Sample,
    settings: Settings,
    places: NDArray[np.int64],
    level: float,
) -> AuditCard:
    """What some inputs come to at a level, before the others are measured."""
    settings = replace(settings, level=level)
    result, inputs = judge_all(wanted, kept, sample.ids[places], settings, ())
    facts = {
        "task": settings.task,
        "signed": settings.signed,
        "method": settings.method,
        INPUTS: settings.nouns.texts,
    }
    labels = {"label": jsonable(inputs["label"])}
    return conclude(AuditCard({**result.facts, **facts}, result.findings, examples=labels))


def part_note(measured: NDArray[np.int64], sample: Sample, request: AuditRequest) -> str:
    """How many of the inputs were measured in the time that a request gives."""
    nouns = reader_of(sample.subject.tokenizer).nouns
    part = f"Measured {len(measured):,} of {nouns.count(len(sample.texts))}"
    return f"{part} in {duration(float(request.budget or 0.0))}, chosen at random"


def looks_note(measured: NDArray[np.int64], sample: Sample, request: AuditRequest, looks: Looks) -> str:
    """What the inputs of the last look decided, and what it costs to have looked."""
    nouns, names = reader_of(sample.subject.tokenizer).nouns, join_names(request.until_decided)
    part = f"Judged {len(measured):,} of {nouns.count(len(sample.texts))}, "
    part += f"which decide {names}" if looks.decided else f"which leave {names} undecided"
    return f"{part}{LEVEL_NOTE}{percent(looks.level)}, so that all looks together err in 5\u00a0%"


def leave_out(
    selected: dict[str, Audit], view: ModelView, request: AuditRequest, subject: Subject
) -> dict[str, list[str]]:
    """Take out the audits that have no meaning here, and name those by reason of which a reader must know.

    Raises:
        InputError: if one of them was named.
    """
    left_out: dict[str, list[str]] = {}
    for name, selected_audit in list(selected.items()):
        reason = selected_audit.unsupported_reason(view)
        if reason is not None and name in (request.audits or ()):
            raise InputError(f"the audit {name!r} has no meaning here: {reason}")
        if reason is not None:
            del selected[name]
            known = request.audits is None and subject.record and view.explainer.reads_weights
            if not known and selected_audit.is_expected(view):
                left_out.setdefault(reason, []).append(name)
    return left_out


def select_audits(request: AuditRequest) -> tuple[dict[str, Audit], Perturbation]:
    """The audits of a request with its settings, and the perturbation test, asked or not."""
    draws = request.draws
    perturbation = Perturbation() if draws is None else Perturbation(draws, draws)
    names = [name for name in AUDITS if AUDITS[name].by_default] if request.audits is None else request.audits
    selected = {audit: AUDITS[audit] for name in names for audit in (*AUDITS[name].collects, name)}
    if "perturbation" in selected:
        selected["perturbation"] = perturbation
    if IDENTIFIABILITY in selected:
        selected[IDENTIFIABILITY] = Identifiability.of(request)
    if OPERATORS in selected and (request.limit is not None or request.budget is not None):
        selected[OPERATORS] = Operators(texts=None)
    return selected, perturbation


def remarks_on_selection(
    view: ModelView, selected: Collection[str], left_out: Mapping[str, Sequence[str]], result: AuditResult
) -> list[str]:
    """Which audits were left out, by reason, and which measures, being the audited explanation itself; and
    what keeps this from being one of the model."""
    remarks = [
        f"The {'audit' if len(names) == 1 else 'audits'} {', '.join(map(repr, names))} "
        f"{'was' if len(names) == 1 else 'were'} left out: {reason}."
        for reason, names in left_out.items()
    ]
    if not view.explainer.reads_weights:
        remarks += method_remarks(view)
    if AGREEMENT in selected:
        asked = {finding.against for finding in result.findings if finding.audit == AGREEMENT}
        measures = view.references if view.explainer.reads_weights else (*view.measures, *view.references)
        remarks += [
            f"Agreement with {name!r} was left out: its numbers are those of the method {view.method!r}, "
            "so they agree by construction."
            for name in measures
            if name not in asked
        ]
        remarks += [
            words for name in view.references for words in explainer_remarks(replace(view, method=name))
        ]
    return remarks


def method_remarks(view: ModelView) -> list[str]:
    """What is to be said of the audited explanation: caveat, settings, and what its numbers miss."""
    gaps = view.explainer.completeness_gaps(view.explanation)
    largest = None if gaps is None or not len(gaps) else float(gaps.abs().max())
    return [*explainer_remarks(view), *gap_remarks(view.method, largest, view.nouns)]


def explainer_remarks(view: ModelView) -> list[str]:
    """Caveat and settings of the audited explanation."""
    context = view.explanation
    if not view.explainer.mirrors_classes:
        context = context.towards_predicted()
    remarks = remarks_of(view.explainer, context)
    return [f"{view.method}: {words}." for words in remarks if words is not None]


def gap_remarks(method: str, largest: float | None, nouns: Nouns) -> list[str]:
    """How far the numbers of some input miss what they should add up to, at most."""
    if largest is None:
        return []
    return [f"{method}: the largest completeness gap of {nouns.a_text} is {largest:.2g}."]


def example_columns(sample: Sample, settings: Settings, inputs: Table) -> dict[str, Any]:
    """What every example has, whatever was asked."""
    columns: dict[str, Any] = {"index": sample.indices, "id": sample.ids, "text": sample.names}
    questions = question_names(sample.model, sample.encoded)
    if settings.is_regression:
        labels = questions if settings.rates_answers else inputs["label"]
        columns |= {"label": labels, "predicted": inputs["predicted"]}
    else:
        names = np.array(settings.label_names)
        columns |= {name: names[inputs[name]] for name in ("label", "predicted", "target")}
        columns["probability"] = inputs["probability"]
    if questions is not None and not settings.rates_answers:
        columns[QUESTION] = questions
    columns |= {name: inputs[name] for name in ("surprisal", "tokens", "max_weight") if name in inputs}
    return columns | slice_columns(slicings_of(inputs, settings.label_names, sample.by))
