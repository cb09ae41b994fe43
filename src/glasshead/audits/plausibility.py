"""Does the explanation point at the words that people mark?"""

from typing import NamedTuple

import numpy as np

from glasshead.arrays import AnyFloats, Flags
from glasshead.audits.agreement import round_digits
from glasshead.audits.base import AUDITS, Audit, AuditResult
from glasshead.audits.class_scores import scores_for_class
from glasshead.audits.context import AuditContext
from glasshead.audits.summary import Interval, null_column, summarise, with_exact_intervals
from glasshead.nouns import Nouns
from glasshead.results import TOO_FEW_EXAMPLES, Verdict
from glasshead.spelling import spell
from glasshead.statistics import (
    intersection_over_union,
    pointing_hits,
    precision_recall_area,
    token_f1,
    top_tokens,
)

RANDOM_ORDERS = 20
"""Random orders of the scores of every text, whose mean is the null."""


class Plausibility(Audit):
    """Area under precision and recall of the scores against the tokens that people have marked, token F1 and
    intersection over union of the k tokens with the largest scores, and whether the one with the largest is
    marked (the pointing game), per text.

    k is the mean number of marked tokens of the texts that have some, and a score of 0 or less is never among
    the largest. Marks speak for the class of their text, so signed scores are taken towards it; where signs
    say nothing of classes, sizes are. Special tokens are left out. The null is the same of the same scores
    in random order.
    """

    question = "does it point at the words that people mark?"
    citation = "DeYoung et al. 2020; Attanasio et al. 2023; pointing: Zhang et al. 2018"
    reads_marks = True

    def unsupported_reason(self, context: AuditContext) -> str | None:
        if context.marks is None:
            return (
                f"nobody has marked {context.nouns.words} in these data: name the column of marks "
                f"({spell('marks_column')})"
            )
        if context.is_regression:
            return "a rating is no class that marks could speak for"
        if context.sentence_of_token is None:
            return None
        return f"marks are of {context.nouns.words}: leave {spell('level')} out"

    def __call__(self, context: AuditContext, *, seed: int) -> AuditResult:
        rng = np.random.default_rng([seed, 11])
        overlap = mark_overlap(context, rng)
        values, nulls, undefined, no_evidence, k = overlap.values, overlap.nulls, *overlap[2:]
        findings = []
        for group in context.groups:
            members = group.members
            summaries = summarise(
                [column[members] for column in values.values()],
                [{"random": null[members]} for null in nulls.values()],
                rng=rng,
                level=group.level,
            )
            summaries = [
                with_exact_intervals(summary, values[name][members], {}, group.level)
                for name, summary in zip(values, summaries, strict=True)
            ]
            reasons = {reason: int((texts & members).sum()) for reason, texts in undefined.items()}
            for name, summary in zip(values, summaries, strict=True):
                verdict = no_evidence or plausibility_verdict(
                    summary.reliable_differences.get("random"), context.nouns
                )
                findings.append(
                    summary.finding(
                        "plausibility",
                        name,
                        verdict,
                        group=group,
                        citation=self.citation,
                        undefined={reason: count for reason, count in reasons.items() if count},
                    )
                )
        columns = {f"plausibility.{name}": column for name, column in values.items()}
        columns |= {null_column(f"plausibility.{name}", "random"): null for name, null in nulls.items()}
        return AuditResult(findings, columns, facts={"top_tokens": k})


AUDITS.register("plausibility")(Plausibility())


class MarkOverlap(NamedTuple):
    """The statistics of every text [N] and the same of its scores in random orders [draws, N], the texts
    without them by reason, why the scores say nothing, if so, and how many tokens are the largest."""

    values: dict[str, AnyFloats]
    draws: dict[str, AnyFloats]
    undefined: dict[str, Flags]
    no_evidence: Verdict | None
    top: int

    @property
    def nulls(self) -> dict[str, AnyFloats]:
        """The mean over the random orders."""
        return {name: draws.mean(axis=0) for name, draws in self.draws.items()}


def mark_overlap(context: AuditContext, rng: np.random.Generator) -> MarkOverlap:
    """How the audited explanation overlaps with what people have marked, text by text."""
    assert context.marks is not None  # or it has no meaning, and is not called
    mask = context.words  # no padding, and nothing that the tokenizer adds
    marked = mask & (
        context.sum_by_unit(context.explanation.encoded.find_marked(context.texts, context.marks)) > 0
    )
    scores, in_favour, no_evidence = scores_for_class(context, context.labels)
    scores = round_digits(scores, mask)
    usable, undefined = usable_texts(mask, marked, in_favour, context.nouns)
    counts = marked.sum(axis=1)
    top = max(round(float(counts[counts > 0].mean())), 1) if counts.any() else 1
    values = overlaps(scores, marked, mask, usable, top)
    draws = [overlaps(shuffle(scores, mask, rng), marked, mask, usable, top) for _ in range(RANDOM_ORDERS)]
    by_name = {name: np.stack([draw[name] for draw in draws]) for name in values}
    return MarkOverlap(values, by_name, undefined, no_evidence, top)


def usable_texts(
    mask: Flags, marked: Flags, in_favour: Flags, nouns: Nouns
) -> tuple[Flags, dict[str, Flags]]:
    """The texts that can be asked, and those that cannot, by reason."""
    count = marked.sum(axis=1)
    reasons = {
        f"no marked {nouns.token}": count == 0,
        f"every {nouns.token} is marked": (count > 0) & (count == mask.sum(axis=1)),
    }
    usable = ~np.any([*reasons.values()], axis=0)
    reasons["explained for another class"] = usable & ~in_favour
    return usable & in_favour, reasons


def overlaps(scores: AnyFloats, marked: Flags, mask: Flags, usable: Flags, k: int) -> dict[str, AnyFloats]:
    """The statistics of every text [N]; NaN of those that cannot be asked."""
    top = top_tokens(scores, mask, k)
    statistics = {
        "auprc": precision_recall_area(scores, marked, mask),
        "token-f1": token_f1(top, marked),
        "iou": intersection_over_union(top, marked),
        "pointing": pointing_hits(scores, marked, mask),
    }
    return {name: np.where(usable, values, np.nan) for name, values in statistics.items()}


def shuffle(scores: AnyFloats, mask: Flags, rng: np.random.Generator) -> AnyFloats:
    """The scores of each text in random order, each where the mask has a token."""
    places = np.argsort(~mask, axis=1, kind="stable")
    order = np.argsort(np.where(mask, rng.random(mask.shape), 2.0), axis=1)
    shuffled = np.zeros_like(scores)
    np.put_along_axis(shuffled, places, np.take_along_axis(scores, order, axis=1), axis=1)
    return shuffled


def plausibility_verdict(over_chance: Interval | None, nouns: Nouns) -> Verdict:
    """Judge plausibility from the interval of the paired difference from a random order alone."""
    if over_chance is None:
        return TOO_FEW_EXAMPLES
    if over_chance[0] > 0:
        return Verdict("closer to the marks of people than a random order")
    if over_chance[1] < 0:
        return Verdict("further from the marks of people than a random order")
    return Verdict(f"not distinguishable from a random order on these {nouns.texts}")
