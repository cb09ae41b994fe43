"""Anderson's method: a fixed point x = g(x) from the last places x_k and their moves g(x_k) − x_k.

Where plain steps swing, or creep near a transition, it needs a tenth of them.

Source: Anderson (1965), "Iterative procedures for nonlinear integral equations".
"""

import numpy as np
from jaxtyping import Float

Floats = Float[np.ndarray, "n"]
MIXED = 0.25
"""The share of a plain step that is taken: whole steps of the positional solution swing."""
REMEMBERED = 3
"""Steps from which is extrapolated."""


def extrapolated(places: list[Floats], moves: list[Floats]) -> Floats:
    """The next place: a plain step from the combination of the last places that would move least."""
    recent, last = (np.array(values[-REMEMBERED - 1 :]) for values in (places, moves))
    plain = recent[-1] + MIXED * last[-1]
    if len(last) == 1:
        return plain
    turned, bent = np.diff(recent, axis=0).T, np.diff(last, axis=0).T
    weights = np.linalg.lstsq(bent, last[-1], rcond=1e-6)[0]
    return np.asarray(plain - (turned + MIXED * bent) @ weights)
