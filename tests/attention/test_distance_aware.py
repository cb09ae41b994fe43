"""The mappings of distance-aware attention, requirement by requirement, and what the adjustments do."""

import itertools

import numpy as np
import pytest
import torch

from glasshead.attention import HeadSizes, Mask, attend, mechanism
from glasshead.attention.distance_coefficient_table import coefficients
from glasshead.attention.positions.distance_aware import DistanceAware
from glasshead.attention.positions.distance_mappings import MAPPINGS, learnable_sigmoid
from glasshead.errors import InputError

R = torch.linspace(-60, 60, 1201, dtype=torch.float64)
VALUES = torch.tensor([-3.0, -0.5, 0.0, 1.0, 4.0], dtype=torch.float64)


def curves(name):
    """f over R for several values of its learned parameters."""
    mapping = MAPPINGS[name]
    for values in itertools.product(VALUES, repeat=len(mapping.learned)):
        learned = dict(zip(mapping.learned, values, strict=True))
        yield lambda weighted, learned=learned: mapping.function(weighted, **learned, **mapping.fixed)


@pytest.mark.parametrize("name", list(MAPPINGS))
def test_the_five_requirements_and_the_sign_are_as_declared(name):
    """Each is measured for R in ±60 and for every choice of learned parameters.

    Tunable: some parameter that is learned changes the largest f.
    """
    mapping, found = MAPPINGS[name], list(curves(name))
    zero, far = torch.zeros((), dtype=torch.float64), torch.tensor([-60.0, 60.0, 120.0], dtype=torch.float64)
    assert mapping.one_at_zero == all(abs(f(zero) - 1) < 1e-12 for f in found)
    assert mapping.vanishes == all(abs(f(far)[0]) < 1e-12 for f in found)
    assert mapping.bounded == all(abs(f(far)[2] - f(far)[1]) < 1e-12 for f in found)
    assert mapping.tunable == (len({round(float(f(far)[1]), 9) for f in found}) > 1)
    assert mapping.monotone == all((s := f(R).diff()).ge(0).all() or s.le(0).all() for f in found)
    assert mapping.nonnegative == all((f(R) >= 0).all() for f in found)


def test_only_the_learnable_sigmoid_meets_all_five():
    five = ("one_at_zero", "vanishes", "bounded", "tunable", "monotone")
    assert [name for name, each in MAPPINGS.items() if all(getattr(each, fact) for fact in five)] == [
        "learnable-sigmoid"
    ]


def test_the_learnable_sigmoid_is_equation_5():
    v = VALUES[:, None]
    weighted = torch.linspace(-30, 30, 61, dtype=torch.float64)
    expected = (1 + v.exp()) / (1 + (v - weighted).exp())
    torch.testing.assert_close(learnable_sigmoid(weighted, v=v), expected, rtol=1e-12, atol=0)
    # At v = 0 the paper calls it identical to the standard sigmoid, but for a factor of 2.
    zero = torch.zeros((), dtype=torch.float64)
    torch.testing.assert_close(learnable_sigmoid(weighted, v=zero), 2 * torch.sigmoid(weighted))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_learnable_sigmoid_never_overflows(dtype):
    weighted = torch.tensor([-1e5, -50.0, 0.0, 50.0, 1e5], dtype=dtype, requires_grad=True)
    for value in (-50.0, 0.0, 50.0):
        v = torch.tensor(value, dtype=dtype, requires_grad=True)
        f = learnable_sigmoid(weighted, v=v)
        gradients = torch.autograd.grad(f.sum(), (weighted, v))
        assert all(torch.isfinite(each).all() for each in (f, *gradients))
        assert f[0] == 0
        assert f[2] == 1
        torch.testing.assert_close(f[4], 1 + v.exp(), rtol=1e-5 if dtype == torch.float32 else 1e-12, atol=0)


def test_extreme_distances_in_attention_stay_finite():
    using = mechanism("distance-aware", num_heads=3, head_dim=4)
    with torch.no_grad():
        using.position.w.copy_(torch.tensor([1e5, -1e5, 1.0]))
        using.position.v.copy_(torch.tensor([50.0, -50.0, 50.0]))
    q, k, v = torch.randn(3, 2, 3, 9, 4, generator=torch.Generator().manual_seed(0))
    output = attend(using, q.requires_grad_(), k, v, kernel="reference").output
    output.square().sum().backward()
    assert torch.isfinite(output).all()
    for each in (q, using.position.w, using.position.v):
        assert torch.isfinite(each.grad).all()


def test_half_precision_still_counts_every_token():
    position = DistanceAware(HeadSizes(1, 2, 2), mapping="linear", adjust="early-add").bfloat16()
    with torch.no_grad():
        position.w.fill_(2.0**-10)
    zeros = torch.zeros(1, 1, 1001, 2, dtype=torch.bfloat16)
    positions = Mask(1001, 1001, query_positions=range(1001)).token_positions(zeros.device)
    scores = position.scores(
        zeros[:, :, :1], zeros, 1.0, Mask(1, 1001, query_positions=range(1)).token_positions(zeros.device)
    )
    expected = (1 + torch.arange(1001) / 1024).bfloat16()
    assert torch.equal(scores[0, 0, 0], expected)
    changed = position.score_mod(zeros, 1.0, positions)
    index = torch.zeros(1, dtype=torch.long)
    assert changed(torch.zeros(1), index, index, index, index + 999) == 1 + 999 / 1024


def test_heads_begin_different_and_moderate():
    w = DistanceAware(HeadSizes(8, 4, 4)).w
    assert len(set(w.tolist())) == 8
    assert (w > 0).sum() == (w < 0).sum() == 4
    assert (w * 20).abs().max() <= 1
    assert DistanceAware(HeadSizes(1, 4, 4)).w.tolist() == [0.0]


def test_a_local_head_looks_near_and_a_distant_one_far():
    using = mechanism("distance-aware", num_heads=2, head_dim=2)
    with torch.no_grad():
        using.position.w.copy_(torch.tensor([-1.0, 1.0]))
    q = k = v = torch.ones(1, 2, 9, 2)
    weights = attend(using, q, k, v, rows=[0], need_weights=True).weights[0, :, 0]
    assert (weights[0].diff() < 0).all()
    assert (weights[1].diff() > 0).all()


@pytest.mark.parametrize(
    ("adjust", "signed"), [("early-multiply", False), ("signed-multiply", True), ("early-add", True)]
)
def test_which_adjustments_keep_the_sign_of_signed_attention(adjust, signed):
    spec = {"activation": "tanhmax", "position": {"name": "distance-aware", "adjust": adjust}}
    using = mechanism(spec, num_heads=2, head_dim=4)
    q, k, v = 3 * torch.randn(3, 1, 2, 8, 4, generator=torch.Generator().manual_seed(0))
    weights = attend(using, q, k, v, need_weights=True).weights
    assert using.signed == signed == bool((weights < 0).any())


@pytest.mark.parametrize(
    ("initial", "heads", "expected"),
    [
        (None, 3, [-0.05, 0.0, 0.05]),
        (None, 1, [0.0]),
        (0.5, 3, [0.5, 0.5, 0.5]),
        (-2, 1, [-2.0]),
        ([-1.0, 1], 3, [-1.0, 0.0, 1.0]),
        ((0.0, 1.0), 1, [0.5]),
    ],
)
def test_where_w_starts(initial, heads, expected):
    options = {} if initial is None else {"initial_w": initial}
    using = mechanism({"position": {"name": "distance-aware"} | options}, num_heads=heads, head_dim=4)
    torch.testing.assert_close(using.position.w.detach(), torch.tensor(expected))


def test_late_adjustments_leave_masked_keys_at_zero():
    padding = torch.tensor([[True, True, False, True]])
    for adjust in ("late-add", "late-multiply"):
        spec = {"position": {"name": "distance-aware", "adjust": adjust}}
        using = mechanism(spec, num_heads=2, head_dim=4)
        q, k, v = torch.randn(3, 1, 2, 4, 4, generator=torch.Generator().manual_seed(0))
        mask = Mask(4, 4, padding=padding, causal=True, query_positions=range(4))
        weights = attend(using, q, k, v, mask=mask, need_weights=True).weights
        assert (weights[..., ~mask.allowed(q.device)[0, 0]] == 0).all()
        assert (weights[0, :, 3, [0, 1, 3]] > 0).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mapping": "sigmoidal"}, "did you mean 'sigmoid'"),
        ({"adjust": "early-multiplication"}, "did you mean 'early-multiply'"),
        ({"threshold": 2.0}, "has no threshold"),
        ({"mapping": "clip", "threshold": float("inf")}, "finite number"),
        ({"mapping": "clip", "threshold": "far"}, "finite number"),
        ({"maping": "clip"}, "did you mean 'mapping'"),
        ({"initial_w": float("nan")}, "a finite number, or"),
        ({"initial_w": [1.0]}, "a finite number, or"),
        ({"initial_w": [0.0, "1"]}, "a finite number, or"),
        ({"initial_w": "wide"}, "a finite number, or"),
        ({"initial_w": True}, "a finite number, or"),
    ],
)
@pytest.mark.wrong_types
def test_bad_options_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        mechanism({"position": {"name": "distance-aware"} | options}, num_heads=2, head_dim=4)


def test_coefficients_are_equation_5():
    weighted = np.linspace(-6, 6, 25)
    expected = (1 + np.exp(1.5)) / (1 + np.exp(1.5 - weighted))
    np.testing.assert_allclose(coefficients(weighted, 1.5), expected, rtol=1e-12)
