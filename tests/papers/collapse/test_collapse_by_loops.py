"""The residual over depth, with every sum and product written out in numbers one at a time."""

from __future__ import annotations

import math

import pytest
import torch
from torch.testing import assert_close

from closed_forms import TEXT, closed_form_bert
from glasshead.opening import open_subject
from glasshead.papers.collapse import collapse_by_depth
from glasshead.papers.collapse.random_collapse import gaussian_residuals

PATHS = {"attention alone": False, "with skips": True}


def norm_by_loops(matrix: list[list[float]]) -> float:
    rows = max(sum(abs(entry) for entry in row) for row in matrix)
    return math.sqrt(rows * max(sum(abs(row[j]) for row in matrix) for j in range(len(matrix[0]))))


def residual_by_loops(states: list[list[float]]) -> float:
    mean = [sum(column) / len(states) for column in zip(*states, strict=True)]
    rest = [[x - m for x, m in zip(row, mean, strict=True)] for row in states]
    return norm_by_loops(rest) / norm_by_loops(states)


def product(left: list[list[float]], right: list[list[float]]) -> list[list[float]]:
    columns = list(zip(*right, strict=True))
    return [[sum(a * b for a, b in zip(row, column, strict=True)) for column in columns] for row in left]


def softmax_by_loops(scores: list[float]) -> list[float]:
    return [math.exp(s) / sum(map(math.exp, scores)) for s in scores]


def tanhmax_by_loops(scores: list[float]) -> list[float]:
    total = sum(math.exp(s) + math.exp(-s) for s in scores)
    return [(math.exp(s) - math.exp(-s)) / total for s in scores]


def of_size(states: list[list[float]], size: float) -> list[list[float]]:
    own = math.sqrt(sum(x * x for row in states for x in row) / (len(states) * len(states[0])))
    return [[x * size / own for x in row] for row in states]


@pytest.mark.parametrize(
    ("name", "activation"), [("softmax", softmax_by_loops), ("tanhmax", tanhmax_by_loops)]
)
def test_the_gaussian_curve_by_loops(name, activation) -> None:
    """H ← A H W_v with A = φ(H W_q (H W_k)ᵀ / √d), in numbers one at a time, from the same draws."""
    tokens, width, layers = 5, 6, 3
    random = torch.Generator().manual_seed(3)

    def drawn(rows: int) -> torch.Tensor:
        return torch.randn(rows, width, generator=random, dtype=torch.float64)

    states = drawn(tokens).tolist()
    expected = [residual_by_loops(states)]
    for _ in range(layers):
        q, k, v = (product(states, (drawn(width) / math.sqrt(width)).tolist()) for _ in range(3))
        scores = product(q, [list(column) for column in zip(*k, strict=True)])
        weights = [activation([s / math.sqrt(width) for s in row]) for row in scores]
        states = of_size(product(weights, v), 1.0)
        expected.append(residual_by_loops(states))
    ours = gaussian_residuals(name, 3, tokens=tokens, width=width, layers=layers)
    assert_close(ours.tolist(), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("path", "skips"), PATHS.items())
def test_the_paths_of_attention_by_loops(path, skips) -> None:
    """H ← (H +) Σ_h A_h(H) H W_v W_o, with the size that the model has at each depth."""
    model, tokenizer = closed_form_bert()
    assert all(layer.attention.self.value.bias.abs().max() > 0.01 for layer in model.bert.encoder.layer)
    with torch.no_grad():
        hidden = model(**tokenizer(TEXT, return_tensors="pt"), output_hidden_states=True).hidden_states
    states = hidden[0][0].tolist()
    expected = [residual_by_loops(states)]
    for layer, whole in zip(model.bert.encoder.layer, hidden[1:], strict=True):
        own = layer.attention.self
        q, k, v = (
            [[x + b for x, b in zip(row, bias, strict=True)]
             for row in product(states, one.weight.T.tolist())]
            for one, bias in (
                (own.query, own.query.bias.tolist()), (own.key, own.key.bias.tolist()),
                (own.value, [0.0] * len(own.value.bias)),
            )
        )  # fmt: skip
        size, heads = own.attention_head_size, [[] for _ in states]
        for start in range(0, len(v[0]), size):
            part = slice(start, start + size)
            scores = product(
                [row[part] for row in q], [list(c) for c in zip(*(r[part] for r in k), strict=True)]
            )
            weights = [softmax_by_loops([s / math.sqrt(size) for s in row]) for row in scores]
            for row, output in zip(heads, product(weights, [row[part] for row in v]), strict=True):
                row.extend(output)
        update = product(heads, layer.attention.output.dense.weight.T.tolist())
        if skips:
            update = [
                [x + y for x, y in zip(*rows, strict=True)] for rows in zip(states, update, strict=True)
            ]
        states = of_size(update, float(whole.square().mean().sqrt()))
        expected.append(residual_by_loops(states))
    subject = open_subject(model, tokenizer)
    curves, _ = collapse_by_depth(subject.model, subject.tokenizer, [TEXT], seeds=1)
    (ours,) = (
        curve.mean.tolist()
        for curve in curves
        if (curve.panel, curve.name) == ("The weights of the model", path)
    )
    assert_close(ours, expected, rtol=1e-9, atol=1e-12)
