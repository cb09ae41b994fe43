"""Tokens in their texts and alone, in numbers: two tables and their verdicts."""

from dataclasses import dataclass

from glasshead.papers.report.dynamics_summary import DynamicsSummary
from glasshead.papers.report.interval_format import (
    DEFAULT_DECIMALS,
    finding_decimals,
    format_interval,
    format_number,
)
from glasshead.papers.results import versus
from glasshead.report import DASH, share
from glasshead.results import Finding
from glasshead.wording import capitalise


@dataclass(frozen=True)
class ContextOrder:
    """How far one quantity of a group's tokens is the same in their texts and alone."""

    group: str
    quantity: str
    n: str
    tau: str
    tau_interval: str
    flipped: str
    flipped_interval: str


def context_orders(summary: DynamicsSummary) -> list[ContextOrder]:
    """τ-b and the share of flipped signs, of all tokens and group by group."""
    rows = []
    orders = [f for f in summary.findings if f.statistic == "order"]
    first = ["all", *summary.history.groups]
    for f in sorted(orders, key=lambda f: first.index(f.group)):
        flipped = summary.finding("flipped", f.against, f.group)
        rows.append(
            ContextOrder(
                f.group, f.against, f"{f.n:,}", format_number(f.estimate), format_interval(f.interval),
                DASH if flipped is None else share(flipped.estimate),
                DASH if flipped is None else percent_interval(flipped),
            )
        )  # fmt: skip
    return rows


def percent_interval(finding: Finding) -> str:
    """An interval in percent."""
    if finding.interval is None:
        return DASH
    return f"[{share(finding.interval[0])}, {share(finding.interval[1])}]"


@dataclass(frozen=True)
class Prominence:
    """How often a token of a group gets more attention than a neutral one: number and interval of each."""

    group: str
    n: str
    local: tuple[str, str]
    alone: tuple[str, str]
    gain: tuple[str, str]
    verdict: str


def prominences(summary: DynamicsSummary) -> list[Prominence]:
    """AUC in texts, alone and the gain, of all tokens of classes and group by group."""
    order = [versus(name, "neutral") for name in ("polar", *summary.history.groups)]
    gains = [f for f in summary.findings if (f.statistic, f.against) == ("prominence", "gain")]
    rows = []
    for gain in sorted(gains, key=lambda f: order.index(f.group)):
        local, alone = (summary.finding("prominence", where, gain.group) for where in ("local", "alone"))
        rows.append(
            Prominence(
                gain.group,
                f"{gain.n:,}",
                auc_and_interval(local),
                auc_and_interval(alone),
                auc_and_interval(gain),
                gain.verdict,
            )
        )
    return rows


def auc_and_interval(finding: Finding | None) -> tuple[str, str]:
    """An AUC, or the gain from one to another, and its interval."""
    if finding is None:
        return DASH, DASH
    places = (
        max(finding_decimals(finding), DEFAULT_DECIMALS) if finding.against == "gain" else DEFAULT_DECIMALS
    )
    plus = finding.against == "gain"
    return format_number(finding.estimate, places, plus), format_interval(finding.interval, places, plus)


def context_verdicts(summary: DynamicsSummary) -> list[str]:
    """What the intervals carry, of the tokens of all classes: a sentence each, with its number."""
    first = next((f.group for f in summary.findings if f.statistic == "prominence"), "")
    return [
        f"{capitalise(f.verdict)}: {'AUC ' if f.against != 'gain' else ''}{' '.join(auc_and_interval(f))}."
        for f in summary.findings
        if f.statistic == "prominence" and f.group == first and f.status == "evidence"
    ]
