"""Sources of many answers: `glasshead.audit_sources`."""

from __future__ import annotations

import time
from typing import Any

from glasshead.errors import InputError, pluralise
from glasshead.generation import open_writer, writing_model
from glasshead.huggingface import class_name, lend_copy
from glasshead.opening import OpenOptions
from glasshead.progress import no_progress
from glasshead.requests import SourcesRequest, takes
from glasshead.results import MIN_UNITS, MeasuredQuestion, SourceAudit
from glasshead.sources.citing import set_up
from glasshead.sources.judge_questions import judge_questions, remarks_on_others
from glasshead.sources.measure_question import CONTEXTCITE, FEWEST_TO_MOVE, measure_question
from glasshead.sources.passage_shares import check_beside
from glasshead.sources.question_store import key_of, open_store
from glasshead.sources.questions import AskedQuestion, read_questions
from glasshead.sources.rank_sources import conclude_rank, depends, rank_sources
from glasshead.torch_modes import in_own_modes
from glasshead.trace import Subject


@takes(SourcesRequest)
def audit_sources(request: SourcesRequest) -> SourceAudit:
    """Find out which method names the sources of answers best, over many questions, and whether attention
    over passages and their order matter.

    For each question, passages are removed as by `glasshead.cite`, then in the order of every method:
    contextcite, leave-one-out, those in ``beside``, the order of the passages, and random orders. The passage
    that adds most is tried at five places. Methods are compared on the same questions, and every finding has
    an interval and a null.

    Raises:
        InputError: if the model cannot be opened or writes no text, with the row of what is not a question,
        if no question can be measured, and if ``store`` holds other measurements.
    """
    return run_source_audit(request)


@in_own_modes
def run_source_audit(request: SourcesRequest) -> SourceAudit:
    """Open the model of a request, measure every question, and judge.

    Raises:
        InputError: as `audit_sources`.
    """
    check_beside(request)
    asked = read_questions(request.questions, request.split)
    say = request.tell
    say("loading")
    subject = open_writer(request.model, request.tokenizer, OpenOptions.of(request, dtype=request.dtype))
    store, started = open_store(request, writing_model(subject)), time.perf_counter()
    measured: list[MeasuredQuestion] = []
    skipped: list[tuple[int, str]] = []
    with lend_copy(writing_model(subject)) as classifier:
        for number, question in enumerate(asked, 1):
            say(f"measuring questions: {number:,} of {len(asked):,}", (number - 1) / len(asked))
            found = store.found.get(key_of(question))
            if found is None:
                try:
                    found = measure(subject, classifier, question, request)
                except InputError as error:
                    skipped.append((number, str(error)))
                    continue
                store.add(question, found)
            measured.append(found)
    if not measured:
        raise InputError(f"no question can be measured. The first: {skipped[0][1]}")
    facts = {
        "removal": request.removal,
        "draws": request.draws,
        "seed": request.seed,
        "seconds": time.perf_counter() - started,
        "class": class_name(subject.model),
        "written": sum(one.answer is None for one in asked),
    }
    return judge_audit(subject.name, measured, skipped, facts, subject.notes)


def measure(
    subject: Subject, classifier: Any, question: AskedQuestion, request: SourcesRequest
) -> MeasuredQuestion:
    """One question."""
    citing = set_up(
        subject,
        classifier,
        question.passages,
        question.question,
        question.answer,
        request,
        method=CONTEXTCITE,
        say=no_progress,
    )
    return measure_question(citing, question.question)


def judge_audit(
    model: str,
    questions: list[MeasuredQuestion],
    skipped: list[tuple[int, str]],
    facts: dict[str, Any],
    notes: Any = (),
) -> SourceAudit:
    """Everything that follows from measured questions."""
    methods, differences = rank_sources(questions, facts["seed"])
    findings, curve, slices, differ = judge_questions(questions, facts["seed"])
    shown = [f"{one.says[:1].upper()}{one.says[1:]}" for one in findings if one.says]
    remarks = list(dict.fromkeys([*notes, *(note for one in questions for note in one.notes)]))
    used = sum(map(depends, questions))
    remarks.insert(
        0,
        f"{used:,} of {pluralise(len(questions), 'answer')} are more probable with their passages than "
        "without: only these count for drops and agreement",
    )
    remarks += remarks_on_others(questions)
    few = sum(one.passages < FEWEST_TO_MOVE for one in questions)
    if few:
        have = f"{few:,} of {pluralise(len(questions), 'question')} have fewer than {FEWEST_TO_MOVE} passages"
        remarks.append(f"{have}: no place is tested there")
    if used < MIN_UNITS:
        remarks.append(f"give more questions: verdicts need at least {MIN_UNITS}")
    return SourceAudit(
        model,
        {**facts, "questions": len(questions), "used": used},
        [*conclude_rank(methods), *shown, *differ],
        methods,
        differences,
        findings,
        curve,
        slices,
        questions,
        remarks,
        skipped,
    )
