"""Does the explanation point at the words that people mark?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasshead.arrays import AnyFloats, Flags
from glasshead.audits.agreement import round_digits
from glasshead.audits.judging.base import AUDITS, Audit, AuditResult, Measured
from glasshead.audits.judging.question import OVER_RANDOM, SHARE, Question
from glasshead.audits.judging.summary import Interval, null_column
from glasshead.audits.judging.table import Column, Table, lists, pad, unit_lists
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

if TYPE_CHECKING:
    from glasshead.audits.judging.settings import Settings
    from glasshead.audits.measuring.view import ModelView

PLAUSIBILITY = "plausibility"
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

    question = "does it point to the words that people mark?"
    citation = "DeYoung et al. 2020; Attanasio et al. 2023; pointing: Zhang et al. 2018"
    title = "Plausibility"
    about = (
        "Does the explanation point to the {words} that people have marked for the class of the {text}? Mean "
        "over the examples; 1 is full agreement with the marks. The null has the same scores in random "
        "order. An explanation that looks right to people may still not reflect what the model does."
    )
    place = 80
    words: ClassVar = {
        "auprc": "area under precision and recall",
        "token-f1": "{token} F1 of the largest scores",
        "iou": "intersection over union of the largest scores",
        "pointing": "is the largest score marked? (pointing game)",
    }
    questions = (
        Question(
            "auprc",
            title="Does it point to the {words} that people mark?",
            unit="area under precision and recall",
            within=SHARE,
            counts=True,
            borders=OVER_RANDOM,
        ),
        Question("*", unit="share", within=SHARE, counts=True, borders=OVER_RANDOM),
    )

    def unsupported_reason(self, view: ModelView) -> str | None:
        if view.marks is None:
            return (
                f"these data have no marked {view.nouns.words}: name the column of marks "
                f"({spell('marks_column')})"
            )
        if view.is_regression:
            return "a rating is not a class that marks could support"
        if view.sentence_of_token is None:
            return None
        return f"marks are of {view.nouns.words}: leave {spell('level')} out"

    def is_expected(self, view: ModelView) -> bool:
        return view.marks is not None

    columns = (
        Column(
            "plausibility.scores", "floats", "score", "scores of the units towards the label", shown=False
        ),
        Column("plausibility.marked", "flags", "", "which units people have marked", shown=False),
        Column("plausibility.in_favour", "bool", "", "whether the label has scores", shown=False),
    )

    def measure(self, view: ModelView) -> Measured:
        from glasshead.audits.measuring.class_scores import scores_for_class

        assert view.marks is not None  # or it has no meaning, and is not called
        mask = view.words  # no padding, and nothing that the tokenizer adds
        found = view.explanation.encoded.find_marked(view.texts, view.marks)
        marked = mask & (view.sum_by_unit(found) > 0)
        scores, in_favour = scores_for_class(view, view.labels)
        return Measured({
            "plausibility.scores": unit_lists(round_digits(scores, mask), mask),
            "plausibility.marked": unit_lists(marked, mask),
            "plausibility.in_favour": in_favour,
        })  # fmt: skip

    def judge(self, table: Table, settings: Settings) -> AuditResult:
        rng = settings.rng(PLAUSIBILITY)
        overlap = mark_overlap(table, settings)
        values, nulls = overlap.values, overlap.nulls
        findings = []
        for group in settings.groups:
            members = group.members
            summaries = self.summarise(
                [(name, "") for name in values],
                [column[members] for column in values.values()],
                [{"random": null[members]} for null in nulls.values()],
                rng=rng,
                level=group.level,
                settings=settings,
            )
            reasons = {reason: int((texts & members).sum()) for reason, texts in overlap.undefined.items()}
            for name, summary in zip(values, summaries, strict=True):
                verdict = overlap.no_evidence or plausibility_verdict(
                    summary.reliable_differences.get("random"), settings.nouns
                )
                findings.append(
                    summary.finding(
                        PLAUSIBILITY,
                        name,
                        verdict,
                        group=group,
                        citation=self.citation,
                        undefined={reason: count for reason, count in reasons.items() if count},
                    )
                )
        columns = {f"plausibility.{name}": column for name, column in values.items()}
        columns |= {null_column(f"plausibility.{name}", "random"): null for name, null in nulls.items()}
        return AuditResult(findings, columns, facts={"top_tokens": overlap.top})


AUDITS.register(PLAUSIBILITY)(Plausibility())


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


def mark_overlap(table: Table, settings: Settings) -> MarkOverlap:
    """How the audited explanation overlaps with what people have marked, text by text."""
    scores, mask = pad(table["plausibility.scores"])
    marked = pad(table["plausibility.marked"], fill=False)[0].astype(bool)
    usable, undefined = usable_texts(mask, marked, table["plausibility.in_favour"], settings.nouns)
    counts = marked.sum(axis=1)
    top = max(round(float(counts[counts > 0].mean())), 1) if counts.any() else 1
    values = overlaps(scores, marked, mask, usable, top)
    rngs = [settings.rng_of(PLAUSIBILITY, number) for number in table["id"].tolist()]
    draws = []
    for _ in range(RANDOM_ORDERS):
        draws.append(overlaps(shuffle(table["plausibility.scores"], rngs), marked, mask, usable, top))
    by_name = {name: np.stack([draw[name] for draw in draws]) for name in values}
    return MarkOverlap(values, by_name, undefined, settings.order_no_evidence_reason, top)


def shuffle(scores: NDArray[Any], rngs: Sequence[np.random.Generator]) -> AnyFloats:
    """The scores of each text in random order [N, n], each from the generator of its text."""
    return pad(lists([rng.permutation(own) for own, rng in zip(scores, rngs, strict=True)]))[0]


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


def plausibility_verdict(over_chance: Interval | None, nouns: Nouns) -> Verdict:
    """Judge plausibility from the interval of the paired difference from a random order alone."""
    if over_chance is None:
        return TOO_FEW_EXAMPLES
    if over_chance[0] > 0:
        return Verdict("closer to the marks of people than a random order")
    if over_chance[1] < 0:
        return Verdict("further from the marks of people than a random order")
    return Verdict(f"not distinguishable from a random order on these {nouns.texts}")
