"""How far the maps and the predictions of a model are from those of another one: plain values, no torch."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasshead.results import Finding

MAPS, PREDICTIONS = "jensen-shannon", "total-variation"


@dataclass(frozen=True)
class MapDivergence:
    """``maps`` is the mean Jensen-Shannon divergence (in nats, at most log 2) between the attention of two
    models for the same texts, ``predictions`` the mean total variation between their probabilities.

    ``by_text`` has both for every text [N], NaN where a text has no token. ``facts`` names the models.
    """

    maps: Finding
    predictions: Finding
    by_text: Mapping[str, NDArray[np.float64]]
    facts: Mapping[str, Any] = field(default_factory=dict)

    def row(self) -> dict[str, Any]:
        """Everything but the texts, as one row of a table: the facts, then mean, interval, nulls and n."""
        row = dict(self.facts)
        for name, finding in (("maps", self.maps), ("predictions", self.predictions)):
            low, high = finding.interval or (None, None)
            row |= {name: finding.estimate, f"{name}.low": low, f"{name}.high": high, f"{name}.n": finding.n}
            row |= {f"{name}.null.{null}": value for null, value in finding.null.items()}
        return row
