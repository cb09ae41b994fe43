"""Every activation against its formula, written out in Python numbers over i and k."""

import math

import pytest
import torch

from glasshead.attention import ACTIVATIONS
from tolerances import EXACT_MATHS


def sigma(s):
    return 1 / (1 + math.exp(-s)) if s > 0 else math.exp(s) / (1 + math.exp(s))


# g and h of φ_i = g(s_i) / Σ_k h(s_k); ReLU has no normaliser.
RATIOS = {
    "softmax": (math.exp, math.exp),
    "tanhmax": (lambda s: math.exp(s) - math.exp(-s), lambda s: math.exp(s) + math.exp(-s)),
    "sigsoftmax": (lambda s: math.exp(s) * sigma(s), lambda s: math.exp(s) * sigma(s)),
    "sigmoid": (sigma, sigma),
    "sum": (lambda s: max(s, 0.0), lambda s: max(s, 0.0)),
    "dot-product": (lambda s: s, lambda s: 1.0),
    "uniform": (lambda s: 1.0, lambda s: 1.0),
}


def written_out(name, scores):
    """The weights of one row of numbers."""
    if name == "relu":
        return [max(s, 0.0) for s in scores]
    g, h = RATIOS[name]
    total = 0.0
    for s in scores:
        total += h(s)
    return [g(s) / total if total else 0.0 for s in scores]


def random_rows(bound, seed=0):
    """Scores of six rows and a mask with a different number of keys in each, in no particular place."""
    generator = torch.Generator().manual_seed(seed)
    scores = (torch.rand(6, 9, dtype=torch.float64, generator=generator) * 2 - 1) * bound
    mask = torch.stack([torch.randperm(9, generator=generator) < keys for keys in (9, 7, 4, 2, 1, 0)])
    return scores, mask


@pytest.mark.parametrize("bound", [1.0, 30.0])
@pytest.mark.parametrize("name", list(ACTIVATIONS))
def test_the_formula(name, bound):
    scores, mask = random_rows(bound)
    weights = ACTIVATIONS[name]().weights(scores, mask)
    expected = torch.zeros_like(scores)
    for row in range(6):
        keys = [key for key in range(9) if mask[row, key]]
        for key, weight in zip(keys, written_out(name, scores[row, keys].tolist()), strict=True):
            expected[row, key] = weight
    torch.testing.assert_close(weights, expected, **EXACT_MATHS)


@pytest.mark.parametrize("name", list(ACTIVATIONS))
def test_its_derivative(name):
    """∂φ_i/∂s_j = [g′(s_i) 1_{i=j} − φ_i h′(s_j)] / Σ_k h(s_k) by central differences of the loops."""
    scores = [1.3, -0.7, 0.2, 2.1]
    jacobian = torch.autograd.functional.jacobian(
        lambda s: ACTIVATIONS[name]().weights(s, torch.ones_like(s, dtype=torch.bool)),
        torch.tensor(scores, dtype=torch.float64),
    )
    step = 1e-5
    for i in range(4):
        for j in range(4):
            up, down = list(scores), list(scores)
            up[j] += step
            down[j] -= step
            slope = (written_out(name, up)[i] - written_out(name, down)[i]) / (2 * step)
            assert float(jacobian[i, j]) == pytest.approx(slope, abs=1e-9)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("name", list(ACTIVATIONS))
def test_half_precision_is_rounded_only_at_the_end(name, dtype):
    """Against float64 on the same scores: a few units in the last place, also where log σ(s) has fewer digits
    than s, and where the sum of many scores is beyond float16."""
    generator = torch.Generator().manual_seed(2)
    scores = (torch.randn(200, 16, generator=generator) * 8).to(dtype)
    scores[0] = 2e4
    mask = torch.ones_like(scores, dtype=torch.bool)
    weights = ACTIVATIONS[name]().weights(scores, mask).double()
    exact = ACTIVATIONS[name]().weights(scores.double(), mask)
    torch.testing.assert_close(weights, exact, rtol=4 * torch.finfo(dtype).eps, atol=1e-6)
