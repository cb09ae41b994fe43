"""ALTI against its equations written out in numbers, one at a time, for a BERT of closed formulas.

The authors' library adds 1e-6 to every difference (test_layer_numbers.py); nothing is added here.
"""

import math

import numpy as np
import pytest
import torch

from closed_forms import TEXT, closed_form_bert
from glasshead.explainers import EXPLAINERS
from glasshead.huggingface import plug
from glasshead.trace import AttentionSelector
from tolerances import ONE_FORMULA


def times(weight, vector):
    """W x."""
    return [sum(w * x for w, x in zip(row, vector, strict=True)) for row in weight]


def plus(*vectors):
    return [sum(entries) for entries in zip(*vectors, strict=True)]


def contributions(states, maps, layer):
    """c_ij of a layer (Ferrando et al. 2022, eq. 8 to 11): T_i(x_j) is what is left of token j behind the
    layer norm, whose deviation is that of the whole sum, and y_i what the block gives."""
    own, dense, norm = layer.attention.self, layer.attention.output.dense, layer.attention.output.LayerNorm
    gamma, beta = norm.weight.tolist(), norm.bias.tolist()
    values = [plus(times(own.value.weight.tolist(), x), own.value.bias.tolist()) for x in states]
    size, rows = len(values[0]) // len(maps), []
    for i, x in enumerate(states):
        parts = []
        for j, value in enumerate(values):
            heads = [maps[entry // size][i][j] * number for entry, number in enumerate(value)]
            part = times(dense.weight.tolist(), heads)
            parts.append(plus(part, x) if i == j else part)
        whole = plus(*parts, dense.bias.tolist())
        mean = sum(whole) / len(whole)
        deviation = math.sqrt(sum((entry - mean) ** 2 for entry in whole) / len(whole) + norm.eps)
        output = [(e - mean) / deviation * g + b for e, g, b in zip(whole, gamma, beta, strict=True)]
        row = []
        for part in parts:
            middle = sum(part) / len(part)
            turned = [(entry - middle) / deviation * g for entry, g in zip(part, gamma, strict=True)]
            left = sum(abs(y - t) for y, t in zip(output, turned, strict=True))
            row.append(max(0.0, sum(map(abs, output)) - left))
        rows.append([entry / sum(row) for entry in row])
    return rows


@pytest.fixture(scope="module")
def literal():
    """The product of the contributions of both layers, and how many of them are 0."""
    model, tokenizer = closed_form_bert()
    with torch.no_grad():
        output = model(
            **tokenizer(TEXT, return_tensors="pt"), output_attentions=True, output_hidden_states=True
        )
        first, last = (
            contributions(states[0].tolist(), maps[0].tolist(), layer)
            for states, maps, layer in zip(
                output.hidden_states, output.attentions, model.bert.encoder.layer, strict=False
            )
        )
    n = range(len(first))
    product = [[sum(last[i][k] * first[k][j] for k in n) for j in n] for i in n]
    return np.array(product), np.array([first, last])


@pytest.mark.parametrize("row", ["first", "last", "mean"])
def test_the_numbers_are_those_of_the_equations(literal, row):
    product, layers = literal
    assert (layers == 0).any()  # a token that brings the output no nearer has nothing
    model, tokenizer = closed_form_bert()
    (own,) = EXPLAINERS["alti"](
        plug(model, "softmax"), tokenizer, [TEXT], target=1, attention_selector=AttentionSelector(row=row)
    )
    expected = {"first": product[0], "last": product[-1], "mean": product.mean(axis=0)}[row]
    np.testing.assert_allclose(own.scores, expected, **ONE_FORMULA)
    assert np.ptp(expected) > 0.01
