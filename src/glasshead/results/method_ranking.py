"""Explanations of one model next to each other on the same texts: plain values, no torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from glasshead.drawable import Drawable
from glasshead.escaping import one_line
from glasshead.results.attributions import Attributions
from glasshead.results.comparison import Difference
from glasshead.results.finding import Finding
from glasshead.results.json_text import json_text

if TYPE_CHECKING:
    import pandas as pd

RANK = "rank"
"""What findings of a ranking say instead of an audit."""
AUPRC, TAU = "auprc", "tau"


class Standing(StrEnum):
    """The standing of a method by one criterion, from corrected intervals and exchange tests."""

    LEADS = "leads"
    """Better than a random order, and no other method is shown to be better."""
    BEHIND = "behind"
    """Better than a random order, and some other method is better."""
    NOT_SHOWN = "not shown"
    """No difference from a random order that these texts show."""
    WORSE = "worse"
    """Worse than a random order."""
    UNDECIDED = "undecided"
    """Too few texts, or scores that say nothing."""


@dataclass(frozen=True)
class RankedMethod:
    """One explanation: its ``findings``, its rank by each of them, and its cost.

    ``seconds`` is the time for one text, ``predictions`` how many predictions take as long. ``own_removal``
    is the type of deletion with which the method itself scores tokens, which favours it there.
    """

    name: str
    description: str
    findings: Sequence[Finding]
    standings: Mapping[str, Standing]
    seconds: float
    predictions: float
    own_removal: str | None = None

    def finding(self, statistic: str, against: str = "") -> Finding | None:
        """The finding of one statistic, by one type of deletion."""
        wanted = (statistic, against)
        return next((one for one in self.findings if (one.statistic, one.against) == wanted), None)

    def standing(self, statistic: str, against: str = "") -> Standing:
        """Its standing by one statistic, under one type of deletion."""
        finding = self.finding(statistic, against)
        return Standing.UNDECIDED if finding is None else self.standings[finding.name]


@dataclass(frozen=True)
class MethodDifference(Difference):
    """Difference of two methods: ``side`` is 1 if the first is shown to be better, −1 if the second is, 0
    if these texts do not show which, and None for too few texts."""

    side: int | None = field(kw_only=True)


@dataclass(frozen=True)
class MethodAgreement:
    """Kendall τ-b between the scores of two methods, by their ranks, next to random numbers."""

    one: int
    other: int
    finding: Finding


@dataclass(frozen=True)
class RankedText:
    """One text as every method explains it, and why it is shown."""

    reason: str
    attributions: Attributions


@dataclass(frozen=True, repr=False)
class MethodRanking(Drawable):
    """The result of `glasshead.rank`: methods, the paired differences between them, and a conclusion in
    words.

    ``statistic`` is the one behind the conclusion, ``removals`` what each type of deletion does to a token.
    ``differences`` have names like those of findings. ``examples`` are the numbers of every text, and
    ``words`` the names of statistics.
    """

    facts: Mapping[str, Any]
    statistic: str
    removals: Mapping[str, str]
    methods: Sequence[RankedMethod]
    differences: Sequence[MethodDifference]
    agreement: Sequence[MethodAgreement]
    conclusion: Sequence[str]
    remarks: Sequence[str] = ()
    texts: Sequence[RankedText] = ()
    examples: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """The methods, by rank in ``differences``."""
        return [method.name for method in self.methods]

    @property
    def has_plausibility(self) -> bool:
        """Whether people have marked words in these texts."""
        return any(method.finding(AUPRC) is not None for method in self.methods)

    def leaders(self, statistic: str, against: str = "") -> list[str]:
        """The methods that lead by one statistic, under one type of deletion."""
        return [one.name for one in self.methods if one.standing(statistic, against) == Standing.LEADS]

    def rows(self) -> list[dict[str, Any]]:
        """One row for each method, statistic and type of deletion."""
        rows = []
        for method in self.methods:
            for finding in method.findings:
                low, high = finding.interval or (None, None)
                over = finding.over_null.get("random")
                over_low, over_high = (None, None) if over is None or over.interval is None else over.interval
                rows.append(
                    {
                        "method": method.name,
                        "statistic": finding.statistic,
                        "removal": finding.against or None,
                        "estimate": finding.estimate,
                        "low": low,
                        "high": high,
                        "n": finding.n,
                        "random": finding.null.get("random"),
                        "over_random": None if over is None else over.estimate,
                        "over_random_low": over_low,
                        "over_random_high": over_high,
                        "level": finding.level,
                        "standing": str(method.standings[finding.name]),
                        "verdict": finding.verdict,
                        "seconds": method.seconds,
                        "predictions": method.predictions,
                    }
                )
        return rows

    def to_pandas(self) -> pd.DataFrame:
        """One row for each method, statistic and type of deletion."""
        import pandas as pd

        return pd.DataFrame(self.rows())

    def to_json(self) -> str:
        """Everything but the highlighted texts."""
        document = asdict(replace(self, texts=()))
        del document["texts"]
        for pair in (*document["differences"], *document["agreement"]):
            pair |= {"one": self.names[pair["one"]], "other": self.names[pair["other"]]}
        return json_text(document)

    def __repr__(self) -> str:
        return one_line(f"MethodRanking({', '.join(self.names)}: {' '.join(self.conclusion)})")
