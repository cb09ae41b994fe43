"""The proximal operator of the loss of one text: what its scores become once it is trained on.

h(c) = argmin_h Σ_l (h_l − c_l)² / (2 V) + ℓ(h, t)

ℓ is not convex, so that Newton's method starts from several points, and the lowest end is kept.
"""

import numpy as np
from jaxtyping import Float

from glasshead.dynamics.solvable.loss import loss_slopes, text_loss

STEPS = 40
TOLERANCE = 1e-9
REACH = (0.3, 1.2)
"""Besides c, the scores of the target and 0, starts lie this far from c along (1, −1), on either side."""


def proximal(
    center: Float[np.ndarray, "n two"],
    variance: float,
    target: Float[np.ndarray, "n two"],
    sigma: float,
    starts: tuple[Float[np.ndarray, "n two"], ...] = (),
) -> Float[np.ndarray, "n two"]:
    """The global minimiser, for each text."""
    apart = np.array([1.0, -1.0])
    near = [center + sign * reach * apart for reach in REACH for sign in (1, -1)]
    best, lowest = center, np.full(len(center), np.inf)
    for start in (center, np.zeros_like(center) + 0.01 * apart, *near, *starts):
        found = newton(start, center, variance, target, sigma)
        value = moreau(found, center, variance, target, sigma)
        better = value < lowest - 1e-12
        best, lowest = np.where(better[:, None], found, best), np.where(better, value, lowest)
    return best


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
    for _ in range(STEPS):
        here, mid, goal = h[active], center[active], target[active]
        gradient, hessian = loss_slopes(here, goal, sigma)
        gradient = gradient + (here - mid) / variance
        moving = np.abs(gradient).max(axis=1, initial=0) > TOLERANCE
        active = active[moving]
        if not len(active):
            break
        here, mid, goal, gradient = here[moving], mid[moving], goal[moving], gradient[moving]
        step = convex_step(hessian[moving] + np.eye(2) / variance, gradient, floor=0.05 / variance)
        value = moreau(here, mid, variance, goal, sigma)
        size = np.ones(len(active))
        for _ in range(12):
            worse = moreau(here - size[:, None] * step, mid, variance, goal, sigma) > value + 1e-15
            if not worse.any():
                break
            size[worse] /= 2
        size[worse] = 0.0
        h[active] = here - size[:, None] * step
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
