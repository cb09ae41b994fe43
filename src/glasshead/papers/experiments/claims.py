"""What a paper's claims come to: each is tested once, over all that the paper says it of."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from glasshead.papers.experiments.differences import DifferenceSummary, possible_gap
from glasshead.papers.experiments.metric_ranges import cut
from glasshead.papers.experiments.numbers import ENOUGH_SEEDS
from glasshead.papers.experiments.summary import SIGNIFICANT, UNCLEAR
from glasshead.papers.experiments.table import Paper, PaperClaim
from glasshead.results import Interval
from glasshead.statistics import detectable_difference, holm

SHOWN, REVERSED = "shown", "the opposite is shown"
SHOWN_ON_AVERAGE, REVERSED_ON_AVERAGE = ON_AVERAGE = (f"{SHOWN} on average", f"{REVERSED} on average")
TOO_SMALL = "too small to matter"


@dataclass(frozen=True)
class ClaimVerdict:
    """A claim, and the evidence of all its trainings.

    Each setting with five pairs of trainings or more counts alike: the ``difference`` d = Σ dₛ / S is the
    mean over their mean gaps, with the standard error √(Σ eₛ²) / S, eₛ that of a setting, and the degrees of
    freedom of Welch and Satterthwaite. Settings that share trainings have correlated errors and count as
    one (`pool`). ``p`` is that of a t-test of d = 0, ``corrected`` the same after Holm for all claims of
    the paper, run or not; ``interval`` is one of 95 %, and ``equivalence`` that of 1 − 2·0.05 / (number of
    claims), which decides whether a difference is too small to matter (two one-sided tests). ``effect`` is
    the mean of what the paper prints for the same settings, and ``detectable`` the effect that four of five
    such experiments would find.
    """

    claim: PaperClaim
    parts: Sequence[DifferenceSummary]
    effect: float | None = None
    difference: float | None = None
    interval: Interval | None = None
    equivalence: Interval | None = None
    p: float | None = None
    corrected: float | None = None
    detectable: float | None = None
    verdict: str = UNCLEAR

    @property
    def known(self) -> list[DifferenceSummary]:
        """The settings that have been run often enough."""
        return [part for part in self.parts if len(part.gaps) >= ENOUGH_SEEDS]

    @property
    def units(self) -> int:
        """Their number: pairs or trainings within a setting, or units that settings share."""
        if self.claim.parts[0][1].unit:
            return len({seed for part in self.known for seed in part.seeds})
        return sum(len(part.gaps) for part in self.known)

    @property
    def agreeing(self) -> int:
        """In how many of them the claim is true of the mean."""
        return sum(part.difference is not None and part.difference > 0 for part in self.known)


def judge_claims(paper: Paper, differences: Mapping[str, Sequence[DifferenceSummary]]) -> list[ClaimVerdict]:
    """The verdict on every claim of a paper, from the differences of its tables by name."""
    tests = [assess(claim, parts_of(claim, differences), len(paper.claims)) for claim in paper.claims]
    # What is not run yet counts, too: else a verdict would change because something else was run.
    corrected = holm([1.0 if test.p is None else test.p for test in tests])
    tests = [
        replace(test, corrected=None if test.p is None else value)
        for test, value in zip(tests, corrected, strict=True)
    ]
    return [replace(test, verdict=verdict_of(test)) for test in tests]


def parts_of(
    claim: PaperClaim, differences: Mapping[str, Sequence[DifferenceSummary]]
) -> list[DifferenceSummary]:
    """The differences that bear on a claim."""
    return [one for table, part in claim.parts for one in differences.get(table, []) if one.claim == part]


def assess(claim: PaperClaim, parts: Sequence[DifferenceSummary], claims: int) -> ClaimVerdict:
    """The mean difference over the settings of a claim, its interval and its test."""
    test = ClaimVerdict(claim, parts)
    known = test.known
    effects = [part.claim.effect for part in known or parts if part.claim.effect is not None]
    effect = float(np.mean(effects)) if effects else None
    if not known:
        return replace(test, effect=effect)
    difference = float(np.mean([part.gaps.mean() for part in known]))
    variances, degrees = np.array([pool(group) for group in group_by_trainings(known)]).T
    variances = variances / len(known) ** 2
    total = float(variances.sum())
    possible = np.mean([possible_gap(part.claim) for part in known], axis=0).tolist()
    if total == 0:
        same = (difference, difference)
        p = 1.0 if difference == 0 else 0.0
        return replace(
            test, effect=effect, difference=difference, interval=same, equivalence=same, p=p, detectable=0.0
        )
    from scipy.stats import t

    freedom = total**2 / float((variances**2 / degrees).sum())
    error = math.sqrt(total)
    p = 2 * float(t.sf(abs(difference) / error, freedom))

    def interval(level: float) -> Interval | None:
        half = float(t.ppf((1 + level) / 2, freedom)) * error
        return cut((difference - half, difference + half), possible)

    return replace(
        test,
        effect=effect,
        difference=difference,
        interval=interval(0.95),
        equivalence=interval(1 - 2 * SIGNIFICANT / claims),
        p=p,
        detectable=detectable_difference(error, freedom, significance=SIGNIFICANT / claims),
    )


def group_by_trainings(parts: Sequence[DifferenceSummary]) -> list[list[DifferenceSummary]]:
    """Settings that share trainings, themselves or through others, together."""
    groups: list[tuple[frozenset[tuple[str, str]], list[DifferenceSummary]]] = []
    for part in parts:
        touched = [group for group in groups if group[0] & part.cells]
        cells = part.cells.union(*(own for own, _ in touched))
        together = [one for _, group in touched for one in group]
        groups = [group for group in groups if not group[0] & part.cells] + [(cells, [*together, part])]
    return [group for _, group in groups]


def pool(parts: Sequence[DifferenceSummary]) -> tuple[float, float]:
    """The squared standard error of the sum of the mean gaps of settings that share trainings, eᵀRe, and its
    degrees of freedom; R are the correlations of their gaps over the seeds that all of them have, so that of
    gaps whose errors come of seeds alone it is the error of the mean over seeds of Σₛ gapₛ. Of fewer than
    five such seeds R is 1: they may err together."""
    errors = np.array([part.error for part in parts], dtype=float)
    shared = [seed for seed in parts[0].seeds if all(seed in part.seeds for part in parts)]
    if len(shared) < ENOUGH_SEEDS:
        return float(errors.sum() ** 2), min(len(part.gaps) for part in parts) - 1.0
    gaps = np.array([part.gaps[[list(part.seeds).index(seed) for seed in shared]] for part in parts])
    centred = gaps - gaps.mean(axis=1, keepdims=True)
    sizes = np.linalg.norm(centred, axis=1)
    directions = centred / np.where(sizes > 0, sizes, 1.0)[:, None]
    alike = float(np.square(errors[sizes == 0]).sum())  # in all seeds: what errs are the texts
    return float(np.square(errors @ directions).sum()) + alike, len(shared) - 1.0


def verdict_of(test: ClaimVerdict) -> str:
    """The verdict, by the corrected test and by the paper's effect alone."""
    if test.difference is None or test.corrected is None:
        return UNCLEAR
    if test.corrected < SIGNIFICANT:
        if test.difference < 0:
            return REVERSED if test.agreeing == 0 else REVERSED_ON_AVERAGE
        return SHOWN if test.agreeing == len(test.known) else SHOWN_ON_AVERAGE
    ends, effect = test.equivalence, test.effect
    if effect and ends is not None and -abs(effect) < ends[0] <= ends[1] < abs(effect):
        return TOO_SMALL
    return UNCLEAR
