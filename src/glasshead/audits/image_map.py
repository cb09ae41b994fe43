"""Does the map of an image belong to the question?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from glasshead.arrays import Flags
from glasshead.audits.judging.base import AUDITS, Audit, AuditResult, Measured
from glasshead.audits.judging.border import at
from glasshead.audits.judging.question import (
    NEGLIGIBLE,
    OVER_RANDOM,
    SHARE,
    Outcome,
    Question,
    decisive,
    log_change,
    over_chance,
    over_random,
    usable,
)
from glasshead.audits.judging.summary import StatSummary, null_column, nulls_of
from glasshead.audits.judging.table import Column, Table
from glasshead.nouns import IMAGE_TEXT_NOUNS, Nouns
from glasshead.results import TOO_FEW_EXAMPLES, AuditCard, Finding, Holds, Verdict

if TYPE_CHECKING:
    from glasshead.audits.judging.settings import Settings
    from glasshead.audits.measuring.view import ModelView

IMAGE_MAP, FALL, PIXELS = "image-map", "fall", "fall-pixels"
DELETIONS = {FALL: "mean-embedding", PIXELS: "neutral-colour"}
"""How parts of an image are erased, by statistic: for the language model, or in the photo."""
TEXTS = 100
"""The most rows that are used."""
OTHER, CENTRE = "other-question", "centre"
NO_PLACES = "the places of image tokens are not known"
ONE_QUESTION = "no row with as many images has another question"
ALL_ZERO = "a map is zero in the whole image"
NO_PIXELS = "image tokens have no pixels of their own"
OWN_DELETION = Verdict(
    "not evidence: this method scores parts by the deletion that tests it", "not evidence", "by construction"
)
CALLED = {
    OTHER: "the map of another question for the same image",
    CENTRE: "the parts at the centre of the image",
    "": "random parts of the image",
}


def over_rivals(card: AuditCard) -> dict[str, Holds]:
    """Whether a map is better than that of another question, and than random parts of the image: one that is
    worse than these may be less bad than another."""
    found = {against: card.finding(name_of(against)) for against in (OTHER, "")}
    return {
        against: "undecided" if decisive(one) is None else over_chance(card, one)
        for against, one in found.items()
        if one is not None
    }


def belongs(card: AuditCard, _: Finding) -> Holds:
    """Whether it is better than both; undecided where it is worse than one if pixels are painted over."""
    answers = over_rivals(card).values()
    if "no" in answers:
        return "no"
    return "undecided" if "undecided" in answers or painted_worse(card) else "yes"


def painted_worse(card: AuditCard) -> dict[str, Finding]:
    """The findings that contradict: the map is worse than a rival where pixels are painted over."""
    found = {against: card.finding(name_of(against, PIXELS)) for against in (OTHER, "")}
    return {
        against: one
        for against, one in found.items()
        if one is not None and one.status == "evidence" and over_random(one)[1] < 0
    }


def beside_random(card: AuditCard) -> str:
    """What the map is next to random parts, where enough is known, and what it is next to both rivals where
    pixels are painted over."""
    finding = card.finding(name_of(""))
    words = [] if finding is None or decisive(finding) is None else [finding.verdict]
    painted = [card.finding(name_of(against, PIXELS)) for against in (OTHER, "")]
    words += [f"with pixels painted over, {one.verdict}" for one in painted if one is not None]
    return "; ".join(dict.fromkeys(words))


BETTER: dict[str, Any] = {
    "unit": "fall of {log}ŷ", "within": log_change, "no_null": "a difference", "borders": (at(0.0),),
}  # fmt: skip


class ImageMap(Audit):
    """ŷ(x) − ŷ(x without the parts of the image that the explanation puts first), a mean over 10, 25 and 50 %
    of them, minus the same of the map that the model has of this image for *another question*, and of the
    parts nearest to the centre. The null has random parts.

    The other question is that of the next row about the same images, else of the next row with as many;
    images and answer are those of this row, so that a map that follows the answer alone is no better. Parts
    of several images are in one order, by their distances from the centres of their own images. A part is
    erased as `erasure-mean-embedding` erases it, which the image encoder does not see; and in ``fall-pixels``
    as `erasure-neutral-colour` does, where image tokens have pixels of their own: what other tokens know of
    these pixels goes too. Of methods that score parts by one of these deletions its falls are not evidence.
    ``shared`` is Σ min(p, q) of the sizes p of the map and q of the other question's: 1 where the map is the
    same for every question, as that of attention sinks is; its null has p in random order.
    """

    question = "does the map of an image belong to the question?"
    citation = "erasure: Samek et al. 2017; sinks: Kang et al. 2025"
    title = "Map of the image"
    about = (
        "Does the explanation show what in the image matters for this question? The parts of the image that "
        "it ranks first are erased, and so are those that the model's map for another question with the same "
        "image and answer ranks first, and those at the centre. The null has random parts. Parts are erased "
        "for the language model (the average word), and by painting over their pixels (the neutral colour)."
    )
    place = 75
    words: ClassVar = {
        FALL: "fall of ŷ without the top-ranked parts of the image",
        PIXELS: "the same with their pixels painted over",
        OTHER: "minus that of another question's map",
        CENTRE: "minus that of the centre of the image",
        "shared": "share of the map that it has in common with that of another question",
    }
    questions = (
        Question(
            FALL,
            OTHER,
            title="Is its map of the image better than that of another question?",
            **BETTER,
            claim="{method} shows what in the image matters for this question, not for another one",
            holds=belongs,
            claim_at=(NEGLIGIBLE,),
            note=beside_random,
        ),
        Question(FALL, CENTRE, title="Is its map of the image better than its centre?", **BETTER),
        Question(FALL, unit="fall of {log}ŷ", within=log_change, borders=OVER_RANDOM),
        Question(PIXELS, OTHER, **BETTER),
        Question(PIXELS, CENTRE, **BETTER),
        Question(PIXELS, unit="fall of {log}ŷ", within=log_change, borders=OVER_RANDOM),
        Question("shared", unit="share", within=SHARE, low_is_good=True, borders=OVER_RANDOM),
    )
    columns = (Column("image-map.*", "float", "", "a number of the map of the image, or its null"),)

    def unsupported_reason(self, view: ModelView) -> str | None:
        if not self.is_expected(view) or view.explanation.encoded.question is None:
            return "it is about maps of images with a question, on data with answers"
        return None

    def is_expected(self, view: ModelView) -> bool:
        return view.nouns == IMAGE_TEXT_NOUNS

    def most(self, settings: Settings) -> int | None:
        return TEXTS

    def measure(self, view: ModelView) -> Measured:
        from glasshead.audits.measuring.image_map_passes import measure_maps

        numbers = [*measure_maps(view, IMAGE_MAP, [*DELETIONS.values()])]
        columns = {
            column("shared"): np.array([one.shared for one in numbers]),
            null_column(column("shared"), "random"): np.array([one.by_chance for one in numbers]),
        }
        for place, statistic in enumerate(DELETIONS):
            own, other, centre, random = np.array([one.falls[place] for one in numbers]).T
            columns |= {
                column(statistic): own,
                null_column(column(statistic), "random"): random,
                column(statistic, OTHER): own - other,
                column(statistic, CENTRE): own - centre,
            }
        return Measured(columns)

    def judge(self, table: Table, settings: Settings) -> AuditResult:
        findings = []
        rng = settings.rng(IMAGE_MAP)
        asked = [one for one in STATISTICS if one[0] != PIXELS or not np.isnan(table[column(PIXELS)]).all()]
        for group in settings.groups:
            summaries = self.summarise(
                asked,
                [table[column(*one)][group.members] for one in asked],
                [nulls_of(table, column(*one), group.members) for one in asked],
                rng=rng,
                level=group.level,
                settings=settings,
            )
            for (name, against), summary in zip(asked, summaries, strict=True):
                verdict = (
                    settings.order_no_evidence_reason
                    or (OWN_DELETION if settings.own_removal == DELETIONS.get(name, name) else None)
                    or image_verdict(name, against, summary, settings.nouns)
                )
                findings.append(
                    summary.finding(
                        IMAGE_MAP, name, verdict, group=group, citation=self.citation, against=against,
                        undefined=count_undefined(table, name, against, group.members),
                    )
                )  # fmt: skip
        return AuditResult(findings)

    def outcome(self, card: AuditCard) -> Outcome | None:
        """Whether the map belongs to the question."""
        finding = usable(card, name_of(OTHER))
        if finding is None:
            return None
        holds, worse = belongs(card, finding), painted_worse(card)
        if holds == "undecided" and worse and "undecided" not in over_rivals(card).values():
            against, painted = next(iter(worse.items()))
            doubt = f"whether it is better than {CALLED[against]}: with pixels painted over it is worse"
            return Outcome("", (doubt,), (painted,))
        against = next(against for against, own in over_rivals(card).items() if own == holds)
        if holds == "undecided":
            return Outcome(
                "", (f"whether it is better than {CALLED[against]}",), (card.find(name_of(against)),)
            )
        better = "better" if holds == "yes" else "not better"
        return Outcome(f"its map of the image is {better} than {CALLED[against]}")


AUDITS.register(IMAGE_MAP)(ImageMap())


def name_of(against: str, statistic: str = FALL) -> str:
    """The name of the finding on the fall minus that by another order, or by none."""
    return ".".join(part for part in (IMAGE_MAP, statistic, against, "all") if part)


def column(statistic: str, against: str = "") -> str:
    """The column of a statistic."""
    return ".".join(part for part in (IMAGE_MAP, statistic, against) if part)


def count_undefined(table: Table, statistic: str, against: str, members: Flags) -> dict[str, int]:
    """How many rows of a group have no number, by reason."""
    unknown = np.isnan(table[column(statistic, against)]) & table["asked"] & members
    alone = np.isnan(table[column(FALL, OTHER)])
    reasons = {ONE_QUESTION: unknown & alone, ALL_ZERO: unknown & ~alone}
    if against == CENTRE:
        reasons = {NO_PLACES: unknown}
    if statistic == PIXELS:
        without = np.isnan(table[column(PIXELS)])
        reasons = {NO_PIXELS: unknown & without} | {
            reason: rows & ~without for reason, rows in reasons.items()
        }
    return {reason: int(rows.sum()) for reason, rows in reasons.items() if rows.any()}


STATISTICS = (
    *((statistic, against) for statistic in DELETIONS for against in (OTHER, CENTRE, "")),
    ("shared", ""),
)


def image_verdict(statistic: str, against: str, summary: StatSummary, nouns: Nouns) -> Verdict:
    """Judge a difference by its own interval, other numbers by their difference from the null."""
    over = summary.reliable_interval if against else summary.reliable_differences.get("random")
    if over is None:
        return TOO_FEW_EXAMPLES
    chance, words = CALLED[against], ("more faithful than", "less faithful than")
    if statistic == "shared":
        chance, words = "unrelated maps", ("more alike than", "less alike than")
    if over[0] <= 0 <= over[1]:
        return Verdict(f"not distinguishable from {chance} on these {nouns.texts}")
    return Verdict(f"{words[over[1] < 0]} {chance}")
