"""Does it matter for the verdicts what deleting a token means?"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import torch
from numpy.typing import NDArray

from glasshead.arrays import AnyFloats
from glasshead.audits.agreement import judge_agreement, round_digits
from glasshead.audits.base import AUDITS, Audit, AuditResult
from glasshead.audits.context import AuditContext, same_numbers
from glasshead.audits.null_weights import random_scores
from glasshead.audits.slices import Group
from glasshead.audits.summary import Interval, StatSummary, null_column, summarise
from glasshead.errors import InputError
from glasshead.explainers import REMOVALS, ExplanationContext, removable, value_changes
from glasshead.nouns import Nouns
from glasshead.results import (
    ABSOLUTE,
    ATTENTION,
    TOO_FEW_EXAMPLES,
    Finding,
    Verdict,
    by_construction,
    no_order,
)
from glasshead.spelling import spell
from glasshead.statistics import LEVEL, kendall_tau_b

TEXTS_ASKED = 50
"""So many texts are asked unless somebody names another number: each means a pass for every word."""
OPERATORS = "operators"
CHANGE, ORDER, SURVIVAL = "change", "order", "survival"
SAME_EDIT = by_construction("the same", "the two are one edit of this model")


@dataclass(frozen=True)
class ErasureAgreement:
    """How an explanation agrees with erasure under one meaning of deleting, text by text."""

    removal: str
    tau: AnyFloats
    chance: AnyFloats
    verdict: Verdict | None = None
    """Why the number is no evidence, if it is none."""

    @property
    def orders_nothing(self) -> bool:
        """Whether its numbers are all equal in most texts, where random ones have an order."""
        return bool((np.isnan(self.tau) & ~np.isnan(self.chance)).sum() > len(self.tau) / 2)


class Operators(Audit):
    """One question under every meaning of deleting that the model allows.

    ``change`` is the mean |ŷ(x) − ŷ(x without i)| over the words of a text; ``order`` the Kendall τ-b between
    the changes under two meanings; then τ-b of the audited explanation with the changes under each, beside
    random numbers, and whether what it says of the explanation survives all of them. Intervals of the latter
    are simultaneous (Bonferroni). Special tokens are left out.
    """

    question = "does it matter what deleting means?"
    citation = "Hase, Xie and Bansal 2021; Haug et al. 2021"
    by_default = False

    def __init__(self, texts: int | None = TEXTS_ASKED) -> None:
        if texts is not None and texts < 1:
            raise InputError(f"the audit needs at least one text, not {texts}")
        self.texts = texts

    def unsupported_reason(self, context: AuditContext) -> str | None:
        if context.sentence_of_token is None:
            return None
        return f"{context.nouns.words} are deleted: leave {spell('level')} out"

    def __call__(self, context: AuditContext, *, seed: int) -> AuditResult:
        rng = np.random.default_rng([seed, 13])
        rows = self._choose(context, rng)
        explanation = context.explanation.some(torch.from_numpy(rows))
        reasons = {
            name: removal.unsupported_reason(explanation)
            for name, removal in REMOVALS.items()
            if removal.fits(explanation.encoded)
        }
        changes = {
            name: value_changes(explanation, REMOVALS[name].logits_of_each(explanation)).numpy()
            for name, reason in reasons.items()
            if reason is None
        }
        mask = removable(explanation).numpy()
        members = Group("all", np.ones(len(rows), dtype=bool))
        explained = {
            statistic: values[rows, : mask.shape[1]] for statistic, values in explanations(context).items()
        }
        standings = {
            statistic: list(self._standings(context, explanation, statistic, values, changes, rng))
            for statistic, values in explained.items()
        }
        findings = [
            *self._change_findings(changes, mask, members, rng),
            *self._order_findings(changes, explanation, members, rng),
            *(
                finding
                for statistic, own in standings.items()
                for finding in self._standing_findings(statistic, own, members, rng, context.nouns)
            ),
        ]
        return AuditResult(
            findings,
            self._columns(len(context.labels), rows, changes, mask, standings),
            facts={
                OPERATORS: {
                    "texts": len(rows),
                    "meanings": {name: REMOVALS[name].description for name in changes},
                    "left_out": {name: reason for name, reason in reasons.items() if reason is not None},
                }
            },
        )

    def _choose(self, context: AuditContext, rng: np.random.Generator) -> NDArray[np.int64]:
        """The numbers of the texts that are asked, in order."""
        count = len(context.labels)
        if self.texts is None or self.texts >= count:
            return np.arange(count)
        return np.sort(rng.choice(count, self.texts, replace=False))

    def _standings(
        self,
        context: AuditContext,
        explanation: ExplanationContext,
        statistic: str,
        values: AnyFloats,
        changes: Mapping[str, AnyFloats],
        rng: np.random.Generator,
    ) -> Iterator[ErasureAgreement]:
        """An explanation beside the changes under each meaning, and random numbers beside them."""
        mask = removable(explanation).numpy()
        signed = not statistic.endswith(ABSOLUTE)
        chance = random_scores(explanation.encoded, signed, rng)
        gauge = context.sign_no_evidence_reason(size=True) if statistic == ATTENTION + ABSOLUTE else None
        variants = round_digits(np.stack([values, chance]), mask)
        for name, change in changes.items():
            compared = change if signed else np.abs(change)
            result = kendall_tau_b(variants, round_digits(compared[None], mask), mask)
            itself = same_numbers(np.where(mask, values, 0.0), np.where(mask, compared, 0.0))
            reason = by_construction("the same", "this erasure is what was audited") if itself else gauge
            yield ErasureAgreement(name, result.tau[0, 0], result.tau[1, 0], reason)

    def _change_findings(
        self,
        changes: Mapping[str, AnyFloats],
        mask: NDArray[np.bool_],
        group: Group,
        rng: np.random.Generator,
    ) -> Iterator[Finding]:
        sizes = [mean_size(values, mask) for values in changes.values()]
        summaries = summarise(sizes, [{}] * len(sizes), rng=rng, level=group.level)
        for name, summary in zip(changes, summaries, strict=True):
            verdict = Verdict("") if summary.reliable_interval is not None else TOO_FEW_EXAMPLES
            yield summary.finding(
                OPERATORS, CHANGE, verdict, group=group, citation=self.citation, against=name
            )

    def _order_findings(
        self,
        changes: Mapping[str, AnyFloats],
        explanation: ExplanationContext,
        group: Group,
        rng: np.random.Generator,
    ) -> Iterator[Finding]:
        """How two meanings order the words, beside a random order."""
        mask, nouns = removable(explanation).numpy(), explanation.encoded.nouns
        stacked = np.stack([*changes.values(), random_scores(explanation.encoded, True, rng)])
        rounded = round_digits(stacked, mask)
        tau = kendall_tau_b(rounded, rounded, mask).tau
        pairs = list(combinations(range(len(changes)), 2))
        summaries = summarise(
            [tau[one, other] for one, other in pairs],
            [{"random": tau[-1, other]} for _, other in pairs],
            rng=rng,
            level=group.level,
        )
        names = list(changes)
        for (one, other), summary in zip(pairs, summaries, strict=True):
            same = same_numbers(*(np.where(mask, stacked[place], 0.0) for place in (one, other)))
            verdict = judge_agreement(
                summary.reliable_interval, summary.reliable_differences, "numbers", nouns
            )
            yield summary.finding(
                OPERATORS,
                ORDER,
                SAME_EDIT if same else verdict,
                group=group,
                citation=self.citation,
                against=f"{names[one]}+{names[other]}",
                undefined=count_texts_without_tau(tau[one, other], mask, nouns),
            )

    def _standing_findings(
        self,
        statistic: str,
        standings: Sequence[ErasureAgreement],
        group: Group,
        rng: np.random.Generator,
        nouns: Nouns,
    ) -> Iterator[Finding]:
        """The agreement under each meaning, and whether it survives all."""
        level = 1 - (1 - LEVEL) / len(standings)
        group = group._replace(level=level)
        summaries = summarise(
            [one.tau for one in standings],
            [{"random": one.chance} for one in standings],
            rng=rng,
            level=level,
        )
        for one, summary in zip(standings, summaries, strict=True):
            verdict = one.verdict or judge_agreement(
                summary.reliable_interval, summary.reliable_differences, "numbers", nouns
            )
            yield summary.finding(
                OPERATORS, statistic, verdict, group=group, citation=self.citation, against=one.removal
            )
        judged = [
            (one, summary) for one, summary in zip(standings, summaries, strict=True) if one.verdict is None
        ]
        yield self._survival(statistic, judged, group, rng, nouns)

    def _survival(
        self,
        statistic: str,
        judged: Sequence[tuple[ErasureAgreement, StatSummary]],
        group: Group,
        rng: np.random.Generator,
        nouns: Nouns,
    ) -> Finding:
        """Whether the explanation is better than random numbers under all meanings, or under some alone."""
        sides = {one.removal: side(summary.reliable_differences.get("random")) for one, summary in judged}
        differing = differing_pairs([one for one, _ in judged], rng)
        verdict = survival_verdict(sides, differing, nouns)
        if verdict == TOO_FEW_EXAMPLES and all(one.orders_nothing for one, _ in judged):
            verdict = no_order(nouns)
        return Finding(
            audit=OPERATORS,
            statistic=statistic,
            against=SURVIVAL,
            group=group.name,
            estimate=sum(value == 1 for value in sides.values()) / len(sides) if sides else None,
            std=None,
            interval=None,
            null={},
            n=min((summary.n for one, summary in judged if sides[one.removal] is not None), default=0),
            undefined={},
            significant_fraction=None,
            citation=self.citation,
            level=group.level,
            **verdict.fields,
        )

    @staticmethod
    def _columns(
        count: int,
        rows: NDArray[np.int64],
        changes: Mapping[str, AnyFloats],
        mask: NDArray[np.bool_],
        standings: Mapping[str, Sequence[ErasureAgreement]],
    ) -> dict[str, AnyFloats]:
        """The numbers of every text that was asked; NaN of the others."""
        columns = {
            f"{OPERATORS}.{CHANGE}.{name}": mean_size(values, mask) for name, values in changes.items()
        }
        for statistic, own in standings.items():
            for one in own:
                column = f"{OPERATORS}.{statistic}.{one.removal}"
                columns |= {column: one.tau, null_column(column, "random"): one.chance}
        all_texts = {name: np.full(count, np.nan) for name in columns}
        for name, values in columns.items():
            all_texts[name][rows] = values
        return all_texts


AUDITS.register(OPERATORS)(Operators())


def explanations(context: AuditContext) -> dict[str, AnyFloats]:
    """What is held against erasure [N, n]: of attention its size and what it contributes, of another method
    the size of its scores, and the scores themselves if they have signs."""
    if context.explainer.reads_weights:
        return {ATTENTION + ABSOLUTE: np.abs(context.canonical), "contribution": context.contributions}
    sizes = {context.method + ABSOLUTE: np.abs(context.scores)}
    return sizes | ({context.method: context.scores} if context.scores_signed else {})


def mean_size(changes: AnyFloats, mask: NDArray[np.bool_]) -> AnyFloats:
    """The mean |change| over the words of each text; NaN of a text without words."""
    count = mask.sum(axis=1)
    total = np.where(mask, np.abs(changes), 0.0).sum(axis=1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def count_texts_without_tau(tau: AnyFloats, mask: NDArray[np.bool_], nouns: Nouns) -> dict[str, int]:
    """Why an order does not exist, of how many texts."""
    missing, short = np.isnan(tau), mask.sum(axis=1) < 2
    counts = {
        f"fewer than two {nouns.words}": int((missing & short).sum()),
        f"all {nouns.words} tied": int((missing & ~short).sum()),
    }
    return {reason: count for reason, count in counts.items() if count}


def side(over_chance: Interval | None) -> int | None:
    """1 where it is better than random numbers, −1 where it is worse, 0 where these texts do not show which;
    None of too few texts."""
    if over_chance is None:
        return None
    return 1 if over_chance[0] > 0 else -1 if over_chance[1] < 0 else 0


def differing_pairs(standings: Sequence[ErasureAgreement], rng: np.random.Generator) -> set[frozenset[str]]:
    """The meanings under which the agreement differs, from paired intervals corrected for their number."""
    pairs = list(combinations(standings, 2))
    if not pairs:
        return set()
    level = 1 - (1 - LEVEL) / len(pairs)
    summaries = summarise(
        [one.tau - other.tau for one, other in pairs], [{}] * len(pairs), rng=rng, level=level
    )
    return {
        frozenset((one.removal, other.removal))
        for (one, other), summary in zip(pairs, summaries, strict=True)
        if (interval := summary.reliable_interval) is not None and not interval[0] <= 0 <= interval[1]
    }


def survival_verdict(
    sides: Mapping[str, int | None], differing: set[frozenset[str]], nouns: Nouns
) -> Verdict:
    """Survives, flips, or undecided. A verdict flips where two meanings say opposite things, or one
    shows what another does not and the two differ by a paired interval."""
    known = {name: value for name, value in sides.items() if value is not None}
    if not sides:
        return by_construction("nothing to ask", "every type of deletion is the audited method")
    if not known:
        return TOO_FEW_EXAMPLES
    by_side = {value: [name for name, own in sides.items() if own == value] for value in (1, -1, 0, None)}
    for value, word in ((1, "better"), (-1, "worse")):
        if len(by_side[value]) == len(sides) > 1:
            return Verdict(f"holds: {word} than random numbers under all {len(sides)} types of deletion")
    if len(by_side[0]) == len(sides):
        return Verdict(f"not distinguishable from random numbers under all {len(sides)} types of deletion")
    sided = (*by_side[1], *by_side[-1])
    flips = any(frozenset((name, other)) in differing for name in by_side[0] for other in sided)
    words = "; ".join(
        f"{what} under {', '.join(by_side[value])}"
        for value, what in (
            (1, "better than random numbers"),
            (-1, "worse"),
            (0, "not distinguishable"),
            (None, f"too few {nouns.texts} in which it changes anything"),
        )
        if by_side[value]
    )
    if flips or (by_side[1] and by_side[-1]):
        return Verdict(f"depends on the type of deletion: {words}")
    return Verdict(f"undecided whether it holds: {words}", "undecided")
