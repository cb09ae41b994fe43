"""What a training says of groups of tokens, as findings: every number with an interval over tokens."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from glasshead.arrays import Floats
from glasshead.papers.results import (
    MIN_TOKENS_PER_GROUP,
    NOT_EXPLAINED,
    QUANTITIES,
    History,
    cumulative_column,
    doubt_of,
    integration_error,
    rate_column,
    residual_note,
    versus,
)
from glasshead.results import NO_SIGN, NONE_LEADS, TOO_FEW_TOKENS, Finding, Verdict
from glasshead.statistics import largest_mean, mean_difference_interval, mean_intervals

AUDIT = "dynamics"
CITATION = "Sun and Lu 2020"
NEUTRAL = "neutral"
LARGEST_PART = "the largest part"
MaybeInterval = tuple[float, float] | None


@dataclass(frozen=True)
class Groups:
    """Columns of the followed tokens at one step, group by group."""

    history: History
    step: int

    def values(self, column: str, group: str) -> Floats:
        """The values [n] of a group's tokens that have one."""
        tokens = self.history.tokens
        rows = (tokens["step"] == self.step) & (tokens["group"] == group)
        values: Floats = tokens[column][rows].astype(np.float64)
        return values


def findings(history: History, *, step: int | None = None, seed: int = 0) -> list[Finding]:
    """Findings per group of tokens, at the snapshot nearest to a step (the last unless one is named):

    - ``level``: the mean polarity, score and weight of its tokens, and their ``change`` since the start;
    - ``gap``: its mean score minus that of neutral tokens, and of two polar groups from each other;
    - ``added``: what each term has added to the mean score, where terms add up to the change.

    Intervals are bootstrap ones over the followed tokens of a group. They describe the uncertainty of a
    mean over tokens, not differences between seeds. No tokens were followed: no findings.
    """
    if not history.tokens:
        return []
    rng = np.random.default_rng([seed, 3])
    start, at = int(history.steps[0]), history.nearest(step)
    now, first = Groups(history, at), Groups(history, start)
    rows = [*levels(now, rng)]
    if at > start:
        rows += changes(now, first, rng)
    rows += gaps(now, rng)
    if history.facts["exact"] and at > start:
        for quantity in ("score", "polarity"):
            rows += term_shares(history, at, quantity, rng)
    return rows


def list_followed_groups(history: History) -> list[str]:
    """Groups of which tokens were followed, in order."""
    followed = set(history.tokens["group"].tolist())
    return [group for group in history.groups if group in followed]


def levels(now: Groups, rng: np.random.Generator) -> Iterator[Finding]:
    """Where the tokens of every group stand."""
    for group in list_followed_groups(now.history):
        for quantity in QUANTITIES:
            (estimate,) = mean_intervals(now.values(quantity, group)[None], rng=rng)
            yield gap_finding(
                "level",
                quantity,
                group,
                estimate.mean,
                estimate.interval_or_point,
                estimate.n,
                Verdict(""),
                estimate.std,
            )


def changes(now: Groups, first: Groups, rng: np.random.Generator) -> Iterator[Finding]:
    """How far they have come since the start, token by token."""
    for group in list_followed_groups(now.history):
        for quantity in QUANTITIES:
            moved = now.values(quantity, group) - first.values(quantity, group)
            (estimate,) = mean_intervals(moved[None], rng=rng)
            bounds = estimate.interval_or_point if estimate.n >= MIN_TOKENS_PER_GROUP else None
            verdict = sign_of_interval(bounds, "risen", "fallen")
            yield gap_finding(
                "change",
                quantity,
                group,
                estimate.mean,
                estimate.interval_or_point,
                estimate.n,
                verdict,
                estimate.std,
            )


def gaps(now: Groups, rng: np.random.Generator) -> Iterator[Finding]:
    """Mean score of a group minus that of another: polar groups and neutral tokens, then two polar groups.

    Where weights have a sign, it is the size of the score that tells polar from neutral tokens.
    """
    groups = list_followed_groups(now.history)
    polar = [group for group in groups if group != NEUTRAL]
    pairs = [(group, NEUTRAL) for group in polar if NEUTRAL in groups]
    pairs += [(first, second) for rank, first in enumerate(polar) for second in polar[rank + 1 :]]
    for first, second in pairs:
        sized = second == NEUTRAL and now.history.facts.get("signed", False)
        higher, lower, quantity = ("larger", "smaller", "|score|") if sized else ("higher", "lower", "score")
        one, other = (
            scores[np.isfinite(scores)] for scores in (now.values("score", g) for g in (first, second))
        )
        if sized:
            one, other = np.abs(one), np.abs(other)
        if not len(one) or not len(other):
            continue
        bounds = mean_difference_interval(one, other, rng=rng)
        verdict = sign_of_interval(
            bounds if min(len(one), len(other)) >= MIN_TOKENS_PER_GROUP else None,
            f"{first} tokens have {higher} attention scores than {second} ones",
            f"{first} tokens have {lower} attention scores than {second} ones",
        )
        gap = float(one.mean() - other.mean())
        yield gap_finding("gap", quantity, versus(first, second), gap, bounds, len(one) + len(other), verdict)


def term_shares(history: History, at: int, quantity: str, rng: np.random.Generator) -> Iterator[Finding]:
    """What every term has added to the mean of a group until a step, and what is left unexplained.

    Rates are known at the snapshots alone: the interval of a term is that over tokens, wider by what its
    integral owes to every second snapshot, and by what is unexplained, which may be its own. That covers
    rates which the snapshots follow, and bounds none that swing between them. A term is called the largest
    part if its size exceeds that of every other part, the unexplained one among them, in 95 % of draws of
    ten tokens or more; and if it would still do so with the integrals wrong by that much, and with what is
    unexplained added to any other term. Where none can be called so, the verdict on the part with the
    largest mean says why.
    """
    terms = list(history.facts["terms"].get(quantity, {}))
    if any(cumulative_column(quantity, term) not in history.tokens for term in terms):
        return
    steps = history.steps[history.steps <= at]
    snapshots = [Groups(history, int(step)) for step in steps]
    for group in list_followed_groups(history):
        by_term, rates = (
            np.array(
                [[snapshot.values(name(quantity, term), group) for snapshot in snapshots] for term in terms]
            )
            for name in (cumulative_column, rate_column)
        )  # [terms, snapshots, n]
        values = np.array([snapshot.values(quantity, group) for snapshot in snapshots])
        rest = values - values[0] - by_term.sum(axis=0)
        parts = np.array([*by_term[:, -1], rest[-1]])  # [terms + 1, n]
        estimates = mean_intervals(parts, rng=rng)
        doubts = integration_error(history.facts["learning_rate"], steps, rates.mean(axis=2))
        left = abs(rest[-1].mean())
        sizes = parts.mean(axis=1)
        sure = largest_mean(parts, rng=rng) if parts.shape[1] >= MIN_TOKENS_PER_GROUP else None
        first = int(np.abs(sizes).argmax()) if sure is None else sure
        why_none = TOO_FEW_TOKENS if parts.shape[1] < MIN_TOKENS_PER_GROUP else NONE_LEADS
        for rank, (name, estimate) in enumerate(zip([*terms, NOT_EXPLAINED], estimates, strict=True)):
            verdict = Verdict("")
            if rank == first and sure is None:
                verdict = why_none
            elif rank == first:
                more = "" if name == NOT_EXPLAINED else residual_note(estimate.mean or 0.0, rest.mean(axis=1))
                verdict = doubt_of(rank, sizes, doubts) or Verdict(LARGEST_PART + more)
            doubt = abs(doubts[rank]) + (0.0 if name == NOT_EXPLAINED else left)
            bounds = widen(estimate.interval_or_point, float(doubt))
            yield gap_finding(
                f"added to {quantity}", name, group, estimate.mean, bounds, estimate.n, verdict, estimate.std
            )


def widen(interval: MaybeInterval, doubt: float) -> MaybeInterval:
    """Either end farther out; none if the doubt is not known."""
    if interval is None or np.isnan(doubt):
        return None
    return interval[0] - doubt, interval[1] + doubt


def sign_of_interval(bounds: MaybeInterval, above: str, below: str) -> Verdict:
    """What an interval says of the sign of a number."""
    if bounds is None:
        return TOO_FEW_TOKENS
    if bounds[0] <= 0 <= bounds[1]:
        return NO_SIGN
    return Verdict(above if bounds[0] > 0 else below)


def gap_finding(
    statistic: str,
    against: str,
    group: str,
    estimate: float | None,
    interval: MaybeInterval,
    n: int,
    verdict: Verdict,
    std: float | None = None,
) -> Finding:
    """One row."""
    return Finding(
        AUDIT, statistic, against, group, estimate, std, interval, {}, n, {}, None, CITATION, **verdict.fields
    )
