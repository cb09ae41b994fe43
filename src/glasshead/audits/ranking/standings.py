"""Who is better than a random order, and who than whom: from intervals and tests that hold together."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from glasshead.arrays import AnyFloats
from glasshead.audits.faithfulness import GAIN_RESOLUTION, difference
from glasshead.audits.judging.slices import Group
from glasshead.audits.judging.summary import Interval, summarise
from glasshead.audits.ranking.criteria import Criterion
from glasshead.nouns import Nouns
from glasshead.results import RANK, TOO_FEW_EXAMPLES, Finding, MethodDifference, Standing, Verdict
from glasshead.statistics import LEVEL, exchange_tails

GROUP = "all"
Side = int | None
"""1 is better, −1 worse; 0: these texts do not show which; None: too few texts."""
PAIR_VERDICTS: Mapping[Side, str] = {
    1: "better",
    -1: "worse",
    0: "not distinguishable",
    None: TOO_FEW_EXAMPLES.words,
}


class Judged(NamedTuple):
    """The findings of every method by one criterion, its standings, and the differences of all pairs."""

    findings: list[Finding]
    standings: list[Standing]
    differences: list[MethodDifference]


def comparisons(methods: int, criteria: int) -> int:
    """The number of intervals behind the ranking by one statistic: each method is compared with a random
    order and with every other, by every criterion."""
    return criteria * (methods + methods * (methods - 1) // 2)


def bonferroni(count: int) -> float:
    """The level of so many intervals that hold together in 95 % of all draws (Bonferroni)."""
    return 1 - (1 - LEVEL) / max(count, 1)


def finding_name(statistic: str, against: str) -> str:
    """What findings, and differences, of one criterion are called."""
    return ".".join(part for part in (RANK, statistic, against, GROUP) if part)


def all_texts(count: int, level: float) -> Group:
    """All texts as one group."""
    return Group(GROUP, np.ones(count, dtype=bool), level=level)


def judge_all(
    criterion: Criterion,
    names: Sequence[str],
    *,
    level: float,
    citation: str,
    rng: np.random.Generator,
    nouns: Nouns,
) -> Judged:
    """Every method by one criterion."""
    summaries = summarise(
        list(criterion.values),
        [{"random": null} for null in criterion.nulls],
        rng=rng,
        level=level,
        within=criterion.within,
    )
    over = sides_of(
        [summary.reliable_differences.get("random") for summary in summaries],
        np.concatenate([criterion.values[:, None], criterion.draws], axis=1),
        criterion,
        level=level,
        rng=rng,
    )
    usable = [rank for rank, name in enumerate(names) if criterion.no_evidence[name] is None]
    differences = pair_differences(criterion, usable, level=level, rng=rng)
    better = {(pair.one, pair.other) for pair in differences if pair.side == 1}
    better |= {(pair.other, pair.one) for pair in differences if pair.side == -1}
    standings = [
        judge_standing(over[rank], any((other, rank) in better for other in usable))
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
        verdict = criterion.no_evidence[name] or standing_verdict(standings[rank], peers, nouns)
        missing = int(np.isnan(criterion.values[rank]).sum())
        findings.append(
            summary.finding(
                RANK,
                criterion.statistic,
                verdict,
                group=all_texts(criterion.values.shape[1], level),
                citation=citation,
                against=criterion.against,
                undefined={criterion.missing: missing} if missing else {},
            )
        )
    return Judged(findings, standings, differences)


def pair_differences(
    criterion: Criterion, usable: Sequence[int], *, level: float, rng: np.random.Generator
) -> list[MethodDifference]:
    """Each method minus each that stands behind it in the list, text by text."""
    pairs = list(combinations(usable, 2))
    if not pairs:
        return []
    gaps = [difference(criterion.values[one], criterion.values[other]) for one, other in pairs]
    name = finding_name(criterion.statistic, criterion.against)
    low, high = criterion.within
    summaries = summarise(gaps, [{}] * len(gaps), rng=rng, level=level, within=(low - high, high - low))
    sides = sides_of(
        [summary.reliable_interval for summary in summaries],
        np.stack([gaps, np.zeros_like(gaps)], axis=1),
        criterion,
        level=level,
        rng=rng,
    )
    return [
        MethodDifference(
            name,
            one,
            other,
            summary.estimate,
            summary.interval,
            summary.n,
            PAIR_VERDICTS[side],
            level=level,
            side=side,
        )
        for (one, other), summary, side in zip(pairs, summaries, sides, strict=True)
        if summary.estimate is not None
    ]


def sides_of(
    intervals: Sequence[Interval | None],
    exchangeable: AnyFloats,
    criterion: Criterion,
    *,
    level: float,
    rng: np.random.Generator,
) -> list[Side]:
    """The side of 0 that each difference is shown to be on: by its interval, and by an exchange test in which
    any of the ``exchangeable`` numbers [S, K, N] of a text may stand instead of the first.

    The test holds its level where a few texts make the whole difference, which an interval alone does not.
    Of random orders it does so approximately: half of them are the others from behind.
    """
    larger, smaller = exchange_tails(exchangeable, rng=rng, level=level)
    alpha, sign = (1 - level) / 2, 1 if criterion.larger_is_better else -1
    sides: list[Side] = []
    for interval, above, below in zip(intervals, larger, smaller, strict=True):
        if interval is None:
            sides.append(None)
        elif interval[0] > GAIN_RESOLUTION and above <= alpha:
            sides.append(sign)
        elif interval[1] < -GAIN_RESOLUTION and below <= alpha:
            sides.append(-sign)
        else:
            sides.append(0)
    return sides


def judge_standing(over_random: Side, behind: bool) -> Standing:
    """Judge from the side of a random order on which a method is, and whether another is better."""
    if over_random is None:
        return Standing.UNDECIDED
    if over_random < 0:
        return Standing.WORSE
    if over_random == 0:
        return Standing.NOT_SHOWN
    return Standing.BEHIND if behind else Standing.LEADS


class Peers(NamedTuple):
    """Which methods are shown to be better than one, and which tie with it."""

    better: list[str]
    tied: list[str]


def standing_verdict(standing: Standing, peers: Peers, nouns: Nouns) -> Verdict:
    """A standing in words."""
    if standing == Standing.UNDECIDED:
        return TOO_FEW_EXAMPLES
    behind = f"; {join_and(peers.better)} {'is' if len(peers.better) == 1 else 'are'} better"
    words: Mapping[Standing, str] = {
        Standing.LEADS: "leads" + (f", tied with {join_and(peers.tied)}" if peers.tied else " alone"),
        Standing.BEHIND: "better than a random order" + behind,
        Standing.NOT_SHOWN: f"not distinguishable from a random order on these {nouns.texts}"
        + (behind if peers.better else ""),
        Standing.WORSE: "worse than a random order",
    }
    return Verdict(words[standing])


def join_and(names: Sequence[str]) -> str:
    """a, b and c."""
    return " and ".join([part for part in (", ".join(names[:-1]), *names[-1:]) if part])
