"""The doctor finds what is planted, and finds nothing where there is nothing."""

import json

import pytest
import torch
import transformers as hf

import glasshead
from families import FAMILIES, GROUPED, REFUSED, SIZES
from glasshead.attention import KERNELS
from glasshead.errors import InputError
from glasshead.models import doctor


def names(checkup, stops=None):
    return {trap.name for trap in checkup.traps if stops is None or trap.stops == stops}


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_is_healthy_and_its_layers_are_all_seen(name):
    family = FAMILIES[name]
    model = family.build("sdpa")
    checkup = doctor(model, "tanhmax")
    assert checkup.healthy
    seen = [module for layers in checkup.layers for module in layers.modules]
    assert sorted(seen) == sorted(name for name, _ in glasshead.models.attention_modules(model))
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
    assert all(layers.weights == "out of reach" and layers.kernel is None for layers in checkup.layers)


def saved(folder, model):
    model.save_pretrained(folder)
    return folder


def test_only_the_configuration_of_a_folder_is_read(tmp_path):
    folder = saved(tmp_path, glasshead.plug(FAMILIES["bert"].build(), "tanhmax+distance-aware"))
    (folder / "model.safetensors").unlink()
    checkup = doctor(folder)
    assert checkup.family == "BertModel"
    assert checkup.attention == "tanhmax+distance-aware"
    assert {"learned mechanism", "gradient checkpointing"} <= names(checkup, stops=False)
    assert checkup.healthy


def deepseek():
    return hf.DeepseekV32Model(
        hf.DeepseekV32Config(
            **{**SIZES, "num_key_value_heads": 2, "moe_intermediate_size": 16, "n_routed_experts": 4},
            num_experts_per_tok=2, n_group=1, topk_group=1, first_k_dense_replace=2, kv_lora_rank=8,
            q_lora_rank=8, qk_rope_head_dim=4, qk_nope_head_dim=4, v_head_dim=8, index_topk=2,
            index_n_heads=2, index_head_dim=8,
        )
    ).eval()  # fmt: skip


def test_a_model_that_picks_its_keys_is_refused_at_the_first_call():
    model = glasshead.plug(deepseek(), "softmax")
    with pytest.raises(InputError, match="picks the keys of each query"):
        model(input_ids=torch.arange(3, 12)[None])


@pytest.mark.parametrize(
    ("build", "spec", "trap", "stops"),
    [
        (lambda: hf.Gemma2Model(hf.Gemma2Config(**GROUPED)), "softmax", "softcap", True),
        (lambda: hf.GptOssModel(hf.GptOssConfig(**GROUPED, num_local_experts=2)), "softmax", "s_aux", True),
        (deepseek, "softmax", "indices", True),
        (lambda: FAMILIES["gpt2"].build(), "softmax", "too long", False),
        (lambda: FAMILIES["t5"].build(), "cosformer", "cross-attention", True),
        (lambda: FAMILIES["t5"].build(), "tanhmax", "position_bias", False),
        (lambda: FAMILIES["modernbert"].build(), "tanhmax", "sliding window", False),
        (lambda: FAMILIES["gpt2"].build(), "tanhmax", "swallowed flag", False),
        (lambda: FAMILIES["opt"].build(), "tanhmax", "swallowed flag", False),
        (lambda: FAMILIES["gpt2"].build(), "tanhmax", "static cache", False),
        (lambda: FAMILIES["albert"].build(), "tanhmax", "shared layers", False),
        (lambda: FAMILIES["bert"].build(), "distance-aware", "learned mechanism", False),
        (lambda: FAMILIES["bert"].build(), "tanhmax", "registration", False),
        (lambda: FAMILIES["bert"].build("sdpa"), "tanhmax", "output_attentions", False),
        (
            lambda: FAMILIES["bert"].build(output_attentions=True),
            "tanhmax",
            "output_attentions in the configuration",
            False,
        ),
        (lambda: FAMILIES["bert"].build(dtype=torch.float16), "tanhmax", "half precision", False),
        (lambda: FAMILIES["bert"].build("flex_attention"), "tanhmax", "replaced kernel", False),
    ],
)
def test_each_trap_is_found_with_a_remedy(build, spec, trap, stops):
    checkup = doctor(build(), spec)
    assert trap in names(checkup, stops)
    assert checkup.healthy == (not stops)
    for each in checkup.traps:
        assert each.what
        assert each.remedy
    bert = doctor(FAMILIES["bert"].build(), "tanhmax")
    assert trap in ("registration",) or trap not in names(bert)


def test_a_softcap_that_is_off_is_no_trap():
    config = hf.Gemma2Config(**GROUPED, attn_logit_softcapping=None)
    assert doctor(hf.Gemma2Model(config), "tanhmax").healthy


def test_a_configuration_that_lost_its_registration(tmp_path):
    folder = saved(tmp_path, glasshead.plug(FAMILIES["bert"].build(), "tanhmax"))
    assert doctor(folder).healthy
    config = json.loads((folder / "config.json").read_text())
    del config["attn_implementation"]
    (folder / "config.json").write_text(json.dumps(config))
    assert doctor(folder).healthy
    config["attn_implementation"] = "sdpa"
    (folder / "config.json").write_text(json.dumps(config))
    assert names(doctor(folder), stops=True) == {"missing registration"}
    glasshead.load(folder).save_pretrained(folder)
    assert doctor(folder).healthy


def test_a_model_in_memory_that_was_switched_away():
    model = glasshead.plug(FAMILIES["bert"].build(), "tanhmax")
    model.set_attn_implementation("sdpa")
    assert names(doctor(model), stops=True) == {"missing registration"}


def test_layers_that_stay_as_they_are():
    model = FAMILIES["bert"].build()
    model.encoder.layer[1].attention = hf.models.mpnet.modeling_mpnet.MPNetAttention(hf.MPNetConfig(**SIZES))
    checkup = doctor(model, "tanhmax")
    assert names(checkup, stops=True) == {"partly dispatched"}
    (trap,) = [trap for trap in checkup.traps if trap.name == "partly dispatched"]
    assert trap.where == "encoder.layer.1.attention"
    assert [layers.dispatched for layers in checkup.layers] == [True, False]


def test_length_changes_the_answer():
    model = FAMILIES["modernbert"].build()
    short, long = doctor(model, "tanhmax", length=3), doctor(model, "tanhmax", length=64)
    assert [layers.window for layers in short.layers] == [None]
    assert {layers.window for layers in long.layers} == {None, 4}
    assert "not reached" in next(trap.what for trap in short.traps if trap.name == "sliding window")


@pytest.mark.parametrize(("name", "path"), [("t5", "encoder"), ("bart", "model.encoder")])
def test_cross_attention_comes_with_the_way_out(name, path):
    model = FAMILIES[name].build()
    (trap,) = [trap for trap in doctor(model, "distance-aware").traps if trap.name == "cross-attention"]
    assert f"plug(model.{path}, …)" in trap.remedy
    glasshead.plug(model.get_submodule(path), "distance-aware")


def test_a_text_longer_than_the_model():
    model = FAMILIES["gpt2"].build()
    assert "too long" not in names(doctor(model, "tanhmax", length=64))
    assert "too long" in names(doctor(model, "tanhmax", length=65), stops=False)


@pytest.mark.parametrize("folder", ["/nowhere/at/all", "./nowhere", "nowhere", "runs/nowhere", "a/b/c"])
def test_a_folder_that_is_missing_is_said_to_be(folder):
    for ask in (doctor, glasshead.load):
        with pytest.raises(InputError, match=f"there is no folder {folder}") as caught:
            ask(folder)
        assert "\n" not in str(caught.value)


def test_a_window_is_only_in_the_models_own_mask():
    model = hf.MistralModel(hf.MistralConfig(**GROUPED, sliding_window=3))
    (trap,) = [trap for trap in doctor(model, "softmax").traps if trap.name == "sliding window"]
    assert "taken as it is" in trap.remedy


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"length": 0}, "length is a number of tokens from 1"),
        ({"device": "abacus"}, "no device 'abacus' here"),
        ({"spec": "tanmax"}, "did you mean 'tanhmax'"),
    ],
)
def test_wrong_questions_are_refused(options, message):
    with pytest.raises(InputError, match=message) as caught:
        doctor(FAMILIES["bert"].build(), **options)
    assert "\n" not in str(caught.value)
