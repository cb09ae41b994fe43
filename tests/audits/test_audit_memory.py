"""Devices, precisions and memory of an audit: said, or refused in one line."""

import pytest
import torch

import glasshead
from auto_table import Tried
from classifier_data import named_bert, table
from classifier_families import FAMILIES
from glasshead.audits.measuring import memory
from glasshead.data import encode
from glasshead.errors import InputError
from glasshead.huggingface import isolated_copy


def test_an_audit_that_does_not_fit_says_what_it_needs_and_what_helps(tmp_path, monkeypatch):
    model, tokenizer = named_bert()
    data = table(tmp_path / "data.csv", 30)
    options = {"tokenizer": tokenizer, "audits": ["performance"]}
    monkeypatch.setattr(memory, "free_memory", lambda device: 10_000)
    says = r"the audit of 30 texts of up to \d+ tokens in float64 needs about .* GB and cpu has 0.0 GB free"
    with pytest.raises(InputError, match=says) as refusal:
        glasshead.audit(model, data, **options)
    assert all(remedy in str(refusal.value) for remedy in ("`limit`", "`max_length`", "`dtype='float32'`"))
    with pytest.raises(InputError, match="in float32 needs") as refusal:
        glasshead.audit(model, data, dtype="float32", **options)
    assert "dtype" not in str(refusal.value)
    for enough in (10**12, None):  # a device that does not say how much it has is trusted
        monkeypatch.setattr(memory, "free_memory", lambda device, enough=enough: enough)
        assert glasshead.audit(model, data, **options).facts["examples"] == 30


def test_what_is_needed_grows_with_what_is_asked():
    model, tokenizer = named_bert()

    def needed(texts, dtype=torch.float64):
        return memory.audit_memory(model, encode(tokenizer, texts), dtype)

    weights = sum(weight.numel() for weight in model.parameters())
    assert needed(["a"]) > 12 * weights  # a copy in float64 and one in float32
    assert needed(["a"], torch.float32) < needed(["a"]) - 8 * weights
    assert needed(["a warm film"]) < needed(["a warm film"] * 9) < needed(["a warm film " * 9] * 9)


def test_float32_is_said_and_half_precision_refused_where_no_noise_is_measured(tmp_path):
    model, tokenizer = named_bert()
    data = table(tmp_path / "data.csv", 30)
    options = {"tokenizer": tokenizer, "audits": ["performance", "agreement"], "limit": 12}
    fine = glasshead.audit(model, data, **options)
    coarse = glasshead.audit(model, data, dtype=torch.float32, **options)
    assert "computed in float64" in fine.facts["notes"][0]
    assert "computed in float32" in coarse.facts["notes"][0]
    assert coarse.facts["accuracy"] == fine.facts["accuracy"]
    for half in ("float16", torch.bfloat16):
        with pytest.raises(InputError, match=r"`dtype` .*float.* use float32 or float64"):
            glasshead.rank(model, data, dtype=half, tokenizer=tokenizer)
        with pytest.raises(InputError, match=r"`dtype` .*float.* use float32 or float64"):
            glasshead.open(model, tokenizer, dtype=half)
    with pytest.raises(InputError, match="`dtype` knows no 'float46'"):
        glasshead.audit(model, data, dtype="float46", **options)


def test_an_unknown_device_is_one_line():
    model, tokenizer = named_bert()
    for device in ("abacus", "meta"):
        with pytest.raises(InputError, match=f"`device` names no device '{device}' here") as refusal:
            glasshead.open(model, tokenizer, device=device)
        assert "\n" not in str(refusal.value)


def test_a_precision_that_is_asked_for_is_that_of_the_subject():
    model, tokenizer = named_bert()
    assert glasshead.open(model, tokenizer, dtype="float64").model.dtype == torch.float64
    assert glasshead.open(isolated_copy(model, torch.float64), tokenizer).model.dtype == torch.float64
    halved = glasshead.open(model.bfloat16(), tokenizer, dtype="float64")
    assert halved.model.dtype == torch.float64
    assert halved.notes == ("the model is saved in bfloat16 and read in float64",)
    assert model.dtype == torch.bfloat16


def test_the_layers_of_a_decoder_count():
    family = FAMILIES["Bart"]
    encoded = encode(family.tokenizer(), ["a warm film " * 9])
    model = family.build(labels=2)
    small = memory.audit_memory(model, encoded, torch.float32)
    model.config.decoder_layers += 400
    assert memory.audit_memory(model, encoded, torch.float32) > small


def test_a_model_that_fails_in_float64_is_audited_in_float32():
    tried = Tried("spans", "splinter")  # it masks with the least number of another precision
    with pytest.raises(InputError, match=r"does not compute in float64 .* use `dtype='float32'`"):
        tried.audit()
    tried.audit(dtype="float32", audits=["performance"])
