"""What a head looks at, where its interval shows that it is one thing more than all others together."""

from __future__ import annotations

from collections.abc import Sequence

from glasshead.audits.head_report.row_statistics import UNIFORM
from glasshead.audits.head_report.token_kinds import SPECIAL
from glasshead.audits.head_report.verdicts import HALF
from glasshead.results import MIN_UNITS, NOT_USED, Finding

NAMES = {
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
        if finding.statistic in (*NAMES, "share") and is_most(finding):
            ends[NAMES.get(finding.statistic, finding.against)] = finding.interval[0]
        if finding.statistic == "entropy" and finding.interval[0] > NOT_USED:
            return "uniform"
    together = ends.pop(SPECIAL, None)
    return max(ends, key=lambda name: ends[name], default="" if together is None else SPECIAL)


def is_most(finding: Finding) -> bool:
    """Whether a share is more than one half, and more than uniform attention gives, at the lower ends of both
    intervals: the first rows of a causal text have few keys to look at."""
    beside = finding.over_null.get(UNIFORM)
    if finding.interval is None or beside is None or beside.interval is None:
        return False
    return finding.interval[0] > HALF and beside.interval[0] > 0
