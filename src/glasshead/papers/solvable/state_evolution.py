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

from glasshead.errors import InputError
from glasshead.papers.solvable.loss import TransitionSettings, target_weights, text_loss
from glasshead.papers.solvable.proximal import ambiguous, newton_minima, proximal

Floats = Float[np.ndarray, "..."]

STARTS = {"positional": (0.05, 0.25, 14.0, 0.0), "semantic": (0.11, 0.0, 14.0, 0.15)}
"""q̄, m, V and θ from which each solution is sought, at σ = 0.5."""
SMALLEST = 1e-3
"""Of q̄ / σ²: below it a step is measured as if q̄ were there, so that a solution may vanish."""
MIXED = 0.25
"""The share of a plain step that is taken: whole steps of the positional solution swing."""
REMEMBERED = 3
"""Steps from which is extrapolated."""


@dataclass(frozen=True)
class FixedPoint:
    """Overlaps of a solution, its training loss (λ ‖q‖²/2 and the loss of all texts, over d) and its error
    E‖y − ŷ‖²/d.

    ``residual`` is the size of one more step, relative to scores and V, ``converged`` whether that is
    within the tolerance. ``ambiguous`` is the share of texts whose scores could be trained to a second
    minimum: the equations take the lowest one, trainings the one near their start.
    """

    q: float
    m: float
    variance: float
    theta: float
    loss: float
    error: float
    residual: float
    converged: bool
    ambiguous: float

    @property
    def overlaps(self) -> tuple[float, float, float, float]:
        """q̄, m, V and θ."""
        return self.q, self.m, self.variance, self.theta


@cache
def normal_points(power: int) -> Float[np.ndarray, "n four"]:
    """2^power standard normal ξ_1, ξ_2, ζ_1, ζ_2: scrambled Sobol points, and the same with −ξ.

    Without the second half m̂ and θ̂ are not 0 where m and θ are: noise holds up overlaps that are not there.
    """
    points = ndtri(np.clip(qmc.Sobol(4, seed=0).random_base2(power - 1), 1e-12, 1 - 1e-12))
    return np.concatenate([points, points * [-1, -1, 1, 1]])


def residual_spread(q: float, theta: float, settings: TransitionSettings) -> float:
    """√(σ² − θ²/q̄): what the scores of a text do not say of the target's."""
    return float(np.sqrt(max(settings.sigma**2 - theta**2 / q, 1e-12)))


def gaussian_scores(
    overlaps: tuple[float, float, float, float], settings: TransitionSettings, power: int
) -> tuple[np.ndarray, np.ndarray]:
    """√q̄ ξ ± m, and the target's scores."""
    q, m, _, theta = overlaps
    points = normal_points(power)
    rest = residual_spread(q, theta, settings)
    center = np.sqrt(q) * points[:, :2] + m * np.array([1.0, -1.0])
    return center, theta / np.sqrt(q) * points[:, :2] + rest * points[:, 2:]


def step(
    alpha: float, overlaps: tuple[float, float, float, float], settings: TransitionSettings, power: int
) -> tuple[tuple[float, float, float, float], float]:
    """The overlaps after one iteration, and the training loss."""
    q, _, variance, theta = overlaps
    points, sigma, decay = normal_points(power), settings.sigma, settings.weight_decay
    center, teacher = gaussian_scores(overlaps, settings, power)
    target = target_weights(teacher, settings)
    h = proximal(center, variance, target, sigma, (teacher, -teacher))
    force = (h - center) / variance
    rest = residual_spread(q, theta, settings)
    q_hat = alpha * (force**2).sum(axis=1).mean()
    m_hat = alpha * (force[:, 0] - force[:, 1]).mean()
    theta_hat = alpha * (force * points[:, 2:]).sum(axis=1).mean() / rest
    # By Stein's lemma, which also holds where the proximal operator jumps.
    v_hat = -alpha * (force * points[:, :2]).sum(axis=1).mean() / np.sqrt(q) + theta * theta_hat / q
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

    The iteration preserves both kinds, by the symmetry of the loss, ℓ(−h) = ℓ(h), so the overlap that is 0
    is set to 0 despite rounding. The point with the smallest residual is returned.

    Raises:
        InputError: if α is not above 0, or the kind is unknown.
    """
    if not 0 < alpha < np.inf:
        raise InputError(f"alpha is {alpha:g}: give a number above 0")
    if start not in STARTS:
        raise InputError(f"start is {start!r}: give one of {', '.join(STARTS)}")
    sigma, size = settings.sigma, (settings.sigma / 0.5) ** 2
    q, m, variance, theta = STARTS[start]
    place = place_of((q * size, m, variance, theta * size), start, sigma)
    places, moves = [place], []
    best, before, overlaps, loss = np.inf, np.inf, overlaps_at(place, start, sigma), 0.0
    for _ in range(most_steps):
        moved = overlaps_at(place, start, sigma)
        after, value = step(alpha, moved, settings, power)
        moves.append(place_of(after, start, sigma) - place)
        residual = float(np.abs(moves[-1] / move_units(place, sigma)).max())
        if residual < best:
            best, overlaps, loss = residual, moved, value
        if residual < tolerance:
            break
        if residual > 2 * before:
            places, moves = places[-1:], moves[-1:]
        before = residual
        place = extrapolate(places, moves)
        while too_far(place, places[-1], start):
            place = (place + places[-1]) / 2
        places.append(place)
    error = generalisation_error(overlaps, settings, power)
    share = ambiguous_share(overlaps, settings, power)
    return FixedPoint(*overlaps, loss, error, best, best < tolerance, share)


def place_of(overlaps: tuple[float, float, float, float], start: str, sigma: float) -> Floats:
    """√q̄, the overlap of the kind as a score (m or θ / σ), and log V."""
    q, m, variance, theta = overlaps
    return np.array([np.sqrt(q), m if start == "positional" else theta / sigma, np.log(variance)])


def overlaps_at(place: Floats, start: str, sigma: float) -> tuple[float, float, float, float]:
    """The inverse of `place_of`."""
    root, overlap, variance = (float(value) for value in place)
    m, theta = (overlap, 0.0) if start == "positional" else (0.0, sigma * overlap)
    return root**2, m, float(np.exp(variance)), theta


def move_units(place: Floats, sigma: float) -> Floats:
    """The units in which a move is measured: scores in √q̄, log V in 1."""
    score = max(float(place[0]), float(np.sqrt(SMALLEST)) * sigma)
    return np.array([score, score, 1.0])


def too_far(place: Floats, before: Floats, start: str) -> bool:
    """Whether an extrapolation may have left what the equations are good for."""
    shrunk = place[0] <= before[0] / 3 or abs(place[2] - before[2]) > 1
    return bool(shrunk or (start == "semantic" and abs(place[1]) > 0.99 * place[0]))


def generalisation_error(
    overlaps: tuple[float, float, float, float], settings: TransitionSettings, power: int
) -> float:
    """E‖y − ŷ‖²/d of a new text: σ² E‖S − T‖²."""
    h, teacher = gaussian_scores(overlaps, settings, power)
    return float(2 * text_loss(h, target_weights(teacher, settings), settings.sigma).mean())


def ambiguous_share(
    overlaps: tuple[float, float, float, float], settings: TransitionSettings, power: int
) -> float:
    """The share of texts whose loss, with the pull of all others, has a second minimum."""
    center, teacher = gaussian_scores(overlaps, settings, power)
    target, variance, sigma = target_weights(teacher, settings), overlaps[2], settings.sigma
    ends = newton_minima(center, variance, target, sigma, (teacher, -teacher))
    return ambiguous(ends, center, variance, target, sigma)


def linear_error(settings: TransitionSettings, power: int = 14) -> float:
    """The error of the best fixed attention, ŷ = E[T] z: σ² E‖T − E T‖²."""
    target = target_weights(settings.sigma * normal_points(power)[:, :2], settings)
    return float(2 * settings.sigma**2 * target.var(axis=0).sum())


def loss_difference(alpha: float, settings: TransitionSettings, power: int = 11) -> float:
    """Training loss of the semantic solution minus that of the positional one.

    Raises:
        ArithmeticError: if one of them did not converge.
    """
    semantic, positional = (
        solve(alpha, start, settings, power=power) for start in ("semantic", "positional")
    )
    if not (semantic.converged and positional.converged):
        raise ArithmeticError(f"a fixed point at alpha {alpha:g} did not converge")
    return semantic.loss - positional.loss


def critical_alpha(
    settings: TransitionSettings, between: tuple[float, float], *, power: int = 11, width: float = 0.01
) -> float | None:
    """α_c, above which the semantic solution has the lower training loss; None if it is outside the range,
    or a fixed point did not converge."""
    difference = cache(lambda alpha: loss_difference(alpha, settings, power))  # the search begins at the ends
    try:
        if difference(between[0]) <= 0 or difference(between[1]) >= 0:
            return None
        return float(brentq(difference, *between, xtol=width))
    except ArithmeticError:
        return None


def extrapolate(places: list[Floats], moves: list[Floats]) -> Floats:
    """The next place by Anderson's method, from the last places x_k and their moves g(x_k) − x_k: a plain
    step from the combination of places that would move least.

    Where plain steps swing, or creep near a transition, it needs a tenth of them.

    Source: Anderson (1965), "Iterative procedures for nonlinear integral equations".
    """
    recent, last = (np.array(values[-REMEMBERED - 1 :]) for values in (places, moves))
    plain = recent[-1] + MIXED * last[-1]
    if len(last) == 1:
        return plain
    turned, bent = np.diff(recent, axis=0).T, np.diff(last, axis=0).T
    weights = np.linalg.lstsq(bent, last[-1], rcond=1e-6)[0]
    return np.asarray(plain - (turned + MIXED * bent) @ weights)
