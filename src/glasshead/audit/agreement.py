"""Does attention order the tokens as gradients and erasure do?"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from glasshead.audit.audit import AUDITS, Audit, Outcome
from glasshead.audit.kendall import KendallResult, kendall_tau_b
from glasshead.audit.nulls import random_weights
from glasshead.audit.subject import Floats, Subject
from glasshead.audit.summary import Nulls, summarise
from glasshead.results import Finding

ALPHA = 0.01
# Numbers closer than this share of the row's largest are ties: below it is rounding noise of float64.
RESOLUTION = 1e-9


def quantised(values: Floats, mask: NDArray[np.bool_]) -> Floats:
    """Values in units of the row's largest magnitude, with rounding noise removed so that ties are ties."""
    size = np.where(mask, np.abs(values), 0.0).max(axis=-1, initial=0.0, keepdims=True)
    return np.round(np.where(mask, values, 0.0) / np.where(size > 0, size, 1.0) / RESOLUTION)


class Agreement(Audit):
    """Kendall τ-b of attention and of contribution with each importance measure, per example.

    Signed (raw and canonical gauge) and absolute; beside them the same τ for random weights and, where it
    exists, for uniform weights. Huang, Yang and Wang 2024, section 5.2, with gauge and target fixed.
    """

    question = "does attention order the tokens as gradients and erasure do?"
    citation = "Jain and Wallace 2019; Huang, Yang and Wang 2024, section 5.2"

    def __call__(self, subject: Subject, *, seed: int) -> Outcome:
        rng = np.random.default_rng([seed, 1])
        mask, a, o = subject.mask, subject.weights, subject.polarity
        chance = random_weights(mask, subject.signed, rng)
        uniform = mask / np.maximum(mask.sum(axis=1, keepdims=True), 1)
        # [variant, N, n]: attention and contribution, then their nulls.
        variants = np.stack([a, a * o, chance, chance * o, uniform * o])
        measures = np.stack(list(subject.importance.values()))
        signed = kendall_tau_b(quantised(variants, mask), quantised(measures, mask), mask)
        absolute = kendall_tau_b(quantised(np.abs(variants), mask), quantised(np.abs(measures), mask), mask)

        rows: list[tuple[str, str, Floats, Floats, Nulls]] = []
        for m, against in enumerate(subject.importance):
            for statistic, result, row, sign in self._statistics(subject, signed, absolute):
                nulls = {
                    "random": sign * result.tau[row + 2, m],
                    # Uniform weights order nothing; uniform contributions order the tokens by polarity.
                    "uniform": result.tau[4, m] if row == 1 else None,
                }
                rows.append((statistic, against, sign * result.tau[row, m], result.pvalue[row, m], nulls))
        findings = [
            finding
            for group, members in subject.groups.items()
            for finding in self._findings(subject, rows, group, members, rng)
        ]
        columns = {f"tau.{statistic}.{against}": tau for statistic, against, tau, _, _ in rows}
        columns |= {f"p.{statistic}.{against}": p for statistic, against, _, p, _ in rows}
        return Outcome(findings, columns)

    def _findings(
        self,
        subject: Subject,
        rows: list[tuple[str, str, Floats, Floats, Nulls]],
        group: str,
        members: NDArray[np.bool_],
        rng: np.random.Generator,
    ) -> Iterator[Finding]:
        """One finding per row for one group of examples."""
        nulls = [
            {name: null if null is None else null[members] for name, null in row[4].items()} for row in rows
        ]
        summaries = summarise([row[2][members] for row in rows], nulls, rng=rng)
        for (statistic, against, tau, pvalue, _), summary in zip(rows, summaries, strict=True):
            significant = pvalue[members & ~np.isnan(tau)] < ALPHA
            trivial = (
                subject.binary and against == "erasure-zero-weight" and statistic.startswith("contribution")
            )
            yield Finding(
                audit="agreement",
                statistic=statistic,
                against=against,
                group=group,
                **summary.numbers,
                undefined=self._undefined(subject, tau, members),
                significant_fraction=float(significant.mean()) if len(significant) else None,
                citation=self.citation,
                verdict=verdict(summary.interval, summary.over_chance, trivial=trivial),
            )

    @staticmethod
    def _statistics(
        subject: Subject, signed: KendallResult, absolute: KendallResult
    ) -> list[tuple[str, KendallResult, int, int]]:
        """Name, result, variant and sign; negating a vector negates its τ and keeps its p-value."""
        statistics = [
            ("attention", signed, 0, subject.gauge),
            ("attention-absolute", absolute, 0, 1),
            ("contribution", signed, 1, 1),
            ("contribution-absolute", absolute, 1, 1),
        ]
        # Unsigned weights have no gauge: raw and canonical are one number.
        return ([("attention-raw", signed, 0, 1)] if subject.signed else []) + statistics

    @staticmethod
    def _undefined(subject: Subject, tau: Floats, members: NDArray[np.bool_]) -> dict[str, int]:
        """Why τ does not exist: fewer than two tokens, or nothing but ties on one side."""
        missing = members & np.isnan(tau)
        short = missing & (subject.mask.sum(axis=1) < 2)
        counts = {
            "fewer than two tokens": int(short.sum()),
            "all tokens tied": int((missing & ~short).sum()),
        }
        return {reason: count for reason, count in counts.items() if count}


AUDITS.register("agreement")(Agreement())


def verdict(
    interval: tuple[float, float] | None, over_chance: tuple[float, float] | None, *, trivial: bool = False
) -> str:
    """In words, from intervals alone: of the mean τ, and of its paired difference from random weights."""
    if interval is None or over_chance is None:
        return "undecided: too few examples"
    low, high = interval
    if trivial:
        return "true by construction: z − a·o changes with a·o alone"
    if over_chance[0] <= 0 <= over_chance[1]:
        return "no better than random weights"
    if high < 0:
        return "opposed: orders the tokens the other way round"
    if over_chance[1] < 0:
        return "worse than random weights"
    for bar, word in ((0.7, "strong agreement"), (0.4, "moderate agreement"), (0.1, "weak agreement")):
        if low >= bar:
            return word
    return "better than random weights, but hardly agrees"
