"""Findings with intervals, head by head, from statistics of texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from glasshead.arrays import Floats
from glasshead.audits.head_report.text_statistics import RANDOM, SPECIAL, Key, LayerStatistics
from glasshead.audits.head_report.verdicts import HALF, UNIFORM_NULL, head_verdict
from glasshead.audits.question import SHARE, SIZE, TAU, Within, change_size, range_of, signed_change
from glasshead.audits.slices import Group
from glasshead.audits.summary import StatSummary, summarise
from glasshead.nouns import Nouns
from glasshead.results import HEADS, MIN_UNITS, NOT_USED, PAIR_DIVERGENCE, Finding, HeadSummary, Verdict

CITATIONS = {
    "removal": "Michel, Levy and Neubig 2019, eq. 1",
    "removal-size": "Michel, Levy and Neubig 2019, eq. 1",
    "gradient-importance": "Michel, Levy and Neubig 2019, eq. 2",
    "identifiable": "Bhardwaj et al. 2021, section 2.2",
    PAIR_DIVERGENCE: "Clark et al. 2019, section 6",
    "gradient-share": "Clark et al. 2019, Fig. 3",
    "relevance-share": "Clark et al. 2019, Fig. 3",
    "inflation": "Clark et al. 2019, Fig. 3",
    "mean-distance": "Dosovitskiy et al. 2021, Appendix D.7",
}
CITATION = "Clark et al. 2019, sections 3 and 4"
OF_HEADS = (
    "share",
    "previous",
    "next",
    "left",
    "right",
    "above",
    "below",
    "itself",
    "same-token",
    "induction",
    "mean-distance",
    "entropy",
    "effective-tokens",
    "score-sd",
)
"""The statistics of rows that every head has, where they have a meaning."""
RANGES: Mapping[str, Within] = {
    **dict.fromkeys(OF_HEADS, SHARE),
    **dict.fromkeys(("gradient-share", "relevance-share", "joined-share", "identifiable"), SHARE),
    **dict.fromkeys(("mean-distance", "effective-tokens", "score-sd", "gradient-importance"), SIZE),
    **dict.fromkeys(("inflation", "joining", "beyond-unsplit-words"), TAU),
    PAIR_DIVERGENCE: SHARE,
    "removal": signed_change,
    "removal-size": change_size,
}
"""What every statistic lies within, in every text."""


class Statistic(NamedTuple):
    """One number for every text [N], and its null."""

    name: str
    against: str
    values: Floats
    nulls: Mapping[str, Floats]


def summarise_heads(
    layer: LayerStatistics,
    more: Sequence[Mapping[str, Floats]],
    random: Mapping[Key, Floats],
    *,
    level: float,
    task: str | None,
    scale: float,
    rng: np.random.Generator,
    nouns: Nouns,
) -> Iterator[HeadSummary]:
    """The heads of a layer; ``more`` holds further statistics [texts] of each, ``random`` those of random
    weights, ``scale`` is the range of what the ``task`` predicts, intervals have that ``level``, and inputs
    are called by ``nouns``."""
    profiles = layer.profile()
    for head in range(layer.facts.num_heads):
        statistics = [*row_statistics(layer, head, random), *of_predictions(more[head], random)]
        group = Group(f"{layer.facts.layer}-{head}", np.ones(layer.texts, dtype=bool), level=level)
        findings = [
            statistic_finding(statistic, summary, group, head_verdict(statistic.name, summary, scale, nouns))
            for statistic, summary in zip(statistics, summaries(statistics, rng, level, task), strict=True)
        ]
        yield HeadSummary(
            layer.facts.layer, head, findings, head_pattern(findings), profiles[head].round(6).tolist()
        )


def row_statistics(layer: LayerStatistics, head: int, random: Mapping[Key, Floats]) -> Iterator[Statistic]:
    """The statistics of the rows of one head."""
    for name in OF_HEADS:
        for against in layer.about(name):
            key = (name, against)
            values = layer.by_head(key)[:, head]
            uniform = layer.null_by_head(key)
            nulls = {} if uniform is None else {UNIFORM_NULL: uniform[:, head]}
            if not np.isnan(values).all():
                yield Statistic(name, against, values, nulls | null_of(random, key))


def of_predictions(more: Mapping[str, Floats], random: Mapping[Key, Floats]) -> Iterator[Statistic]:
    """Statistics of what a head does to predictions."""
    for name, values in more.items():
        if not np.isnan(values).all():
            yield Statistic(name, "", values, null_of(random, (name, "")))


def null_of(random: Mapping[Key, Floats], key: Key) -> dict[str, Floats]:
    """The null of random weights, where there is one."""
    return {RANDOM: random[key]} if key in random else {}


def summaries(
    statistics: Sequence[Statistic], rng: np.random.Generator, level: float, task: str | None = None
) -> list[StatSummary]:
    """Means, intervals and nulls of statistics of the same texts, of a model for a ``task``."""
    if not statistics:
        return []
    return summarise(
        [one.values for one in statistics],
        [one.nulls for one in statistics],
        rng=rng,
        level=level,
        within=[range_of(RANGES[one.name], task) for one in statistics],
        counts=[one.name == "identifiable" for one in statistics],
    )


def statistic_finding(statistic: Statistic, summary: StatSummary, group: Group, verdict: Verdict) -> Finding:
    """A statistic as a finding of a head or a layer."""
    return summary.finding(
        HEADS,
        statistic.name,
        verdict,
        group=group,
        against=statistic.against,
        citation=CITATIONS.get(statistic.name, CITATION),
    )


STATISTIC_NAMES = {
    "previous": "previous token",
    "next": "next token",
    "left": "patch to the left",
    "right": "patch to the right",
    "above": "patch above",
    "below": "patch below",
    "itself": "itself",
    "same-token": "same token elsewhere",
    "induction": "token after an earlier copy (induction)",
}


def head_pattern(findings: Sequence[Finding]) -> str:
    """The pattern of a head: that to which most of its attention goes (of several the one with the highest
    lower end), or uniform attention; empty where neither is shown."""
    ends: dict[str, float] = {}
    for finding in findings:
        if finding.interval is None or finding.n < MIN_UNITS:
            continue
        if finding.statistic in (*STATISTIC_NAMES, "share") and is_most(finding):
            ends[STATISTIC_NAMES.get(finding.statistic, finding.against)] = finding.interval[0]
        if finding.statistic == "entropy" and finding.interval[0] > NOT_USED:
            return "uniform"
    together = ends.pop(SPECIAL, None)
    return max(ends, key=lambda name: ends[name], default="" if together is None else SPECIAL)


def is_most(finding: Finding) -> bool:
    """Whether a share is more than one half, and more than uniform attention gives, at the lower ends of both
    intervals: the first rows of a causal text have few keys to look at."""
    over = finding.over_null.get(UNIFORM_NULL)
    if finding.interval is None or over is None or over.interval is None:
        return False
    return finding.interval[0] > HALF and over.interval[0] > 0
