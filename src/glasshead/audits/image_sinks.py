"""How much of the map of an image is on attention sinks?"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from glasshead.arrays import Flags
from glasshead.audits.judging.base import AUDITS, Audit, AuditResult, Measured
from glasshead.audits.judging.question import OVER_RANDOM, SHARE, Outcome, Question, log_change_size, usable
from glasshead.audits.judging.summary import StatSummary, null_column, nulls_of
from glasshead.audits.judging.table import Column, Table
from glasshead.nouns import IMAGE_TEXT_NOUNS, Nouns
from glasshead.results import SMALL_CHANGE, TOO_FEW_EXAMPLES, AuditCard, Verdict
from glasshead.wording import percent

if TYPE_CHECKING:
    from glasshead.audits.judging.settings import Settings
    from glasshead.audits.measuring.view import ModelView

IMAGE_SINKS, WEIGHT, FOUND, EFFECT = "image-sinks", "share", "found", "effect"
TEXTS = 100
"""The most rows that are used."""
STATISTICS = (WEIGHT, FOUND, EFFECT)
NO_MAP, NO_SINKS = "the map is zero in the whole image", "the image has no attention sink"
CANNOT_BE_FOUND = "too few heads to find attention sinks, or weights that cannot be read"
WORDS = {
    WEIGHT: ("more than", "less than"),
    FOUND: ("more often than", "less often than"),
}
BESIDE = {
    WEIGHT: "what is on parts that heads agree on by chance",
    FOUND: "heads that choose their parts independently",
}


class ImageSinks(Audit):
    """Σ |map| on the attention sinks of an image / Σ |map| on the whole image; in how many images there are
    any; and |ŷ − ŷ with nothing read from them|.

    A sink is a part of the image that takes more than 3/n of the weight on the image in 75 % of all heads and
    rows that predict, in more heads than agree by chance, and whose effect is below 0.05 and not above the
    mean of 32 other parts. The effect is |Δŷ| with the weight on the part zero in every head of every layer,
    all other weights as they are. The null has the parts of each head in a random order, and asks for no
    small effect. The effect of all sinks at once has no null: sinks are chosen by their effects.
    """

    question = "how much of the map of an image is on attention sinks?"
    citation = "Kang et al. 2025; Xiao et al. 2024"
    title = "Attention sinks in the image"
    about = (
        "Attention sinks are parts of the image that nearly every head looks at. If nothing is read from one "
        f"the answer changes by less than {SMALL_CHANGE:g}, and no more than for an average other part. How "
        "much of the explanation's map of the image is on them? In the null each head has its weights on the "
        "image in a random order."
    )
    place = 76
    words: ClassVar = {
        WEIGHT: "share of the map of the image that is on sinks",
        FOUND: "images with sinks",
        EFFECT: "change of ŷ when nothing is read from the sinks",
    }
    questions = (
        Question(
            WEIGHT,
            title="How much of its map of the image is on attention sinks?",
            unit="share",
            within=SHARE,
            low_is_good=True,
            counts=True,
            borders=OVER_RANDOM,
        ),
        Question(
            FOUND, unit="share of images", within=SHARE, low_is_good=True, counts=True, borders=OVER_RANDOM
        ),
        Question(
            EFFECT,
            unit="|change| of {log}ŷ",
            within=log_change_size,
            low_is_good=True,
            no_null="sinks are chosen by their effects",
            no_number="it is only described",
        ),
    )
    columns = (Column("image-sinks.*", "float", "", "a number of the sinks of the image, or its null"),)

    def unsupported_reason(self, view: ModelView) -> str | None:
        if not self.is_expected(view):
            return "it is about images that are read with a text"
        return view.explanation.unreadable_reason

    def is_expected(self, view: ModelView) -> bool:
        return view.nouns == IMAGE_TEXT_NOUNS

    def most(self, settings: Settings) -> int | None:
        return TEXTS

    def measure(self, view: ModelView) -> Measured:
        from glasshead.audits.measuring.image_sink_passes import measure_sinks

        share, by_chance, found, found_by_chance, effect = np.array([*measure_sinks(view)]).T
        return Measured({
            column(WEIGHT): share,
            null_column(column(WEIGHT), "random"): by_chance,
            column(FOUND): found,
            null_column(column(FOUND), "random"): found_by_chance,
            column(EFFECT): effect,
        })  # fmt: skip

    def judge(self, table: Table, settings: Settings) -> AuditResult:
        findings = []
        rng = settings.rng(IMAGE_SINKS)
        for group in settings.groups:
            summaries = self.summarise(
                [(one, "") for one in STATISTICS],
                [table[column(one)][group.members] for one in STATISTICS],
                [nulls_of(table, column(one), group.members) for one in STATISTICS],
                rng=rng,
                level=group.level,
                settings=settings,
            )
            for statistic, summary in zip(STATISTICS, summaries, strict=True):
                findings.append(
                    summary.finding(
                        IMAGE_SINKS,
                        statistic,
                        sink_verdict(statistic, summary, settings.nouns),
                        group=group,
                        citation=self.citation,
                        undefined=count_undefined(table, statistic, group.members),
                    )
                )
        return AuditResult(findings)

    def outcome(self, card: AuditCard) -> Outcome | None:
        """How much of the map is on sinks, where it is some."""
        finding = usable(card, f"{IMAGE_SINKS}.{WEIGHT}.all")
        if finding is None or finding.status == "undecided" or not finding.estimate:
            return None
        return Outcome(f"{percent(round(finding.estimate, 2))} of its map of the image is on attention sinks")


AUDITS.register(IMAGE_SINKS)(ImageSinks())


def column(statistic: str) -> str:
    """The column of a statistic."""
    return f"{IMAGE_SINKS}.{statistic}"


def count_undefined(table: Table, statistic: str, members: Flags) -> dict[str, int]:
    """How many rows of a group have no number, by reason."""
    rows = table["asked"] & members
    nowhere = rows & np.isnan(table[column(FOUND)])
    others = rows & np.isnan(table[column(statistic)]) & ~nowhere
    reasons = {CANNOT_BE_FOUND: nowhere, NO_SINKS if statistic == EFFECT else NO_MAP: others}
    return {reason: int(unknown.sum()) for reason, unknown in reasons.items() if unknown.any()}


def sink_verdict(statistic: str, summary: StatSummary, nouns: Nouns) -> Verdict:
    """Judge a number by its difference from the null; that of chosen sinks is only described."""
    if statistic == EFFECT:
        return Verdict("") if summary.reliable_interval else TOO_FEW_EXAMPLES
    over = summary.reliable_differences.get("random")
    if over is None:
        return TOO_FEW_EXAMPLES
    if over[0] <= 0 <= over[1]:
        return Verdict(f"not distinguishable from {BESIDE[statistic]} on these {nouns.texts}")
    return Verdict(f"{WORDS[statistic][over[1] < 0]} {BESIDE[statistic]}")
