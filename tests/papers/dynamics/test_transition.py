"""The solvable model: the theory is what is measured, and its parts are what slow, obvious code says."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize
from scipy.special import softmax

from glasshead.errors import InputError
from glasshead.papers.solvable.loss import RANGES, TransitionSettings, loss_slopes, target_weights, text_loss
from glasshead.papers.solvable.proximal import ambiguous, moreau, newton_minima, proximal
from glasshead.papers.solvable.simulation import draw_texts, empirical_loss, train_from
from glasshead.papers.solvable.state_evolution import critical_alpha, linear_error, normal_points, solve, step
from glasshead.statistics import prediction_interval

SETTINGS = TransitionSettings()


def some(n, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(0, 0.5, (n, 2)), target_weights(rng.normal(0, 0.5, (n, 2)), SETTINGS)


def test_loss_is_that_of_two_softmaxes():
    h, target = some(20)
    weights = softmax(h[:, :, None] * h[:, None], axis=-1)
    wanted = np.stack([target, 1 - target], -1)
    assert text_loss(h, target, 0.5) == pytest.approx(0.125 * ((weights - wanted) ** 2).sum((1, 2)))
    assert text_loss(-h, target, 0.5) == pytest.approx(text_loss(h, target, 0.5))


def test_slopes_by_differences():
    h, target = some(5)
    gradient, hessian = loss_slopes(h, target, 0.5)
    for place in range(5):
        one = slice(place, place + 1)
        value = lambda x, one=one: float(text_loss(x[None], target[one], 0.5)[0])  # noqa: E731
        slope = lambda x, one=one: loss_slopes(x[None], target[one], 0.5)[0][0]  # noqa: E731
        assert gradient[place] == pytest.approx(approx_fprime(h[place], value, 1e-7), abs=1e-6)
        assert hessian[place] == pytest.approx(approx_fprime(h[place], slope, 1e-7), abs=1e-5)


@pytest.mark.parametrize("variance", [1.0, 12.0, 25.0])
def test_the_proximal_operator_is_the_lowest_of_many_searches(variance):
    center, target = some(12, seed=3)
    fast = moreau(proximal(center, variance, target, 0.5), center, variance, target, 0.5)
    rng = np.random.default_rng(1)
    for place in range(12):
        one = slice(place, place + 1)
        value = lambda x, one=one: float(moreau(x[None], center[one], variance, target[one], 0.5)[0])  # noqa: E731
        slow = min(minimize(value, center[place] + rng.normal(0, 1, 2)).fun for _ in range(20))
        assert fast[place] <= slow + 1e-7


@pytest.mark.parametrize(("variance", "several"), [(30.0, True), (12.0, False)])
def test_a_second_minimum_needs_a_weak_pull(variance, several):
    center, target = some(200, seed=3)
    center = center / 3
    ends = newton_minima(center, variance, target, 0.5)
    assert (ambiguous(ends, center, variance, target, 0.5) > 0.02) == several


def slow_step(alpha, overlaps, settings, power):
    """The equations as they stand in the module, a text at a time, by a general minimiser."""
    (q, m, variance, theta), sigma = overlaps, settings.sigma
    rest = np.sqrt(sigma**2 - theta**2 / q)
    rng = np.random.default_rng(0)
    hats = []
    for point in normal_points(power):
        xi, zeta = point[:2], point[2:]
        center = np.sqrt(q) * xi + m * np.array([1, -1])
        target = target_weights((theta / np.sqrt(q) * xi + rest * zeta)[None], settings)
        value = lambda h, c=center, t=target: float(moreau(h[None], c[None], variance, t, sigma)[0])  # noqa: E731
        tried = [minimize(value, center + rng.normal(0, 0.5, 2), options={"gtol": 1e-9}) for _ in range(8)]
        f = (min(tried, key=lambda found: found.fun).x - center) / variance
        hats.append([f @ f, f[0] - f[1], -f @ xi / np.sqrt(q), f @ zeta / rest])
    q_hat, m_hat, v_hat, theta_hat = alpha * np.mean(hats, axis=0)
    v_hat += theta * theta_hat / q
    v = sigma**2 / (settings.weight_decay + sigma**2 * v_hat)
    size = sigma**2 * q_hat + m_hat**2 + sigma**4 * theta_hat**2
    return size * v**2 / sigma**2, m_hat * v / sigma**2, v, sigma**2 * theta_hat * v


@pytest.mark.parametrize(
    "overlaps", [(0.05, 0.25, 15.0, 0.0), (0.1, 0.0, 15.0, 0.14), (0.045, 0.0, 30.0, 0.02)]
)
def test_one_step_is_that_of_slow_code(overlaps):
    assert step(1.0, overlaps, SETTINGS, 5)[0] == pytest.approx(
        slow_step(1.0, overlaps, SETTINGS, 5), rel=1e-4, abs=1e-6
    )


def test_nothing_is_held_up_by_the_points():
    overlaps, _ = step(0.6, (0.045, 0.0, 30.0, 0.0), SETTINGS, 8)
    assert overlaps[1] == pytest.approx(0, abs=1e-9)
    assert overlaps[3] == pytest.approx(0, abs=1e-9)
    assert abs(solve(0.4, "semantic", SETTINGS, power=9).theta) < 1e-3  # of 0.15 where it began


def test_gradient_of_the_trained_loss():
    rng = np.random.default_rng(0)
    teacher, q = rng.normal(size=(2, 7))
    texts = draw_texts(5, teacher, SETTINGS, rng)
    loss, gradient = empirical_loss(q, texts)
    assert gradient == pytest.approx(approx_fprime(q, lambda q: empirical_loss(q, texts)[0], 1e-7), abs=1e-5)
    assert loss > 0


@pytest.mark.parametrize(("start", "overlap"), [("semantic", "theta"), ("positional", "m")])
def test_theory_is_within_the_interval_of_new_trainings(start, overlap):
    theory = solve(1.5, start, SETTINGS)
    runs = [train_from(start, 1.5, 400, SETTINGS, seed) for seed in range(6)]
    for name in (overlap, "loss"):
        low, high = prediction_interval(np.array([getattr(run, name) for run in runs]))
        assert low < getattr(theory, name) < high
    assert getattr(theory, {"m": "theta", "theta": "m"}[overlap]) == 0


def test_a_solution_that_did_not_converge_says_so():
    short = solve(1.0, "semantic", SETTINGS, power=8, most_steps=3)
    assert not short.converged
    assert short.residual > 1e-4


@pytest.mark.parametrize(("unsure", "crossing"), [(None, 1.5), ("semantic", None), ("positional", None)])
def test_a_crossing_between_unsure_solutions_is_not_claimed(monkeypatch, unsure, crossing):
    def made(alpha, start, settings, *, power):
        loss = 1.5 - alpha if start == "semantic" else 0.0
        return replace(known, loss=loss, converged=start != unsure)

    known = solve(1.0, "semantic", SETTINGS, power=4, most_steps=1)
    monkeypatch.setattr("glasshead.papers.solvable.state_evolution.solve", made)
    assert critical_alpha(SETTINGS, (1.0, 2.5), width=1e-6) == pytest.approx(crossing, abs=1e-5)


def test_the_tolerance_is_that_of_small_tokens_too():
    small = TransitionSettings(sigma=0.05, weight_decay=1e-4)
    loose, tight = (solve(2.0, "positional", small, power=9, tolerance=size) for size in (1e-4, 1e-8))
    assert loose.converged
    assert loose.m == pytest.approx(tight.m, rel=1e-3)
    assert loose.q == pytest.approx(tight.q, rel=1e-2)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("start", ["positional", "semantic"])
def test_the_corners_of_the_ranges_are_quiet(start):
    names = list(RANGES)
    for corner in product(*RANGES.values()):
        found = solve(
            0.5, start, TransitionSettings(**dict(zip(names, corner, strict=True))), power=4, most_steps=15
        )
        assert all(np.isfinite([found.q, found.m, found.variance, found.theta, found.loss, found.error]))


def test_much_decay_leaves_nothing():
    strong = TransitionSettings(weight_decay=10.0)
    for start in ("positional", "semantic"):
        found = solve(1.0, start, strong, power=9)
        assert abs(found.m) + abs(found.theta) < 0.01
        # Uniform weights remain: every weight is ½, and the loss is that of the target around ½.
        assert found.loss == pytest.approx(found.error / 2, rel=0.02)


def test_what_the_target_reads_decides():
    def loss(start, settings):
        return solve(2.0, start, settings, power=9).loss

    tokens, places = TransitionSettings(omega=0.0), TransitionSettings(omega=1.0)
    assert loss("semantic", tokens) < loss("positional", tokens)
    assert linear_error(places) == pytest.approx(0.0)
    assert loss("positional", places) < loss("semantic", places)


@pytest.mark.slow
def test_the_transition_is_where_the_paper_has_it():
    assert critical_alpha(SETTINGS, (0.9, 1.7)) == pytest.approx(1.24, abs=0.06)


@pytest.mark.parametrize(
    "wrong", [{"omega": 1.5}, {"omega": float("nan")}, {"sigma": 0}, {"weight_decay": -1}]
)
def test_bad_settings(wrong):
    with pytest.raises(InputError):
        TransitionSettings(**wrong)


def test_bad_places():
    for call in (lambda: solve(0, "semantic", SETTINGS), lambda: solve(1, "both", SETTINGS)):
        with pytest.raises(InputError):
            call()
    for start, alpha, d in (("both", 1, 10), ("semantic", 0.01, 10), ("semantic", 1, 1)):
        with pytest.raises(InputError):
            train_from(start, alpha, d, SETTINGS, 0)
