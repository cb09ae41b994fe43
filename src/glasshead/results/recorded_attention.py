"""The attention weights of a recorded forward pass, as a value that can be drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from glasshead.arrays import AnyFloats
from glasshead.drawable import Drawable
from glasshead.results.json_text import json_text
from glasshead.results.plot_data import HeadMap, HeadMaps

if TYPE_CHECKING:
    import pandas as pd

MAX_POSITIONS = 60
"""More rows or columns than that cannot be read."""


@dataclass(frozen=True)
class RecordedLayer:
    """The pass and the attention call that were recorded, and the size of the recording."""

    forward_pass: int
    layer: int
    name: str
    mechanism: str
    signed: bool
    texts: int
    heads: tuple[int, ...]
    rows: tuple[int, ...]
    keys: int


@dataclass(frozen=True, repr=False)
class RecordedAttention(Drawable):
    """Recorded layers; ``weights_of`` works out the weights of one: [texts, heads, rows, keys], NaN where a
    query may not look."""

    layers: Sequence[RecordedLayer]
    weights_of: Callable[[int], AnyFloats]

    def __repr__(self) -> str:
        return f"RecordedAttention({len(self.layers)} layers)"

    def head_maps(self, rank: int, text: int) -> HeadMaps:
        """All recorded heads of one layer for one text, without keys that no query may attend to."""
        layer = self.layers[rank]
        weights = self.weights_of(rank)[text]  # [h, r, K]
        columns = np.flatnonzero(np.isfinite(weights).any(axis=(0, 1)))
        rows = columns if len(layer.rows) == layer.keys else np.arange(len(layer.rows))
        sizes = {"queries": len(rows), "keys": len(columns)}
        cut = [f"{size:,} {name}" for name, size in sizes.items() if size > MAX_POSITIONS]
        columns, rows = columns[:MAX_POSITIONS], rows[:MAX_POSITIONS]
        part = weights[:, rows][:, :, columns]
        place = f"Layer {layer.layer} ({layer.name}), text {text + 1}"
        return HeadMaps(
            f"{place}, pass {layer.forward_pass + 1}" if self.passes > 1 else place,
            [HeadMap(f"head {head}", matrix) for head, matrix in zip(layer.heads, part, strict=True)],
            [str(layer.rows[row]) for row in rows],
            [str(column) for column in columns],
            layer.signed,
            f"the first {MAX_POSITIONS} of {' and '.join(cut)} are drawn" if cut else "",
        )

    @property
    def passes(self) -> int:
        """How many forward passes were recorded."""
        return len({layer.forward_pass for layer in self.layers})

    def drawings(self) -> Iterator[tuple[int, int]]:
        """The layer and text numbers of everything that can be drawn."""
        yield from ((rank, text) for rank, layer in enumerate(self.layers) for text in range(layer.texts))

    def to_pandas(self) -> pd.DataFrame:
        """One row for each weight between a query and a key that it may look at."""
        import pandas as pd

        return pd.concat([pd.DataFrame(self._columns(rank)) for rank in range(len(self.layers))])

    def _columns(self, rank: int) -> dict[str, Any]:
        layer, weights = self.layers[rank], self.weights_of(rank)
        text, head, row, key = np.nonzero(np.isfinite(weights))
        names: dict[str, NDArray[Any]] = {
            "text": text, "head": np.array(layer.heads)[head], "query": np.array(layer.rows)[row], "key": key,
        }  # fmt: skip
        fixed = {"pass": layer.forward_pass, "layer": layer.layer, "name": layer.name}
        return fixed | names | {"weight": weights[text, head, row, key]}

    def to_json(self) -> str:
        """A list of layers with their weights, null where a query may not look."""
        return json_text(
            [asdict(layer) | {"weights": self.weights_of(rank)} for rank, layer in enumerate(self.layers)]
        )
