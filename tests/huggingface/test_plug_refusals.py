"""What the doctor calls a stop is refused by the plug, and what a refusal recommends works."""

import re

import pytest
import torch
import transformers as hf

import glasshead
from families import FAMILIES, STOPPED
from glasshead.errors import InputError
from glasshead.huggingface import attention_modules

TEXT = [6, 4]
SIGLIP = {
    "text_config": FAMILIES["siglip-text"].options,
    "vision_config": {**FAMILIES["siglip-vision"].options, "vision_use_head": True},
}


@pytest.mark.parametrize("name", STOPPED)
def test_what_the_doctor_calls_a_stop_the_plug_refuses_in_the_same_words(name):
    model = STOPPED[name]()
    (stop, *_) = [
        issue for issue in glasshead.doctor(model, "softmax").diagnostics if issue.severity == "stop"
    ]
    before = model.config._attn_implementation
    with pytest.raises(InputError) as caught:
        glasshead.plug(model, "softmax")
    assert str(caught.value) == f"{stop.problem}: {stop.remedy}"
    assert model.config._attn_implementation == before


@pytest.mark.parametrize("kind", [hf.SiglipVisionModel, hf.SiglipModel])
@torch.no_grad()
def test_what_a_refusal_recommends_works(kind, tmp_path):
    config = hf.SiglipConfig(**SIGLIP)
    model = kind(config if kind is hf.SiglipModel else config.vision_config).eval()
    given = FAMILIES["siglip-vision"].inputs([1, 2])
    if kind is hf.SiglipModel:
        given |= FAMILIES["siglip-text"].inputs([5, 3])
    before = model(**given)
    with pytest.raises(InputError, match=r"head \(|head.attention \(MultiheadAttention\)") as caught:
        glasshead.plug(model, "tanhmax")
    recommended = re.findall(r"plug\((model[\w.\[\]]*), …\)", str(caught.value))
    assert recommended
    for expression in recommended:
        part = eval(expression, {"model": model})
        assert glasshead.plug(part, "tanhmax") is part
    key = "logits_per_image" if kind is hf.SiglipModel else "pooler_output"
    with glasshead.record(model) as trace:
        plugged = model(**given)[key]
    assert [layer.mechanism for layer in trace] == ["tanhmax"] * len(list(attention_modules(model)))
    assert not torch.allclose(plugged, before[key])
    for expression in recommended:
        glasshead.unplug(eval(expression, {"model": model}))
    torch.testing.assert_close(model(**given)[key], before[key])


@torch.no_grad()
def test_a_plugged_part_of_one_configuration_is_saved_and_loaded(tmp_path):
    model = hf.SiglipVisionModel(hf.SiglipVisionConfig(**SIGLIP["vision_config"])).eval()
    glasshead.plug(model.encoder, "tanhmax+distance-aware")
    given = FAMILIES["siglip-vision"].inputs([1, 2])
    expected = model(**given).pooler_output
    model.save_pretrained(tmp_path)
    torch.testing.assert_close(glasshead.load(tmp_path)(**given).pooler_output, expected)


@pytest.mark.parametrize("name", ["bart", "t5"])
@torch.no_grad()
def test_the_encoder_can_be_plugged_alone_as_the_refusal_says(name):
    family = FAMILIES[name]
    model, given = family.build(), family.inputs(TEXT)
    with pytest.raises(InputError, match="plug the encoder alone") as caught:
        glasshead.plug(model, "cosformer")
    encoder, decoder = re.findall(r"plug\((model[\w.]*), ", str(caught.value))
    glasshead.plug(eval(encoder, {"model": model}), "cosformer")
    if name == "bart":  # T5 gives its stacks configurations of their own
        with pytest.raises(InputError, match="shares its configuration with what was plugged"):
            model(**given)
    glasshead.plug(eval(decoder, {"model": model}), "softmax")
    with glasshead.record(model) as trace:
        model(**given)
    assert [layer.mechanism for layer in trace] == ["cosformer"] * 2 + ["softmax"] * 4
