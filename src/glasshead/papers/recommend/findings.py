"""Findings from one number for each impression: those of an audit, with intervals, nulls and verdicts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from glasshead.arrays import Floats
from glasshead.audits import Group, StatSummary, summarise
from glasshead.papers.recommend.questions import RECOMMENDER_QUESTIONS
from glasshead.results import (
    AGREEMENT_STRENGTHS,
    LARGE_CHANGE,
    NEGLIGIBLE,
    SMALL_CHANGE,
    Finding,
    Interval,
    Verdict,
    too_few,
)

HARDLY_RELATED = 0.1
"""A Kendall τ below which two orders are hardly related."""


@dataclass(frozen=True)
class ImpressionColumn:
    """A statistic of every impression (NaN where it has none), beside its nulls; ``judge`` says how it is
    judged."""

    audit: str
    statistic: str
    against: str
    values: Floats
    judge: str
    citation: str
    nulls: Mapping[str, Floats] = field(default_factory=dict)
    undefined: str = ""

    @property
    def name(self) -> str:
        """The name of its column among the examples."""
        return ".".join(part for part in (self.audit, self.statistic, self.against) if part)


def column_findings(columns: Sequence[ImpressionColumn], seed: int) -> list[Finding]:
    """One finding for each column; all share the resamples of the impressions."""
    questions = [
        RECOMMENDER_QUESTIONS[column.audit].question_of(column.statistic, column.against)
        for column in columns
    ]
    summaries = summarise(
        [column.values for column in columns],
        [column.nulls for column in columns],
        rng=np.random.default_rng([seed, 1]),
        within=[question.range(None) for question in questions],
    )
    return [column_finding(column, summary) for column, summary in zip(columns, summaries, strict=True)]


def column_finding(column: ImpressionColumn, summary: StatSummary) -> Finding:
    """A column as a finding."""
    missing = int(np.isnan(column.values).sum())
    over = summary.over_null.get("random")
    return summary.finding(
        column.audit,
        column.statistic,
        judge_number(column.judge, summary, None if over is None else over.interval),
        group=Group("all", np.ones(len(column.values), dtype=bool)),
        citation=column.citation,
        against=column.against,
        undefined={column.undefined: missing} if missing else {},
    )


def judge_number(judge: str, summary: StatSummary, over: Interval | None) -> Verdict:
    """What a number comes to; ``over`` is the interval of its difference from random."""
    interval = summary.reliable_interval
    if interval is None:
        return too_few("impressions")
    if judge == "change":
        return change_verdict(interval)
    if judge == "loss":
        return loss_verdict(interval)
    if over is None:
        return Verdict("undecided: there is no random baseline", "undecided")
    return {"agreement": judge_erasure_agreement, "removal": removal_verdict, "rank": rank_verdict}[judge](
        interval, over
    )


def judge_erasure_agreement(interval: Interval, over: Interval) -> Verdict:
    """Judge Kendall τ with erasure, beside weights in random order."""
    if over[1] < 0:
        return Verdict("agrees with erasure less than a random order does")
    if over[0] > 0:
        least, most = (strength_of(tau) for tau in interval)
        words = least if least == most else f"at least {least}"
        return Verdict(f"{words} agreement with erasure, more than that of a random order")
    if max(-over[0], over[1]) < HARDLY_RELATED:
        return Verdict("agrees with erasure no more than a random order does")
    return Verdict("undecided: may agree with erasure no more than a random order does", "undecided")


def strength_of(tau: float) -> str:
    """What a Kendall τ is called."""
    return next((word for low, word in AGREEMENT_STRENGTHS if tau >= low), "slight")


def removal_verdict(interval: Interval, over: Interval) -> Verdict:
    """Judge the change without the first, beside the change without one at random."""
    if max(-over[0], over[1]) < NEGLIGIBLE:
        return Verdict("it changes about as much as without a random one")
    if over[0] > 0:
        return Verdict("it changes more than without a random one")
    if over[1] < 0:
        return Verdict("it changes less than without a random one")
    return Verdict("undecided: may change as much as without a random one", "undecided")


def change_verdict(interval: Interval) -> Verdict:
    """Judge a change of probabilities, from 0 to 1."""
    low, high = interval
    if high < SMALL_CHANGE:
        return Verdict("the recommendation hardly changes")
    if low >= LARGE_CHANGE:
        return Verdict("the recommendation changes much")
    if low >= SMALL_CHANGE:
        return Verdict("the recommendation changes")
    return Verdict("undecided: the change may be negligible", "undecided")


def loss_verdict(interval: Interval) -> Verdict:
    """Judge the AUC that is lost."""
    low, high = interval
    if max(-low, high) < NEGLIGIBLE:
        return Verdict("the ranking is about as good with such weights")
    if low > 0:
        return Verdict("the ranking is worse with such weights")
    if high < 0:
        return Verdict("the ranking is better with such weights")
    return Verdict("undecided: may be as good with such weights", "undecided")


def rank_verdict(interval: Interval, over: Interval) -> Verdict:
    """Judge the AUC, beside a random ranking."""
    if over[0] > 0:
        return Verdict("better than a random ranking")
    if over[1] < 0:
        return Verdict("worse than a random ranking")
    return Verdict("undecided: may be no better than a random ranking", "undecided")
