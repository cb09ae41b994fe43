"""What each layer of a model would predict: the logit lens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int

from glasshead.drawable import Drawable
from glasshead.escaping import one_line
from glasshead.results.json_text import json_text

if TYPE_CHECKING:
    import pandas as pd

INPUT = "embeddings"
"""What the first layer reads."""


@dataclass(frozen=True)
class LensFit:
    """How close a tuned lens brings predictions to those of the model, on ``held_out`` texts; ``fitted``
    counts the others.

    ``plain`` and ``tuned`` are the mean KL(model ‖ layer), in nats, by layer without the last, and ``gains``
    the ends of the 95 % interval of their mean difference over texts.
    """

    fitted: int
    held_out: int
    plain: tuple[float, ...]
    tuned: tuple[float, ...]
    gains: tuple[tuple[float, float] | None, ...]


@dataclass(frozen=True, repr=False)
class LayerLens(Drawable):
    """The predictions of a model from the states between its layers. ``layers`` names these states: the
    input of the first layer, then the output of each layer; the last predictions are the model's own.

    ``places`` are the tokens after which a language model predicts the next one, a hidden word, or "the
    text" of a classifier. ``tops`` [layers, places, k] are the most probable answers, as numbers of
    ``names``, with their ``probabilities``. ``target_probabilities`` and ``target_ranks`` (1: the most
    probable) [layers, places] are those of ``target``. ``fit`` is present if states went through fitted
    maps (tuned).
    """

    text: str
    model: str
    places: tuple[str, ...]
    layers: tuple[str, ...]
    names: dict[int, str]
    tops: Int[np.ndarray, "layers places k"]
    probabilities: Float[np.ndarray, "layers places k"]
    target: str
    target_probabilities: Float[np.ndarray, "layers places"]
    target_ranks: Int[np.ndarray, "layers places"]
    notes: tuple[str, ...] = ()
    fit: LensFit | None = None

    def __repr__(self) -> str:
        top = self.names[int(self.tops[-1, -1, 0])]
        return one_line(
            f"{len(self.layers) - 1} layers, predicted {top}; {self.target}: "
            + " → ".join(f"{value:.2g}" for value in self.target_probabilities[:, -1])
        )

    @property
    def first_layer(self) -> str | None:
        """The first layer from which on the model's own prediction at the last place is the most probable
        in every layer; None if it is so from the beginning."""
        own = self.tops[:, -1, 0] == self.tops[-1, -1, 0]
        others = np.flatnonzero(~own)
        return self.layers[others[-1] + 1] if len(others) else None

    def top(self, layer: int, place: int) -> tuple[str, float]:
        """The most probable answer of a layer at a place, and its probability."""
        return self.names[int(self.tops[layer, place, 0])], float(self.probabilities[layer, place, 0])

    def to_pandas(self) -> pd.DataFrame:
        """One row for each layer and place."""
        import pandas as pd

        return pd.DataFrame(
            {
                "layer": layer,
                "position": place,
                "token": token,
                "top": self.top(number, place)[0],
                "probability": self.top(number, place)[1],
                "target": self.target,
                "target_probability": self.target_probabilities[number, place],
                "target_rank": self.target_ranks[number, place],
            }
            for number, layer in enumerate(self.layers)
            for place, token in enumerate(self.places)
        )

    def to_json(self) -> str:
        """An object with all fields."""
        return json_text(self)
