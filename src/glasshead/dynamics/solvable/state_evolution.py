"""The two solutions of the solvable model in high dimensions: overlaps, training loss and error.

In the limit n, d → ∞ with α = n / d the trained q is summarised by its overlaps
q̄ = σ²‖q‖²/d, m = qᵀ1/d (with the places ±1/√d), θ = σ² qᵀq*/d, and the variance V of the scores of a text
that has not been read. They solve, with f_l = (h_l − c_l) / V, h the proximal operator at c = √q̄ ξ ± m,

V̂ = −α Σ E ∂f_l/∂c_l,  q̂ = α Σ E f_l²,  m̂ = α E (f_1 − f_2),  θ̂ = α Σ E f_l ζ_l / √(σ² − θ²/q̄),
V = σ² / (λ + σ² V̂),  m = m̂ V / σ²,  θ = σ² θ̂ V,  q̄ = (σ² q̂ + m̂² + σ⁴ θ̂²) V² / σ².

Source: Cui, Behrens, Krzakala and Zdeborová (2024), equations 7 and 8.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from jaxtyping import Float
from scipy.optimize import brentq
from scipy.special import ndtri
from scipy.stats import qmc

from glasshead.dynamics.solvable.loss import TransitionSettings, target_weights, text_loss
from glasshead.dynamics.solvable.proximal import proximal
from glasshead.errors import InputError

STARTS = {"positional": (0.05, 0.25, 14.0, 0.0), "semantic": (0.11, 0.0, 14.0, 0.15)}
"""q̄, m, V and θ from which each solution is sought, at σ = 0.5."""
MIXED = 0.25
"""The share of a step that is taken: whole steps of the positional solution swing."""


@dataclass(frozen=True)
class FixedPoint:
    """Overlaps of a solution, its training loss (λ ‖q‖²/2 and the loss of all texts, over d) and its error
    E‖y − ŷ‖²/d; ``residual`` is how far the last step moved."""

    q: float
    m: float
    variance: float
    theta: float
    loss: float
    error: float
    residual: float

    @property
    def overlaps(self) -> tuple[float, float, float, float]:
        """q̄, m, V and θ."""
        return self.q, self.m, self.variance, self.theta


@cache
def normal_points(power: int) -> Float[np.ndarray, "n four"]:
    """2^power points of a scrambled Sobol sequence, as standard normal ξ_1, ξ_2, ζ_1, ζ_2."""
    points = qmc.Sobol(4, seed=0).random_base2(power)
    return np.asarray(ndtri(np.clip(points, 1e-12, 1 - 1e-12)))


def unexplained(q: float, theta: float, settings: TransitionSettings) -> float:
    """√(σ² − θ²/q̄): what the scores of a text do not say of the target's."""
    return float(np.sqrt(max(settings.sigma**2 - theta**2 / q, 1e-12)))


def scores_of(
    overlaps: tuple[float, float, float, float], settings: TransitionSettings, power: int
) -> tuple[np.ndarray, np.ndarray]:
    """√q̄ ξ ± m, and the target's scores."""
    q, m, _, theta = overlaps
    points = normal_points(power)
    rest = unexplained(q, theta, settings)
    center = np.sqrt(q) * points[:, :2] + m * np.array([1.0, -1.0])
    return center, theta / np.sqrt(q) * points[:, :2] + rest * points[:, 2:]


def step(
    alpha: float, overlaps: tuple[float, float, float, float], settings: TransitionSettings, power: int
) -> tuple[tuple[float, float, float, float], float]:
    """The overlaps after one iteration, and the training loss."""
    q, _, variance, theta = overlaps
    points, sigma, decay = normal_points(power), settings.sigma, settings.weight_decay
    center, teacher = scores_of(overlaps, settings, power)
    target = target_weights(teacher, settings)
    h = proximal(center, variance, target, sigma, (teacher, -teacher))
    force = (h - center) / variance
    rest = unexplained(q, theta, settings)
    q_hat = alpha * (force**2).sum(axis=1).mean()
    m_hat = alpha * (force[:, 0] - force[:, 1]).mean()
    theta_hat = alpha * (force * points[:, 2:]).sum(axis=1).mean() / rest
    # By Stein's lemma, which also holds where the proximal operator jumps.
    v_hat = (
        -alpha * ((force - force.mean(axis=0)) * points[:, :2]).sum(axis=1).mean() / np.sqrt(q)
        + theta * theta_hat / q
    )
    scale = 1 / max(decay + sigma**2 * v_hat, 1e-3 * decay)
    after = (
        sigma**2 * (sigma**2 * q_hat + m_hat**2 + sigma**4 * theta_hat**2) * scale**2,
        m_hat * scale,
        sigma**2 * scale,
        sigma**4 * theta_hat * scale,
    )
    loss = decay * q / (2 * sigma**2) + alpha * text_loss(h, target, sigma).mean()
    return after, float(loss)


def solve(
    alpha: float,
    start: str,
    settings: TransitionSettings,
    *,
    power: int = 11,
    tolerance: float = 1e-4,
    most_steps: int = 150,
) -> FixedPoint:
    """The solution of one kind: "positional" (θ = 0) or "semantic" (m = 0).

    Both are closed under the iteration by the symmetry of the loss, ℓ(−h) = ℓ(h), so that the overlap that is
    0 is kept at 0, whatever the rounding.

    Raises:
        InputError: if α is not above 0, or the kind is unknown.
    """
    if not 0 < alpha < np.inf:
        raise InputError(f"alpha is {alpha:g}: give a number above 0")
    if start not in STARTS:
        raise InputError(f"start is {start!r}: give one of {', '.join(STARTS)}")
    size = (settings.sigma / 0.5) ** 2
    q, m, variance, theta = STARTS[start]
    overlaps = (q * size, m, variance, theta * size)
    kept = np.array([1.0, start == "positional", 1.0, start == "semantic"])
    residual, loss = np.inf, 0.0
    for _ in range(most_steps):
        after, loss = step(alpha, overlaps, settings, power)
        after = (max(after[0], 1e-12), *(kept[1:] * after[1:]))
        residual = max(abs(after[place] - overlaps[place]) for place in (0, 1, 3))
        residual = max(residual, abs(after[2] - overlaps[2]) / max(overlaps[2], 1e-12) / 10)
        mixed = [float(old + MIXED * (new - old)) for old, new in zip(overlaps, after, strict=True)]
        overlaps = (mixed[0], mixed[1], mixed[2], mixed[3])
        if residual < tolerance:
            break
    return FixedPoint(*overlaps, loss, generalisation_error(overlaps, settings, power), float(residual))


def generalisation_error(
    overlaps: tuple[float, float, float, float], settings: TransitionSettings, power: int
) -> float:
    """E‖y − ŷ‖²/d of a new text: σ² E‖S − T‖²."""
    h, teacher = scores_of(overlaps, settings, power)
    return float(2 * text_loss(h, target_weights(teacher, settings), settings.sigma).mean())


def linear_error(settings: TransitionSettings, power: int = 14) -> float:
    """The error of the best fixed attention, ŷ = E[T] z: σ² E‖T − E T‖²."""
    target = target_weights(settings.sigma * normal_points(power)[:, :2], settings)
    return float(2 * settings.sigma**2 * target.var(axis=0).sum())


def loss_difference(alpha: float, settings: TransitionSettings, power: int = 11) -> float:
    """Training loss of the semantic solution minus that of the positional one."""
    semantic, positional = (
        solve(alpha, start, settings, power=power) for start in ("semantic", "positional")
    )
    return semantic.loss - positional.loss


def critical_alpha(
    settings: TransitionSettings, between: tuple[float, float], *, power: int = 11, width: float = 0.01
) -> float | None:
    """α_c, from which on the semantic solution has the lower training loss; None if it is not in between."""
    difference = cache(lambda alpha: loss_difference(alpha, settings, power))  # the search begins at the ends
    if difference(between[0]) <= 0 or difference(between[1]) >= 0:
        return None
    return float(brentq(difference, *between, xtol=width))
