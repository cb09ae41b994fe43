"""Ask every audit about a model on a split, and gather the findings into one card."""

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

import numpy as np
from datasets import Dataset

from glasshead.audits.agreement import AGREEMENT
from glasshead.audits.base import AUDITS, Audit, AuditResult
from glasshead.audits.build_context import build_context
from glasshead.audits.context import IMPORTANCE, AuditContext
from glasshead.audits.example_selection import read_highlights
from glasshead.audits.faithfulness import FAITHFULNESS, Faithfulness
from glasshead.audits.finished import find_finished_audits
from glasshead.audits.identifiability import IDENTIFIABILITY, Identifiability
from glasshead.audits.on_cluster import workers_of
from glasshead.audits.operators import OPERATORS, Operators
from glasshead.audits.perturbation import Perturbation
from glasshead.audits.progress import OnProgress, StageProgress
from glasshead.audits.slice_tests import slice_tests
from glasshead.audits.slices import slice_facts
from glasshead.audits.subject_facts import card_title, subject_facts
from glasshead.audits.summary import slice_column
from glasshead.cluster import Cluster
from glasshead.data import reader_of
from glasshead.errors import InputError
from glasshead.explainers import remarks_of
from glasshead.opening import dtype_of
from glasshead.requests import AuditRequest
from glasshead.results import OF_REST, SINK_SHARE, AuditCard
from glasshead.trace import AttentionSelector, Subject


def audit_subject(
    subject: Subject,
    split: Dataset,
    request: AuditRequest,
    data_facts: Mapping[str, Any],
    progress: OnProgress,
) -> AuditCard:
    """Ask the audits that the request names (None: all that have a meaning) about a model on a split.

    ``progress`` is called with the name of each stage as it begins.

    Raises:
        InputError: on an unknown audit, an empty split, labels or texts that are not the model's, a reading
            that the model does not have, a method that cannot explain it, and an audit that was named and has
            no meaning.
    """
    started = time.perf_counter()
    stages = StageProgress(progress)
    selected, perturbation = select_audits(request, stages)
    reader = reader_of(subject.tokenizer)
    stages.nouns = reader.nouns
    stages.begin(f"reading the {stages.nouns.texts}")
    context = build_context(
        subject,
        split,
        limit=reader.usual_limit if request.limit is None else request.limit,
        seed=request.seed,
        attention_selector=AttentionSelector.of(request),
        by=request.by,
        dtype=dtype_of(request.dtype),
        method=request.method,
    )
    if (note := reader.cost_note(len(context.texts), len(split))) is not None:
        subject = replace(subject, notes=(*subject.notes, note))
    left_out: dict[str, list[str]] = {}
    for name, selected_audit in list(selected.items()):
        reason = selected_audit.unsupported_reason(context)
        if reason is not None and name in (request.audits or ()):
            raise InputError(f"the audit {name!r} has no meaning here: {reason}")
        if reason is not None:
            del selected[name]
            known = request.audits is None and subject.record and context.explainer.reads_weights
            if not known and not (selected_audit.reads_marks and context.marks is None):
                left_out.setdefault(reason, []).append(name)
    with workers_of(Cluster.at(request.ray, request.gpus_per_task), context.explanation) as in_parts:
        explanation = replace(context.explanation, progress=stages.on_texts, in_parts=in_parts)
        context = replace(context, explanation=explanation)
        result = ask_audits(context, selected, request, stages)
        stages.begin("choosing examples")
        # Contributions colour a map, unless somebody asked how sure the weights are.
        named = selected.get(IDENTIFIABILITY) if IDENTIFIABILITY in (request.audits or ()) else None
        tolerance = named.interval_options.tolerance if isinstance(named, Identifiability) else None
        chosen_texts = read_highlights(context, result.examples, seed=request.seed, tolerance=tolerance)
    data_facts = {"data": subject.record.get("data", {}).get("source", "data")} | dict(data_facts)
    card = AuditCard(
        facts={"name": card_title(subject, context, str(data_facts["data"]))}
        | subject_facts(subject, context, request.seed, remarks_on_selection(context, selected, left_out))
        | ({"draws": perturbation.num_draws(context)} if context.explainer.reads_weights else {})
        | dict(result.facts)
        | slice_facts(context.slicings)
        | data_facts
        | {"date": date.today().isoformat(), "seconds": round(time.perf_counter() - started, 2)},
        findings=result.findings,
        highlights=chosen_texts,
        examples={name: jsonable(column) for name, column in result.examples.items()},
        tokens={name: jsonable(column) for name, column in result.tokens.items()},
    )
    return replace(card, slice_tests=slice_tests(card, context.slicings, request.seed))


def ask_audits(
    context: AuditContext, selected: Mapping[str, Audit], request: AuditRequest, stages: StageProgress
) -> AuditResult:
    """What all audits find, one after the other."""
    if not context.explainer.reads_weights:
        stages.begin(request.method)
        context.scores  # noqa: B018 — a method that cannot explain this model says so before any audit
    gathered, rest = (
        AuditResult([], example_columns(context), facts=sink_facts(context)),
        without_sinks(context),
    )
    finished = find_finished_audits(request.store, context, request)
    for name, selected_audit in selected.items():
        result = finished.take(name)
        if result is None:
            stages.begin(name)
            result = ask_with_rest(selected_audit, context, rest, request.seed)
            finished.keep(name, result)
        gathered = AuditResult(
            [*gathered.findings, *result.findings],
            {**gathered.examples, **result.examples},
            {**gathered.tokens, **result.tokens},
            {**gathered.facts, **result.facts},
        )
    return gathered


def select_audits(request: AuditRequest, stages: StageProgress) -> tuple[dict[str, Audit], Perturbation]:
    """The audits of a request with its settings, and the perturbation test, asked or not."""
    draws = request.draws
    perturbation = Perturbation() if draws is None else Perturbation(draws, draws)
    names = [name for name in AUDITS if AUDITS[name].by_default] if request.audits is None else request.audits
    selected = {audit: AUDITS[audit] for name in names for audit in (*AUDITS[name].collects, name)}
    if "perturbation" in selected:
        selected["perturbation"] = perturbation
    if IDENTIFIABILITY in selected:
        selected[IDENTIFIABILITY] = Identifiability.of(request, stages.on_texts)
    if OPERATORS in selected and request.limit is not None:
        selected[OPERATORS] = Operators(texts=None)
    if FAITHFULNESS in selected and FAITHFULNESS in (request.audits or ()):
        selected[FAITHFULNESS] = Faithfulness(references=True)
    return selected, perturbation


def remarks_on_selection(
    context: AuditContext, selected: Collection[str], left_out: Mapping[str, Sequence[str]]
) -> list[str]:
    """Which audits were left out, by reason, and which measures, being the audited explanation itself; and
    what keeps this from being one of the model."""
    remarks = [
        f"The {'audit' if len(names) == 1 else 'audits'} {', '.join(map(repr, names))} "
        f"{'was' if len(names) == 1 else 'were'} left out: {reason}."
        for reason, names in left_out.items()
    ]
    if context.explainer.reads_weights:
        return remarks
    remarks += method_remarks(context)
    if AGREEMENT in selected:
        remarks += [
            f"Agreement with {name!r} was left out: its numbers are those of the method {context.method!r}, "
            "so they agree by construction."
            for name in IMPORTANCE
            if name not in context.importance
        ]
    return remarks


def method_remarks(context: AuditContext) -> list[str]:
    """What is to be said of the audited explanation: caveat, settings, and what its numbers miss."""
    remarks_of_method = remarks_of(context.explainer, context.explanation)
    remarks = [f"{context.method}: {words}." for words in remarks_of_method if words is not None]
    gaps = context.explainer.completeness_gaps(context.explanation)
    if gaps is not None and len(gaps):
        gap = float(gaps.abs().max())
        words = f"the largest completeness gap of {context.nouns.a_text} is {gap:.2g}"
        remarks.append(f"{context.method}: {words}.")
    return remarks


def jsonable(column: Any) -> Any:
    """A column in which a number that does not exist is None; of curves, a list of such columns."""
    column = np.asarray(column)
    if column.ndim > 1:
        return [jsonable(part) for part in column]
    values = column.tolist()
    if column.dtype.kind == "f":
        for place in np.flatnonzero(np.isnan(column)):
            values[place] = None
    return values


def example_columns(context: AuditContext) -> dict[str, Any]:
    """What every example has, whatever was asked."""
    columns: dict[str, Any] = {"index": context.indices, "text": list(context.texts)}
    if context.is_regression:
        columns |= {"label": context.labels, "predicted": context.predicted}
    else:
        names = np.array(context.label_names)
        columns |= {
            "label": names[context.labels],
            "predicted": names[context.predicted],
            "target": names[context.explanation.target.numpy()],
            "probability": context.prediction,
        }
    if context.predicts_tokens:
        columns["surprisal"] = context.surprisal
    return columns | {
        "tokens": context.token_mask.sum(axis=1),
        **max_weights(context),
        **{slice_column(slicing.by): slicing.column for slicing in context.slicings},
    }


def max_weights(context: AuditContext) -> dict[str, Any]:
    """The largest weight of each text, where weights are audited."""
    if not context.explainer.reads_weights:
        return {}
    return {"max_weight": np.abs(context.canonical).max(axis=1, initial=0.0)}


def share_of_first(context: AuditContext) -> float | None:
    """The mean share of Σ|a| that is on the first token where a model reads from left to right; None
    elsewhere, and where no text has two tokens."""
    explanation = context.explanation
    if not context.explainer.reads_weights or explanation.unreadable_reason is not None:
        return None
    if explanation.site is None or not explanation.site.causal or context.sentence_of_token is not None:
        return None
    sizes = np.abs(context.canonical)[context.token_mask.sum(axis=1) > 1]
    total = sizes.sum(axis=1)
    return float((sizes[total > 0, 0] / total[total > 0]).mean()) if (total > 0).any() else None


def without_sinks(context: AuditContext) -> AuditContext | None:
    """Texts with their first token left out of every question, if it holds more than half of the
    weight; else None."""
    share = share_of_first(context)
    return None if share is None or share <= SINK_SHARE else replace(context, spares_first=True)


def sink_facts(context: AuditContext) -> dict[str, float]:
    """How much of the weights is on the first token, if that is a sink."""
    return {} if without_sinks(context) is None else {"sink_share": share_of_first(context) or 0.0}


def ask_with_rest(audit: Audit, context: AuditContext, rest: AuditContext | None, seed: int) -> AuditResult:
    """What an audit finds and, of tokens, what it finds without the first of each text."""
    result = audit(context, seed=seed)
    if rest is None or not audit.of_tokens:
        return result
    if "importance" in vars(context):  # erasure of every token, which nobody needs twice
        vars(rest)["importance"] = {name: rest.sum_by_unit(v) for name, v in context.importance.items()}
    without = audit(rest, seed=seed)
    columns = {OF_REST + name: column for name, column in without.examples.items()}
    return replace(
        result, findings=[*result.findings, *without.findings], examples={**result.examples, **columns}
    )
