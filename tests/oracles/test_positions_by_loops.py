"""Each position written out pair by pair, as its paper prints it: the same outputs and the same gradients."""

import math

import pytest
import torch

from glasshead.attention import ACTIVATIONS, Mask, Mechanism, attend
from glasshead.attention.positions.distance_mappings import MAPPINGS
from positions import ADJUSTMENTS, CHOICES, SIZES, built, tensors
from tolerances import EXACT_MATHS

N, SCALE = 6, 0.6


def dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def relu(x):
    return x if x > 0 else x * 0


def map_distance(name, position, head, distance):
    weighted = position.w[head] * distance
    if name == "clip":
        return weighted if weighted < 1 else weighted * 0 + 1
    if name == "linear":
        return position.k[head] * weighted + position.b[head]
    if name == "exponent":
        return torch.exp(weighted)
    if name == "sigmoid":
        return 1 / (1 + torch.exp(-weighted))
    return (1 + torch.exp(position.v[head])) / (1 + torch.exp(position.v[head] - weighted))


def sinusoid(offset, size):
    angles = [offset / 10000 ** (2 * m / size) for m in range(size // 2)]
    return [math.sin(a) for a in angles] + [math.cos(a) for a in angles]


def score(choice, position, head, q, k, i, j):
    """The score of token i for token j, in one head."""
    name = CHOICES[choice]["name"]
    if name == "distance-aware":
        f = map_distance(CHOICES[choice].get("mapping", "learnable-sigmoid"), position, head, abs(i - j))
        raw, adjust = dot(q, k) * SCALE, CHOICES[choice].get("adjust", "early-multiply")
        return {
            "early-multiply": relu(raw) * f,
            "signed-multiply": raw * f,
            "early-add": raw + f,
        }.get(adjust, raw)
    if name == "shaw":
        relative = position.keys[max(-position.clip, min(position.clip, j - i)) + position.clip]
        return dot(q, k + relative) * SCALE
    if name == "transformer-xl":
        r = torch.tensor(
            sinusoid(i - j, CHOICES[choice].get("relative_dim", SIZES.head_dim)), dtype=torch.float64
        )
        u, v, w = position.u[head], position.v[head], position.w[head]
        # A + B + C + D of the paper.
        return (dot(q, k) + dot(q, w @ r) + dot(u, k) + dot(v, w @ r)) * SCALE
    if name == "tener":
        r = sinusoid(i - j, SIZES.head_dim)
        return dot(q, k) + dot(q, r) + dot(position.u[head], k) + dot(position.v[head], r)
    if name == "cosine":
        positive = dot([relu(x) for x in q], [relu(x) for x in k])
        return positive * math.cos(math.pi / 2 * (i - j) / position.reach) * SCALE
    assert name == "none"
    return dot(q, k) * SCALE


def by_loops(choice, position, q, k, v, causal):
    """Softmax attention by the printed formulas."""
    outputs = []
    for batch in range(q.shape[0]):
        for head in range(q.shape[1]):
            for i in range(N):
                keys = range(i + 1) if causal else range(N)
                exponentials = [
                    torch.exp(score(choice, position, head, q[batch, head, i], k[batch, head, j], i, j))
                    for j in keys
                ]
                outputs.append(0.0)
                for j in keys:
                    weight = exponentials[j] / sum(exponentials)
                    value = v[batch, head, j]
                    adjust = CHOICES[choice].get("adjust", "")
                    if adjust.startswith("late"):
                        f = map_distance(CHOICES[choice]["mapping"], position, head, abs(i - j))
                        weight = weight * f if adjust == "late-multiply" else weight + f
                    if CHOICES[choice]["name"] == "shaw":
                        value = (
                            value
                            + position.values[max(-position.clip, min(position.clip, j - i)) + position.clip]
                        )
                    outputs[-1] = outputs[-1] + weight * value
    return torch.stack(outputs).view(*q.shape[:2], N, -1)


@pytest.mark.parametrize("choice", [choice for choice in CHOICES if "clip at" not in choice])
@pytest.mark.parametrize("causal", [False, True])
def test_outputs_and_gradients_are_those_of_the_formula(choice, causal):
    position = built(choice)
    inputs = [each.requires_grad_() for each in tensors(1, N, N)]
    using = Mechanism(ACTIVATIONS["softmax"](), position, {"position": CHOICES[choice]})
    direction = torch.randn(1, SIZES.num_heads, N, SIZES.value_dim, dtype=torch.float64)
    found = attend(
        using,
        *inputs,
        mask=Mask(N, N, causal=causal, query_positions=range(N)),
        scale=SCALE,
        kernel="reference",
    ).output
    expected = by_loops(choice, position, *inputs, causal)
    torch.testing.assert_close(found, expected, **EXACT_MATHS)
    leaves = [*inputs, *position.parameters()]
    for ours, theirs in zip(
        torch.autograd.grad((found * direction).sum(), leaves, allow_unused=True),
        torch.autograd.grad((expected * direction).sum(), leaves, allow_unused=True),
        strict=True,
    ):
        torch.testing.assert_close(ours, theirs, **EXACT_MATHS)


def test_every_mapping_and_adjustment_has_its_loop():
    covered = {(each.get("mapping"), each.get("adjust")) for each in CHOICES.values()}
    assert covered >= {(mapping, adjust) for mapping in MAPPINGS for adjust in ADJUSTMENTS}
