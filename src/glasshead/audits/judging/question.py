"""What the findings of an audit are about, what they come to, and which claims they bear on."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from glasshead.arrays import AnyFloats
from glasshead.audits.judging.border import Border, at
from glasshead.audits.judging.summary import (
    Interval,
    Nulls,
    StatSummary,
    floor_key,
    floor_of,
    summarise,
)
from glasshead.results import (
    ABSOLUTE,
    ATTENTION,
    CANONICAL_GAUGE,
    FIFTH,
    FIFTIETH,
    GIVEN_ANSWER,
    METHOD,
    NEGLIGIBLE,
    REGRESSION,
    SMALL_CHANGE,
    TOKEN,
    Answer,
    AuditCard,
    Extent,
    Finding,
    Holds,
    Quantity,
    extent_of,
    method_words,
)
from glasshead.statistics import LEVEL, UNKNOWN, typical_range

if TYPE_CHECKING:
    from glasshead.audits.judging.settings import Settings

HOLDS_OF_EXTENT: Mapping[Extent, Holds] = {
    "nearly all": "yes",
    "most": "in part",
    "some": "in part",
    "hardly any": "no",
    "undecided": "undecided",
}
HOLDS_OF_ANSWER: Mapping[bool | None, Holds] = {True: "yes", False: "no", None: "undecided"}
SHARE, TAU, SIZE, NEGATIVE = (0.0, 1.0), (-1.0, 1.0), (0.0, math.inf), (-math.inf, 0.0)
OVER_RANDOM = (at(0.0, minus="random"),)
"""What is only compared with the same of random weights."""
SIZE_OF_CHANGE = at(SMALL_CHANGE, scaled=True)
HOW_MANY = Border(((-math.inf, FIFTH), (FIFTIETH, math.inf)))
"""In hardly any input, or in some of them (`extent_of`)."""
EXTENTS_AT = (FIFTIETH, 1 - FIFTIETH)
ANY_SIZE = "the verdict is the interval itself"
NOT_FOUND = "a search may miss maps in many {texts}"
"""Why no number of inputs decides."""


def more_or_less(null: str) -> Border:
    """More than the ``null``, less, or as much but for what is negligible, where the size itself is known."""
    little = (-NEGLIGIBLE, NEGLIGIBLE)
    sides = ((-math.inf, 0.0), little, (0.0, math.inf))
    return Border(sides, minus=null, scaled=True, applies=lambda finding: finding.status == "evidence")


EXPLANATION_WORDS: Mapping[str, str] = {
    "attention": f"attention{CANONICAL_GAUGE}",
    "attention-raw": "attention, raw gauge",
    "attention-absolute": "attention, absolute",
    "method": "the audited method",
    "method-absolute": "the audited method, absolute",
    "contribution": "contribution a·o",
    "contribution-absolute": "contribution, absolute",
}
"""What explanations of inputs are called in tables."""
Rule = Callable[[AuditCard, Finding], Holds | None]
"""Whether a claim holds by a finding that is evidence; None: it is not made."""
Within = Interval | Callable[[str | None], Interval] | None
"""The least and the most that a number can be, or how they follow from the task; None: nothing bounds it."""


def range_of(within: Within, task: str | None) -> Interval:
    """Both ends, infinite where nothing bounds the number."""
    ends = within(task) if callable(within) else within
    return UNKNOWN if ends is None else ends


def change_size(task: str | None) -> Interval:
    """The range of |Δŷ|, ŷ a probability or a rating."""
    return SIZE if task in (REGRESSION, GIVEN_ANSWER) else SHARE


def signed_change(task: str | None) -> Interval:
    """The range of Δŷ."""
    return UNKNOWN if task in (REGRESSION, GIVEN_ANSWER) else (-1.0, 1.0)


def log_change_size(task: str | None) -> Interval:
    """The range of |Δŷ| where that of a next token is one of its log probability."""
    return SIZE if task == TOKEN else change_size(task)


def log_change(task: str | None) -> Interval:
    """The range of Δŷ there."""
    return UNKNOWN if task == TOKEN else signed_change(task)


def log_prediction(task: str | None) -> Interval:
    """The range of ŷ there."""
    return {TOKEN: NEGATIVE, GIVEN_ANSWER: NEGATIVE, REGRESSION: UNKNOWN}.get(task or "", SHARE)


@dataclass(frozen=True)
class Question:
    """What findings of a ``statistic`` (``against`` something) mean. Both are patterns, in which
    ``{method}`` is the audited explanation.

    ``title`` is the question on the first screen that the finding of the ``group`` answers; without a
    title, its findings are only in the tables. ``unit`` is the unit of the number, and ``within`` its range
    in every input, which bounds all intervals. ``low_is_good`` is its direction, and ``no_null`` is the
    reason if it has no null. ``claim`` is the sentence that depends on it; the rule ``holds`` decides it,
    and its answer changes at the thresholds ``claim_at``. Pages show the ``note``. ``borders`` are what its
    verdict compares the number
    with: they tell how many inputs would decide an open question, and ``no_number`` is the reason why they
    cannot. A ``signed`` question makes sense of signed weights only. A question that ``counts`` is about a
    share: its interval is exact where the share is the same in every input. One that is ``rooted`` is about
    the root of a mean of squares. One that ``ignores_counts`` means the same of few units and of many. All
    sentences may contain nouns, ``{method}`` and ``{prediction}`` (what is predicted) as fields.
    """

    statistic: str
    against: str = ""
    _: KW_ONLY
    within: Within
    group: str = "all"
    title: str = ""
    unit: str = ""
    low_is_good: bool = False
    no_null: str = ""
    signed: bool = False
    claim: str = ""
    holds: Rule | None = None
    claim_at: tuple[float, ...] = ()
    note: Callable[[AuditCard], str] | None = None
    borders: tuple[Border, ...] = ()
    no_number: str = ""
    counts: bool = False
    rooted: bool = False
    ignores_counts: bool = False

    def matches(self, statistic: str, against: str, method: str) -> bool:
        """Whether it is about these findings of its audit."""
        own = self.statistic.format(method=method)
        return fnmatchcase(statistic, own) and fnmatchcase(against, self.against)

    def range(self, task: str | None) -> Interval:
        """The smallest and largest possible number for any input, infinite where nothing bounds it."""
        return range_of(self.within, task)

    def quantity(self, card: AuditCard) -> Quantity:
        """Its name on pages."""
        least, most = (end if math.isfinite(end) else None for end in self.range(card.facts.get("task")))
        fill = sentence_filler(card)
        title = "" if self.signed and card.facts.get("signed") is False else fill(self.title)
        return Quantity(title, fill(self.unit), self.group, least, most, self.low_is_good, self.no_null)


@dataclass(frozen=True)
class Outcome:
    """The summary of one audit: ``words`` about what was audited ("it"), what is still ``undecided``, and
    the ``findings`` that would decide it."""

    words: str = ""
    undecided: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()


class QuestionSet:
    """The questions of one audit: its ``title``, what it measures, at length (``about``), its ``place`` on
    pages, and a summary of its findings."""

    title: ClassVar[str] = ""
    about: ClassVar[str] = ""
    place: ClassVar[int] = 100
    """Audits with smaller numbers come first; those of other packages last."""
    questions: ClassVar[tuple[Question, ...]] = ()
    words: ClassVar[Mapping[str, str]] = {}
    """What statistics, and what they are compared with, are called in tables, in their order there; a name
    that is missing stays as it is."""
    joint: ClassVar[str] = "–"
    """Between a statistic and what it is compared with."""
    uses_products: ClassVar[bool] = True
    """Whether its numbers change where products are of halves."""
    nulls_are_exact: ClassVar[bool] = False
    """Whether nulls follow from the data alone, so that halves do not change them."""

    def question_of(self, statistic: str, against: str, method: str = ATTENTION) -> Question:
        """The first question about such findings; an empty one if there is none."""
        return next(
            (one for one in self.questions if one.matches(statistic, against, method)),
            Question(statistic, within=None),
        )

    def summarise(
        self,
        names: Sequence[tuple[str, str]],
        values: Sequence[AnyFloats],
        nulls: Sequence[Nulls],
        *,
        rng: np.random.Generator,
        level: float = LEVEL,
        settings: Settings | None = None,
    ) -> list[StatSummary]:
        """Summaries of statistics of the same units, each ``against`` something, within what its question
        says."""
        method, task = (ATTENTION, None) if settings is None else (settings.method, settings.task)
        questions = [self.question_of(*name, method) for name in names]
        ranges = [one.range(task) for one in questions]
        summaries = summarise(
            values,
            nulls,
            rng=rng,
            level=level,
            within=ranges,
            counts=[one.counts for one in questions],
        )
        if settings is None or settings.shifts is None:
            return summaries
        return [
            self.above_floor(one, name, level, settings) for one, name in zip(summaries, names, strict=True)
        ]

    def above_floor(
        self, summary: StatSummary, name: tuple[str, str], level: float, settings: Settings
    ) -> StatSummary:
        """The summary of a statistic at this level; in half precision with intervals wider by the noise
        floors."""
        if settings.shifts is None:
            return summary
        question, shifts = self.question_of(*name, settings.method), settings.shifts.get(settings.audit, {})
        within = question.range(settings.task)
        floors = {
            null: floor_of(
                shifts.get(floor_key(*name, null), ()),
                level,
                (within[1] - within[0]) * (2 if null and not self.nulls_are_exact else 1),
                rooted=question.rooted,
            )
            for null in ("", *summary.over_null)
        }
        return summary.above(floors.pop(""), floors, within)

    def outcome(self, card: AuditCard) -> Outcome | None:
        """A clause that summarises its findings; None if they need no summary."""
        return None


def sentence_filler(card: AuditCard) -> Callable[[str], str]:
    """How the fields of a sentence are filled for a card."""
    task = card.facts.get("task")
    names = {
        REGRESSION: "the predicted rating",
        TOKEN: "the log probability",
        GIVEN_ANSWER: "the log-probability of the answer",
    }
    prediction = names.get(str(task), "the predicted probability")
    log = "log " if task == TOKEN else ""
    method = METHOD if card.statistic == METHOD else card.method

    def fill(template: str) -> str:
        return card.nouns.fill(template, method=method_words(method), prediction=prediction, log=log)

    return fill


def by_size(card: AuditCard, audit: str, against: str) -> str:
    """The name of the finding on the sizes of the audited explanation."""
    return f"{audit}.{card.statistic}{ABSOLUTE}.{against}.all"


def usable(card: AuditCard, name: str) -> Finding | None:
    """Whether a finding may be evidence, however little is known."""
    finding = card.finding(name)
    return None if finding is None or finding.status == "not evidence" else finding


def decisive(finding: Finding) -> Interval | None:
    """The interval on which words may rest; None where it was left undecided. A bound has one open end."""
    if finding.status == "undecided" or finding.limit is None:
        return None if finding.status == "undecided" else finding.interval
    return (finding.limit, math.inf) if finding.bound == "lower" else (-math.inf, finding.limit)


def over_random(finding: Finding) -> Interval:
    """The interval of the paired difference from random weights; of cards without one, that of the estimate
    minus the null."""
    paired = finding.over_null.get("random")
    if paired is not None and paired.interval is not None:
        return paired.interval
    low, high = decisive(finding) or (0.0, 0.0)
    random = finding.null.get("random") or 0.0
    return low - random, high - random


def prediction_range(card: AuditCard) -> float | None:
    """From one end of the predictions to the other: 1 for probabilities, and a nat of log-probabilities, else
    the range of the labels but for strays."""
    if card.facts.get("task") != REGRESSION:
        return 1.0
    labels = [float(value) for value in card.examples.get("label", ()) if isinstance(value, int | float)]
    ratings = [label for label in labels if math.isfinite(label)]
    return typical_range(ratings) or None


def in_how_many(card: AuditCard, finding: Finding) -> Holds:
    """In nearly all texts, in some of them, or in hardly any."""
    ends = decisive(finding)
    return "undecided" if ends is None else HOLDS_OF_EXTENT[extent_of(ends)]


def answer_of(card: AuditCard, finding: Finding | None) -> Answer:
    """The same of a finding that may not have been asked for."""
    return "not tested" if finding is None else in_how_many(card, finding)


def over_chance(card: AuditCard, finding: Finding) -> Holds:
    """More than the null, text by text, by what is not negligible."""
    low, high = over_random(finding)
    if high < NEGLIGIBLE * (prediction_range(card) or 0.0):
        return "no"
    return "yes" if low > 0 else "no" if high < 0 else "undecided"


def changes(card: AuditCard, finding: Finding) -> Holds:
    """A mean change of a twentieth of the range of predictions or more."""
    ends, whole = decisive(finding), prediction_range(card)
    if ends is None or whole is None:
        return "undecided"
    least = SMALL_CHANGE * whole
    return "yes" if ends[0] >= least else "no" if ends[1] < least else "undecided"


def change_note(card: AuditCard) -> str:
    """From which change on."""
    whole = prediction_range(card)
    return "" if whole is None else f"a change from {SMALL_CHANGE * whole:g}"
