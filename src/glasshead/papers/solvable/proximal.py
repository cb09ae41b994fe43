"""The proximal operator of the loss of one text: what its scores become once it is trained on.

h(c) = argmin_h Σ_l (h_l − c_l)² / (2 V) + ℓ(h, t)

ℓ is not convex, so that Newton's method starts from several points, and the lowest end is kept.
"""

from functools import cache

import numpy as np
from jaxtyping import Float

from glasshead.papers.solvable.loss import loss_slopes, text_loss

NEWTON_STEPS = 40
NEWTON_TOLERANCE = 1e-9
DISC_POINTS = 128
DISC_STARTS = 3


def proximal(
    center: Float[np.ndarray, "n two"],
    variance: float,
    target: Float[np.ndarray, "n two"],
    sigma: float,
    starts: tuple[Float[np.ndarray, "n two"], ...] = (),
) -> Float[np.ndarray, "n two"]:
    """The global minimiser, for each text."""
    ends = newton_minima(center, variance, target, sigma, starts)
    return lowest(ends, center, variance, target, sigma)


def newton_minima(
    center: Float[np.ndarray, "n two"],
    variance: float,
    target: Float[np.ndarray, "n two"],
    sigma: float,
    starts: tuple[Float[np.ndarray, "n two"], ...] = (),
) -> Float[np.ndarray, "k n two"]:
    """Where Newton's method ends: from c, its parts, where tokens are alike, starts, and the lowest points
    of a disc."""
    alike = np.repeat(center.mean(axis=1, keepdims=True), 2, axis=1)
    two_ends = np.array([0.1, -0.1])
    begun = (center, center * [1, 0], center * [0, 1], alike + two_ends, alike - two_ends, *starts)
    ends = [newton(start, center, variance, target, sigma) for start in begun]
    within = lowest(np.stack(ends), center, variance, target, sigma)
    # What is lower than a value v is no further from c than √(2 V v).
    radius = np.sqrt(2 * variance * moreau(within, center, variance, target, sigma))
    points = center + radius[:, None] * disc()[:, None]  # [points, n, 2]
    values = moreau(points, center, variance, target, sigma)
    order = np.argpartition(values, DISC_STARTS, axis=0)[:DISC_STARTS]
    chosen = np.take_along_axis(points, order[..., None], axis=0)
    return np.stack(ends + [newton(start, center, variance, target, sigma) for start in chosen])


def lowest(
    ends: Float[np.ndarray, "k n two"], center: np.ndarray, variance: float, target: np.ndarray, sigma: float
) -> Float[np.ndarray, "n two"]:
    """The end with the lowest value, for each text; among equals the first."""
    values = moreau(ends, center, variance, target, sigma)
    first = (values < values.min(axis=0) + 1e-12).argmax(axis=0)
    return np.take_along_axis(ends, first[None, :, None], axis=0)[0]


def ambiguous(
    ends: Float[np.ndarray, "k n two"], center: np.ndarray, variance: float, target: np.ndarray, sigma: float
) -> float:
    """The share of texts with a second minimum."""
    best = lowest(ends, center, variance, target, sigma)
    other = np.zeros(len(center), dtype=bool)
    for end in ends:
        slope, hessian = loss_slopes(end, target, sigma)
        still = np.abs(slope + (end - center) / variance).max(axis=1) < 1e-6 * max(1.0, sigma**2)
        bowl = np.linalg.eigvalsh(hessian + np.eye(2) / variance)[:, 0] > 0
        other |= still & bowl & (np.abs(end - best).max(axis=1) > 1e-3 * sigma)
    return float(other.mean())


@cache
def disc() -> Float[np.ndarray, "points two"]:
    """Points that cover the unit disc evenly, as the seeds of a sunflower."""
    place = np.arange(DISC_POINTS) + 0.5
    angle = place * np.pi * (3 - np.sqrt(5))
    return np.sqrt(place / DISC_POINTS)[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def moreau(
    h: np.ndarray, center: np.ndarray, variance: float, target: np.ndarray, sigma: float
) -> np.ndarray:
    """Σ_l (h_l − c_l)² / (2 V) + ℓ(h, t)."""
    return ((h - center) ** 2).sum(axis=-1) / (2 * variance) + text_loss(h, target, sigma)


def newton(
    start: np.ndarray, center: np.ndarray, variance: float, target: np.ndarray, sigma: float
) -> np.ndarray:
    """A local minimum near each start: Newton steps, made convex, and halved until they descend."""
    h = np.array(start, dtype=float)
    active = np.arange(len(h))
    for _ in range(NEWTON_STEPS):
        state, mid, goal = h[active], center[active], target[active]
        gradient, hessian = loss_slopes(state, goal, sigma)
        gradient = gradient + (state - mid) / variance
        moving = np.abs(gradient).max(axis=1, initial=0) > NEWTON_TOLERANCE
        active = active[moving]
        if not len(active):
            break
        state, mid, goal, gradient = state[moving], mid[moving], goal[moving], gradient[moving]
        step = convex_step(hessian[moving] + np.eye(2) / variance, gradient, floor=0.05 / variance)
        value = moreau(state, mid, variance, goal, sigma)
        size = np.ones(len(active))
        for _ in range(12):
            worse = moreau(state - size[:, None] * step, mid, variance, goal, sigma) > value + 1e-15
            if not worse.any():
                break
            size[worse] /= 2
        size[worse] = 0.0
        h[active] = state - size[:, None] * step
        active = active[size > 0]
    return h


def convex_step(hessian: np.ndarray, gradient: np.ndarray, floor: float) -> np.ndarray:
    """|H|⁻¹ g, with the eigenvalues of H replaced by their sizes, at least the floor."""
    mean = (hessian[:, 0, 0] + hessian[:, 1, 1]) / 2
    half = (hessian[:, 0, 0] - hessian[:, 1, 1]) / 2
    cross = hessian[:, 0, 1]
    radius = np.hypot(half, cross) + 1e-300
    low, high = (np.maximum(np.abs(mean + sign * radius), floor) for sign in (-1, 1))
    # the projector on the upper eigenvector is (I + R) / 2 with R = [[half, cross], [cross, −half]] / radius
    turned = (
        np.stack(
            [half * gradient[:, 0] + cross * gradient[:, 1], cross * gradient[:, 0] - half * gradient[:, 1]],
            axis=1,
        )
        / radius[:, None]
    )
    return (gradient + turned) / (2 * high[:, None]) + (gradient - turned) / (2 * low[:, None])
