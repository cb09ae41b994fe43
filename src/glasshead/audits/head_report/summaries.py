"""Findings with intervals, head by head, from statistics of texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from glasshead.arrays import Floats
from glasshead.audits.head_report.text_statistics import (
    ELSEWHERE,
    OFFSETS,
    RANDOM,
    SPECIAL,
    Key,
    LayerStatistics,
)
from glasshead.audits.head_report.verdicts import HALF, OTHER_ROWS, UNIFORM_NULL, head_verdict, judge_direct
from glasshead.audits.judging.question import SHARE, SIZE, TAU, Within, change_size, range_of, signed_change
from glasshead.audits.judging.slices import Group
from glasshead.audits.judging.summary import StatSummary, summarise
from glasshead.nouns import Nouns
from glasshead.results import (
    HEADS,
    MIN_UNITS,
    NOT_USED,
    OFFSET,
    PAIR_DIVERGENCE,
    Finding,
    HeadSummary,
    Verdict,
)

CITATIONS = {
    "removal": "Michel, Levy and Neubig 2019, eq. 1",
    "removal-size": "Michel, Levy and Neubig 2019, eq. 1",
    "direct-effect": "Elhage et al. 2021",
    "gradient-importance": "Michel, Levy and Neubig 2019, eq. 2",
    "identifiable": "Bhardwaj et al. 2021, section 2.2",
    PAIR_DIVERGENCE: "Clark et al. 2019, section 6",
    "gradient-share": "Clark et al. 2019, Fig. 3",
    "relevance-share": "Clark et al. 2019, Fig. 3",
    "inflation": "Clark et al. 2019, Fig. 3",
    "mean-distance": "Dosovitskiy et al. 2021, Appendix D.7",
    "image-spread": "Kang et al. 2025, eq. 3",
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
    "image",
    "image-answer",
    "image-spread",
    "mean-distance",
    "entropy",
    "effective-tokens",
    "score-sd",
)
"""The statistics of rows that every head has, where they have a meaning."""
RANGES: Mapping[str, Within] = {
    **dict.fromkeys((*OF_HEADS, OFFSET), SHARE),
    **dict.fromkeys(("gradient-share", "relevance-share", "joined-share", "identifiable"), SHARE),
    **dict.fromkeys(
        ("mean-distance", "effective-tokens", "score-sd", "gradient-importance", "image-spread"), SIZE
    ),
    **dict.fromkeys(("inflation", "joining", "beyond-unsplit-words"), TAU),
    PAIR_DIVERGENCE: SHARE,
    "removal": signed_change,
    "removal-size": change_size,
    "direct-effect": None,
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

    def judge(name: str, summary: StatSummary) -> Verdict:
        if name == "direct-effect":
            return judge_direct(summary, layer.direct_by_chance)
        return head_verdict(name, summary, scale, nouns)

    for head in range(layer.facts.num_heads):
        statistics = [*row_statistics(layer, head, random), *of_predictions(more[head], random)]
        findings: list[Finding] = []
        # An offset is chosen among many: its interval holds for all of them.
        for chosen, own_level, own_rng in (
            (statistics, level, rng),
            (best_offset(layer, head, random), 1 - (1 - level) / len(OFFSETS), rng.spawn(1)[0]),
        ):
            group = Group(f"{layer.facts.layer}-{head}", np.ones(layer.texts, dtype=bool), level=own_level)
            findings += [
                statistic_finding(one, summary, group, judge(one.name, summary))
                for one, summary in zip(chosen, summaries(chosen, own_rng, own_level, task), strict=True)
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


def best_offset(layer: LayerStatistics, head: int, random: Mapping[Key, Floats]) -> list[Statistic]:
    """The share at the offset at which it is furthest above what other rows give the same tokens; nothing
    where there are no offsets."""
    best: list[Statistic] = []
    most = -np.inf
    for against in layer.about(OFFSET):
        key = (OFFSET, against)
        values, elsewhere = (layer.by_head((name, against))[:, head] for name in (OFFSET, ELSEWHERE))
        uniform = layer.null_by_head(key)
        over = values - elsewhere
        known = ~np.isnan(over)
        if uniform is not None and known.any() and over[known].mean() > most:
            most = over[known].mean()
            nulls = {UNIFORM_NULL: uniform[:, head], OTHER_ROWS: elsewhere} | null_of(random, key)
            best = [Statistic(OFFSET, offset_name(int(against)), values, nulls)]
    return best


def offset_name(offset: int) -> str:
    """Which token stands at an offset."""
    return f"token {abs(offset)} {'back' if offset < 0 else 'ahead'}"


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
    "image": "the image",
    "same-token": "same token elsewhere",
    "induction": "token after an earlier copy (induction)",
}


def head_pattern(findings: Sequence[Finding]) -> str:
    """The pattern of a head: that to which most of its attention goes (of several the one with the highest
    lower end; special tokens together, and a fixed offset, where nothing else is), or uniform attention;
    empty where neither is shown."""
    ends: dict[str, float] = {}
    offset = ""
    for finding in findings:
        if finding.interval is None or finding.n < MIN_UNITS:
            continue
        if finding.statistic in (*STATISTIC_NAMES, "share") and is_most(finding):
            ends[STATISTIC_NAMES.get(finding.statistic, finding.against)] = finding.interval[0]
        if finding.statistic == OFFSET and is_most(finding):
            offset = finding.against
        if finding.statistic == "entropy" and finding.interval[0] > NOT_USED:
            return "uniform"
    together = ends.pop(SPECIAL, None)
    return max(ends, key=lambda name: ends[name], default=offset if together is None else SPECIAL)


def is_most(finding: Finding) -> bool:
    """Whether a share is more than one half, and more than uniform attention gives (of an offset also more
    than other rows give), at the lower ends of all intervals: the first rows of a causal text have few keys
    to look at."""
    if finding.interval is None or UNIFORM_NULL not in finding.over_null:
        return False
    over = [finding.over_null[null] for null in (UNIFORM_NULL, OTHER_ROWS) if null in finding.over_null]
    clear = all(one.interval is not None and one.interval[0] > 0 for one in over)
    return finding.interval[0] > HALF and clear
