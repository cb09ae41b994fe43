"""How audits, or groups of runs, differ: plain values, no torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from glasshead.drawable import Drawable
from glasshead.results.audit_card import AuditCard
from glasshead.results.json_text import json_text

if TYPE_CHECKING:
    import pandas as pd

METRIC_NAMES = {"accuracy": "accuracy", "macro_f1": "macro-F1", "rmse": "RMSE", "mae": "MAE"}
"""The metrics of a run, and what pages call them."""


@dataclass(frozen=True)
class SeedTest:
    """Student's t over seeds; ``paired`` by seed, or Welch's."""

    t: float
    degrees: float
    p: float
    paired: bool


@dataclass(frozen=True)
class Difference:
    """One quantity of ``one`` minus that of ``other``, over the ``n`` examples that both have.

    Both are ranks among what is compared. ``interval`` is the paired bootstrap interval of that ``level``,
    None where there are too few examples.
    """

    name: str
    one: int
    other: int
    estimate: float
    interval: tuple[float, float] | None
    n: int
    verdict: str
    level: float = field(default=0.95, kw_only=True)


@dataclass(frozen=True)
class RunDifference(Difference):
    """The difference of a metric of two groups of runs, with its tests over seeds and over examples.

    If a test was not possible, ``untested`` and ``unexchanged`` say why.
    """

    seed_test: SeedTest | None
    untested: str
    exchange: float | None
    unexchanged: str


@dataclass(frozen=True)
class RunGroup:
    """One folder: its seeds, and the values of every metric, one per seed, by split.

    ``only_class`` holds the seeds whose model predicts one class only, with that class.
    """

    name: str
    facts: Mapping[str, Any]
    seeds: tuple[int, ...]
    metrics: Mapping[str, Mapping[str, Sequence[float]]]
    only_class: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Floor:
    """A constant guess in words, and its metrics by split."""

    guess: str
    metrics: Mapping[str, Mapping[str, float]]


class Comparison(Drawable):
    """The result of `glasshead.compare`: ``names`` of what is compared, and their ``differences`` in
    pairs."""

    differences: Sequence[Difference]

    @property
    def names(self) -> list[str]:
        """What is compared, by rank."""
        raise NotImplementedError

    def rows(self) -> list[dict[str, Any]]:
        """Every difference with the names of its parts: ``one`` minus ``other``."""
        names, rows = self.names, []
        for pair in self.differences:
            row = asdict(pair) | {"one": names[pair.one], "other": names[pair.other]}
            row["low"], row["high"] = row.pop("interval") or (None, None)
            rows.append(row)
        return rows

    def to_pandas(self) -> pd.DataFrame:
        """One row for each difference."""
        import pandas as pd

        return pd.DataFrame(self.rows())

    def __repr__(self) -> str:
        pairs = dict.fromkeys((pair.one, pair.other) for pair in self.differences)
        minus = ", ".join(f"{self.names[one]} minus {self.names[other]}" for one, other in pairs)
        return f"{type(self).__name__}({minus or ', '.join(self.names)}: {len(self.differences)} differences)"


@dataclass(frozen=True, repr=False)
class AuditComparison(Comparison):
    """Several audits, the paired differences of their findings from one of them, and remarks."""

    cards: Sequence[AuditCard]
    differences: Sequence[Difference]
    remarks: Sequence[str]

    @property
    def names(self) -> list[str]:
        return distinct_names([str(card.facts.get("name") or "audit") for card in self.cards])

    def to_json(self) -> str:
        """Differences by name, remarks, and facts and findings of every audit."""
        audits = [{"facts": card.facts, "findings": card.findings} for card in self.cards]
        return json_text({"differences": self.rows(), "remarks": self.remarks, "audits": audits})


@dataclass(frozen=True, repr=False)
class RunComparison(Comparison):
    """Groups of runs on the same data, their differences on ``n`` examples of one split, and their floor."""

    data: str
    split: str
    n: int
    groups: Sequence[RunGroup]
    differences: Sequence[RunDifference]
    resamples: int
    floor: Floor

    @property
    def names(self) -> list[str]:
        return [group.name for group in self.groups]

    def to_json(self) -> str:
        """Differences by name, and the metrics of every group."""
        return json_text(asdict(self) | {"differences": self.rows()})


def distinct_names(names: Sequence[str]) -> list[str]:
    """Distinct names; a repeated one gets a number."""
    return [
        name if names.count(name) == 1 else f"{name} ({names[: rank + 1].count(name)})"
        for rank, name in enumerate(names)
    ]
