"""Products of halves: each is what the halves give, and everything between them stays float32."""

import warnings

import pytest
import torch
from torch.nn import functional as F

from classifier_families import FAMILIES, TEXTS
from glasshead.data import batches, encode
from glasshead.errors import InputError
from glasshead.huggingface import arithmetic_of, half_weights, isolated_copy, narrow_products, products_of
from glasshead.huggingface.half_weights import HalfProducts, forget_halves
from glasshead.opening import open_subject

HALVES = (torch.bfloat16, torch.float16)


def opened(name):
    """A classifier as Glasshead reads it, and what it is called with."""
    subject = open_subject(FAMILIES[name].build(), FAMILIES[name].tokenizer())
    encoded = encode(subject.tokenizer, TEXTS)
    _, inputs = next(batches(encoded, torch.arange(len(TEXTS)), subject.model.device))
    return subject.model, inputs


@pytest.mark.parametrize("half", HALVES)
def test_a_product_is_that_of_its_halves(half):
    a, b = torch.randn(3, 4, 5), torch.randn(3, 5, 6)
    weight, bias = torch.randn(7, 5), torch.randn(7)
    with HalfProducts(torch.float32, half):
        made = (a @ b, torch.bmm(a, b), F.linear(a, weight, bias), torch.einsum("bij,bjk->bik", a, b))
        rest = (a + a, a.softmax(-1), F.layer_norm(a, (5,)))
    by_hand = (a.to(half) @ b.to(half), F.linear(a.to(half), weight.to(half), bias.to(half)))
    assert all(one.dtype == torch.float32 for one in (*made, *rest))
    for one, expected in zip(made, (by_hand[0], by_hand[0], by_hand[1], by_hand[0]), strict=True):
        assert torch.allclose(one, expected.float(), rtol=4 * torch.finfo(half).eps, atol=1e-6)
    assert torch.equal(rest[0], a + a)
    assert torch.equal(rest[1], a.softmax(-1))


@pytest.mark.parametrize("half", HALVES)
def test_a_row_that_a_mask_hides_whole_is_no_nan(half):
    q, mask = torch.randn(1, 1, 3, 4), torch.full((1, 1, 3, 3), torch.finfo(torch.float32).min)
    with HalfProducts(torch.float32, half):
        assert F.scaled_dot_product_attention(q, q, q, attn_mask=mask).isfinite().all()


@pytest.mark.parametrize("name", ["Bert", "GPT2", "Llama", "T5"])
def test_a_model_computes_nearly_the_same_and_stays_as_it_was(name):
    model, inputs = opened(name)
    before = {key: value.clone() for key, value in model.state_dict().items()}
    coarse = isolated_copy(model, torch.float32)
    narrow_products(coarse, torch.bfloat16)
    with torch.no_grad():
        exact, rough = model(**inputs).logits, coarse(**inputs).logits
    assert products_of(coarse) == torch.bfloat16
    assert arithmetic_of(coarse) == rough.dtype == torch.float32
    assert products_of(model) is None
    assert not torch.equal(exact, rough)
    assert torch.allclose(exact, rough, atol=0.05 * float(exact.abs().max()))
    assert all(torch.equal(value, before[key]) for key, value in model.state_dict().items())
    kinds = {weight.dtype for weight in coarse.parameters() if weight.dim() > 1}
    assert torch.bfloat16 in kinds
    assert all(weight.dtype == torch.float32 for weight in coarse.parameters() if weight.dim() == 1)


def test_a_copy_multiplies_in_the_same_halves_until_it_forgets():
    model, inputs = opened("Bert")
    coarse = isolated_copy(model, torch.float32)
    narrow_products(coarse, torch.bfloat16)
    again = isolated_copy(coarse)
    assert torch.equal(coarse(**inputs).logits, again(**inputs).logits)
    forget_halves(again)
    assert products_of(again) is None
    half_weights.keep_halves(again)
    assert not torch.equal(coarse(**inputs).logits, again(**inputs).logits)


def test_packed_weights_are_refused():
    with warnings.catch_warnings(action="ignore"):
        packed = torch.ao.quantization.quantize_dynamic(
            FAMILIES["Bert"].build(), {torch.nn.Linear}, dtype=torch.qint8
        )
    with pytest.raises(InputError, match="quantised weights are computed in float32, not in bfloat16"):
        narrow_products(packed, torch.bfloat16)
