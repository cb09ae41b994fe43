"""Every two heads: how far apart they are, as bytes that a browser unpacks, and the closest ones."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasshead.report.html.packed_maps import deflate
from glasshead.results import HeadReport

MOST_HEADS = 512
"""The pairs of more heads take more than a page has room for."""
STEPS = 254
"""Bits are kept in steps of 1/254; 255 says that there is no number."""


def pack_pairs(report: HeadReport) -> dict[str, Any] | None:
    """All pairs of heads, half of each matrix; None if there are none, or too many."""
    size = len(report.heads)
    agreement = report.agreement
    if not agreement.pairs() or size > MOST_HEADS:
        return None
    half = np.triu_indices(size, k=1)
    columns = [agreement.divergence, *agreement.interval, agreement.null]
    shown = agreement.closer.astype(np.uint8) + 2 * agreement.further.astype(np.uint8)
    return {
        "heads": [head.name for head in report.heads],
        "bytes": deflate(*(pack_bits(matrix[half]) for matrix in columns), shown[half].tobytes()),
    }


def pack_bits(values: NDArray[np.float64]) -> bytes:
    """Numbers between 0 and 1 in one byte each."""
    levels = np.rint(np.clip(np.nan_to_num(values), 0.0, 1.0) * STEPS)
    return bytes(np.where(np.isfinite(values), levels, 255).astype(np.uint8))
