"""What one audit found, and the folder that keeps it:

card.json          facts of the run and of the audit, findings, highlighted texts
findings.parquet   one row per finding
examples.parquet   one row per audited example
tokens.parquet     one row per token type
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import TypeAdapter
from typing_extensions import TypedDict

from glasshead.drawable import Drawable
from glasshead.errors import InputError
from glasshead.escaping import as_json
from glasshead.files import check_readable, read_parquet
from glasshead.nouns import Nouns, nouns_of
from glasshead.reasons import because
from glasshead.registry import did_you_mean
from glasshead.results.attention_use import AttentionUse
from glasshead.results.attribution import Attribution
from glasshead.results.conclusion import Conclusion, Quantity
from glasshead.results.finding import Finding
from glasshead.results.verdict import Status
from glasshead.spelling import spell

if TYPE_CHECKING:
    import pandas as pd

CARD_FILE = "card.json"
SCHEMA = 1
ATTENTION = "attention"
"""The explanation that is audited unless another is named."""
EXPLANATION = "explanation"
"""The audit that collects all that bear on it, and the fact that names them."""
METHOD, ABSOLUTE, CANONICAL_GAUGE = "method", "-absolute", ", canonical gauge"
"""The statistic of any explanation, where audits of several stand side by side, and how the name of one that
compares sizes alone ends."""


def curve_column(statistic: str) -> str:
    """The column of the examples with the curve whose area is a statistic of faithfulness."""
    return f"faithfulness.{statistic}.curve"


WITHOUT_FIRST = "without the first token"
"""The group of findings about all tokens but the first, where that is an attention sink."""
UNIT, ON_IMAGE, ON_WORDS = "unit", "image tokens", "words"
"""What findings about parts of an image, and about words alone, are sliced by, and these groups."""
PARTS = {WITHOUT_FIRST: "rest.", ON_IMAGE: "image-tokens.", ON_WORDS: "words."}
"""The groups of findings about some of the units of every input, and how the names of their columns begin."""

INTERVAL_LEVEL = "interval_level"
PRODUCTS = "products"
"""The fact that says of which halves products are; missing where they are of the numbers themselves."""
"""The fact that says at which level a card was judged, where that is another than usual."""


@dataclass(frozen=True)
class SliceTest:
    """One finding, and whether its mean differs between slices ``by`` class, length, correctness or a column.

    ``p`` is that of a permutation test over the ``n`` texts of the ``slices`` that have enough of them, and
    ``corrected`` the same after Holm's correction for all tests of the audit; None where there are fewer than
    two such slices.
    """

    audit: str
    statistic: str
    against: str
    by: str
    n: int
    slices: int
    p: float | None
    corrected: float | None
    status: Status
    verdict: str
    level: float = 0.95

    @property
    def differs(self) -> bool:
        """Whether a difference was shown at that level."""
        error = round(1 - self.level, 12)  # 1 − 0.95 is above 0.05
        return self.corrected is not None and self.corrected <= error

    @property
    def finding(self) -> str:
        """The name of the finding on all texts."""
        return ".".join(part for part in (self.audit, self.statistic, self.against, "all") if part)


@dataclass(frozen=True)
class Highlight:
    """One audited text worth reading, and why it was picked (correct, wrong, most or least agreement with
    erasure); ``faithfulness`` is that agreement, Kendall τ."""

    reason: str
    label: str
    attribution: Attribution
    faithfulness: float | None


@dataclass(frozen=True, repr=False)
class AuditCard(Drawable):
    """All results of one audit of one model on one split. A notebook shows the key findings.

    ``facts`` describes run, data and protocol; ``examples`` and ``tokens`` are columns of equal length.
    ``slice_tests`` say which findings differ between slices of the texts, if slices were requested.
    ``conclusion`` sums up the findings, and ``quantities`` what they are about, by `Finding.quantity`
    in the order of the first screen: both follow from facts and findings (`glasshead.audits.conclude`).
    """

    facts: dict[str, Any]
    findings: list[Finding]
    highlights: list[Highlight] = field(default_factory=list)
    examples: Mapping[str, Sequence[Any] | np.ndarray] = field(default_factory=dict)
    tokens: Mapping[str, Sequence[Any] | np.ndarray] = field(default_factory=dict)
    slice_tests: list[SliceTest] = field(default_factory=list)
    conclusion: Conclusion = field(default_factory=Conclusion)
    quantities: Mapping[str, Quantity] = field(default_factory=dict)

    def find(self, name: str) -> Finding:
        """The finding of a typed name, which may leave ``.all`` out.

        Raises:
            InputError: on a name that no finding has.
        """
        finding = self.finding(name) or self.finding(f"{name}.all")
        if finding is None:
            names = [other.name.removesuffix(".all") for other in self.findings]
            raise InputError(f"no finding is called {name!r}: {did_you_mean(name, names)}")
        return finding

    def quantity(self, name: str) -> Quantity:
        """What the numbers of the finding of that name are about."""
        finding = self.finding(name)
        return Quantity() if finding is None else self.quantities.get(finding.quantity, Quantity())

    def finding(self, name: str) -> Finding | None:
        """The finding of that name, or None."""
        return next((finding for finding in self.findings if finding.name == name), None)

    @property
    def level(self) -> float:
        """The confidence level of intervals and verdicts about all inputs."""
        return float(self.facts.get(INTERVAL_LEVEL, 0.95))

    @property
    def nouns(self) -> Nouns:
        """The nouns for its inputs."""
        return nouns_of(self.facts)

    @property
    def method(self) -> str:
        """The explanation that was audited: the name of an explainer."""
        return str(self.facts.get("method", ATTENTION))

    @property
    def statistic(self) -> str:
        """The name of its findings about the agreement of that explanation."""
        renamed = any(finding.statistic in (METHOD, METHOD + ABSOLUTE) for finding in self.findings)
        return METHOD if renamed else self.method

    def __repr__(self) -> str:
        return (
            f"AuditCard({self.facts.get('name', 'audit')!r}, {len(self.findings)} findings, "
            f"{self.facts.get('examples', 0)} examples)"
        )

    def to_pandas(self) -> "pd.DataFrame":
        """One row for each finding."""
        import pandas as pd

        return pd.DataFrame([{"name": finding.name} | asdict(finding) for finding in self.findings])

    def to_json(self) -> str:
        """Facts, findings, highlighted texts and tests of slices, as in card.json; and what follows from them
        in words."""
        body = {
            "schema": SCHEMA,
            "facts": self.facts,
            **asdict(self.conclusion),
            "findings": [asdict(finding) for finding in self.findings],
            "highlights": [asdict(highlight) for highlight in self.highlights],
            "slice_tests": [asdict(test) for test in self.slice_tests],
            "quantities": {name: asdict(quantity) for name, quantity in self.quantities.items()},
        }
        # NaN is not JSON: a number that does not exist is None.
        return as_json(json.dumps(body, ensure_ascii=False, allow_nan=False, indent=1))

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the page (``card.html``) or the values (``card.json``), or all four files into a folder.

        Raises:
            InputError: on another ending, and if the file exists.
        """
        folder = Path(path)
        if folder.suffix and not folder.is_dir():
            super().save(folder, overwrite=overwrite)
            return
        folder.mkdir(parents=True, exist_ok=True)
        (folder / CARD_FILE).write_text(self.to_json(), encoding="utf-8")
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
        path = folder / CARD_FILE
        if not path.is_file():
            raise InputError(
                f"{folder} is not an audit (no {CARD_FILE}): make one with {spell('AuditCard.save')}"
            )
        try:
            text = path.read_text(encoding="utf-8")
            body = TypeAdapter(dict[str, Any]).validate_python(json.loads(text, parse_constant=_refuse))
            if body.get("schema") != SCHEMA:
                raise InputError(f"{path} was written by another version of glasshead: audit again")
            facts = TypeAdapter(dict[str, Any]).validate_python(body["facts"])
            for name, kind in TAKEN_APART.items():
                TypeAdapter(kind | None).validate_python(facts.get(name), strict=True)
            return cls(
                facts=facts,
                findings=TypeAdapter(list[Finding]).validate_python(body["findings"]),
                highlights=TypeAdapter(list[Highlight]).validate_python(body["highlights"]),
                examples=read_parquet(folder / "examples.parquet").to_pydict(),
                tokens=read_parquet(folder / "tokens.parquet").to_pydict(),
                slice_tests=TypeAdapter(list[SliceTest]).validate_python(body["slice_tests"]),
                conclusion=TypeAdapter(Conclusion).validate_python(
                    {each.name: body[each.name] for each in fields(Conclusion)}
                ),
                quantities=TypeAdapter(dict[str, Quantity]).validate_python(body["quantities"]),
            )
        except InputError:
            raise
        except (ValueError, KeyError, OSError) as error:
            raise InputError(f"{folder} is a damaged audit{because(error)}: audit again") from error


class StoredSides(TypedDict):
    """What one class says about the sign of a head."""

    texts: int
    positive: list[float] | None


class StoredGauge(TypedDict, total=False):
    """The gauge of a card, of one head or of several."""

    classes: list[StoredSides] | list[list[StoredSides]]


TAKEN_APART: dict[str, Any] = {
    "attention_use": AttentionUse,
    "gauge": StoredGauge,
    "identifiability": dict[str, Any],
    "labels": list[str],
    "notes": list[str],
    "recipe": dict[str, Any],
    "slice_level": float,
    "method": str,
    "slices": dict[str, dict[str, int]],
}
"""The facts that pages take apart, and what they must be; the others are only shown."""


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a number")
