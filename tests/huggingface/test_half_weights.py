"""A model saved in halves keeps its weights and computes in float32: it says what its float32 copy says."""

import threading
from copy import deepcopy
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
import torch
import transformers as hf
from torch.nn import functional as F

import glasshead
from classifier_families import FAMILIES, TEXTS, word_tokenizer
from families import FAMILIES as PLUGGED
from glasshead.attention import upcast_half
from glasshead.audits.measuring import data_view, view
from glasshead.data import encode
from glasshead.errors import InputError
from glasshead.explainers import explain_texts
from glasshead.huggingface import arithmetic_of, half_weights, isolated_copy, keep_halves, random_twin
from glasshead.opening import OpenOptions, open_subject
from glasshead.requests import MethodRequest
from image_families import FAMILIES as IMAGES
from image_families import image_model, pictures, processor
from tolerances import of_size
from writers import PROMPT, small_writer

pytestmark = pytest.mark.usefixtures("quiet")
QUICK = ("Bert", "GPT2", "Llama", "T5")
METHODS = ("gradient", "erasure", "erasure-delete", "attention", "attn-lrp")
SAME = 1e-6
"""Of the largest number: a convolution may add in another order in other memory."""


def as_quick(names, quick):
    return [pytest.param(name, marks=() if name in quick else pytest.mark.slow) for name in names]


def halved(build, dtype=torch.bfloat16):
    """A model in halves, of its own."""
    return build().to(dtype)


def scores(subject, texts, method):
    """The maps of some texts; None where the method is refused."""
    try:
        return [one.scores for one in explain_texts(subject, texts, None, MethodRequest(method=method))]
    except InputError:
        return None


def check_same(model, reader, texts, methods=METHODS):
    """Logits and maps are those of the copy in float32; the model stays as it was."""
    before = [(weight, weight.detach().clone(), weight.requires_grad) for weight in model.parameters()]
    half, wide = open_subject(model, reader), open_subject(model, reader, OpenOptions(dtype="float32"))
    assert {weight.dtype for weight in half.model.parameters()} <= {torch.bfloat16, torch.float16}
    assert arithmetic_of(half.model) == wide.model.dtype == torch.float32
    encoded = encode(half.tokenizer, texts)
    inputs = encoded.inputs(device="cpu")
    with torch.no_grad():
        own, expected = (subject.model(**inputs).logits for subject in (half, wide))
    assert own.dtype == torch.float32
    np.testing.assert_allclose(own, expected, **of_size(expected, SAME))
    compared = 0
    for method in methods:
        maps, others = scores(half, texts, method), scores(wide, texts, method)
        assert (maps is None) == (others is None), method
        for one, other in zip(maps or (), others or (), strict=True):
            np.testing.assert_allclose(one, other, **of_size(other, 4 * SAME), err_msg=method)
            compared += 1
    assert compared
    for weight, numbers, trained in before:
        assert torch.equal(weight, numbers)
        assert weight.requires_grad == trained
        assert weight.dtype == numbers.dtype


@pytest.mark.parametrize("name", as_quick(FAMILIES, QUICK))
def test_a_classifier_in_halves_says_what_its_copy_in_float32_says(name):
    family = FAMILIES[name]
    check_same(halved(family.build), family.tokenizer(), TEXTS)


@pytest.mark.parametrize("name", as_quick(IMAGES, ["vit"]))
def test_a_classifier_of_images_in_halves(name):
    model = isolated_copy(image_model(name), torch.bfloat16)
    check_same(model, processor(), pictures(), ("gradient", "erasure"))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("name", as_quick(PLUGGED, ["bert", "t5"]))
def test_a_model_of_any_kind_in_halves(name, dtype):
    family = PLUGGED[name]
    model, inputs = halved(family.build, dtype), family.inputs([7, 4])
    half, wide = isolated_copy(model), isolated_copy(model, torch.float32)
    keep_halves(half)
    with torch.no_grad():
        own, expected = half(**inputs)[0], wide(**inputs)[0]
    np.testing.assert_allclose(own, expected, **of_size(expected, SAME))


def test_a_language_model_in_halves_writes_and_explains_the_same():
    model, tokenizer = small_writer()
    model = isolated_copy(model, torch.bfloat16)
    half, wide = glasshead.open(model, tokenizer), glasshead.open(model, tokenizer, dtype="float32")
    written, expected = (glasshead.generate(subject, PROMPT, tokens=5) for subject in (half, wide))
    assert str(written) == str(expected)
    for method in ("attention", "erasure-mean-embedding", "gradient"):
        own, other = (text.explain(method).to_pandas()["score"] for text in (written, expected))
        np.testing.assert_allclose(own, other, **of_size(other, SAME))


@pytest.mark.slow
def test_an_audit_in_double_precision_keeps_the_halves():
    family = FAMILIES["Bert"]
    model, tokenizer = halved(lambda: family.build(labels=2)), family.tokenizer()
    rows = [{"text": text, "label": number % 2} for number, text in enumerate(TEXTS * 2)]
    wide = glasshead.open(model, tokenizer, dtype="float32")
    options = {"audits": ["agreement", "perturbation"]}
    copies = []

    def copied(*args):
        copies.append(isolated_copy(*args))
        return copies[-1]

    with (
        mock.patch.object(data_view, "isolated_copy", copied),
        mock.patch.object(view, "isolated_copy", copied),
    ):
        own = glasshead.audit(model, rows, tokenizer=tokenizer, **options)
    assert {arithmetic_of(one) for one in copies} == {torch.float64, torch.float32}
    assert {weight.dtype for one in copies for weight in one.parameters()} == {torch.bfloat16}
    expected = glasshead.audit(wide, rows, **options)
    assert own.findings
    assert [(one.statistic, one.status) for one in own.findings] == [
        (one.statistic, one.status) for one in expected.findings
    ]
    estimates, others = (
        np.array([one.estimate for one in card.findings], dtype=float) for card in (own, expected)
    )
    np.testing.assert_allclose(estimates, others, **of_size(others))


@pytest.mark.parametrize("method", ["value-norm", "attn-lrp", "gradient", "attention"])
def test_halves_are_explained_in_double_precision(method):
    family = FAMILIES["GPT2"]
    model, tokenizer = halved(family.build), family.tokenizer()
    half = open_subject(model, tokenizer)
    fine = replace(half, model=isolated_copy(half.model, torch.float64))
    wide = open_subject(model, tokenizer, OpenOptions(dtype="float64"))
    maps, others = scores(fine, TEXTS, method), scores(wide, TEXTS, method)
    assert maps
    for one, other in zip(maps, others, strict=True):
        np.testing.assert_allclose(one, other, **of_size(other, 1e-12))


def test_halves_have_intervals():
    family = FAMILIES["GPT2"]
    model, tokenizer = halved(family.build), family.tokenizer()
    request = MethodRequest(method="attention", intervals=True)
    own, expected = (
        explain_texts(open_subject(model, tokenizer, OpenOptions(dtype=dtype)), TEXTS, None, request)
        for dtype in (None, "float32")
    )
    for one, other in zip(own, expected, strict=True):
        assert one.intervals is not None
        ends, others = (
            [np.full(2, np.nan) if pair is None else np.array(pair, dtype=float) for pair in pairs]
            for pairs in (one.intervals, other.intervals)
        )
        assert np.isfinite(ends).any()
        np.testing.assert_allclose(ends, others, rtol=0, atol=1e-4)


def test_a_copy_computes_in_the_precision_that_it_is_asked_for():
    model = opened("Bert")
    fine = isolated_copy(model, torch.float64)
    assert arithmetic_of(fine) == torch.float64
    assert fine.dtype == torch.bfloat16
    assert fine(**inputs_of(fine)).logits.dtype == torch.float64
    assert arithmetic_of(model) == torch.float32
    assert model(**inputs_of(model)).logits.dtype == torch.float32
    twin = random_twin(fine, seed=0)
    assert (twin.dtype, arithmetic_of(twin)) == (torch.bfloat16, torch.float64)


def test_what_was_opened_in_halves_is_opened_in_float32_when_asked():
    family = FAMILIES["Bert"]
    model, tokenizer = halved(family.build), family.tokenizer()
    half = glasshead.open(model, tokenizer)
    again = glasshead.open(half, dtype="float32")
    assert {weight.dtype for weight in again.model.parameters()} == {torch.float32}
    assert arithmetic_of(again.model) == torch.float32
    assert half.model.dtype == torch.bfloat16


def test_autograd_keeps_halves():
    model = opened("Bert")
    kept = []

    def pack(tensor):
        kept.append(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        plain = F.linear(torch.ones(2, 3, requires_grad=True), torch.ones(3, 3))
    assert any(tensor.shape == (3, 3) for tensor in kept)  # a weight is what autograd keeps
    layer = model.bert.encoder.layer[0].intermediate.dense
    x = torch.randn(2, layer.in_features, requires_grad=True)
    shapes = {(tensor.shape, tensor.dtype) for tensor in graph_tensors(layer(x))}
    assert not any(layer.weight.numel() == shape.numel() for shape, _ in shapes)
    expected = upcast_half(layer.weight).sum(dim=0)
    np.testing.assert_allclose(torch.autograd.grad(layer(x).sum(), x)[0][0], expected.detach(), rtol=1e-6)
    assert plain.requires_grad


@pytest.mark.parametrize("bias", [True, False])
def test_a_large_map_is_widened_block_by_block(bias, monkeypatch):
    torch.manual_seed(0)
    layer = torch.nn.Linear(6, 10, bias=bias, dtype=torch.bfloat16).requires_grad_(False)
    widest = []

    class Watched(half_weights.Widening):
        def widen(self, value):
            wide = super().widen(value)
            if isinstance(wide, torch.Tensor) and wide is not value:
                widest.append(wide.numel())
            return wide

    monkeypatch.setattr(half_weights, "Widening", Watched)
    monkeypatch.setattr(half_weights, "BLOCK", 20)
    x = torch.randn(2, 3, 6, requires_grad=True)
    with half_weights.WideArithmetic(torch.float32):
        made = layer(x)
        (slope,) = torch.autograd.grad(made.square().sum(), x)
    assert max(widest) == 18  # three rows of six
    expected = F.linear(x, layer.weight.float(), layer.bias.float() if bias else None)
    torch.testing.assert_close(made, expected)
    torch.testing.assert_close(slope, torch.autograd.grad(expected.square().sum(), x)[0])


def graph_tensors(output):
    """The wide tensors that the graph of an output keeps without hooks."""
    function = output.grad_fn
    names = [name for name in dir(function) if name.startswith("_raw_saved")]
    assert names
    return [
        saved.data
        for saved in (getattr(function, name) for name in names)
        if isinstance(saved.data, torch.Tensor)
    ]


def test_others_compute_as_they_did():
    model = opened("Bert")
    seen, inside = [], threading.Event()
    done = threading.Event()
    weight = torch.ones(2, 2, dtype=torch.bfloat16)

    def look():
        inside.wait(20)
        seen.append((F.linear(weight, weight).dtype, weight.dtype))
        done.set()

    thread = threading.Thread(target=look)
    thread.start()

    def wait(module, args):
        seen.append((F.linear(weight, weight).dtype, weight.dtype))
        inside.set()
        done.wait(20)

    with torch.no_grad():
        handle = model.bert.encoder.register_forward_pre_hook(wait)
        model(**inputs_of(model))
        handle.remove()
    thread.join()
    assert seen == [(torch.float32, torch.float32), (torch.bfloat16, torch.bfloat16)]
    assert F.linear(weight, weight).dtype == torch.bfloat16


def test_an_error_ends_the_arithmetic():
    model = opened("Bert")

    def fail(module, args):
        raise ZeroDivisionError

    model.bert.encoder.register_forward_pre_hook(fail)
    with pytest.raises(ZeroDivisionError):
        model(**inputs_of(model))
    weight = torch.ones(2, 2, dtype=torch.bfloat16)
    assert F.linear(weight, weight).dtype == torch.bfloat16


def test_an_interrupt_ends_the_arithmetic():
    subject = open_subject(halved(FAMILIES["Bert"].build), word_tokenizer())
    before = glasshead.explain(subject, "a warm film", method="gradient")
    handles = []

    def interrupt(module, args):
        raise KeyboardInterrupt

    for module in subject.model.modules():
        if isinstance(module, torch.nn.LayerNorm):
            handles.append(module.register_forward_pre_hook(interrupt))
    with pytest.raises(KeyboardInterrupt):
        glasshead.explain(subject, "a warm film", method="gradient")
    weight = torch.ones(2, 2, dtype=torch.bfloat16)
    assert weight.dtype == torch.bfloat16
    assert F.linear(weight, weight).dtype == torch.bfloat16
    for handle in handles:
        handle.remove()
    after = glasshead.explain(subject, "a warm film", method="gradient")
    assert after[0].scores == pytest.approx(before[0].scores, abs=1e-6)


def test_a_model_whose_code_cannot_is_read_as_a_copy():
    tokenizer = word_tokenizer()
    model = halved(FAMILIES["Bert"].build)
    model.bert.encoder.layer[0].output.dense = OwnProduct(model.bert.encoder.layer[0].output.dense)
    subject = open_subject(model, tokenizer)
    assert {weight.dtype for weight in subject.model.parameters()} == {torch.float32}
    assert subject.notes == ("the model is saved in bfloat16 and read in float32",)


@pytest.mark.parametrize("name", ["vit", "clip"])
def test_a_model_of_images_whose_code_cannot_is_read_as_a_copy(name):
    model = halved(lambda: deepcopy(image_model(name)))
    parts = [part for part, module in model.named_modules() if isinstance(module, torch.nn.Linear)]
    place = next(part for part in parts if "layer" in part and part.endswith(("fc1", "intermediate.dense")))
    model.set_submodule(place, OwnProduct(model.get_submodule(place)))
    subject = open_subject(model, processor())
    assert {weight.dtype for weight in subject.model.parameters()} == {torch.float32}
    assert "the model is saved in bfloat16 and read in float32" in subject.notes


def test_a_model_that_writes_into_halves_is_read_as_a_copy():
    model = halved(FAMILIES["Bert"].build)
    output = model.bert.encoder.layer[0].output
    output.dense.weight.data *= 0.1  # a difference that is not seen when the copy is checked
    output.dense = WritingProduct(output.dense)
    subject = open_subject(model, word_tokenizer())
    assert subject.notes == ("the model is saved in bfloat16 and read in float32",)
    wide = isolated_copy(model, torch.float32)
    with torch.no_grad():
        own, expected = (one(**inputs_of(one)).logits for one in (subject.model, wide))
    np.testing.assert_allclose(own, expected, **of_size(expected, SAME))


class OwnProduct(torch.nn.Module):
    """A product that no mode sees, as a compiled operator is."""

    def __init__(self, linear):
        super().__init__()
        self.linear = linear

    def forward(self, x):
        with torch._C.DisableTorchFunction():
            return torch._C._nn.linear(x, self.linear.weight, self.linear.bias)


class WritingProduct(torch.nn.Module):
    """A product that is written into memory of the module."""

    def __init__(self, linear):
        super().__init__()
        self.linear = linear
        self.register_buffer("memory", torch.zeros(128, linear.out_features, dtype=linear.weight.dtype))

    def forward(self, x):
        memory = self.memory[: x[..., 0].numel()].view(*x.shape[:-1], -1)
        torch.matmul(x, self.linear.weight.T, out=memory)
        return memory + self.linear.bias


def opened(name):
    """The model of a subject that was saved in bfloat16."""
    family = FAMILIES[name]
    return open_subject(halved(family.build), family.tokenizer()).model


def inputs_of(model):
    return encode(FAMILIES["Bert"].tokenizer(), TEXTS).inputs(device=model.device)


def test_a_model_of_mixed_precision_computes_in_float32():
    model = halved(FAMILIES["Bert"].build)
    model.bert.embeddings.LayerNorm.float()
    half = open_subject(model, word_tokenizer())
    wide = open_subject(model, word_tokenizer(), OpenOptions(dtype="float32"))
    with torch.no_grad():
        own, expected = (subject.model(**inputs_of(subject.model)).logits for subject in (half, wide))
    np.testing.assert_allclose(own, expected, **of_size(expected, SAME))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["Mixtral", "GptOss", "Qwen3Moe"])
def test_a_mixture_of_experts_in_halves(kind):
    sizes = {"vocab_size": 60, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
    sizes |= {"num_key_value_heads": 1, "intermediate_size": 24, "head_dim": 8, "num_experts_per_tok": 2}
    experts = (
        {"moe_intermediate_size": 16, "num_experts": 4} if kind == "Qwen3Moe" else {"num_local_experts": 4}
    )
    torch.manual_seed(0)
    config = getattr(hf, f"{kind}Config")(**sizes, **experts, bos_token_id=1, eos_token_id=1, pad_token_id=0)
    model = getattr(hf, f"{kind}ForCausalLM")(config).eval().bfloat16()
    check_same(model, word_tokenizer(""), TEXTS, ("gradient", "attention"))
