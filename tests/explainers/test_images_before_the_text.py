"""BLIP-2 reads no text without an image, and its processor puts image tokens before the first token."""

import numpy as np
import pytest
import torch
import transformers as hf
from tokenizers.processors import TemplateProcessing

import glasshead
from glasshead.data import begins_twice
from glasshead.errors import InputError
from image_text_families import photo
from image_text_newer import blip
from image_text_parts import TEXT, tokenizer

pytestmark = pytest.mark.usefixtures("quiet")
ROW = {"image": photo(), "text": "what is the cat doing ?"}


def built(begins=True, **options):
    """A random model, and its processor; its tokenizer begins each text with a token, as that of OPT does."""
    torch.manual_seed(0)
    own = tokenizer("blip")
    if begins:
        own.backend_tokenizer.post_processor = TemplateProcessing(
            single="<s> $A", pair=None, special_tokens=[("<s>", 2)]
        )
    model, processor = blip(own, **options)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim > 1:
                weight.normal_(0.0, 0.3)
    return model.eval(), processor


@pytest.mark.parametrize("begins", [True, False])
def test_probability_and_attention_are_those_of_the_model_itself(begins):
    model, processor = built(begins)
    (own,) = glasshead.explain(model, ROW, tokenizer=processor, answer=" sleeping", unit="token")
    inputs = processor(images=[ROW["image"]], text=[ROW["text"]], return_tensors="pt")
    answer = processor.tokenizer.convert_tokens_to_ids(["sleeping"])
    inputs["input_ids"] = torch.cat([inputs["input_ids"], torch.tensor([answer])], dim=1)
    inputs["attention_mask"] = torch.ones_like(inputs["input_ids"])
    model.set_attn_implementation("eager")
    with torch.no_grad():
        output = model(**inputs, output_attentions=True)
    assert list(own.ids) == inputs["input_ids"][0].tolist()
    assert own.tokens[:4] == tuple(f"image token {number}" for number in range(1, 5))
    assert own.prediction == pytest.approx(float(output.logits[0, -2].softmax(-1)[answer[0]]), rel=1e-4)
    expected = output.language_model_outputs.attentions[-1][0].mean(dim=0)[-2]
    assert np.abs(np.array(own.scores) - expected.numpy()).max() <= 1e-6


def test_it_writes_about_an_image_what_transformers_writes():
    model, processor = built()
    own = glasshead.generate(model, ROW, tokenizer=processor, tokens=2, strategy="greedy")
    inputs = processor(images=[ROW["image"]], text=[ROW["text"]], return_tensors="pt")
    config = hf.GenerationConfig(max_new_tokens=2, pad_token_id=0, eos_token_id=3)
    assert list(own.ids) == model.generate(**inputs, generation_config=config)[0].tolist()
    assert own.explain("erasure-mean-embedding").matrix.shape == (2, own.start + 1)


def test_texts_alone_several_images_and_a_tokenizer_alone_are_refused():
    model, processor = built()
    with pytest.raises(InputError, match="give the text with its image"):
        glasshead.explain(model, "what is it ?", tokenizer=processor, answer=" yes")
    row = {"images": [photo(), photo(seed=1)], "text": "what"}
    with pytest.raises(InputError, match="reads one image with a text"):
        glasshead.explain(model, row, tokenizer=processor, answer=" yes")
    with pytest.raises(InputError, match="pass its processor"):
        glasshead.explain(model, ROW, tokenizer=processor.tokenizer, answer=" yes")


def test_an_image_encoder_that_reads_the_text_is_refused():
    model, processor = built(instructed=True)
    with pytest.raises(InputError, match=r"lets its image encoder read the text, too \(qformer_input_ids\)"):
        glasshead.explain(model, ROW, tokenizer=processor, answer=" yes")


def test_a_language_model_with_an_encoder_is_refused():
    """BLIP-2 with FLAN-T5."""
    model, processor = built()
    words = len(processor.tokenizer)
    text = {"model_type": "t5", "d_model": 16, "d_kv": 8, "d_ff": 24, "num_layers": 1, "num_heads": 2}
    config = type(model.config)(
        vision_config=model.config.vision_config.to_dict(),
        qformer_config=model.config.qformer_config.to_dict(),
        text_config=text | {"vocab_size": words, "pad_token_id": 0, "decoder_start_token_id": 0},
        num_query_tokens=4,
        image_token_index=model.config.image_token_index,
    )
    with pytest.raises(InputError, match="supported for models that write from left to right"):
        glasshead.explain(type(model)(config).eval(), ROW, tokenizer=processor, answer=" yes")


def test_a_first_token_behind_an_image_is_not_one_of_two_in_other_texts():
    own = tokenizer("llava")
    image, word = own.convert_tokens_to_ids(["<image>", "cat"])
    begin = own.bos_token_id
    assert begins_twice(own, [begin, image, image, begin, word])
    assert begins_twice(own, [begin, begin, word])
    assert not begins_twice(own, [begin, word, word, begin])
    assert not begins_twice(own, [begin, image, image, word, begin])
    assert TEXT["bos_token_id"] == begin


def test_it_is_opened_from_a_folder(tmp_path):
    model, processor = built()
    for one in (model, processor):
        one.save_pretrained(tmp_path / "blip")
    own = glasshead.explain(tmp_path / "blip", ROW, answer=" sleeping")
    same = glasshead.explain(model, ROW, tokenizer=processor, answer=" sleeping")
    assert own[0].scores == pytest.approx(same[0].scores, abs=1e-5)
