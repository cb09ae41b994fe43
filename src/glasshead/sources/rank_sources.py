"""Which methods name sources best, over many questions: paired, corrected, against random orders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from glasshead.audits import Criterion, comparisons, join_and, judge_all
from glasshead.nouns import TEXTS
from glasshead.results import (
    MIN_UNITS,
    PREDICTION,
    TOP,
    Finding,
    MeasuredQuestion,
    MethodDifference,
    RankedSources,
    Standing,
    Verdict,
)
from glasshead.sources.judge import LEAST
from glasshead.sources.measure_question import CONTEXTCITE, LEAVE_ONE_OUT, RANDOM_ORDERS
from glasshead.statistics import UNKNOWN, simultaneous_level

QUESTIONS = replace(TEXTS, text="question", texts="questions")
CITATION = "Cohen-Wang et al. 2024"
MISSING = "the answer hardly depends on the passages, or there are too few"
BY_CONSTRUCTION = Verdict("largest by construction", "not evidence")
"""What leave-one-out is by the first passage: it has measured just that."""
REMOVING = (CONTEXTCITE, LEAVE_ONE_OUT)
"""Methods that remove passages themselves."""


def depends(question: MeasuredQuestion) -> bool:
    """Whether passages make an answer more probable."""
    return question.gain > LEAST


def rank_sources(
    questions: Sequence[MeasuredQuestion], seed: int
) -> tuple[list[RankedSources], list[MethodDifference]]:
    """Every method by every criterion, and the differences between methods."""
    names = list(dict.fromkeys(name for one in questions for name in one.drops))
    criteria = [top_criterion(questions, names, place) for place in range(len(TOP))]
    criteria.append(prediction_criterion(questions, names))
    decided = sum(bool((~np.isnan(one.values)).sum(axis=1).max() >= MIN_UNITS) for one in criteria)
    level = simultaneous_level(comparisons(len(names), max(decided, 1)))
    rng = np.random.default_rng(seed)
    judged = [
        judge_all(one, names, level=level, citation=CITATION, rng=rng, nouns=QUESTIONS) for one in criteria
    ]
    methods = []
    for rank, name in enumerate(names):
        findings: list[Finding] = [one.findings[rank] for one in judged]
        standings = {one.findings[rank].name: one.standings[rank] for one in judged}
        methods.append(RankedSources(name, findings, standings))
    return methods, [pair for one in judged for pair in one.differences]


def top_criterion(questions: Sequence[MeasuredQuestion], names: Sequence[str], place: int) -> Criterion:
    """By how much log p falls without the first passages of each method, of answers that depend on them."""
    values, draws = empty(questions, names)
    for column, one in enumerate(questions):
        random = one.random_drops[place]
        if random is None or not depends(one):
            continue
        draws[:, :, column] = random
        for row, name in enumerate(names):
            drop = one.drops.get(name, [None] * len(TOP))[place]
            values[row, column] = np.nan if drop is None else drop
    no_evidence = {
        name: BY_CONSTRUCTION if (name, TOP[place]) == (LEAVE_ONE_OUT, 1) else None for name in names
    }
    return Criterion(f"top-{TOP[place]}", "", values, draws, no_evidence, MISSING, UNKNOWN)


def prediction_criterion(questions: Sequence[MeasuredQuestion], names: Sequence[str]) -> Criterion:
    """The linear datamodeling score of each method."""
    values, draws = empty(questions, names)
    for column, one in enumerate(questions):
        for row, name in enumerate(names):
            if name in one.predicts:
                values[row, column], draws[row, :, column] = one.predicts[name], one.random_predicts[name]
    return Criterion(PREDICTION, "", values, draws, dict.fromkeys(names), MISSING, (-1.0, 1.0))


def empty(
    questions: Sequence[MeasuredQuestion], names: Sequence[str]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Room for the numbers of every method [M, N], and of random orders [M, D, N]."""
    shape = (len(names), len(questions))
    return np.full(shape, np.nan), np.full((shape[0], RANDOM_ORDERS, shape[1]), np.nan)


def conclude_rank(methods: Sequence[RankedSources]) -> list[str]:
    """Which methods lead or tie, and which do no better than chance, or worse."""
    standings = {one.name: standings_of(one) for one in methods}
    decided = list(dict.fromkeys(statistic for own in standings.values() for statistic in own))
    if not decided:
        most = max(finding.n for one in methods for finding in one.findings)
        return [
            f"Too few answers depend on their passages to rank methods: {most}, but {MIN_UNITS} are needed."
        ]
    leaders = {
        statistic: [name for name, own in standings.items() if own.get(statistic) == Standing.LEADS]
        for statistic in decided
    }
    always = [one.name for one in methods if leads_by_all(one, decided)]
    sentences = []
    if always:
        sentences.append(lead_sentence(always, decided))
    elif any(leaders.values()):
        listed = "; ".join(f"{join_and(own) or 'none'} by {name}" for name, own in leaders.items())
        sentences.append(f"Which method names sources best depends on the measure: {listed}.")
    else:
        sentences.append("No method is shown to name sources better than a random order.")
    own = [name for name in REMOVING if any(name in names for names in leaders.values())]
    if own:
        removes = "remove" if len(own) > 1 else "removes"
        them = "them" if len(own) > 1 else "it"
        sentences.append(f"{join_and(own)} {removes} passages in the same way that scores {them}.")
    worse = {
        name: [statistic for statistic, one in own.items() if one == Standing.WORSE]
        for name, own in standings.items()
    }
    sentences += [
        f"{name} is worse than a random order by {join_and(by)}." for name, by in worse.items() if by
    ]
    chance = [name for name, own in standings.items() if own and {*own.values()} == {Standing.NOT_SHOWN}]
    if chance and any(leaders.values()):
        does = "is" if len(chance) == 1 else "are"
        sentences.append(f"{join_and(chance)} {does} not shown to do better than a random order.")
    return sentences


def standings_of(method: RankedSources) -> dict[str, Standing]:
    """How a method stands by every statistic that decides."""
    return {
        statistic: standing
        for statistic, (_, standing) in method.by_statistic.items()
        if standing != Standing.UNDECIDED
    }


def leads_by_all(method: RankedSources, decided: Sequence[str]) -> bool:
    """Whether a method leads wherever its numbers are evidence."""
    own = [method.by_statistic[statistic] for statistic in decided]
    evidence = [standing for finding, standing in own if finding.status != "not evidence"]
    return {*evidence} == {Standing.LEADS}


def lead_sentence(names: Sequence[str], decided: Sequence[str]) -> str:
    """Methods that lead by every measure, and what these are."""
    does, they, tied = ("lead", "they put", " (tied)") if len(names) > 1 else ("leads", "it puts", "")
    measures = []
    if any(one != PREDICTION for one in decided):
        measures.append(f"removing the passages that {they} first lowers the answer's probability most")
    if PREDICTION in decided:
        measures.append(f"{'their' if len(names) > 1 else 'its'} numbers predict removals best")
    return f"{join_and(names)} {does}{tied}: {', and '.join(measures)}."
