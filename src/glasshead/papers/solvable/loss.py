"""The attention of the solvable model, for texts of two tokens, and the loss it leaves.

With two tokens each row of softmax(h hᵀ) is one sigmoid, and ‖(S − T) z‖² / d → σ² ‖S − T‖² as d → ∞.

Source: Cui, Behrens, Krzakala and Zdeborová (2024).
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.special import expit

from glasshead.errors import InputError

Floats = Float[np.ndarray, "..."]
RANGES = {"omega": (0, 1), "diagonal": (0, 1), "sigma": (0.05, 5), "weight_decay": (1e-4, 10)}
"""Within which the fixed points were tried."""


@dataclass(frozen=True)
class TransitionSettings:
    """ω, σ, λ and the diagonal of A: the target, the tokens, and the weight decay.

    The target attends with (1 − ω) softmax(z q* q*ᵀ zᵀ / d) + ω A, with A = [[a, 1 − a], [1 − a, a]].

    Raises:
        InputError: if a value is out of its range.
    """

    omega: float = 0.3
    sigma: float = 0.5
    weight_decay: float = 0.01
    diagonal: float = 0.6

    def __post_init__(self) -> None:
        for name, (lowest, highest) in RANGES.items():
            if not lowest <= getattr(self, name) <= highest:
                raise InputError(
                    f"{name} is {getattr(self, name):g}: give a number from {lowest:g} to {highest:g}"
                )


def first_weights(h: Float[np.ndarray, "*n two"]) -> Float[np.ndarray, "*n two"]:
    """What each of two tokens gives the first one: softmax(h hᵀ) in one column, σ(h_l (h_1 − h_2))."""
    return expit(h * (h[..., :1] - h[..., 1:]))


def target_weights(teacher: Float[np.ndarray, "*n two"], settings: TransitionSettings) -> Floats:
    """(1 − ω) softmax(h* h*ᵀ) + ω A, the first column."""
    positional = np.array([settings.diagonal, 1 - settings.diagonal])
    return (1 - settings.omega) * first_weights(teacher) + settings.omega * positional


def text_loss(h: Float[np.ndarray, "*n two"], target: Float[np.ndarray, "*n two"], sigma: float) -> Floats:
    """½ σ² ‖softmax(h hᵀ) − T‖², where T has the rows (t_l, 1 − t_l)."""
    return sigma**2 * ((first_weights(h) - target) ** 2).sum(axis=-1)


def loss_slopes(
    h: Float[np.ndarray, "n two"], target: Float[np.ndarray, "n two"], sigma: float
) -> tuple[Float[np.ndarray, "n two"], Float[np.ndarray, "n two two"]]:
    """Gradient and Hessian of `text_loss` in h."""
    weights = first_weights(h)
    spread = weights * (1 - weights)
    first = 2 * sigma**2 * (weights - target) * spread  # by the score a_l = h_l (h_1 − h_2)
    second = 2 * sigma**2 * (spread**2 + (weights - target) * spread * (1 - 2 * weights))
    h_1, h_2 = h[:, 0], h[:, 1]
    jacobian = np.stack(
        [np.stack([2 * h_1 - h_2, -h_1], -1), np.stack([h_2, h_1 - 2 * h_2], -1)], 1
    )  # [n, a, h]
    gradient = np.einsum("na,nah->nh", first, jacobian)
    hessian = np.einsum("na,nah,nak->nhk", second, jacobian, jacobian)
    bends = np.array([[[2.0, -1.0], [-1.0, 0.0]], [[0.0, 1.0], [1.0, -2.0]]])  # ∂²a_l / ∂h²
    return gradient, hessian + np.einsum("na,ahk->nhk", first, bends)
