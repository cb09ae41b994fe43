"""How the findings of two audits differ, text by text where both have read the same ones."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasshead.arrays import Floats
from glasshead.audits.agreement import AGREEMENT, column_name
from glasshead.audits.judging.base import AUDITS
from glasshead.audits.judging.summary import Interval, added, interval_of, null_column, slice_column, wider
from glasshead.nouns import nouns_of
from glasshead.results import (
    ABSOLUTE,
    METHOD,
    MIN_UNITS,
    PARTS,
    PRODUCTS,
    TOO_FEW_EXAMPLES,
    AuditCard,
    Difference,
    Finding,
)
from glasshead.statistics import (
    UNKNOWN,
    mean_intervals,
    resamples_for,
    root_difference,
)

NOTHING_SHARED = "they have no {text} in common, so nothing can be paired: compare their intervals"
NOT_PAIRED = (
    "{Token} groups are means over {token} types, and groups by maximum weight, layer or length, and slices "
    "of what each model gets right, hold other {texts} or maps in each audit: such findings have no paired "
    "difference, compare their intervals. Lower and upper bounds have none "
    "either, since a difference of bounds is not a bound."
)
OF_NO_CLASS = (
    "performance",
    "identifiability",
    "plausibility",
    "faithfulness",
)  # whatever class the explanation is of


def finding_differences(
    cards: Sequence[AuditCard], base: int = 0, seed: int = 0
) -> tuple[list[Difference], list[str]]:
    """Every finding of each audit minus that of the audit ``base``; and a sentence on what could not be
    paired.

    Means over the texts that both audits read (the same row with the same words) and where both have a
    number, with the paired bootstrap 95 % interval. Numbers about the probability of a class are compared
    where the class is the same. If a finding is not evidence in one of the audits, the difference is not
    evidence either, and its verdict says so.
    """
    differences: list[Difference] = []
    notes: dict[str, None] = {}
    for rank, card in enumerate(cards):
        if rank == base:
            continue
        rows = match_rows(card, cards[base])
        nouns = nouns_of(card.facts, cards[base].facts)
        names = " and ".join(str(audited.facts.get("name") or "an audit") for audited in (card, cards[base]))
        if not len(rows[0]):
            notes[f"{names}: {nouns.fill(NOTHING_SHARED)}."] = None
            continue
        same = same_target(card, cards[base], rows)
        if not same.all():
            notes[
                f"{names}: {int((~same).sum())} of {len(same)} shared {nouns.texts} have other targets, so "
                "only their performance is compared."
            ] = None
        columns: dict[float, dict[str, Floats]] = {}
        ranges: dict[str, tuple[Interval, bool]] = {}
        floors: dict[str, float | None] = {}
        no_evidence: dict[str, str | None] = {}
        rmse_differences: list[Difference] = []
        for finding in card.findings:
            other = cards[base].finding(finding.name)
            if other is None:
                continue
            no_evidence[finding.name] = next(
                (one.verdict for one in (finding, other) if one.status != "evidence"), None
            )
            inside, theirs_inside = group_members(card, finding), group_members(cards[base], other)
            if inside is None or theirs_inside is None:
                notes[nouns.fill(NOT_PAIRED)] = None
                continue
            inside, theirs_inside = inside[rows[0]], theirs_inside[rows[1]]
            if not np.array_equal(inside, theirs_inside):
                notes[nouns.fill(NOT_PAIRED)] = None
                continue
            level = max(finding.level, other.level)
            floors[finding.name] = added(floor_in(card, finding), floor_in(cards[base], other))
            if (finding.audit, finding.statistic) == ("performance", "rmse"):
                if inside.any():
                    pair, shared = (card, cards[base]), (rows[0][inside], rows[1][inside])
                    shift, ends = rmse_difference_of_audits(pair, shared, seed=[seed, rank], level=level)
                    ends, n = wider(ends, floors[finding.name], UNKNOWN), len(shared[0])
                    words = describe_difference(ends, n)
                    rmse_differences.append(
                        Difference(finding.name, rank, base, shift, ends, n, words, level=level)
                    )
                continue
            ours, theirs = example_values(card, finding), example_values(cards[base], other)
            if ours is None or theirs is None:
                notes[nouns.fill(NOT_PAIRED)] = None
                continue
            ranges[finding.name] = difference_range((card, cards[base]), finding)
            change = np.where(inside, ours[rows[0]] - theirs[rows[1]], np.nan)
            columns.setdefault(level, {})[finding.name] = (
                change if finding.audit in OF_NO_CLASS else np.where(same, change, np.nan)
            )
        differences += rmse_differences
        for level, changes in columns.items():
            rng = np.random.default_rng([seed, rank])
            estimates = mean_intervals(
                np.stack([*changes.values()]),
                rng=rng,
                level=level,
                resamples=resamples_for(level),
                within=[ranges[name][0] for name in changes],
            )
            for name, estimate in zip(changes, estimates, strict=True):
                if estimate.mean is not None:
                    (within, counts), n = ranges[name], estimate.n
                    interval = interval_of(estimate, changes[name], within, counts=counts)
                    interval = wider(interval, floors[name], within)
                    words = no_evidence[name] or describe_difference(interval, n)
                    differences.append(
                        Difference(name, rank, base, estimate.mean, interval, n, words, level=level)
                    )
    return differences, list(notes)


def floor_in(card: AuditCard, finding: Finding) -> float | None:
    """The noise floor of a finding: 0 in an audit whose products are not of halves; None: unknown."""
    is_exact = finding.audit in AUDITS and not AUDITS[finding.audit].uses_products
    return 0.0 if is_exact or PRODUCTS not in card.facts else finding.floor


def difference_range(cards: tuple[AuditCard, AuditCard], finding: Finding) -> tuple[Interval, bool]:
    """The least and the most by which the numbers of two audits can differ in one text, and whether they are
    counts."""
    if finding.audit not in AUDITS:
        return UNKNOWN, False
    asked = AUDITS[finding.audit]
    questions = [asked.question_of(finding.statistic, finding.against, card.statistic) for card in cards]
    (low, high), (their_low, their_high) = (
        question.range(card.facts.get("task")) for question, card in zip(questions, cards, strict=True)
    )
    return (low - their_high, high - their_low), all(question.counts for question in questions)


def rmse_difference_of_audits(
    cards: tuple[AuditCard, AuditCard],
    rows: tuple[NDArray[np.intp], NDArray[np.intp]],
    *,
    seed: Sequence[int],
    level: float,
) -> tuple[float, Interval | None]:
    """The difference of two root mean squared errors, which are not means over texts themselves, with its
    interval."""
    ours, theirs = (
        np.asarray(audited.examples["predicted"], dtype=np.float64)[shared]
        - np.asarray(audited.examples["label"], dtype=np.float64)[shared]
        for audited, shared in zip(cards, rows, strict=True)
    )
    return root_difference(ours, theirs, rng=np.random.default_rng(seed), level=level)


def same_target(
    card: AuditCard, other: AuditCard, rows: tuple[NDArray[np.intp], NDArray[np.intp]]
) -> NDArray[np.bool_]:
    """Which of the shared texts both audits explain for one class; ratings have no other."""
    if not all("target" in audited.examples for audited in (card, other)):
        return np.ones(len(rows[0]), dtype=bool)
    ours, theirs = (
        np.asarray(audited.examples["target"])[shared]
        for audited, shared in zip((card, other), rows, strict=True)
    )
    return np.asarray(ours == theirs, dtype=bool)


def match_rows(card: AuditCard, other: AuditCard) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where the texts that both have read stand in the examples of each."""
    keys = [
        list(zip(audited.examples["index"], audited.examples["text"], strict=True))
        if can_be_paired(audited)
        else []
        for audited in (card, other)
    ]
    row_of = {key: row for row, key in enumerate(keys[1])}
    pairs = [(row, row_of[key]) for row, key in enumerate(keys[0]) if key in row_of]
    ours, theirs = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    return ours, theirs


def can_be_paired(card: AuditCard) -> bool:
    """Whether its examples can be told from each other."""
    return {"index", "text"} <= set(card.examples)


def example_values(card: AuditCard, finding: Finding, null: str = "") -> Floats | None:
    """What a finding, or its null, is the mean of, in every text, of its group or not; None where that is not
    a column."""
    if finding.bound:
        return None  # a difference of two bounds bounds nothing
    if finding.audit == "performance" and finding.statistic == "accuracy":
        pairs = zip(card.examples["predicted"], card.examples["label"], strict=True)
        numbers = np.array([predicted == label for predicted, label in pairs], dtype=np.float64)
    elif finding.audit == "performance" and finding.statistic == "cross-entropy":
        numbers = np.asarray(card.examples["surprisal"], dtype=np.float64)
    elif finding.audit == "performance" and finding.statistic == "mae":
        predicted, label = (np.asarray(card.examples[name], dtype=float) for name in ("predicted", "label"))
        numbers = np.abs(predicted - label)
    else:
        patterns = {
            "perturbation": "{}.median.{}",
            "identifiability": "maps.{}",
            "plausibility": "plausibility.{}",
            "faithfulness": "faithfulness.{}.{}",
            "adversarial": "adversarial.{}.{}",
            "heads": "heads.{}",
            "operators": "",
        }
        statistic = finding.statistic
        if finding.audit == AGREEMENT and statistic in (METHOD, METHOD + ABSOLUTE):
            statistic = statistic.replace(METHOD, card.method)
        if finding.audit == AGREEMENT:
            name = column_name(statistic, finding.against)
        else:
            # Of the audit of another package a column that is named as its finding.
            pattern = patterns.get(finding.audit, finding.quantity)
            name = pattern.format(statistic, finding.against).rstrip(".")
        name = PARTS.get(finding.group, "") + (null_column(name, null) if null else name)
        if name not in card.examples:
            return None
        column: Any = card.examples[name]
        numbers = np.array([np.nan if value is None else value for value in column], dtype=np.float64)
    return numbers


def group_members(card: AuditCard, finding: Finding) -> NDArray[np.bool_] | None:
    """Which texts are in the group of a finding; None where that is not known."""
    if finding.group in ("all", "", *PARTS):
        return np.ones(len(card.examples["index"]), dtype=bool)
    if finding.by:
        column = card.examples.get(slice_column(finding.by))
        return None if column is None else np.asarray(column) == finding.group
    if not finding.group.startswith("class "):
        return None
    return np.array([f"class {label}" == finding.group for label in card.examples["label"]], dtype=bool)


def describe_difference(interval: Interval | None, n: int) -> str:
    """A difference in words, from the interval alone."""
    if interval is None or n < MIN_UNITS:
        return TOO_FEW_EXAMPLES.words
    return "higher" if interval[0] > 0 else "lower" if interval[1] < 0 else "no difference shown"
