"""Which explanation of a model should one trust: `glasshead.rank`."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from datetime import date
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from glasshead.arrays import AnyFloats
from glasshead.audits.audit_subject import gap_remarks
from glasshead.audits.faithfulness import ORDERS, Faithfulness
from glasshead.audits.judge import INPUTS as INPUT_ROWS
from glasshead.audits.judge import REFERENCE, Wanted, base_rows
from glasshead.audits.judging.curve_statistics import STATISTICS
from glasshead.audits.judging.summary import null_column
from glasshead.audits.judging.table import Table, jsonable
from glasshead.audits.measuring.data_view import Sample, read_sample
from glasshead.audits.measuring.measured_with import find_measurements
from glasshead.audits.measuring.progress import StageProgress
from glasshead.audits.measuring.reference import REFERENCE_INPUTS, measure_labels
from glasshead.audits.measuring.view import ModelView
from glasshead.audits.measuring.workers import check_workers, measure_missing
from glasshead.audits.open_request import check_attention_is_one, open_request, with_datasets
from glasshead.audits.operators import TEXTS_ASKED
from glasshead.audits.performance import guess_facts
from glasshead.audits.plausibility import Plausibility
from glasshead.audits.ranking.conclusion import conclude_ranking
from glasshead.audits.ranking.criteria import (
    Criterion,
    check_removals,
    distinct_criteria,
    equal_methods,
    faithfulness_criteria,
    fitting_removals,
    plausibility_criterion,
)
from glasshead.audits.ranking.highlights import rank_texts
from glasshead.audits.ranking.method_agreement import method_agreement
from glasshead.audits.ranking.methods import MethodFacts
from glasshead.audits.ranking.rows import GAP, RANKING, SECONDS, RankingRows, column_name, pair_name
from glasshead.audits.ranking.standings import Judged, bonferroni, comparisons, join_and, judge_all
from glasshead.audits.subject_facts import (
    model_facts,
    performance_facts,
    precision_note,
    target_note,
    use_facts,
)
from glasshead.data import reader_of
from glasshead.errors import InputError, ParameterError
from glasshead.explainers import REMOVALS, find_explainer
from glasshead.nouns import INPUTS, Nouns, nouns_of
from glasshead.opening import dtype_of
from glasshead.registry import did_you_mean
from glasshead.requests import RankRequest, takes
from glasshead.results import AUPRC, MIN_UNITS, TAU, MethodRanking, RankedMethod, guess_in_words, note_unused
from glasshead.torch_modes import in_own_modes
from glasshead.trace import AttentionSelector
from glasshead.training import versions


@takes(RankRequest)
def rank(request: RankRequest) -> MethodRanking:
    """Compare explanation methods for a model: which lead, which tie, and which are not shown to be better
    than a random order of the tokens.

    Each method is judged by its faithfulness under every type of deletion (`glasshead list removals`), by its
    agreement with human marks where the data have them, and by its cost; all on the same texts, by paired
    differences that are corrected for their number. ``model``, ``data`` and ``tokenizer`` are those of
    `glasshead.audit`, ``limit`` is the size of a random part of the texts (None: 50).

    Raises:
        InputError: as `glasshead.audit`, on an unknown type of deletion or statistic, and on a method that
        cannot explain this model.
    """
    return run_ranking(request)


def check_ranking(request: RankRequest) -> None:
    """Raise InputError for options that no model supports, before a model is opened.

    Raises:
        InputError: on an unknown method, meaning or statistic, and on a method that is named twice or whose
            package is missing.
    """
    for option, names in (("methods", request.methods), ("removals", request.removals)):
        if names is not None and not names:
            raise ParameterError(option, "is empty: give at least one")
        for name, times in Counter(names).items():
            if times > 1:
                raise ParameterError(option, f"names {name!r} twice")
    for name in request.methods:
        find_explainer(name)
    for name in request.removals or ():
        REMOVALS[name]
    if request.statistic not in STATISTICS:
        raise InputError(
            f"unknown statistic {request.statistic!r}: {did_you_mean(request.statistic, STATISTICS)}"
        )
    check_workers(request)


@in_own_modes
def run_ranking(request: RankRequest) -> MethodRanking:
    """Open the model and the data of a request, and rank.

    Raises:
        InputError: as `rank`.
    """
    check_ranking(request)
    started = time.perf_counter()
    subject, split, data_facts = open_request(with_datasets(request))
    check_attention_is_one(subject.model, request.methods)
    stages = StageProgress(request.tell)
    nouns = stages.nouns = reader_of(subject.tokenizer).nouns
    stages.begin(f"reading the {nouns.texts}")
    sample = read_sample(
        subject,
        split,
        limit=TEXTS_ASKED if request.limit is None else request.limit,
        seed=request.seed,
        attention_selector=AttentionSelector.of(request),
        unit=request.whole,
        dtype=dtype_of(request.dtype),
    )
    known = np.flatnonzero(sample.ranks < REFERENCE_INPUTS)
    view = sample.view(None if len(known) == len(sample.texts) else known)
    meanings, left_out = check_removals(view, request.removals or fitting_removals(view))
    if request.removals is not None and left_out:
        name, reason = next(iter(left_out.items()))
        raise InputError(f"{name!r} has no meaning here: {reason}")
    kept = find_measurements(request.store, sample, request)
    rows = RankingRows(tuple(request.methods), tuple(meanings))
    wanted = [Wanted(INPUT_ROWS, None), Wanted(RANKING, rows)]
    watched = view.watched(stages.on_texts)
    view = view.but(reference=kept.reference(REFERENCE, partial(measure_labels, watched)))
    measure_missing(request, sample, dict.fromkeys(wanted), kept, stages, view, known)
    stages.begin("comparing")
    methods = [MethodFacts.of(view, name) for name in request.methods]
    inputs = base_rows(wanted, kept, sample.ids, {})[""]
    table = {**inputs, **kept.read(RANKING, sample.ids, rows.columns).columns}
    own = {method.name: method.settings.own_removal for method in methods}
    criteria, dropped = distinct_criteria(
        faithfulness_criteria(methods, list(meanings), table, nouns), [*filter(None, own.values())]
    )
    meanings = {name: words for name, words in meanings.items() if name not in dropped}
    marked = plausibility_criterion(methods, table, nouns)
    criteria += [] if marked is None else [marked]
    count = comparisons(len(methods), len(meanings) + (marked is not None))
    judged = judge_methods(request.methods, criteria, bonferroni(count), request.seed, nouns)
    ranked = [
        RankedMethod(
            method.name,
            method.description,
            [criterion.findings[place] for criterion in judged],
            {criterion.findings[place].name: criterion.standings[place] for criterion in judged},
            seconds_of(table, method.name),
            seconds_of(table, method.name) / seconds_of(table),
            dropped.get(own[method.name] or "", own[method.name]),
        )
        for place, method in enumerate(methods)
    ]
    differences = [difference for criterion in judged for difference in criterion.differences]
    agreement = method_agreement(request.methods, table, nouns, np.random.default_rng([request.seed, 16]))
    taus = {name: values for name, values in table.items() if name in tau_columns(request.methods)}
    facts = ranking_facts(sample, view, inputs, request, data_facts)
    remarks = [
        *guess_notes(facts),
        *use_notes(facts),
        *(f"{note}." for note in (sample.label_note, *subject.notes) if note is not None),
        *(
            f"For this model {join_and(names)} {'has' if len(names) == 1 else 'have'} no meaning: {reason}."
            for reason, names in by_reason(left_out).items()
        ),
        *(
            f"{one} does the same as {other} on these {nouns.texts}, so it is left out."
            for one, other in dropped.items()
        ),
        *(
            f"{one} and {other} give this model the same scores: they are one explanation of it."
            for one, other in equal_methods(request.methods, table)
        ),
        *own_edit_notes(ranked, meanings, nouns),
        *(
            remark
            for method in methods
            for remark in (*method.remarks, *gap_remarks(method.name, largest_gap(table, method.name), nouns))
        ),
    ]
    return MethodRanking(
        facts={
            **facts,
            "interval_level": bonferroni(count),
            "comparisons": count,
            "seconds": round(time.perf_counter() - started, 2),
        },
        statistic=request.statistic,
        removals=meanings,
        methods=ranked,
        differences=differences,
        agreement=agreement,
        conclusion=conclude_ranking(ranked, differences, request.statistic, list(meanings), nouns),
        remarks=remarks,
        texts=rank_texts(sample, request.methods, inputs, taus, nouns),
        examples=method_columns(sample, request.methods, criteria, taus),
        words={
            name: nouns.fill(text)
            for audit in (Faithfulness, Plausibility)
            for name, text in audit.words.items()
        },
    )


def seconds_of(table: Table, *method: str) -> float:
    """What a method takes for a text, or the plain prediction."""
    return float(table[column_name(SECONDS, *method)].mean())


def largest_gap(table: Table, method: str) -> float | None:
    """How far the numbers of a method miss what they should add up to; None: they should not."""
    gaps = table.get(column_name(GAP, method))
    return None if gaps is None else float(np.nanmax(np.abs(gaps)))


def tau_columns(methods: Sequence[str]) -> list[str]:
    """The columns that say how alike two methods order the tokens of each text."""
    return [column_name(TAU, pair_name(one, other)) for one, other in combinations(methods, 2)]


def guess_notes(facts: Mapping[str, Any]) -> list[str]:
    """Whether there is anything to explain."""
    guess = guess_in_words(facts)
    these = f"These {nouns_of(facts).count(facts['examples'])}"
    notes = {
        "not better": f"The model is not better than {guess}, so its explanations are of little interest.",
        "undecided": f"{these} do not show whether the model is better than {guess}."
        if facts["examples"] >= MIN_UNITS
        else f"{these} are too few to show whether the model is better than {guess}: at least {MIN_UNITS} "
        "are needed.",
    }
    note = notes.get(facts.get("against_guessing", ""))
    return [] if note is None else [note]


def use_notes(facts: Mapping[str, Any]) -> list[str]:
    """Whether attention has anything to say."""
    unused = note_unused(facts["attention_use"]["after"]) if "attention_use" in facts else ""
    return [f"{unused[:1].upper()}{unused[1:]}"] if unused else []


def by_reason(left_out: Mapping[str, str]) -> dict[str, list[str]]:
    """The types of deletion that are left out, by why."""
    names: dict[str, list[str]] = {}
    for name, reason in left_out.items():
        names.setdefault(reason, []).append(name)
    return names


def judge_methods(
    methods: Sequence[str], criteria: Sequence[Criterion], level: float, seed: int, nouns: Nouns
) -> list[Judged]:
    """All methods by every criterion, on the same resamples of the texts."""
    return [
        judge_all(
            criterion,
            methods,
            level=level,
            citation=(Plausibility if criterion.statistic == AUPRC else Faithfulness).citation,
            rng=np.random.default_rng([seed, 15]),
            nouns=nouns,
        )
        for criterion in criteria
    ]


def own_edit_notes(methods: Sequence[RankedMethod], removals: Collection[str], nouns: Nouns) -> list[str]:
    """Who is judged by the very edit that it scores tokens by."""
    return [
        (
            f"{method.name} scores {nouns.tokens} by {method.own_removal} itself, which favours it under "
            "that type of deletion."
        )
        for method in methods
        if method.own_removal in removals
    ]


def ranking_facts(
    sample: Sample, view: ModelView, inputs: Table, request: RankRequest, data_facts: Mapping[str, Any]
) -> dict[str, Any]:
    """What was ranked, on which texts, by which protocol; of the model by what it does before the first
    inputs."""
    data, subject = str(data_facts.get("data", "data")), sample.subject
    return {
        "name": f"{subject.name} · {Path(data).name}",
        "run": str(subject.folder or subject.name),
        **model_facts(subject.model, view),
        **use_facts(subject, view),
        "examples": len(sample.texts),
        **performance_facts(inputs, view.settings),
        **guess_facts(inputs, view.settings),
        "random_orders": ORDERS,
        "rank_seed": request.seed,
        INPUTS: view.nouns.texts,
        "coverage": asdict(sample.coverage),
        **data_facts,
        "notes": [
            precision_note(view, len(sample.texts)),
            target_note(view),
            *sample.coverage.lines("ranked"),
        ],
        "versions": versions(),
        "date": date.today().isoformat(),
    }


def method_columns(
    sample: Sample,
    methods: Sequence[str],
    criteria: Sequence[Criterion],
    taus: Mapping[str, AnyFloats],
) -> dict[str, Any]:
    """The numbers of every text, by method, statistic and type of deletion; next to them random orders."""
    columns: dict[str, Any] = {"index": sample.indices.tolist(), "text": sample.names}
    for criterion in criteria:
        name = ".".join(part for part in (criterion.statistic, criterion.against) if part)
        for place, method in enumerate(methods):
            columns[f"{method}.{name}"] = jsonable(criterion.values[place])
            if criterion.statistic == AUPRC:
                columns[null_column(f"{method}.{name}", "random")] = jsonable(criterion.nulls[place])
        if criterion.statistic != AUPRC:
            columns[null_column(name, "random")] = jsonable(criterion.nulls[0])
    return columns | {name: jsonable(tau) for name, tau in taus.items()}
