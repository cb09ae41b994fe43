"""Which tokens people have marked."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from glasshead.data.marks import Marks

Flags = NDArray[np.bool_]


def marked_tokens(texts: Sequence[str], marks: Sequence[Marks], offsets: NDArray[np.int64]) -> Flags:
    """Which tokens share a character with a mark of their text [N, n], from their ``offsets`` [N, n, 2]."""
    lengths = np.array([len(text) + 1 for text in texts])
    starts = lengths.cumsum() - lengths  # of each text, where all stand one behind the other
    spans = np.array(
        [
            (starts[text] + start, starts[text] + end)
            for text, own in enumerate(marks)
            for start, end in own or []
        ],
        dtype=np.int64,
    ).reshape(-1, 2)
    size = int(lengths.sum()) + 1
    opened, closed = (np.bincount(spans[:, side], minlength=size) for side in (0, 1))
    inside = (opened - closed).cumsum() > 0
    before = np.concatenate([[0], inside.cumsum()])  # marked characters before each place
    first, last = np.moveaxis(offsets + starts[:, None, None], -1, 0)
    return np.asarray(before[last] > before[first])
