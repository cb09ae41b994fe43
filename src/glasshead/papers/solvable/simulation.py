"""The solvable model itself, with finite d: texts are drawn, and q is trained from two starts.

R(q) = Σ_n ‖y_n − softmax(x q qᵀ xᵀ / d) x‖² / (2 d) + λ/2 ‖q‖², x = z + p, p = ±1/√d.

Source: Cui, Behrens, Krzakala and Zdeborová (2024).
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.optimize import minimize

from glasshead.errors import InputError
from glasshead.papers.solvable.loss import TransitionSettings, first_weights, target_weights
from glasshead.torch_modes import in_own_modes

Floats = Float[np.ndarray, "..."]
NEW_TEXTS = 2000


@dataclass(frozen=True)
class Trained:
    """|m|, |θ|, R/d and the error E‖y − ŷ‖²/d on new texts of one training, and the length of ∇R/√d."""

    m: float
    theta: float
    loss: float
    error: float
    gradient: float


@dataclass(frozen=True)
class GaussianTexts:
    """Tokens with and without places, [n, 2, d], and the dot products from which ‖y − ŷ‖² follows."""

    tokens: Float[np.ndarray, "n two d"]
    target: Float[np.ndarray, "n two"]
    own: Float[np.ndarray, "n two two"]
    cross: Float[np.ndarray, "n two two"]
    plain: Float[np.ndarray, "n two two"]


def draw_texts(
    n: int, teacher: Float[np.ndarray, " d"], settings: TransitionSettings, rng: np.random.Generator
) -> GaussianTexts:
    """Gaussian tokens of variance σ², and what the target makes of them."""
    d = len(teacher)
    z = settings.sigma * rng.standard_normal((n, 2, d))
    x = z + np.array([1.0, -1.0])[:, None] / np.sqrt(d)
    target = target_weights(z @ teacher / np.sqrt(d), settings)
    flipped = z.transpose(0, 2, 1)
    return GaussianTexts(x, target, x @ x.transpose(0, 2, 1) / d, x @ flipped / d, z @ flipped / d)


def empirical_loss(q: Floats, texts: GaussianTexts) -> tuple[float, Float[np.ndarray, " d"]]:
    """Σ_n ‖y − ŷ‖² / (2 d) and its gradient in q."""
    d = len(q)
    h = texts.tokens @ q / np.sqrt(d)
    first, goal = first_weights(h), texts.target
    weights = np.stack([first, 1 - first], axis=-1)  # [n, row, column]
    wanted = np.stack([goal, 1 - goal], axis=-1)
    attended, owed = weights @ texts.own, wanted @ texts.cross.transpose(0, 2, 1)
    pulled = attended - owed
    squares = (attended * weights).sum() - 2 * (owed * weights).sum() + (wanted @ texts.plain * wanted).sum()
    slope = (pulled[..., 0] - pulled[..., 1]) * first * (1 - first)  # by the score h_l (h_1 − h_2)
    gap = h[:, :1] - h[:, 1:]
    by_apart = (slope * h).sum(axis=1, keepdims=True)
    by_h = slope * gap + by_apart * np.array([1.0, -1.0])
    return float(squares / 2), np.einsum("nl,nld->d", by_h, texts.tokens) / np.sqrt(d)


@in_own_modes
def train_from(start: str, alpha: float, d: int, settings: TransitionSettings, seed: int) -> Trained:
    """L-BFGS from q = q* ("semantic") or q = 1 ("positional") until it converges.

    Raises:
        InputError: if the start is unknown, or d or α leave no text.
    """
    n = round(alpha * d)
    if d < 2 or n < 1:
        raise InputError(
            f"d is {d} and alpha {alpha:g}: give a d of 2 or more, and an alpha of 1 / d or more"
        )
    if start not in ("semantic", "positional"):
        raise InputError(f"start is {start!r}: give positional or semantic")
    rng = np.random.default_rng([seed, d, n])
    teacher = rng.standard_normal(d)
    texts, new = (draw_texts(size, teacher, settings, rng) for size in (n, NEW_TEXTS))
    decay = settings.weight_decay

    def objective(q: Floats) -> tuple[float, Floats]:
        loss, gradient = empirical_loss(q, texts)
        return loss + decay / 2 * float(q @ q), gradient + decay * q

    begun = teacher if start == "semantic" else np.ones(d)
    solution = minimize(
        objective, begun, jac=True, method="L-BFGS-B", options={"maxiter": 3000, "ftol": 1e-13, "gtol": 1e-7}
    )
    q = solution.x
    return Trained(
        m=abs(float(q.sum() / d)),
        theta=abs(float(settings.sigma**2 * q @ teacher / d)),
        loss=float(solution.fun / d),
        error=2 * empirical_loss(q, new)[0] / NEW_TEXTS,
        gradient=float(np.linalg.norm(solution.jac) / np.sqrt(d)),
    )
