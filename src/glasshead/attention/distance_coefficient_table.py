"""The coefficients of distance-aware attention over weighted distances and between tokens."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from glasshead.attention.positions.distance_mappings import learnable_sigmoid
from glasshead.errors import InputError
from glasshead.results import CoefficientCurve, CoefficientMatrix, DistanceCoefficients

LARGEST_V = 20.0
"""f reaches 1 + e^v: beyond this nothing else could be seen next to it."""
WIDEST_R = 8.0


def coefficients(weighted: NDArray[np.float64], v: float) -> NDArray[np.float64]:
    """The learnable sigmoid of distance-aware attention (eq. 5) in float64."""
    weight = torch.tensor(v, dtype=torch.float64)
    return learnable_sigmoid(torch.from_numpy(weighted), v=weight).numpy()


def distance_coefficients(
    curves: Sequence[float], w: Sequence[float], v: Sequence[float], tokens: int
) -> DistanceCoefficients:
    """f(R) for every v of ``curves``, and f(w |i − j|) between ``tokens`` tokens for all ``w`` and ``v``.

    Raises:
        InputError: for a v too large to be drawn.

    Source: Wu, Wu and Huang (2021), Figs. 1 and 2.
    """
    for value in (*curves, *v):
        if abs(value) > LARGEST_V:
            raise InputError(f"every v must be between −{LARGEST_V:g} and {LARGEST_V:g}, not {value:g}")
    widest = WIDEST_R + max(map(abs, curves))
    weighted = np.linspace(-widest, widest, 401)
    distances = np.abs(np.subtract.outer(np.arange(tokens), np.arange(tokens))).astype(float)
    return DistanceCoefficients(
        weighted,
        [CoefficientCurve(value, coefficients(weighted, value)) for value in curves],
        [
            [CoefficientMatrix(slope, value, coefficients(slope * distances, value)) for slope in w]
            for value in v
        ],
    )
