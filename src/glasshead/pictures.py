"""Pictures of mechanisms, calculated by the mechanisms themselves."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch

from glasshead.attention.mapping import learnable_sigmoid
from glasshead.errors import InputError
from glasshead.registry import Registry
from glasshead.report.distances import Curve, Floats, Matrix, distance_figure, drawn

KINDS = ("png", "svg", "pdf")
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


PICTURES: Registry[Callable[..., bytes]] = Registry("picture")
PICTURES.register("distance-aware")(distance_aware)


def file_kind(out: Path) -> str:
    """The format that a file's name asks for.

    Raises:
        InputError: if it is none that can be drawn.
    """
    kind = out.suffix.removeprefix(".").lower()
    if kind not in KINDS:
        raise InputError(f"{out} is to end in {', '.join('.' + each for each in KINDS[:-1])} or .{KINDS[-1]}")
    return kind


def numbers(option: str, given: str, most: int) -> list[float]:
    """Numbers between commas.

    Raises:
        InputError: if they are none, not finite, or too many.
    """
    try:
        found = [float(word) for word in given.split(",")]
    except ValueError:
        found = []
    if not 1 <= len(found) <= most or not all(map(math.isfinite, found)):
        raise InputError(f"{option} takes 1 to {most} numbers between commas, not {given!r}")
    return list(dict.fromkeys(found))
