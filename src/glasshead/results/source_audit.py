"""Sources of many answers: which method names them best, and whether attention and place matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from glasshead.drawable import Drawable
from glasshead.escaping import one_line
from glasshead.results.finding import Finding
from glasshead.results.json_text import json_text
from glasshead.results.method_ranking import MethodDifference, Standing

if TYPE_CHECKING:
    import pandas as pd

TOP = (1, 3, 5)
"""So many passages that a method puts first are removed together."""
PREDICTION = "prediction"
"""The criterion of how well a method predicts ablations."""


@dataclass(frozen=True)
class MeasuredQuestion:
    """The measurements of one question; passages are counted from 0, changes are in nats of log p.

    ``alone`` says by how much log p of the answer falls without each passage, ``by_itself`` by how much it
    rises with only that passage; ``tokens`` is the length of each passage (empty: no method needs it).
    ``drops`` says for each method by how much it falls without the first `TOP` passages of its order (None:
    there are no more), ``random_drops`` the same for random orders; ``predicts`` is the linear datamodeling
    score, ``random_predicts`` that of its numbers on other passages (empty: the answer hardly depends on
    the passages). ``key`` is the passage that adds most by itself (None: none does, or there are fewer than
    five); ``places`` are log p with it at five places from first to last, ``reshuffled`` with it in the
    middle and the others in five orders.
    """

    question: str
    answer: str
    passages: int
    length: int
    log_probability: float
    without_any: float
    alone: Sequence[float]
    by_itself: Sequence[float]
    sources: Sequence[int]
    tokens: Sequence[int]
    shares: Mapping[str, Sequence[float]]
    drops: Mapping[str, Sequence[float | None]]
    random_drops: Sequence[Sequence[float] | None]
    predicts: Mapping[str, float]
    random_predicts: Mapping[str, Sequence[float]]
    key: int | None
    places: Sequence[float]
    reshuffled: Sequence[float]
    notes: Sequence[str] = ()

    @property
    def gain(self) -> float:
        """What all passages add."""
        return self.log_probability - self.without_any


@dataclass(frozen=True)
class RankedSources:
    """A method that orders passages: its ``findings``, and the standing of each by the finding's name."""

    name: str
    findings: Sequence[Finding]
    standings: Mapping[str, Standing]

    @property
    def by_statistic(self) -> dict[str, tuple[Finding, Standing]]:
        """Each finding with its standing, by what was measured."""
        return {one.statistic: (one, self.standings[one.name]) for one in self.findings}


@dataclass(frozen=True)
class AuditedFinding:
    """A finding, its question, and its verdict in a sentence (empty: nothing is shown)."""

    asks: str
    finding: Finding
    says: str = ""


@dataclass(frozen=True, repr=False)
class SourceAudit(Drawable):
    """The result of `glasshead.audit_sources`: the rank of methods that name sources, findings on attention
    and place, and every question.

    ``curve`` has the log-probability of the answer with its key passage at five places, minus its mean over
    these; ``slices`` has the findings for parts of the questions. ``skipped`` says which questions could
    not be measured, by their number from 1, and why.
    """

    model: str
    facts: Mapping[str, Any]
    conclusion: Sequence[str]
    methods: Sequence[RankedSources]
    differences: Sequence[MethodDifference]
    findings: Sequence[AuditedFinding]
    curve: Sequence[Finding]
    slices: Sequence[Finding]
    questions: Sequence[MeasuredQuestion]
    remarks: Sequence[str] = ()
    skipped: Sequence[tuple[int, str]] = field(default=())

    def finding(self, name: str) -> AuditedFinding | None:
        """One finding by its statistic."""
        return next((one for one in self.findings if one.finding.statistic == name), None)

    def leaders(self, statistic: str) -> list[str]:
        """The methods that lead by one criterion."""
        return [
            one.name
            for one in self.methods
            if statistic in one.by_statistic and one.by_statistic[statistic][1] == Standing.LEADS
        ]

    def rows(self) -> list[dict[str, Any]]:
        """One row for each question; passages are counted from 1."""
        return [
            {
                "question": one.question,
                "answer": one.answer,
                "passages": one.passages,
                "length": one.length,
                "log_probability": one.log_probability,
                "without_any": one.without_any,
                "sources": ", ".join(str(place + 1) for place in one.sources),
                "key": None if one.key is None else one.key + 1,
                **{
                    f"{name}.top-{k}": drop
                    for name, drops in one.drops.items()
                    for k, drop in zip(TOP, drops, strict=True)
                },
                **{f"{name}.{PREDICTION}": one.predicts.get(name) for name in one.drops},
            }
            for one in self.questions
        ]

    def to_pandas(self) -> pd.DataFrame:
        """One row for each question."""
        import pandas as pd

        return pd.DataFrame(self.rows())

    def to_json(self) -> str:
        """Everything."""
        return json_text(self)

    def __repr__(self) -> str:
        return one_line(f"SourceAudit({self.model}: {' '.join(self.conclusion)})")
