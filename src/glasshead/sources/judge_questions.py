"""Does attention over passages agree with removing them, is the first one a sink, does place matter: from
what was measured of many questions, without a model."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from glasshead.audits import Group, StatSummary, summarise
from glasshead.errors import pluralise
from glasshead.results import (
    MIN_UNITS,
    AuditedFinding,
    Finding,
    Interval,
    MeasuredQuestion,
    Verdict,
)
from glasshead.sources.judge import LEAST
from glasshead.sources.measure_question import PLACES
from glasshead.sources.rank_sources import depends
from glasshead.statistics import LEVEL, UNKNOWN, group_tests, holm, kendall_tau_b, simultaneous_level

AUDIT = "sources"
ALL, OTHERS = "all", "another question"
MOST_OTHERS = 20
SHARE = (0.0, 1.0)
PLACE_NAMES = ("first", "second quarter", "middle", "third quarter", "last")
TOO_FEW = Verdict("undecided: too few questions", "undecided", "too few")
Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Statistic:
    """A number of every question [N], ``short`` for what it is, with its nulls, and the sentences of what may
    be shown: ``above`` and ``below`` all nulls (empty: nothing is said), or ``neither``; they have fields for
    the mean and the nulls. ``counts``: a share of yes and no. ``least`` is how far from every null the mean
    is at least where that is shown, ``always``: what is not shown is said, too."""

    name: str
    asks: str
    short: str
    values: Numbers
    nulls: dict[str, Numbers]
    above: str
    below: str
    neither: str
    within: Interval = UNKNOWN
    counts: bool = False
    least: float = 0.0
    always: bool = False

    def in_words(self, value: float | None) -> str:
        """A number in a sentence."""
        if value is None:
            return "?"
        return f"{100 * value:.0f} %" if self.within == SHARE else f"{value:.2f}".replace("-", "−")


def judge_questions(
    questions: Sequence[MeasuredQuestion], seed: int
) -> tuple[list[AuditedFinding], list[Finding], list[Finding], list[str]]:
    """The findings, the curve of places, the findings of slices, and which slices are shown to differ."""
    rng = np.random.default_rng(seed)
    statistics = list[Statistic]()
    for name in dict.fromkeys(name for one in questions for name in one.shares):
        statistics += [agrees(questions, name, rng), points(questions, name, rng), sink(questions, name)]
    sliced = [one for one in statistics if one.counts]
    statistics += [moved(questions), middle(questions), first_or_last(questions)]
    level = simultaneous_level(len(statistics))
    findings = [judge(one, level, rng) for one in statistics]
    said = {one.finding.statistic for one in findings if one.says}
    slices, differ = judge_slices(questions, [*sliced, moved(questions)], said, rng)
    return findings, place_curve(questions, rng), slices, differ


def judge(one: Statistic, level: float, rng: np.random.Generator) -> AuditedFinding:
    """A statistic with its interval, and what it comes to."""
    group = Group(ALL, np.ones(len(one.values), bool), level=level)
    (found,) = summarise(
        [one.values], [one.nulls], rng=rng, level=level, within=one.within, counts=one.counts
    )
    over = [
        (own.estimate, *own.interval)
        for own in found.over_null.values()
        if own.n >= MIN_UNITS and own.estimate is not None and own.interval
    ]
    if found.estimate is None or len(over) < len(one.nulls):
        return AuditedFinding(one.asks, finding_of(found, one.name, TOO_FEW, group))
    words = one.neither
    if all(low > 0 and mean >= one.least for mean, low, _ in over):
        words = one.above
    elif all(high < 0 and mean <= -one.least for mean, _, high in over):
        words = one.below or one.neither
    nulls = {name.replace(" ", "_"): one.in_words(value) for name, value in found.null.items()}
    said = words.format(mean=one.in_words(found.estimate), **nulls)
    is_said = one.always or words != one.neither
    return AuditedFinding(
        one.asks, finding_of(found, one.name, Verdict(said), group), f"{said}." if is_said else ""
    )


def finding_of(found: StatSummary, name: str, verdict: Verdict, group: Group) -> Finding:
    """A summary as a finding."""
    return found.finding(AUDIT, name, verdict, group=group, citation="")


def costs(one: MeasuredQuestion) -> bool:
    """Whether an answer depends on its passages, and on one of them that no other makes up for."""
    return depends(one) and max(one.alone) > LEAST


def others_of(questions: Sequence[MeasuredQuestion], one: MeasuredQuestion, name: str) -> list[Numbers]:
    """The shares of other questions with as many passages."""
    return [
        np.array(other.shares[name])
        for other in questions
        if other is not one and other.passages == one.passages and name in other.shares
    ]


def remarks_on_others(questions: Sequence[MeasuredQuestion]) -> list[str]:
    """How many questions have no other for the null of a method, which leaves them out."""
    remarks = []
    for name in dict.fromkeys(name for one in questions for name in one.shares):
        own = [one for one in questions if name in one.shares and costs(one)]
        alone = sum(not others_of(questions, one, name) for one in own)
        if alone:
            have = "has" if alone == 1 else "have"
            remarks.append(
                f"{pluralise(alone, 'question')} {have} no partner with as many passages: left out of the "
                f"agreement of {name}"
            )
    return remarks


def compared(
    questions: Sequence[MeasuredQuestion],
    name: str,
    rng: np.random.Generator,
    measure: Callable[[Numbers, Numbers], float],
    least: int,
) -> tuple[Numbers, Numbers]:
    """A measure of the shares of each question against its removals, and the mean over those of others. NaN
    where no removal costs anything, or there are no others."""
    values, null = np.full((2, len(questions)), np.nan)
    for place, one in enumerate(questions):
        if name in one.shares and costs(one) and one.passages >= least:
            others, effects = others_of(questions, one, name), np.array(one.alone)
            if others:
                drawn = [others[n] for n in rng.permutation(len(others))[:MOST_OTHERS]]
                values[place] = measure(np.array(one.shares[name]), effects)
                null[place] = np.mean([measure(own, effects) for own in drawn])
    return values, null


def tau(one: Numbers, other: Numbers) -> float:
    """Kendall's τ-b; 0 where all are the same."""
    found = float(kendall_tau_b(one[None], other[None], np.ones((1, len(one)), bool)).tau[0])
    return 0.0 if np.isnan(found) else found


def same_top(one: Numbers, other: Numbers) -> float:
    """Whether both are largest in one place."""
    return float(one.argmax() == other.argmax())


def agrees(questions: Sequence[MeasuredQuestion], name: str, rng: np.random.Generator) -> Statistic:
    """Whether a method orders passages as removing each does."""
    values, null = compared(questions, name, rng, tau, 3)
    numbers = f"Kendall τ-b = {{mean}}, and {{another_question}} by the {name} of another question"
    return Statistic(
        f"{name}.agreement",
        f"Does {name} over passages agree with removing them?",
        f"agreement of {name} with removing passages",
        values,
        {OTHERS: null},
        f"{name} agrees with removing passages: {numbers}",
        f"{name} orders passages in reverse to the effect of removing them: {numbers}",
        f"{name} is not shown to agree with removing passages: {numbers}",
        within=(-1.0, 1.0),
    )


def points(questions: Sequence[MeasuredQuestion], name: str, rng: np.random.Generator) -> Statistic:
    """Whether it gives most to the passage whose removal costs most."""
    values, null = compared(questions, name, rng, same_top, 2)
    most = f"{name} is highest on the passage whose removal costs most"
    compare = "in {mean} of questions, and by that of another question in {another_question}"
    return Statistic(
        f"{name}.top",
        f"Is {name} highest on the passage that matters most?",
        f"{name} finds the passage that matters most",
        values,
        {OTHERS: null},
        f"{most} {compare}",
        f"{most} less often than by chance: {compare}",
        f"{name} is not shown to find the passage that matters most: it does {compare}",
        within=SHARE,
        counts=True,
        always=True,
    )


def sink(questions: Sequence[MeasuredQuestion], name: str) -> Statistic:
    """Whether the first passage gets more than its share of the tokens, and than its share of the effect."""
    values, length, effect = np.full((3, len(questions)), np.nan)
    for place, one in enumerate(questions):
        own = np.array(one.shares.get(name, ()))
        gains = np.maximum(one.alone, 0.0)
        if depends(one) and own.sum() > 0 and len(own) > 1 and gains.sum() > LEAST:
            values[place] = own[0] / own.sum()
            length[place], effect[place] = one.tokens[0] / sum(one.tokens), gains[0] / gains.sum()
    compare = f"of the {name} on passages; it has {{length}} of the tokens, and {{effect}} of the effect"
    return Statistic(
        f"{name}.first",
        f"Is the first passage a sink of {name}?",
        f"{name} on the first passage",
        values,
        {"length": length, "effect": effect},
        f"the first passage is a sink: it gets {{mean}} {compare}",
        "",
        f"no sink shown: the first passage gets {{mean}} {compare}",
        within=SHARE,
    )


def moved(questions: Sequence[MeasuredQuestion]) -> Statistic:
    """Whether moving the key passage changes more than shuffling the others."""
    values, null = np.full((2, len(questions)), np.nan)
    for place, one in enumerate(questions):
        if one.key is not None:
            values[place], null[place] = np.std(one.places, ddof=1), np.std(one.reshuffled, ddof=1)
    spread = (
        "moving the key passage changes log p by {mean} nats (SD); shuffling the others, by {others_shuffled}"
    )
    return Statistic(
        "place.moved",
        "Does the place of a passage matter?",
        "moving the key passage changes log p (SD)",
        values,
        {"others shuffled": null},
        f"place matters: {spread}",
        "",
        f"place is not shown to matter: {spread}",
        within=(0.0, np.inf),
        least=LEAST,
    )


def contrast(questions: Sequence[MeasuredQuestion], weights: Sequence[float]) -> Numbers:
    """A difference between places of the key passage."""
    return np.array([np.nan if one.key is None else float(np.dot(weights, one.places)) for one in questions])


def middle(questions: Sequence[MeasuredQuestion]) -> Statistic:
    """Whether passages are lost in the middle."""
    values = contrast(questions, (0.5, 0.0, -1.0, 0.0, 0.5))
    where = "with its key passage first or last than with it in the middle"
    return Statistic(
        "place.ends",
        "Are passages lost in the middle?",
        "first or last minus middle",
        values,
        {"no difference": np.zeros(len(values))},
        f"passages are lost in the middle: log p of the answer is {{mean}} nats higher {where}",
        f"log p of the answer is lower {where} ({{mean}} nats)",
        f"not shown: the difference of log p {where.replace(' than with it', ' and')} is {{mean}} nats",
        least=LEAST,
    )


def first_or_last(questions: Sequence[MeasuredQuestion]) -> Statistic:
    """Whether passages are used rather where they are first, or last."""
    values = contrast(questions, (1.0, 0.0, 0.0, 0.0, -1.0))
    where = "with its key passage first than with it last"
    return Statistic(
        "place.start",
        "Does a passage count for more if it is first?",
        "first less last",
        values,
        {"no difference": np.zeros(len(values))},
        f"log p of the answer is {{mean}} nats higher {where}",
        f"log p of the answer is lower {where} ({{mean}} nats)",
        "not shown: the difference of log p between first and last is {mean} nats",
        least=LEAST,
    )


def place_curve(questions: Sequence[MeasuredQuestion], rng: np.random.Generator) -> list[Finding]:
    """log p of the answer with its key passage at each place, less the mean over places."""
    rows = np.array([one.places for one in questions if one.key is not None])
    if len(rows) < 2:
        return []
    level = simultaneous_level(PLACES)
    values = [*(rows - rows.mean(axis=1, keepdims=True)).T]
    found = summarise(values, [{}] * PLACES, rng=rng, level=level, within=None)
    group = Group(ALL, np.ones(len(rows), bool), level=level)
    verdict = Verdict("") if len(rows) >= MIN_UNITS else TOO_FEW
    return [finding_of(one, name, verdict, group) for name, one in zip(PLACE_NAMES, found, strict=True)]


def slicings(questions: Sequence[MeasuredQuestion]) -> dict[str, tuple[NDArray[np.intp], tuple[str, ...]]]:
    """The questions in parts by the number of passages, their length, and the place of the one that matters
    most."""
    counts, lengths = (np.array([getattr(one, name) for one in questions]) for name in ("passages", "length"))
    tops = np.array([(np.argmax(one.alone) + 0.5) / one.passages for one in questions])
    few, short = int(np.median(counts)), int(np.median(lengths))
    thirds = ("source in the first third", "source in the middle", "source in the last third")
    return {
        "passages": ((counts > few).astype(int), (f"up to {few} passages", f"more than {few} passages")),
        "length": ((lengths > short).astype(int), (f"up to {short:,} tokens", f"more than {short:,} tokens")),
        "place": (np.digitize(tops, [1 / 3, 2 / 3]), thirds),
    }


def judge_slices(
    questions: Sequence[MeasuredQuestion],
    statistics: Sequence[Statistic],
    said: Collection[str],
    rng: np.random.Generator,
) -> tuple[list[Finding], list[str]]:
    """Statistics in parts of the questions, tested by permuting which part a question is in (Holm); of those
    that are ``said`` of all questions, which parts differ."""
    cut = slicings(questions)
    cases = [(one, *cut[by], by) for one in statistics for by in cut]
    tests = [group_tests(one.values[None], parts, rng=rng, least=5)[0].p for one, parts, _, _ in cases]
    corrected = iter(holm([p for p in tests if p is not None]))
    level = simultaneous_level(sum(len(names) for _, _, names, _ in cases))
    findings, differ = list[Finding](), list[str]()
    for (one, parts, names, by), tested in zip(cases, tests, strict=True):
        p = None if tested is None else next(corrected)
        verdict, own = TOO_FEW, list[Finding]()
        if p is not None:
            does = "differs" if p <= 1 - LEVEL else "not shown to differ"
            verdict = Verdict(f"{does} between these parts (p = {p:.2g}, corrected)")
        for number, name in enumerate(names):
            group = Group(name, parts == number, by, level)
            (found,) = summarise(
                [one.values[group.members]], [{}], rng=rng, level=level, within=one.within, counts=one.counts
            )
            own.append(finding_of(found, one.name, verdict, group))
        findings += own
        if p is not None and p <= 1 - LEVEL and one.name in said:
            listed = ", ".join(f"{one.in_words(part.estimate)} for {part.group}" for part in own)
            differ.append(f"{one.short[:1].upper()}{one.short[1:]}: {listed} (p = {p:.2g}, corrected).")
    return findings, differ
