"""How distance-aware attention sees distance, calculated by the mechanism itself."""

from collections.abc import Sequence

import numpy as np
import torch

from glasshead.attention import learnable_sigmoid
from glasshead.errors import InputError
from glasshead.report import Curve, Floats, Matrix, distance_figure, drawn

LARGEST_V = 20.0
"""f reaches 1 + e^v: beyond this nothing else could be seen beside it."""
WIDEST_R = 8.0


def coefficients(weighted: Floats, v: float) -> Floats:
    """The learnable sigmoid of distance-aware attention."""
    given = torch.tensor(v, dtype=torch.float64)
    return learnable_sigmoid(torch.from_numpy(weighted), v=given).numpy()


def distance_aware(
    kind: str, curves: Sequence[float], w: Sequence[float], v: Sequence[float], tokens: int
) -> bytes:
    """Figs. 1 and 2 of Wu, Wu and Huang (2021): f(R) for all ``curves``, f(w |i − j|) for all w and v."""
    for each in (*curves, *v):
        if abs(each) > LARGEST_V:
            raise InputError(f"v is between −{LARGEST_V:g} and {LARGEST_V:g}, not {each:g}")
    widest = WIDEST_R + max(map(abs, curves))
    weighted = np.linspace(-widest, widest, 401)
    distances = np.abs(np.subtract.outer(np.arange(tokens), np.arange(tokens))).astype(float)
    figure = distance_figure(
        weighted,
        [Curve(each, coefficients(weighted, each)) for each in curves],
        [[Matrix(slope, each, coefficients(slope * distances, each)) for slope in w] for each in v],
    )
    return drawn(figure, kind)
