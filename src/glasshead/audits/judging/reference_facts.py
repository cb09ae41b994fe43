"""What was measured on some inputs for all."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from glasshead.arrays import AnyFloats


class Reference(NamedTuple):
    """The mean of the labels, how far apart they are (`typical_range`), and Σa of weights that know nothing
    of a text: one number, or one for each head; None where Σa is the same in every text anyway. ``on_first``
    is the mean share of Σ|a| on the first token where a model reads from left to right (None elsewhere).
    ``floor`` is by how much products of halves move a change of ŷ by deletion, at most in a few texts; else
    0."""

    centre: float = 0.0
    span: float = 1.0
    even: AnyFloats | None = None
    on_first: float | None = None
    floor: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """As JSON holds it."""
        return self._replace(even=None if self.even is None else np.asarray(self.even).tolist())._asdict()

    @classmethod
    def of_json(cls, values: dict[str, Any]) -> Reference:
        """Read back."""
        even = values["even"]
        return cls(**{**values, "even": None if even is None else np.array(even)})
