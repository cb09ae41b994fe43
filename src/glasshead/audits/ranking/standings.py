"""Who is better than a random order, and who than whom: from paired intervals that hold together."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from glasshead.audits.faithfulness import RESOLUTION, difference
from glasshead.audits.ranking.criteria import Criterion
from glasshead.audits.slices import Group
from glasshead.audits.summary import Interval, StatSummary, summarise
from glasshead.results import RANK, TOO_FEW_EXAMPLES, Difference, Finding, Standing, Verdict
from glasshead.statistics import LEVEL

GROUP = "all"
BETTER, WORSE, NOT_TOLD = "better", "worse", "cannot be told apart"


class Judged(NamedTuple):
    """The findings of every method by one criterion, its standings, and the differences of all pairs."""

    findings: list[Finding]
    standings: list[Standing]
    differences: list[Difference]


def comparisons(methods: int, criteria: int) -> int:
    """How many intervals the standings of one statistic rest on: each method against a random order and
    against every other, by every criterion."""
    return criteria * (methods + methods * (methods - 1) // 2)


def corrected_level(count: int) -> float:
    """The level of so many intervals that hold together in 95 % of all draws (Bonferroni)."""
    return 1 - (1 - LEVEL) / max(count, 1)


def every_text(count: int, level: float) -> Group:
    """All texts as one group."""
    return Group(GROUP, np.ones(count, dtype=bool), level=level)


def judge(
    criterion: Criterion, names: Sequence[str], *, level: float, citation: str, rng: np.random.Generator
) -> Judged:
    """Every method by one criterion."""
    summaries = summarise(
        list(criterion.values),
        [{"random": null} for null in criterion.nulls],
        rng=rng,
        level=level,
    )
    over = [one_sided(summary.reliable_differences.get("random"), criterion) for summary in summaries]
    usable = [rank for rank, name in enumerate(names) if criterion.no_evidence[name] is None]
    differences = pair_differences(criterion, usable, level=level, rng=rng)
    better = {(each.one, each.other) for each in differences if each.verdict == BETTER}
    better |= {(each.other, each.one) for each in differences if each.verdict == WORSE}
    standings = [
        standing(over[rank], any((other, rank) in better for other in usable))
        if rank in usable
        else Standing.UNDECIDED
        for rank in range(len(names))
    ]
    findings = []
    for rank, (name, summary) in enumerate(zip(names, summaries, strict=True)):
        peers = Peers(
            better=[names[other] for other in usable if (other, rank) in better],
            tied=[
                names[other]
                for other in usable
                if other != rank and not {(other, rank), (rank, other)} & better
            ],
        )
        verdict = criterion.no_evidence[name] or standing_verdict(standings[rank], peers)
        findings.append(finding_of(summary, criterion, verdict, level=level, citation=citation))
    return Judged(findings, standings, differences)


def finding_of(
    summary: StatSummary, criterion: Criterion, verdict: Verdict, *, level: float, citation: str
) -> Finding:
    """The number of one method by one criterion."""
    missing = int(np.isnan(criterion.values).all(axis=0).sum())
    return summary.finding(
        RANK,
        criterion.statistic,
        verdict,
        group=every_text(criterion.values.shape[1], level),
        citation=citation,
        against=criterion.against,
        undefined={"no number": missing} if missing else {},
    )


def pair_differences(
    criterion: Criterion, usable: Sequence[int], *, level: float, rng: np.random.Generator
) -> list[Difference]:
    """Each method minus each that stands behind it in the list, text by text."""
    pairs = list(combinations(usable, 2))
    if not pairs:
        return []
    gaps = [difference(criterion.values[one], criterion.values[other]) for one, other in pairs]
    name = ".".join(part for part in (RANK, criterion.statistic, criterion.against, GROUP) if part)
    return [
        Difference(
            name,
            one,
            other,
            summary.estimate,
            summary.interval,
            summary.n,
            pair_verdict(one_sided(summary.reliable_interval, criterion)),
            level=level,
        )
        for (one, other), summary in zip(
            pairs, summarise(gaps, [{}] * len(gaps), rng=rng, level=level), strict=True
        )
        if summary.estimate is not None
    ]


def one_sided(interval: Interval | None, criterion: Criterion) -> Interval | None:
    """An interval in which larger is better."""
    if interval is None or criterion.larger_is_better:
        return interval
    return -interval[1], -interval[0]


def pair_verdict(interval: Interval | None) -> str:
    """In words, from the interval of the difference alone."""
    if interval is None:
        return TOO_FEW_EXAMPLES.words
    return BETTER if interval[0] > 0 else WORSE if interval[1] < 0 else NOT_TOLD


def standing(over_random: Interval | None, behind: bool) -> Standing:
    """From the interval of the difference from a random order, and whether another method is better."""
    if over_random is None:
        return Standing.UNDECIDED
    low, high = over_random
    if high < -RESOLUTION:
        return Standing.WORSE
    if low <= RESOLUTION:
        return Standing.NOT_SHOWN
    return Standing.BEHIND if behind else Standing.LEADS


class Peers(NamedTuple):
    """Which methods are shown to be better than one, and which cannot be told apart from it."""

    better: list[str]
    tied: list[str]


def standing_verdict(standing: Standing, peers: Peers) -> Verdict:
    """In words."""
    if standing == Standing.UNDECIDED:
        return TOO_FEW_EXAMPLES
    behind = f"; {in_words(peers.better)} {'is' if len(peers.better) == 1 else 'are'} better"
    words: Mapping[Standing, str] = {
        Standing.LEADS: "leads"
        + (f", not told apart from {in_words(peers.tied)}" if peers.tied else " alone"),
        Standing.BEHIND: "better than a random order" + behind,
        Standing.NOT_SHOWN: "no difference from a random order that these texts show"
        + (behind if peers.better else ""),
        Standing.WORSE: "worse than a random order",
    }
    return Verdict(words[standing])


def in_words(names: Sequence[str]) -> str:
    """a, b and c."""
    return " and ".join([part for part in (", ".join(names[:-1]), *names[-1:]) if part])
