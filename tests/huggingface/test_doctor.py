"""The doctor finds what is planted, and finds nothing where there is nothing."""

import json

import pytest
import torch
import transformers as hf

import glasshead
from families import FAMILIES, GROUPED, REFUSED, SIZES, STOPPED
from glasshead.attention import KERNELS
from glasshead.errors import InputError
from glasshead.huggingface import doctor


def names(checkup, *severities):
    return {issue.name for issue in checkup.diagnostics if not severities or issue.severity in severities}


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_is_healthy_and_its_layers_are_all_seen(name):
    family = FAMILIES[name]
    model = family.build("sdpa")
    checkup = doctor(model, "tanhmax")
    assert checkup.healthy
    seen = [module for layers in checkup.layers for module in layers.modules]
    assert sorted(seen) == sorted(name for name, _ in glasshead.huggingface.attention_modules(model))
    for layers in checkup.layers:
        assert layers.dispatched
        assert layers.attention == "tanhmax"
        assert layers.kernel in KERNELS
        assert layers.training_kernel in KERNELS
        assert layers.weights == "recorded"
        assert layers.heads == family.options.get("num_attention_heads", 2)
        assert layers.head_dim == 8


@pytest.mark.parametrize("name", FAMILIES)
def test_what_the_doctor_says_of_heads_is_what_the_first_call_shows(name):
    family = FAMILIES[name]
    model = glasshead.plug(family.build("sdpa"), "tanhmax")
    (layers, *_) = doctor(model).layers
    with torch.no_grad(), glasshead.record(model) as trace:
        model(**family.inputs([5]))
    assert trace[0].q.shape[1::2] == (layers.heads, layers.head_dim)
    assert layers.key_heads == family.options.get("num_key_value_heads", layers.heads)


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_plugged_is_said(name):
    checkup = doctor(REFUSED[name](), "tanhmax")
    assert not checkup.healthy
    assert names(checkup) == {"not dispatched"}
    assert checkup.layers
    assert all(layers.weights == "softmax caught" and layers.kernel is None for layers in checkup.layers)


def saved(folder, model):
    model.save_pretrained(folder)
    return folder


def test_only_the_configuration_of_a_folder_is_read(tmp_path):
    folder = saved(tmp_path, glasshead.plug(FAMILIES["bert"].build(), "tanhmax+distance-aware"))
    (folder / "model.safetensors").unlink()
    checkup = doctor(folder)
    assert checkup.family == "BertModel"
    assert checkup.attention == "tanhmax+distance-aware"
    assert names(checkup, "warning") == {"learned mechanism"}
    assert "gradient checkpointing" in names(checkup, "note")
    assert checkup.healthy


@pytest.mark.parametrize(
    ("build", "spec", "issue", "severity"),
    [
        (STOPPED["gemma2"], "softmax", "softcap", "stop"),
        (STOPPED["gpt-oss"], "softmax", "s_aux", "stop"),
        (STOPPED["deepseek"], "softmax", "indices", "stop"),
        (STOPPED["mamba"], "softmax", "no attention", "stop"),
        (STOPPED["siglip"], "softmax", "partly dispatched", "stop"),
        (STOPPED["ours"], "softmax", "built in", "stop"),
        (lambda: FAMILIES["t5"].build(), "cosformer", "cross-attention", "stop"),
        (
            lambda: FAMILIES["bert"].build(),
            {"position": {"name": "distance-aware", "mapping": "clip"}},
            "learned mechanism",
            "warning",
        ),
        (lambda: FAMILIES["t5"].build(), "tanhmax", "position_bias", "warning"),
        (lambda: FAMILIES["modernbert"].build(), "tanhmax", "sliding window", "warning"),
        (lambda: FAMILIES["gpt2"].build(), "tanhmax", "swallowed flag", "note"),
        (lambda: FAMILIES["opt"].build(), "tanhmax", "swallowed flag", "note"),
        (lambda: FAMILIES["gpt2"].build(), "tanhmax", "static cache", "note"),
        (lambda: FAMILIES["albert"].build(), "tanhmax", "shared layers", "warning"),
        (lambda: FAMILIES["bert"].build(), "distance-aware", "learned mechanism", "warning"),
        (lambda: FAMILIES["bert"].build(), "tanhmax", "registration", "note"),
        (lambda: FAMILIES["bert"].build("sdpa"), "tanhmax", "output_attentions", "note"),
        (
            lambda: FAMILIES["bert"].build(output_attentions=True),
            "tanhmax",
            "output_attentions in the configuration",
            "warning",
        ),
        (lambda: FAMILIES["bert"].build(dtype=torch.float16), "tanhmax", "half precision", "note"),
        (lambda: FAMILIES["bert"].build("flex_attention"), "tanhmax", "replaced kernel", "warning"),
    ],
)
def test_each_trap_is_found_with_a_remedy(build, spec, issue, severity):
    checkup = doctor(build(), spec)
    assert issue in names(checkup, severity)
    assert checkup.healthy == (severity != "stop")
    for each in checkup.diagnostics:
        assert each.problem
        assert each.remedy
    bert = doctor(FAMILIES["bert"].build(), "tanhmax")
    assert names(bert) == {"registration", "gradient checkpointing", "native kernel"}
    assert names(bert, "note") == names(bert)


def test_a_softcap_that_is_off_is_no_trap():
    config = hf.Gemma2Config(**GROUPED, attn_logit_softcapping=None)
    assert doctor(hf.Gemma2Model(config), "tanhmax").healthy


def test_a_configuration_that_lost_its_registration(tmp_path):
    folder = saved(tmp_path, glasshead.plug(FAMILIES["bert"].build(), "tanhmax"))
    assert doctor(folder).healthy
    config = json.loads((folder / "config.json").read_text())
    del config["attn_implementation"]
    (folder / "config.json").write_text(json.dumps(config))
    assert names(doctor(folder), "stop", "error") == {"missing registration"}
    config["attn_implementation"] = "sdpa"
    (folder / "config.json").write_text(json.dumps(config))
    assert names(doctor(folder), "stop", "error") == {"missing registration"}
    glasshead.load(folder).save_pretrained(folder)
    assert doctor(folder).healthy


def test_a_model_in_memory_that_was_switched_away():
    model = glasshead.plug(FAMILIES["bert"].build(), "tanhmax")
    model.set_attn_implementation("sdpa")
    assert names(doctor(model), "stop", "error") == {"missing registration"}


def test_layers_that_stay_as_they_are():
    model = FAMILIES["bert"].build()
    model.encoder.layer[1].attention = hf.models.mpnet.modeling_mpnet.MPNetAttention(hf.MPNetConfig(**SIZES))
    checkup = doctor(model, "tanhmax")
    assert names(checkup, "stop") == {"partly dispatched"}
    (issue,) = [issue for issue in checkup.diagnostics if issue.name == "partly dispatched"]
    assert issue.module == "encoder.layer.1.attention"
    assert [layers.dispatched for layers in checkup.layers] == [True, False]


def test_length_changes_the_answer():
    model = FAMILIES["modernbert"].build()
    short, long = doctor(model, "tanhmax", length=3), doctor(model, "tanhmax", length=64)
    assert [layers.window for layers in short.layers] == [None]
    assert {layers.window for layers in long.layers} == {None, 4}
    assert "not reached" in next(
        issue.problem for issue in short.diagnostics if issue.name == "sliding window"
    )


@pytest.mark.parametrize(("name", "path"), [("t5", "encoder"), ("bart", "model.encoder")])
def test_cross_attention_comes_with_the_way_out(name, path):
    model = FAMILIES[name].build()
    (issue,) = [
        issue for issue in doctor(model, "distance-aware").diagnostics if issue.name == "cross-attention"
    ]
    assert f"plug(model.{path}, …)" in issue.remedy
    glasshead.plug(model.get_submodule(path), "distance-aware")


@pytest.mark.parametrize(
    ("name", "reads"),
    [("bert", 512), ("gpt2", 64), ("roberta", 63), ("bart", 64), ("opt", 64), ("siglip-text", 64)],
)
def test_a_text_longer_than_the_learned_places_is_an_error_as_it_is_at_the_call(name, reads):
    family = FAMILIES[name]
    model = family.build()
    assert doctor(model, "tanhmax").length == reads
    assert doctor(model, "tanhmax", length=reads).healthy
    checkup = doctor(model, "tanhmax", length=reads + 1)
    assert not checkup.healthy
    assert names(checkup, "error") == {"too long"}
    glasshead.plug(model, "tanhmax")
    with torch.no_grad():
        model(**family.inputs([reads]))
        with pytest.raises((IndexError, ValueError, RuntimeError)):
            model(**family.inputs([reads + 1]))


def test_a_text_longer_than_the_training_is_a_warning():
    model = FAMILIES["llama"].build(max_position_embeddings=64)
    assert doctor(model, "tanhmax").length == 64
    checkup = doctor(model, "tanhmax", length=65)
    assert checkup.healthy
    assert names(checkup, "warning") == {"too long"}


def test_a_position_built_for_fewer_tokens_is_an_error_at_this_length():
    model = FAMILIES["llama"].build()
    assert doctor(model, "cosformer", length=512).healthy
    checkup = doctor(model, "cosformer", length=513)
    assert not checkup.healthy
    assert names(checkup, "error") == {"length"}


@pytest.mark.parametrize("folder", ["/nowhere/at/all", "./nowhere", "nowhere", "runs/nowhere", "a/b/c"])
def test_a_folder_that_is_missing_is_said_to_be(folder):
    for ask in (doctor, glasshead.load):
        with pytest.raises(InputError, match=f"there is no folder {folder}") as caught:
            ask(folder)
        assert "\n" not in str(caught.value)


def test_a_window_is_only_in_the_models_own_mask():
    model = hf.MistralModel(hf.MistralConfig(**GROUPED, sliding_window=3))
    (issue,) = [issue for issue in doctor(model, "softmax").diagnostics if issue.name == "sliding window"]
    assert "used as it is" in issue.remedy


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"length": 0}, "`length` must be a number of tokens from 1"),
        ({"device": "abacus"}, "no device 'abacus' here"),
        ({"spec": "tanmax"}, "did you mean 'tanhmax'"),
    ],
)
def test_wrong_questions_are_refused(options, message):
    with pytest.raises(InputError, match=message) as caught:
        doctor(FAMILIES["bert"].build(), **options)
    assert "\n" not in str(caught.value)
