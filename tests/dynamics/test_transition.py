"""The solvable model: the theory is what is measured, and its parts are what slow, obvious code says."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize
from scipy.special import softmax

from glasshead.dynamics.solvable.loss import TransitionSettings, loss_slopes, target_weights, text_loss
from glasshead.dynamics.solvable.proximal import moreau, proximal
from glasshead.dynamics.solvable.simulation import draw_texts, empirical_loss, train_from
from glasshead.dynamics.solvable.state_evolution import critical_alpha, linear_error, solve
from glasshead.errors import InputError
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


def test_much_decay_leaves_nothing():
    strong = TransitionSettings(weight_decay=50.0)
    for start in ("positional", "semantic"):
        found = solve(1.0, start, strong)
        assert abs(found.m) + abs(found.theta) < 0.01
        # Uniform weights remain: every weight is ½, and the loss is that of the target around ½.
        assert found.loss == pytest.approx(found.error / 2, rel=0.02)


def test_what_the_target_reads_decides():
    assert (
        solve(2.0, "semantic", TransitionSettings(omega=0.0)).loss
        < solve(2.0, "positional", TransitionSettings(omega=0.0)).loss
    )
    places = TransitionSettings(omega=1.0)
    assert linear_error(places) == pytest.approx(0.0)
    assert solve(2.0, "positional", places).loss < solve(2.0, "semantic", places).loss


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
