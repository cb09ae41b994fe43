"""What plug takes, refuses and leaves behind; the contracts of every family are elsewhere."""

import ast
import copy
import re
from pathlib import Path

import pytest
import torch
import transformers as hf
from transformers import DynamicCache, StaticCache

import glasshead
from families import FAMILIES, GROUPED, SIZES, VOCABULARY
from glasshead.attention import Mechanism
from glasshead.dispatch import KEY
from glasshead.dispatch.attention_function import IGNORED_ARGS, SUPPORTED_ARGS, attention_function
from glasshead.errors import InputError
from glasshead.huggingface import attention_modules, mechanism_of
from glasshead.huggingface.plug_blockers import UNSUPPORTED
from glasshead.huggingface.structure import is_cross_attention
from tolerances import ALL_LAYERS

BERT, LLAMA, GPT2 = FAMILIES["bert"], FAMILIES["llama"], FAMILIES["gpt2"]
TEXT = [6, 4]


def test_plug_returns_the_model_and_names_itself_in_the_configuration():
    model = BERT.build("sdpa")
    assert glasshead.plug(model, {"position": {"name": "distance-aware", "mapping": "clip"}}) is model
    assert model.config._attn_implementation == "glasshead"
    assert model.config.glasshead_mechanism == {
        "activation": "softmax",
        "position": {"name": "distance-aware", "mapping": "clip"},
    }
    names = [name for name, _ in attention_modules(model)]
    assert names == ["encoder.layer.0.attention.self", "encoder.layer.1.attention.self"]
    ones = [mechanism_of(module) for _, module in attention_modules(model)]
    assert ones[0] is not ones[1]


@torch.no_grad()
def test_plugging_again_replaces():
    model, given = BERT.build(), BERT.inputs(TEXT)
    before = BERT.read(model, given)
    glasshead.plug(model, "tanhmax+distance-aware")
    assert any("mechanism" in name for name, _ in model.named_parameters())
    glasshead.plug(model, "softmax")
    assert not any("mechanism" in name for name, _ in model.named_parameters())
    for one, other in zip(BERT.read(model, given), before, strict=True):
        torch.testing.assert_close(one, other, **ALL_LAYERS)


@torch.no_grad()
def test_unplug_gives_the_own_attention_back(tmp_path):
    model, given = BERT.build("sdpa"), BERT.inputs(TEXT)
    before = BERT.read(model, given)
    configuration = model.config.to_dict()
    glasshead.plug(model, "tanhmax+distance-aware")
    assert not torch.allclose(BERT.read(model, given)[0], before[0], **ALL_LAYERS)
    assert glasshead.unplug(model) is model
    assert model.config.to_dict() == configuration
    assert not any(isinstance(module, Mechanism) for module in model.modules())
    assert all(not module._forward_pre_hooks for _, module in attention_modules(model))
    for one, other in zip(BERT.read(model, given), before, strict=True):
        torch.testing.assert_close(one, other, **ALL_LAYERS)
    model.save_pretrained(tmp_path)
    assert "glasshead" not in (tmp_path / "config.json").read_text()


@pytest.mark.parametrize("own", ["eager", "sdpa"])
def test_unplug_gives_back_what_was_there_before_the_plug(own, tmp_path):
    model = hf.BertForSequenceClassification(hf.BertConfig(**SIZES, attn_implementation=own))
    glasshead.plug(glasshead.plug(model, "tanhmax"), "sigsoftmax")
    model = copy.deepcopy(model)
    model.save_pretrained(tmp_path)
    assert own not in (tmp_path / "config.json").read_text()
    assert glasshead.unplug(model).config._attn_implementation == own
    assert glasshead.unplug(glasshead.plug(model, "tanhmax")).config._attn_implementation == own
    assert glasshead.unplug(glasshead.load(tmp_path)).config._attn_implementation == "sdpa"


@torch.no_grad()
def test_a_refused_plug_leaves_the_model_as_it_was():
    model, given = BERT.build(), BERT.inputs(TEXT)
    model.encoder.layer[1].attention.self.config = hf.BertConfig(**SIZES, attn_implementation="eager")
    before, configuration = BERT.read(model, given), model.config.to_dict()
    with pytest.raises(InputError, match="stays with the attention 'eager'"):
        glasshead.plug(model, "tanhmax")
    assert model.config._attn_implementation == "eager"
    assert model.config.to_dict() == configuration
    torch.testing.assert_close(BERT.read(model, given)[0], before[0], **ALL_LAYERS)


@pytest.mark.parametrize("other", ["sdpa", "eager"])
def test_another_implementation_after_the_plug_is_refused_at_the_call(other):
    model, given = glasshead.plug(BERT.build(), "tanhmax"), BERT.inputs(TEXT)
    expected = BERT.read(model, given)
    model.set_attn_implementation(other)
    with pytest.raises(InputError, match=rf"was plugged with tanhmax but .* set to '{other}'"):
        model(**given)
    model.set_attn_implementation("glasshead")
    torch.testing.assert_close(BERT.read(model, given)[0], expected[0], **ALL_LAYERS)
    model.set_attn_implementation(other)
    assert glasshead.unplug(model)(**given).last_hidden_state.isfinite().all()


def test_a_model_that_dispatches_only_in_part_is_refused():
    model = BERT.build()
    model.encoder.layer[1].attention = hf.models.mpnet.modeling_mpnet.MPNetAttention(hf.MPNetConfig(**SIZES))
    with pytest.raises(InputError, match=r"^encoder\.layer\.1\.attention \(MPNetAttention\) computes"):
        glasshead.plug(model, "tanhmax")
    assert model.config._attn_implementation == "eager"


def test_only_the_end_of_a_name_says_cross_attention():
    bert = BERT.build()
    (name, module), *_ = attention_modules(bert)
    assert not is_cross_attention(f"cross_encoder.{name}", module)
    assert is_cross_attention("decoder.layer.0.crossattention.self", module)
    assert is_cross_attention("model.decoder.layers.0.encoder_attn", module)


@pytest.mark.parametrize("kept", [torch.int8, torch.float8_e4m3fn])
def test_what_learns_beside_quantised_weights_is_in_floating_point(kept):
    model = BERT.build().to(torch.bfloat16)
    for _, module in attention_modules(model):
        module.query.weight = torch.nn.Parameter(module.query.weight.to(kept), requires_grad=False)
    glasshead.plug(model, "distance-aware")
    for _, module in attention_modules(model):
        assert mechanism_of(module).position.w.dtype == torch.bfloat16


def attention_calls(source):
    """Every call of an attention function in a modeling file, parsed by itself: whole files take seconds."""
    for found in re.finditer(r"\battention_interface\(", source):
        closed = found.end()
        while True:
            closed = source.index(")", closed) + 1
            try:
                yield ast.parse(source[found.start() : closed], mode="eval").body
                break
            except SyntaxError:
                continue


def test_no_argument_of_transformers_is_dropped_unseen():
    files = sorted(Path(hf.__file__).parent.glob("models/*/modeling_*.py"))
    sources = {path.name: path.read_text() for path in files}
    asking = {name: source for name, source in sources.items() if "ALL_ATTENTION_FUNCTIONS.get" in source}
    named = {}
    for name, source in asking.items():
        for call in attention_calls(source):
            for keyword in call.keywords:
                named.setdefault(keyword.arg, set()).add(name)
    assert len(set().union(*named.values())) > 0.95 * len(asking) > 100
    named.pop(None, None)
    unheard = {
        key: where
        for key, where in named.items()
        if key not in {*SUPPORTED_ARGS, *UNSUPPORTED, *IGNORED_ARGS}
    }
    assert not unheard
    assert not SUPPORTED_ARGS & UNSUPPORTED.keys()
    assert not SUPPORTED_ARGS & IGNORED_ARGS.keys()
    assert not UNSUPPORTED.keys() & IGNORED_ARGS.keys()


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_each_unsupported_argument_is_refused(name):
    (_, module), *_ = attention_modules(glasshead.plug(BERT.build(), "tanhmax"))
    q = torch.randn(1, 2, 3, 8)
    attention_function(module, q, q, q, None, **{name: None})
    with pytest.raises(InputError, match=r"BertSelfAttention .*which tanhmax cannot support"):
        attention_function(module, q, q, q, None, **{name: torch.zeros(1)})


@torch.no_grad()
def test_a_copy_is_plugged_and_independent():
    model, given = glasshead.plug(BERT.build(), "tanhmax+distance-aware"), BERT.inputs(TEXT)
    twin = copy.deepcopy(model)
    torch.testing.assert_close(BERT.read(twin, given)[0], BERT.read(model, given)[0], **ALL_LAYERS)
    for _, module in attention_modules(twin):
        mechanism_of(module).position.w.normal_()
    assert not torch.allclose(BERT.read(twin, given)[0], BERT.read(model, given)[0], **ALL_LAYERS)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@torch.no_grad()
def test_half_precision_stays_finite_and_near(dtype):
    whole = glasshead.plug(BERT.build(), "tanhmax+distance-aware")
    half = copy.deepcopy(whole).to(dtype)
    for _, module in attention_modules(half):
        assert mechanism_of(module).position.w.dtype == dtype
    ours, theirs = (BERT.read(model, BERT.inputs(TEXT))[0] for model in (half, whole))
    assert ours.dtype == dtype
    assert (ours.float() - theirs).abs().max() < 0.25
    for name, weight in half.named_parameters():  # scores far beyond what float16 holds
        if "query.weight" in name or "key.weight" in name:
            weight.mul_(300.0)
    assert BERT.read(half, BERT.inputs(TEXT))[0].isfinite().all()


@pytest.mark.parametrize(
    ("model", "spec", "message"),
    [
        (torch.nn.Linear(2, 2), "tanhmax", "plug takes a transformers model, not Linear"),
        (BERT.build(), "tanmax", "did you mean 'tanhmax'"),
        (BERT.build(), {"activation": "tanhmax", "positions": "none"}, "did you mean 'position'"),
        (BERT.build(), glasshead.mechanism("tanhmax"), "not a Mechanism"),
        (FAMILIES["t5"].build(), "distance-aware", "cross-attention .*EncDecAttention"),
        (FAMILIES["bart"].build(), "cosformer", "cross-attention .*encoder_attn"),
    ],
)  # fmt: skip
def test_wrong_use_is_one_clear_line(model, spec, message):
    with pytest.raises(InputError, match=message) as caught:
        glasshead.plug(model, spec)
    assert "\n" not in str(caught.value)
    if isinstance(model, hf.PreTrainedModel):
        assert model.config._attn_implementation == "eager"


@torch.no_grad()
def test_a_softcap_that_is_off_is_no_stop():
    config = hf.Gemma2Config(**GROUPED, query_pre_attn_scalar=8, attn_logit_softcapping=None)
    model = glasshead.plug(hf.Gemma2Model(config).eval(), "tanhmax")
    assert model(**LLAMA.inputs(TEXT)).last_hidden_state.isfinite().all()


@torch.no_grad()
def test_a_sliding_window_is_in_the_mask_or_refused():
    options = {**GROUPED, "sliding_window": 3, "attn_implementation": "eager"}
    torch.manual_seed(0)
    model = hf.MistralForCausalLM(hf.MistralConfig(**options)).eval()
    given = LLAMA.inputs([9, 5])
    theirs = LLAMA.read(model, given)
    glasshead.plug(model, "softmax")
    for one, other in zip(LLAMA.read(model, given), theirs, strict=True):
        torch.testing.assert_close(one, other, **ALL_LAYERS)
    glasshead.plug(model, "tanhmax+distance-aware")
    given = {key: each for key, each in LLAMA.inputs([9, 5], "left").items() if key != "position_ids"}
    wanted = {"do_sample": False, "max_new_tokens": 5, "min_new_tokens": 5}
    without = model.generate(**given, **wanted, use_cache=False)
    assert torch.equal(model.generate(**given, **wanted), without)
    attention = model.model.layers[0].self_attn
    own = torch.ones(9, 9).tril().bool()[None, None]
    taken = model(LLAMA.inputs([9])["input_ids"], attention_mask=own).logits
    plain = hf.MistralForCausalLM(hf.MistralConfig(**{**options, "sliding_window": None})).eval()
    glasshead.plug(plain, "tanhmax+distance-aware").load_state_dict(model.state_dict())
    windowless = plain(LLAMA.inputs([9])["input_ids"]).logits  # a mask of the caller's own is the whole mask
    torch.testing.assert_close(taken, windowless, **ALL_LAYERS)
    states = torch.randn(1, 6, 16)
    rotary = model.model.rotary_emb(states, torch.arange(6)[None])
    with pytest.raises(InputError, match="sliding window of 3 that is not in the mask"):
        attention(states, position_embeddings=rotary, attention_mask=None)


@torch.no_grad()
def test_packed_texts_do_not_see_each_other():
    model = glasshead.plug(LLAMA.build(), "tanhmax")
    ids = torch.arange(3, 12)[None]
    places = torch.tensor([[0, 1, 2, 3, 0, 1, 2, 3, 4]])
    packed = model(input_ids=ids, position_ids=places, use_cache=False).logits
    torch.testing.assert_close(packed[:, :4], model(input_ids=ids[:, :4]).logits, **ALL_LAYERS)
    torch.testing.assert_close(packed[:, 4:], model(input_ids=ids[:, 4:]).logits, **ALL_LAYERS)


@pytest.mark.parametrize("kind", ["bool", "additive", "-1e4"])
@torch.no_grad()
def test_a_whole_mask_of_the_callers_own(kind):
    model = glasshead.plug(BERT.build(), "tanhmax")
    given = BERT.inputs([6])
    allowed = torch.rand(1, 1, 6, 6, generator=torch.Generator().manual_seed(0)) < 0.6
    low = {"bool": None, "additive": torch.finfo(torch.float32).min, "-1e4": -1e4}[kind]
    mask = allowed if low is None else torch.zeros(1, 1, 6, 6).masked_fill(~allowed, low)
    weights = model(given["input_ids"], attention_mask=mask, output_attentions=True).attentions
    for each in weights:
        assert torch.equal(each != 0, allowed.expand_as(each))


@torch.no_grad()
def test_an_additive_mask_that_says_more_is_a_bias():
    model, given = BERT.build(), BERT.inputs([6])
    bias = torch.randn(1, 1, 6, 6).masked_fill(torch.eye(6) > 0, torch.finfo(torch.float32).min)
    theirs = model(given["input_ids"], attention_mask=bias).last_hidden_state
    glasshead.plug(model, "softmax")
    ours = model(given["input_ids"], attention_mask=bias).last_hidden_state
    torch.testing.assert_close(ours, theirs, **ALL_LAYERS)


@torch.no_grad()
def test_a_bidirectional_llama():
    options = {**GROUPED, "attn_implementation": "eager"}
    torch.manual_seed(0)
    config = hf.LlamaConfig(**options)
    config.is_causal = False
    model = hf.LlamaModel(config).eval()
    given = LLAMA.inputs(TEXT)
    theirs = LLAMA.read(model, given)
    glasshead.plug(model, "softmax")
    assert model.layers[0].self_attn.is_causal
    for one, other in zip(LLAMA.read(model, given), theirs, strict=True):
        torch.testing.assert_close(one, other, **ALL_LAYERS)


@torch.no_grad()
def test_a_text_encoder_that_says_is_causal_by_argument():
    options = {"hidden_size": 16, "intermediate_size": 32, "num_attention_heads": 2, "num_hidden_layers": 2}
    config = hf.CLIPTextConfig(
        **options, vocab_size=VOCABULARY, pad_token_id=0, bos_token_id=1, eos_token_id=2,
        attn_implementation="eager",
    )  # fmt: skip
    model = hf.CLIPTextModel(config).eval()
    given = LLAMA.inputs(TEXT)
    theirs = BERT.read(model, given)
    glasshead.plug(model, "softmax")
    for one, other in zip(BERT.read(model, given), theirs, strict=True):
        torch.testing.assert_close(one, other, **ALL_LAYERS)


@pytest.mark.parametrize("cache", ["dynamic", "static"])
@pytest.mark.parametrize("side", ["left", "right"])
@torch.no_grad()
def test_a_text_in_pieces_is_the_text(cache, side):
    model = glasshead.plug(GPT2.build(), "tanhmax+distance-aware")
    given = GPT2.inputs([9, 6], side)
    whole = model(**given).logits
    kept = DynamicCache() if cache == "dynamic" else StaticCache(model.config, max_cache_len=16)
    made = []
    for start, stop in ((0, 4), (4, 8), (8, 9)):
        piece = {
            "input_ids": given["input_ids"][:, start:stop],
            "attention_mask": given["attention_mask"][:, :stop],
        }
        places = given.get("position_ids", torch.arange(9).expand(2, -1))[:, start:stop]
        made.append(model(**piece, position_ids=places, past_key_values=kept, use_cache=True).logits)
    real = given["attention_mask"].bool()
    torch.testing.assert_close(torch.cat(made, dim=1)[real], whole[real], **ALL_LAYERS)


@torch.no_grad()
def test_padding_between_texts_is_no_distance_with_any_cache():
    model = glasshead.plug(GPT2.build(), "tanhmax+distance-aware")
    ids = torch.tensor([[5, 6, 7, 0, 0, 8, 9]])
    holes = {"attention_mask": (ids != 0).long(), "position_ids": torch.tensor([[0, 1, 2, 0, 0, 3, 4]])}
    closed = model(ids[ids != 0][None]).logits[:, -2:]
    torch.testing.assert_close(model(ids, **holes).logits[:, -2:], closed, **ALL_LAYERS)
    for kept in (DynamicCache(), StaticCache(model.config, max_cache_len=16)):
        made = []
        for start, stop in ((0, 5), (5, 6), (6, 7)):
            piece = {"attention_mask": holes["attention_mask"][:, :stop], "past_key_values": kept}
            places = holes["position_ids"][:, start:stop]
            made.append(model(ids[:, start:stop], position_ids=places, **piece).logits)
        torch.testing.assert_close(torch.cat(made, dim=1)[:, -2:], closed, **ALL_LAYERS)


def test_cross_attention_that_no_name_gives_away_is_refused_at_the_call():
    model = hf.BertModel(hf.BertConfig(**SIZES)).eval()
    glasshead.plug(model, "cosformer")
    attention = model.encoder.layer[0].attention.self
    states = torch.randn(1, 4, 16)
    attention(states)
    with pytest.raises(InputError, match="positions have no meaning in cross-attention"):
        attention(states, encoder_hidden_states=states)


def test_our_name_triggers_no_special_path_of_transformers():
    assert not any(word in KEY for word in ("flash", "sdpa", "flex_attention", "paged", "/", "|"))
