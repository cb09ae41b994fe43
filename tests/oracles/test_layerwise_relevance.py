"""Layer-wise relevance against the authors' library, and against relevance handed on layer by layer.

The numbers are those of https://github.com/rachtibat/LRP-eXplains-Transformers at commit
f04344177551bfcc3665e88afe96501f43fe560b: `lxt/efficient/models/gpt2.py` (attnLRP, cp_LRP) and `llama.py`
(attnLRP), applied to the models of `form_of` in float64; e · ∂z/∂e, z the logit of the predicted
class minus the mean of all. Llama's norms are computed in float32 there.
"""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from classifier_families import FAMILIES
from glasshead.data import encode
from glasshead.explainers import EXPLAINERS, make_context
from glasshead.opening import open_subject

TEXT = "the warm funny than film dull"
NUMBERS = {
    ("GPT2", "attn-lrp"): [
        -0.001381952186, 0.003646134373, 0.026153542, 0.005621125014, -0.01917593304, 0.5454966185
    ],
    ("GPT2", "cp-lrp"): [
        -0.003485753428, 0.002365339261, 0.01617542233, 0.00705233688, -0.01864708641, 0.5357971454
    ],
    ("Llama", "attn-lrp"): [
        0.1516726224, 0.07100661452, 0.217562667, -0.5542863105, 0.4465514063, -0.1857253735
    ],
}  # fmt: skip


def closed_form(name, **changes):
    """A family whose weights are sines, in float64."""
    model = FAMILIES[name].build(**changes).double()
    with torch.no_grad():
        for index, (parameter, weight) in enumerate(model.named_parameters()):
            entries = torch.arange(weight.numel(), dtype=torch.float64)
            wave = torch.sin(entries * (1 + 0.37 * index) + index).view(weight.shape)
            is_norm = weight.ndim == 1 and parameter.endswith("weight")
            weight.copy_(0.4 * wave if weight.ndim > 1 else 0.3 * wave + is_norm)
    return model


def relevance(model, name, method, text=TEXT):
    """The relevance of the tokens of a text, their ids, and the class that is explained."""
    subject = open_subject(model, FAMILIES[name].tokenizer())
    context = make_context(subject.model, encode(subject.tokenizer, [text]), subject.tokenizer)
    return EXPLAINERS[method].importance(context)[0], context.encoded.ids[0], int(context.target[0])


@pytest.mark.parametrize(("name", "method"), NUMBERS)
def test_the_authors_library_hands_on_the_same(name, method):
    scores, ids, _ = relevance(closed_form(name), name, method)
    assert ids.tolist() == [6, 9, 10, 24, 8, 11]
    assert_close(scores, torch.tensor(NUMBERS[name, method], dtype=scores.dtype), rtol=0, atol=1e-6)


def through_linear(x: Tensor, weight: Tensor, bias: Tensor, given: Tensor) -> Tensor:
    """R_i = Σ_j x_i w_ij / z_j R_j."""
    return x * ((given / (x @ weight.T + bias)) @ weight)


def through_norm(x: Tensor, norm: torch.nn.LayerNorm, given: Tensor) -> Tensor:
    """Token by token a linear map, the standard deviation being a number."""
    centre = torch.eye(x.shape[-1]) - 1 / x.shape[-1]
    size = (x.var(-1, unbiased=False) + norm.eps).sqrt()
    rows = [
        through_linear(row, (norm.weight / sd)[:, None] * centre, norm.bias, r)
        for row, sd, r in zip(x, size, given, strict=True)
    ]
    return torch.stack(rows)


def through_attention(x: Tensor, block, given: Tensor, held: bool) -> Tensor:
    """Relevance of what attention reads, from that of its heads side by side."""
    maps = [block.query, block.key, block.value]
    width = block.attention_head_size
    total = torch.zeros_like(x)
    for head in range(block.num_attention_heads):
        part = slice(head * width, (head + 1) * width)
        q, k, v = (x @ one.weight[part].T + one.bias[part] for one in maps)
        scores = q @ k.T / width**0.5
        weights = scores.softmax(-1)
        r = given[:, part] / (weights @ v)  # [q, d]
        of_pairs = torch.einsum("qk,kd,qd->qkd", weights, v, r)
        of_v = of_pairs.sum(0) if held else of_pairs.sum(0) / 2
        total += through_linear(x, block.value.weight[part], block.value.bias[part], of_v)
        if held:
            continue
        of_weights = of_pairs.sum(-1) / 2
        of_scores = scores * (of_weights - weights * of_weights.sum(-1, keepdim=True))
        products = torch.einsum("qd,kd,qk->qkd", q, k, of_scores / scores / width**0.5) / 2
        total += through_linear(x, block.query.weight[part], block.query.bias[part], products.sum(1))
        total += through_linear(x, block.key.weight[part], block.key.bias[part], products.sum(0))
    return total


@torch.no_grad()
def literal(model, ids: Tensor, target: int, held: bool) -> Tensor:
    """The relevance of every token of a BERT of one layer, handed on from the classifier downwards."""
    embeddings, layer, bert = model.bert.embeddings, model.bert.encoder.layer[0], model.bert
    words = embeddings.word_embeddings.weight[ids]
    places = embeddings.position_embeddings.weight[: len(ids)] + embeddings.token_type_embeddings.weight[0]
    x = embeddings.LayerNorm(words + places)
    attention, output = layer.attention.self, layer.attention.output
    heads = attention(x[None])[0][0]
    mixed = output.dense(heads)
    middle = output.LayerNorm(mixed + x)
    wide = torch.nn.functional.gelu(layer.intermediate.dense(middle))
    narrow = layer.output.dense(wide)
    last = layer.output.LayerNorm(narrow + middle)
    pooled = torch.tanh(bert.pooler.dense(last[0]))

    weight, bias = model.classifier.weight, model.classifier.bias
    weight, bias = weight[target] - weight.mean(0), bias[target] - bias.mean()
    r = through_linear(pooled, weight[None], bias[None], (weight @ pooled + bias)[None])
    r_last = torch.zeros_like(last)
    r_last[0] = through_linear(last[0], bert.pooler.dense.weight, bert.pooler.dense.bias, r)
    r = through_norm(narrow + middle, layer.output.LayerNorm, r_last) / (narrow + middle)
    r_wide = through_linear(wide, layer.output.dense.weight, layer.output.dense.bias, narrow * r)
    inner = layer.intermediate.dense
    r_middle = middle * r + through_linear(middle, inner.weight, inner.bias, r_wide)
    r = through_norm(mixed + x, output.LayerNorm, r_middle) / (mixed + x)
    r_heads = through_linear(heads, output.dense.weight, output.dense.bias, mixed * r)
    r_x = x * r + through_attention(x, attention, r_heads, held)
    return (words * through_norm(words + places, embeddings.LayerNorm, r_x) / (words + places)).sum(-1)


@pytest.mark.parametrize(("method", "held"), [("attn-lrp", False), ("cp-lrp", True)])
def test_relevance_handed_on_layer_by_layer_is_the_same(method, held):
    model = closed_form("Bert", num_hidden_layers=1)
    scores, ids, target = relevance(model, "Bert", method)
    expected = literal(model, ids, target, held)
    assert expected.abs().max() > 1e-3
    assert_close(scores.to(expected), expected, rtol=1e-6, atol=1e-8)
