"""Images with a caption each: which parts of an image, and which words of its caption, make them similar."""

import json
from functools import cache

import pytest
import torch
import transformers as hf

import glasshead
from caption_models import KINDS, build, clip_processor
from glasshead.data import decode_pixels
from glasshead.errors import InputError
from image_families import PATCH, pictures, processor
from model_state import model_state
from typed import glasshead as glasshead_command
from typed import refusal

CAPTION = "a good film , not dull"


@cache
def pipeline(kind):
    model, tokenizer = build(kind)
    return hf.pipeline(
        "zero-shot-image-classification", model=model, tokenizer=tokenizer, image_processor=processor()
    )


def image():
    return decode_pixels(pictures(1)[0])


def explain(kind, method, caption=CAPTION, **options):
    return glasshead.explain(pipeline(kind), {"image": image(), "text": caption}, method=method, **options)


def read(kind, caption=CAPTION):
    """What the pipeline gives the whole model, and the place of each token."""
    pipe = pipeline(kind)
    inputs = pipe.preprocess(image(), [caption], "{}")
    return {**inputs["text_inputs"][0], "pixel_values": inputs["pixel_values"]}


def cosine(kind, **inputs):
    output = pipeline(kind).model(**inputs)
    return torch.cosine_similarity(output.image_embeds, output.text_embeds)[0]


@pytest.mark.parametrize("kind", KINDS)
def test_both_sides_have_the_cosine_of_the_whole_model(kind):
    before = model_state(pipeline(kind).model)
    of_image, of_caption = explain(kind, "gradient")
    with torch.no_grad():
        expected = float(cosine(kind, **read(kind)))
    for own, name in ((of_image, "image"), (of_caption, "caption")):
        assert own.prediction == pytest.approx(expected, abs=1e-5)
        assert (own.asked, own.target, own.rates) == (name, "similarity", True)
    assert of_image.boxes is not None
    assert of_caption.text == CAPTION
    assert model_state(pipeline(kind).model) == before


@pytest.mark.parametrize("kind", ["clip", "siglip"])
def test_words_that_are_removed_change_the_cosine_as_in_the_whole_model(kind):
    (own,) = explain(kind, "erasure-delete", target="caption")
    words = CAPTION.split()
    with torch.no_grad():
        whole = cosine(kind, **read(kind))
        for place, word in enumerate(words):
            rest = " ".join([*words[:place], *words[place + 1 :]])
            change = float(whole - cosine(kind, **read(kind, rest)))
            found = [score for token, score in zip(own.tokens, own.scores, strict=True) if token == word]
            assert found == [pytest.approx(change, abs=1e-5)]


@pytest.mark.parametrize("kind", ["clip", "siglip"])
def test_gradients_of_both_sides_are_those_of_the_whole_model(kind):
    inputs = read(kind)
    pixels = inputs["pixel_values"].requires_grad_()
    model = pipeline(kind).model
    table = model.text_model.get_input_embeddings()
    vectors = []

    def leaf(module, args, output):
        vectors.append(output.detach().requires_grad_())
        return vectors[-1]

    hook = table.register_forward_hook(leaf)
    value = cosine(kind, **inputs)
    hook.remove()
    slopes = torch.autograd.grad(value, [pixels, *vectors])
    along = (slopes[1] * vectors[0]).sum(dim=-1)[0].tolist()
    of_image, of_caption = explain(kind, "gradient")
    assert of_caption.scores == pytest.approx(along[: len(of_caption.scores)], abs=1e-5)
    if kind == "siglip":  # the convolution of CLIP has no bias, so that e·∂/∂e is pixels·∂/∂pixels
        return
    by_patch = (slopes[0] * pixels)[0].detach().sum(0)
    by_patch = by_patch.unflatten(1, (-1, PATCH)).unflatten(0, (-1, PATCH)).sum(dim=(1, 3)).flatten()
    assert of_image.scores[1:] == pytest.approx(by_patch.tolist(), abs=1e-5)


def planted():
    """A CLIP whose caption is similar to the image for one word alone: tokens are averaged, and the vector
    of that word becomes that of the image."""
    model, tokenizer = build("clip")
    pipe = hf.pipeline(
        "zero-shot-image-classification", model=model, tokenizer=tokenizer, image_processor=processor()
    )
    text = model.text_model
    with torch.no_grad():
        for layer in text.encoder.layers:
            for part in (layer.mlp.fc2, layer.self_attn.q_proj, layer.self_attn.k_proj):
                part.weight.zero_()
                part.bias.zero_()
            for part in (layer.self_attn.v_proj, layer.self_attn.out_proj):
                part.weight.copy_(torch.eye(len(part.weight)))
        text.embeddings.position_embedding.weight.zero_()
        pixels = pipe.preprocess(image(), ["a"], "{}")["pixel_values"]
        features = model.get_image_features(pixel_values=pixels)
        vector = getattr(features, "pooler_output", features)[0]
        table = text.embeddings.token_embedding.weight
        table.mul_(0.1)
        wanted = torch.linalg.pinv(model.text_projection.weight) @ vector
        wanted = wanted - wanted.mean()
        table[tokenizer.convert_tokens_to_ids("film")] = 8 * wanted / wanted.norm()
    return pipe


@pytest.mark.parametrize("method", ["erasure-delete", "gradient-after-norm", "captum:integrated-gradients"])
def test_the_word_that_is_in_the_image_is_found(method):
    asked = {"image": image(), "text": CAPTION}
    (own,) = glasshead.explain(planted(), asked, method=method, target="caption")
    words = {token: score for token, score in zip(own.tokens, own.scores, strict=True) if token in CAPTION}
    assert max(words, key=words.__getitem__) == "film"


def test_random_numbers_do_not_find_it():
    """A word of its own is first in each caption, and seldom this one."""
    captions = ["a good film", "good film", "film , not dull", CAPTION, "dull film", "long film , not good"]
    asked = [{"image": image(), "text": caption} for caption in captions]
    found = glasshead.explain(planted(), asked, method="random", target="caption")
    firsts = [own.tokens[max(range(len(own.tokens)), key=own.scores.__getitem__)] for own in found]
    assert firsts.count("film") < 4


def test_what_explains_one_side_alone_leaves_the_other_out_and_says_so():
    words = explain("clip", "erasure-delete")
    assert [own.asked for own in words] == ["caption"]
    assert any(note.startswith("the image is not explained: 'delete' cannot remove") for note in words.notes)
    patches = explain("clip", "grad-cam")
    assert [own.asked for own in patches] == ["image"]
    (note,) = [note for note in patches.notes if note.startswith("the caption is not explained")]
    assert "these are texts: use the method 'gradient'" in note
    padded = explain("siglip", "attention")
    assert [own.asked for own in padded] == ["image"]
    assert any("64 scores for" in note for note in padded.notes)


@pytest.mark.parametrize(
    ("asked", "options", "says"),
    [
        ({"text": " "}, {}, "the caption of an image must be a text that is not empty"),
        ({"text": CAPTION}, {"target": "cat"}, "is 'image' or 'caption' where an image has its caption"),
        ({"text": CAPTION}, {"choices": ["a", "b"]}, "these images have a caption each: leave .choices. out"),
        ({"text": "film " * 90}, {}, "text.* has a caption of .* the model reads at most 66"),
        ({"text": CAPTION}, {"method": "erasure-delete", "target": "image"}, "cannot remove a part of"),
    ],
)
def test_what_cannot_be_explained_is_one_sentence(asked, options, says):
    with pytest.raises(InputError, match=says) as refused:
        glasshead.explain(pipeline("clip"), {"image": image(), **asked}, **options)
    assert "\n" not in str(refused.value)


def test_a_page_and_rows_have_both(tmp_path):
    explained = explain("clip", "gradient")
    explained.save(tmp_path / "both.html")
    page = (tmp_path / "both.html").read_text()
    assert "2 images and captions, part by part" in page
    assert "data:image/png" in page
    assert repr(explained).startswith("Attributions of 2 images and captions:")
    assert [row["asked"] for row in json.loads(explained.to_json())] == ["image", "caption"]


def test_it_is_typed_as_an_image_and_a_text(tmp_path):
    model, tokenizer = build("clip")
    model.save_pretrained(tmp_path / "clip")
    hf.CLIPProcessor(image_processor=clip_processor(), tokenizer=tokenizer).save_pretrained(tmp_path / "clip")
    photo = tmp_path / "photo.png"
    image().save(photo)
    asked = ("explain", tmp_path / "clip", photo)
    printed = glasshead_command(*asked, CAPTION, "--method", "gradient").stdout
    assert "for “image”, gradient" in printed
    assert "for “caption”, gradient" in printed
    assert "or give the image with its caption" in refusal(tmp_path, *asked)


def test_padding_on_the_left_is_refused_by_its_name():
    model, tokenizer = build("siglip")
    tokenizer.padding_side = "left"
    pipe = hf.pipeline(
        "zero-shot-image-classification", model=model, tokenizer=tokenizer, image_processor=processor()
    )
    with pytest.raises(InputError, match=r"pads captions on the left, .* name captions as choices"):
        glasshead.explain(pipe, {"image": image(), "text": CAPTION}, method="gradient")
    (own,) = glasshead.explain(pipe, image(), choices=[CAPTION, "dull"], method="gradient")
    printed = pipe(image(), candidate_labels=[CAPTION, "dull"])
    assert own.prediction == pytest.approx(printed[0]["score"], abs=1e-5)
