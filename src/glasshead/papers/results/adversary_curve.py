"""The divergences of adversaries of one model: plain values, no torch."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from glasshead.papers.results.map_divergence import MapDivergence
from glasshead.results import json_text


@dataclass(frozen=True)
class AdversaryCurve:
    """The divergences of adversaries of one base, in the order of their λ (``weight`` of the facts)."""

    points: Sequence[MapDivergence]

    def __iter__(self) -> Iterator[MapDivergence]:
        return iter(self.points)

    def __len__(self) -> int:
        return len(self.points)

    def rows(self) -> list[dict[str, Any]]:
        """The rows of a table, one for each λ."""
        return [point.row() for point in self.points]

    def to_json(self) -> str:
        """The rows."""
        return json_text(self.rows())
