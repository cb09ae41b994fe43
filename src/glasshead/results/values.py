"""What an explanation or an audit found: plain values, numpy and JSON, no torch.

An audit folder holds

    card.json          facts of the run and of the audit, findings, highlighted texts
    findings.parquet   one row per finding
    examples.parquet   one row per audited example
    tokens.parquet     one row per token type
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import TypeAdapter

from glasshead.errors import InputError
from glasshead.files import check_readable
from glasshead.results.verdict import Reason, Status, status_from_words
from glasshead.shown import Shown

CARD = "card.json"
SCHEMA = 1
METRIC_NAMES = {"accuracy": "accuracy", "macro_f1": "macro-F1", "rmse": "RMSE", "mae": "MAE"}
EXACT = 1e-6  # an interval no wider is a point, and one that comes this close to zero reaches it
CLEAR_RANK = 100.0  # a rank with less margin over rounding makes no weight certain

# Where the sign of signed weights lives.
SIGN_IN_WEIGHTS = "sign in the weights"
ONE_SIGN = "one sign"
UNDECIDED = "undecided"
FEWEST = 30
"""Texts from which on a class has a say in that."""


@dataclass(frozen=True, repr=False)
class Attribution(Shown):
    """One number per token of one text: how much each mattered for one target.

    ``scores``, ``tokens``, ``ids``, ``words`` and ``offsets`` have one entry per token; ``words`` is the
    index of the word a token belongs to, ``offsets`` its place in ``text``. ``prediction`` is the target's
    probability or, where the model ``rates``, the predicted number. ``contributions`` (a_i · o_i, invariant
    under the sign gauge) accompanies attention weights and is what colours a map by default. ``reading`` says
    which attention of a model with several was read.

    ``intervals`` holds for each token the smallest and the largest weight with which the head would give the
    same output, in the gauge of ``scores``: these are bounds of what is possible, no confidence interval. An
    end is None where nothing bounds it, an entry None where the interval is not known (no solver had an
    answer, or this token was not asked about); ``intervals`` is None where nobody asked. ``conditioning`` is
    1/margin of the least clear rank that they rest on: rounding of the values moves an end by about a
    hundredth of it (10⁻³ at margin 10), and where it is above 1/100 no weight is called certain.

    Raises:
        ValueError: if ``intervals`` are not one for each token.
    """

    text: str
    tokens: tuple[str, ...]
    ids: tuple[int, ...]
    words: tuple[int, ...]
    offsets: tuple[tuple[int, int], ...]
    scores: tuple[float, ...]
    signed: bool
    target: str
    predicted: str
    prediction: float
    method: str
    contributions: tuple[float, ...] | None = None
    rates: bool = False
    reading: str | None = None
    intervals: tuple[tuple[float | None, float | None] | None, ...] | None = None
    conditioning: float | None = None

    def __post_init__(self) -> None:
        if self.intervals is not None and len(self.intervals) != len(self.scores):
            raise ValueError(f"{len(self.intervals)} intervals for {len(self.scores)} scores")

    def __repr__(self) -> str:
        text = self.text if len(self.text) <= 40 else f"{self.text[:39]}…"
        return f"Attribution({text!r}, {self.method}, {self.target} {self.prediction:.2f})"

    def to_json(self) -> str:
        """An object with all fields."""
        return json.dumps(asdict(self), ensure_ascii=False, indent=1) + "\n"

    @property
    def colours(self) -> tuple[float, ...]:
        """What a drawing shows: the scores where they have intervals, else contributions if there are any."""
        if self.contributions is None or self.intervals is not None:
            return self.scores
        return self.contributions

    def interval(self, token: int) -> tuple[float, float] | None:
        """[low, high] of a token's weight, ±∞ where nothing bounds it; None where it is not known."""
        ends = None if self.intervals is None else self.intervals[token]
        if ends is None:
            return None
        low, high = ends
        return -math.inf if low is None else low, math.inf if high is None else high

    def certain(self, token: int) -> bool:
        """Whether the head's output leaves this weight one value: its interval has no width (up to 1e-6), and
        the rank that says so is clear of rounding."""
        ends = self.interval(token)
        return self.clear and ends is not None and ends[1] - ends[0] <= EXACT

    @property
    def clear(self) -> bool:
        """Whether the ranks behind the intervals stand clear of rounding."""
        return self.conditioning is None or self.conditioning * CLEAR_RANK <= 1

    def least(self, token: int) -> float | None:
        """The weight nearest to zero that this token can have; None where that is not known."""
        ends = self.interval(token)
        return None if ends is None else min(max(0.0, ends[0]), ends[1])

    def may_be_zero(self, token: int) -> bool:
        """Whether the head's output would allow this token no weight: its interval reaches zero (up to 1e-6).

        A weight that is certain is not in doubt, zero or not.
        """
        least = self.least(token)
        return least is not None and abs(least) <= EXACT and not self.certain(token)


@dataclass(frozen=True)
class PairedDifference:
    """The mean of a statistic minus its null over the ``n`` units that have both, with its bootstrap 95 %
    ``interval``."""

    estimate: float | None
    interval: tuple[float, float] | None
    n: int


@dataclass(frozen=True)
class Finding:
    """One audited number with its doubt: n, interval, null, and what it means in words.

    ``estimate`` is a mean over ``n`` units (examples, or token types) with standard deviation ``std`` and a
    bootstrap 95 % ``interval``; ``null`` holds the same statistic where it must mean nothing (random or
    uniform weights). ``undefined`` counts the units that were left out, by reason. ``over_null`` holds the
    paired difference from each null, on which a verdict about that null rests; empty in cards that were made
    before it was kept. ``status`` says whether the number is evidence and ``reason`` why it is none
    (`Verdict`).
    """

    audit: str
    statistic: str
    against: str
    group: str
    estimate: float | None
    std: float | None
    interval: tuple[float, float] | None
    null: dict[str, float | None]
    n: int
    undefined: dict[str, int]
    significant_fraction: float | None
    citation: str
    verdict: str
    over_null: dict[str, PairedDifference] = field(default_factory=dict)
    status: Status = "evidence"
    reason: Reason = ""

    @property
    def name(self) -> str:
        """The name by which ``--fail-under`` and ``compare`` know this finding."""
        return ".".join(part for part in (self.audit, self.statistic, self.against, self.group) if part)


@dataclass(frozen=True)
class Highlight:
    """One audited text worth reading, with why it was picked (correct, wrong, most or least faithful)."""

    reason: str
    label: str
    attribution: Attribution
    faithfulness: float | None


@dataclass(frozen=True)
class AuditCard:
    """Everything one audit found about one model on one split.

    ``facts`` describes run, data and protocol; ``examples`` and ``tokens`` are columns of equal length.
    """

    facts: dict[str, Any]
    findings: list[Finding]
    highlights: list[Highlight] = field(default_factory=list)
    examples: Mapping[str, Sequence[Any] | np.ndarray] = field(default_factory=dict)
    tokens: Mapping[str, Sequence[Any] | np.ndarray] = field(default_factory=dict)

    def finding(self, name: str) -> Finding | None:
        """The finding of that name, or None."""
        return next((finding for finding in self.findings if finding.name == name), None)

    def save(self, folder: Path) -> None:
        """Write the four files into an existing folder."""
        body = {
            "schema": SCHEMA,
            "facts": self.facts,
            "findings": [asdict(finding) for finding in self.findings],
            "highlights": [asdict(highlight) for highlight in self.highlights],
        }
        # NaN is not JSON: a number that does not exist is None.
        text = json.dumps(body, ensure_ascii=False, allow_nan=False, indent=1)
        (folder / CARD).write_text(text, encoding="utf-8")
        # Parquet has no open-ended structs: the small mappings travel as JSON.
        rows = [{"name": f.name} | asdict(f) for f in self.findings]
        for row in rows:
            row |= {name: json.dumps(row[name]) for name in ("null", "undefined", "over_null")}
        pq.write_table(pa.Table.from_pylist(rows), folder / "findings.parquet")
        for name, columns in (("examples", self.examples), ("tokens", self.tokens)):
            table = pa.table({key: pa.array(value) for key, value in columns.items()})
            pq.write_table(table, folder / f"{name}.parquet")

    @classmethod
    def load(cls, folder: Path) -> "AuditCard":
        """Read what `save` wrote.

        Raises:
            InputError: if the folder is not an audit, or is of another version.
        """
        check_readable(folder)
        path = folder / CARD
        if not path.is_file():
            raise InputError(f"{folder} is not an audit (no {CARD}): make one with `AuditCard.save`")
        try:
            text = path.read_text(encoding="utf-8")
            body = TypeAdapter(dict[str, Any]).validate_python(json.loads(text, parse_constant=_refuse))
            if body.get("schema") != SCHEMA:
                raise InputError(f"{path} was written by another version of glasshead: audit again")
            facts = TypeAdapter(dict[str, Any]).validate_python(body["facts"])
            for name, kind in TAKEN_APART.items():
                TypeAdapter(kind | None).validate_python(facts.get(name), strict=True)
            rows = TypeAdapter(list[dict[str, Any]]).validate_python(body["findings"])
            rows = [status_from_words(str(row.get("verdict"))) | row for row in rows]
            return cls(
                facts=facts,
                findings=TypeAdapter(list[Finding]).validate_python(rows),
                highlights=TypeAdapter(list[Highlight]).validate_python(body["highlights"]),
                examples=pq.read_table(folder / "examples.parquet").to_pydict(),
                tokens=pq.read_table(folder / "tokens.parquet").to_pydict(),
            )
        except InputError:
            raise
        except (ValueError, KeyError, OSError) as error:
            reason = next(iter(str(error).splitlines()), type(error).__name__)
            raise InputError(f"{folder} is a damaged audit ({reason}): audit again") from error


TAKEN_APART: dict[str, Any] = {
    "gauge": dict[str, Any],
    "identifiability": dict[str, Any],
    "labels": list[str],
    "notes": list[str],
    "recipe": dict[str, Any],
}
"""The facts that pages take apart, and what they must be; the others are only shown."""


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number")
