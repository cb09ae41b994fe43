"""Quantised models are explained and audited: what is read multiplies by the numbers that the packed weights
stand for."""

import copy
import importlib
import warnings

import numpy as np
import pytest
import torch
from torch import nn

import glasshead
from classifier_families import FAMILIES, labelled_data
from glasshead.errors import InputError
from glasshead.huggingface import has_packed_weights

TEXTS = ["a warm , funny film", "bad film"]
NAMES = {0: "bad", 1: "good"}
METHODS = [
    "attention", "contribution", "value-norm", "gradient", "gradient-attention", "cp-lrp", "attn-lrp",
    "rollout", "erasure", "erasure-delete", "value-zeroing",
]  # fmt: skip


def classifier(family="Bert"):
    """A tiny classifier, no number of which is zero to rounding."""
    model = FAMILIES[family].build(labels=2, id2label=NAMES)
    torch.manual_seed(0)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.3)
    return model, FAMILIES[family].tokenizer()


def by_torch(model):
    """Linear maps in eight bits, by torch: their kernels let no gradient pass."""
    with warnings.catch_warnings(action="ignore"):  # torch is going to drop it
        return torch.ao.quantization.quantize_dynamic(copy.deepcopy(model), {nn.Linear}, dtype=torch.qint8)


def by_quanto(model, **options):
    """Weights in eight bits in tensors of a class of their own."""
    with warnings.catch_warnings(action="ignore"):
        quanto = importlib.import_module("optimum.quanto")
    quantised = copy.deepcopy(model)
    quanto.quantize(quantised, weights=quanto.qint8, **options)
    quanto.freeze(quantised)
    return quantised


def unpacked(model, quantised):
    """The model with plain weights that say what the packed ones do."""
    plain = copy.deepcopy(model)
    for name, module in quantised.named_modules():
        if "in_features" in vars(module) and hasattr(module, "weight"):
            weight = module.weight() if callable(module.weight) else module.weight
            with torch.no_grad():
                plain.get_submodule(name).weight.copy_(weight.dequantize())
    return plain


def by_quanto_in_halves(model, **options):
    """The same of a model in bfloat16: nothing is unpacked."""
    return by_quanto(copy.deepcopy(model).bfloat16(), **options)


WAYS = [by_torch, by_quanto, by_quanto_in_halves]


def check_packed(quantised, tokenizer, quantise):
    """Assert that halves stay packed, and what lets no gradient pass does not."""
    model = glasshead.open(quantised, tokenizer).model
    assert has_packed_weights(model) == (quantise is by_quanto_in_halves)


@pytest.mark.slow
@pytest.mark.parametrize("quantise", WAYS)
@pytest.mark.parametrize("family", ["Bert", "Llama"])
def test_explanations_are_those_of_the_numbers_that_are_packed(family, quantise):
    model, tokenizer = classifier(family)
    quantised = quantise(model)
    check_packed(quantised, tokenizer, quantise)
    kinds = [type(module) for module in quantised.modules()]
    plain = unpacked(model.bfloat16().float() if quantise is by_quanto_in_halves else model, quantised)
    for method in METHODS:
        found = glasshead.explain(quantised, TEXTS, tokenizer=tokenizer, method=method)
        expected = glasshead.explain(plain, TEXTS, tokenizer=tokenizer, method=method)
        for one, other in zip(found, expected, strict=True):
            assert one.prediction == pytest.approx(other.prediction, abs=1e-5)
            np.testing.assert_allclose(one.scores, other.scores, atol=2e-5, err_msg=method)
        assert "quantised" in " ".join(found.notes)
    assert [type(module) for module in quantised.modules()] == kinds


@pytest.mark.parametrize("quantise", WAYS)
def test_an_audit_reads_them(quantise):
    model, tokenizer = classifier()
    quantised = quantise(model)
    audits = ["agreement", "faithfulness", "identifiability"]
    card = glasshead.audit(quantised, labelled_data(24), tokenizer=tokenizer, audits=audits, draws=2)
    assert {finding.audit for finding in card.findings} == set(audits)
    assert any("quantised" in note for note in card.facts["notes"])


@pytest.mark.parametrize("task", [None, "similarity-mean"])
def test_what_is_unpacked_is_said(task):
    model, tokenizer = classifier()
    quantised = by_torch(model)
    (note,) = glasshead.open(quantised, tokenizer, task=task).notes
    assert "14 layers" in note or (task and "13 layers" in note)
    if task:
        return
    gap = float(note.rpartition(" ")[2])
    text = tokenizer("a", return_tensors="pt")
    with torch.no_grad():
        own, plain = quantised(**text).logits, unpacked(model, quantised)(**text).logits
    assert gap == pytest.approx(float((own - plain).abs().max()), rel=0.1)


def test_packed_halves_are_computed_in_float32_and_in_nothing_else():
    model, tokenizer = classifier()
    quantised = by_quanto_in_halves(model)
    subject = glasshead.open(quantised, tokenizer)
    expected = glasshead.explain(subject, TEXTS, method="gradient")
    for source in (subject, quantised):
        more = {} if source is subject else {"tokenizer": tokenizer}
        found = glasshead.explain(source, TEXTS, method="gradient", dtype="float32", **more)
        np.testing.assert_allclose(found[0].scores, expected[0].scores, atol=1e-6)
        with pytest.raises(InputError, match="computed in float32, not in float64"):
            glasshead.explain(source, TEXTS, method="gradient", dtype="float64", **more)


@pytest.mark.parametrize("quantise", [by_quanto, by_quanto_in_halves])
def test_adapters_stay_beside_quantised_weights(quantise):
    peft = importlib.import_module("peft")
    model, tokenizer = classifier()
    where = {"task_type": "SEQ_CLS", "target_modules": ["query", "value"]}
    options = where | {"r": 2, "lora_alpha": 64, "init_lora_weights": False}
    torch.manual_seed(0)
    adapted = peft.get_peft_model(copy.deepcopy(model), peft.LoraConfig(**options))
    adapted = quantise(adapted, exclude=["*lora*"]).eval()
    (one,) = glasshead.explain(adapted, TEXTS[:1], tokenizer=tokenizer, method="gradient")
    with torch.no_grad():
        own = adapted(**tokenizer(TEXTS[0], return_tensors="pt")).logits.float().softmax(dim=1)
        bare = model(**tokenizer(TEXTS[0], return_tensors="pt")).logits.softmax(dim=1)
    assert one.prediction == pytest.approx(float(own[0, 1]), abs=1e-5 if quantise is by_quanto else 5e-3)
    assert abs(one.prediction - float(bare[0, 1])) > 1e-2
