"""Weights and slopes of made-up texts whose sign lives in the weights, in the values, or in both."""

import numpy as np
import torch

RATIOS = {"1:1": (60, 60), "3:1": (60, 180), "1:3": (180, 60), "20:1": (40, 800)}
"""Texts of the negative and of the positive class."""
TRUTHS = ("weights", "values", "mixed")
TOKENS = 12


def planted(truth, texts, *, seed=0, loud=1.0):
    """(a, o) [texts, tokens] and labels: three tokens of four speak for the class of their text.

    In the "weights": o = 1 and a has the sign. In the "values": a = 0.6 and o has the sign. "mixed": one half
    of the tokens is of either kind. ``loud`` is how much larger a is for tokens of the positive class.
    """
    rng = np.random.default_rng(seed)
    labels = np.repeat([0, 1], texts)
    right = rng.random((len(labels), TOKENS)) < 0.75
    side = np.where(right, 2 * labels[:, None] - 1, 1 - 2 * labels[:, None])
    size = 0.6 * rng.uniform(0.8, 1.2, side.shape) * np.where(side > 0, loud, 1.0)
    inside = {"weights": 1.0, "values": 0.0, "mixed": 0.5}[truth]
    carried = rng.random(side.shape) < inside
    a, o = np.where(carried, side, 1) * size, np.where(carried, 1, side)
    return torch.tensor(a), torch.tensor(o, dtype=torch.float64), torch.tensor(labels)
