"""Models that read images and texts together: words and image tokens in one sequence."""

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image

import glasshead
from glasshead.data import reader_of
from glasshead.errors import InputError
from glasshead.huggingface import seeing_model
from glasshead.opening import OpenOptions, open_subject
from image_text_families import FAMILIES, build, own_pass, photo

pytestmark = pytest.mark.usefixtures("quiet")
QUESTION = "what is the cat doing ?"
QUICK = ("llava", "gemma3")
NAMES = [pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow) for name in FAMILIES]


def explained(name, method="attention", image=None, text=QUESTION, answer=" sleeping", **options):
    model, processor = build(name)
    image = photo() if image is None else image
    rows = [{"image": image, "text": text}]
    return glasshead.explain(model, rows, tokenizer=processor, answer=answer, method=method, **options)


@pytest.mark.parametrize("name", NAMES)
def test_probability_and_attention_are_those_of_the_model_itself(name):
    output, inputs, ids = own_pass(name, QUESTION, " sleeping")
    attributions = explained(name, unit="token")
    own = attributions[0]
    assert list(own.ids) == inputs["input_ids"][0].tolist()
    log_p = output.logits[0, -len(ids) - 1].log_softmax(-1)[ids[0]]
    assert own.prediction == pytest.approx(float(log_p.exp()), rel=1e-4)
    expected = output.attentions[-1][0].mean(dim=0)[-len(ids) - 1]
    assert own.scores == pytest.approx(expected.tolist(), abs=1e-6)


def cell(name, frame, rows, columns):
    """Left, top, right and bottom of "row 2, column 3" of a grid over a frame."""
    row, column = (int(part.split()[-1]) - 1 for part in name.split(", ")[-2:])
    left, top, right, bottom = frame
    across, down = (right - left) / columns, (bottom - top) / rows
    edges = (left + column * across, top + row * down, left + (column + 1) * across, top + (row + 1) * down)
    return tuple(np.clip(np.round(edges), 0, (96, 64, 96, 64)))


WHOLE, MIDDLE = (0, 0, 96, 64), (16, 0, 80, 64)
SQUARE = (0, -16, 96, 80)  # with what the processor puts above and below
PLACES = {  # what a processor does to 96 × 64 pixels: the frame, the grid, and that of an overview
    "llava": (MIDDLE, (4, 4), None),
    "llava_next": (WHOLE, (6, 8), (4, 4)),  # 32 × 32 for 32 × 21 pixels, without a row of padding at each end
    "llava_onevision": (WHOLE, (6, 8), (4, 4)),
    "qwen2_vl": (WHOLE, (4, 6), None),
    "qwen2_5_vl": (WHOLE, (4, 6), None),
    "paligemma": (WHOLE, (4, 4), None),
    "gemma3": (WHOLE, (2, 2), None),
    "idefics3": (WHOLE, (4, 4), (2, 2)),
    "internvl": (WHOLE, (4, 6), (2, 2)),
    "vipllava": (MIDDLE, (4, 4), None),
    "aya_vision": (WHOLE, (4, 6), (2, 2)),
    "glm4v": (WHOLE, (4, 6), None),
    "deepseek_vl": (SQUARE, (4, 4), None),
    "qwen3_vl": (WHOLE, (4, 6), None),
    "pixtral": (WHOLE, (6, 8), None),
    "mistral3": (WHOLE, (3, 4), None),
    "smolvlm": (WHOLE, (4, 4), (2, 2)),
}


@pytest.mark.parametrize("name", [one for one in NAMES if one.values[0] in PLACES])
def test_image_tokens_are_where_the_processor_puts_them(name):
    own = explained(name)[0]
    frame, fine, overview = PLACES[name]
    text = reader_of(open_subject(*build(name), OpenOptions(images=True)).tokenizer).inputs(
        [{"image": photo(), "text": QUESTION}]
    )[0]
    places = text.images.places[0]
    assert places.names == tuple(token for token in own.tokens if "row" in token and "<" not in token)
    assert len(places.names) == fine[0] * fine[1] + (overview[0] * overview[1] if overview else 0)
    for box, token in zip(places.boxes, places.names, strict=True):
        grid = overview if token.startswith("overview") else fine
        assert np.abs(np.subtract(box, cell(token, frame, *grid))).max() <= 1
    if name.startswith("llava_"):
        assert not text.images.seen.all()  # marks of new lines are the same for every image


def test_a_model_that_cannot_be_read_so_is_refused_each_time():
    """Also when places are known: the check has read an image before it fails."""
    reader = reader_of(open_subject(*build("llava"), OpenOptions(images=True)).tokenizer)

    def fail(reading, text, count):
        reading.read([photo()], QUESTION)
        raise InputError("no")

    failing = replace(reader, check=fail)
    for _ in range(2):
        with pytest.raises(InputError, match="no"):
            failing.inputs([{"image": photo(), "text": QUESTION}])
    assert reader.inputs([{"image": photo(), "text": QUESTION}])


def test_parts_of_other_kinds_are_refused():
    """An image that is named as other services name it is not lost in silence."""
    reader = reader_of(open_subject(*build("llava"), OpenOptions(images=True)).tokenizer)
    for part in ({"type": "image_url", "image_url": {"url": "x"}}, "a plain string"):
        with pytest.raises(InputError, match="a part of a chat is"):
            reader.inputs([[{"role": "user", "content": [part]}]])


@pytest.mark.slow
def test_what_goes_to_later_layers_in_an_unknown_way_is_refused(monkeypatch):
    """Where it arrives is seen when the model runs: here nowhere."""
    monkeypatch.setattr(seeing_model, "deeper_inputs", lambda options, count: {})
    with pytest.raises(InputError, match="several layers in an unknown way"):
        explained("qwen3_vl")


@pytest.mark.slow
def test_image_tokens_that_are_mixed_from_all_parts_have_no_places():
    """A perceiver makes four tokens of any image."""
    attributions = explained("idefics2")
    assert attributions[0].tokens[1] == "image token 1"
    assert any("could not be measured" in note for note in attributions.notes)


@pytest.mark.parametrize("name", ["llava"])
def test_places_are_not_said_where_they_do_not_fit(name, monkeypatch):
    """A processor that turns every image: no grid that is known says where a token is."""
    model, processor = build(name)
    turned = copy.copy(processor)

    class Turning(type(processor.image_processor)):
        def __call__(self, images, **options):
            images = images if isinstance(images, list) else [images]
            return super().__call__([one.transpose(Image.Transpose.ROTATE_90) for one in images], **options)

    turned.image_processor = Turning(
        size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}, do_center_crop=True
    )
    rows = [{"image": photo(), "text": QUESTION}]
    attributions = glasshead.explain(model, rows, tokenizer=turned, answer=" sleeping")
    assert attributions[0].tokens[0] == "image token 1"
    assert any("places of image tokens could not be measured" in note for note in attributions.notes)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("method", ["gradient", "erasure-mean-embedding"])
def test_what_is_said_of_a_word_or_an_image_token_is_what_its_vector_does(name, method):
    """The slow twin: the vectors that the language model reads are changed one by one."""
    model, _ = build(name)
    _, inputs, ids = own_pass(name, QUESTION, " sleeping")
    own = explained(name, method, unit="token")[0]
    inner = model.model
    reader = inner.text_model if hasattr(inner, "text_model") else inner.language_model
    words = model.get_input_embeddings()
    mean = words.weight.mean(dim=0) * (getattr(words, "embed_scale", None) or 1.0)

    def log_p(change, deeper=lambda layer, number: layer):
        def edit(module, args, options):
            vectors = options["inputs_embeds"].clone()
            changed = {"inputs_embeds": change(vectors)}
            if (layers := options.get("deepstack_visual_embeds")) is not None:  # what later layers add
                numbers = options["visual_pos_masks"][0].cumsum(0) - 1
                number = int(numbers[place]) if options["visual_pos_masks"][0, place] else None
                changed["deepstack_visual_embeds"] = [deeper(layer.clone(), number) for layer in layers]
            return args, options | changed

        handle = reader.register_forward_pre_hook(edit, with_kwargs=True)
        try:
            logits = model(**inputs).logits[0, -len(ids) - 1]
        finally:
            handle.remove()
        return float(logits.double().log_softmax(-1)[ids[0]].detach())

    units = [place for place, word in enumerate(own.words) if word >= 0]
    for place in (units[0], units[len(units) // 2], units[-1]):

        def scaled(vectors, by, place=place):
            vectors[0, place] = vectors[0, place] * by
            return vectors

        def erased(vectors, place=place):
            vectors[0, place] = mean
            return vectors

        def scaled_layer(by):
            def scale(layer, number):
                if number is not None:
                    layer[number] *= by
                return layer

            return scale

        with torch.no_grad():
            if method == "gradient":
                ends = [log_p(lambda v, by=by: scaled(v, by), scaled_layer(by)) for by in (0.999, 1.001)]
                slope = ends[1] - ends[0]
                assert own.scores[place] == pytest.approx(slope / 0.002, abs=2e-2, rel=5e-2)
            else:
                change = log_p(lambda v: v) - log_p(erased, scaled_layer(0))
                assert own.scores[place] == pytest.approx(change, abs=1e-3, rel=1e-3)


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({"image": photo()}, "needs a text"),
        ({"image": photo(), "text": "what", "label": 1}, "not label"),
        ({"images": [], "text": "what"}, "no image in the list"),
        ({"image": photo(), "images": [photo()], "text": "what"}, "not both"),
        ({"image": photo(), "text": "<image> what <image>"}, "2 times for 1 image"),
        ({"image": 3, "text": "what"}, "not an image"),
    ],
)
def test_what_is_no_image_with_a_text_is_refused(row, why):
    model, processor = build("llava")
    with pytest.raises(InputError, match=why):
        glasshead.explain(model, [row], tokenizer=processor, answer=" sleeping")


@pytest.mark.parametrize(
    ("method", "why"),
    [
        ("erasure-delete", "erasure-mean-embedding"),
        ("captum:integrated-gradients", "no baseline"),
        ("attn-lrp", "which image tokens do not have"),
    ],
)
def test_methods_without_a_meaning_for_image_tokens_say_so(method, why):
    with pytest.raises(InputError, match=why):
        explained("llava", method)


def test_texts_with_and_without_images_are_explained_apart_by_one_model():
    model, processor = build("llava")
    both = [{"image": photo(), "text": QUESTION}, QUESTION]
    with pytest.raises(InputError, match="explain them separately"):
        glasshead.explain(model, both, tokenizer=processor, answer=" sleeping")
    alone = glasshead.explain(model, QUESTION, tokenizer=processor, answer=" sleeping")
    same = glasshead.explain(model, QUESTION, tokenizer=processor.tokenizer, answer=" sleeping")
    assert alone[0].scores == same[0].scores
    with pytest.raises(InputError, match="pass its processor"):
        glasshead.explain(model, both[:1], tokenizer=processor.tokenizer, answer=" sleeping")


@pytest.mark.slow
def test_two_answers_are_contrasted_and_several_images_are_read_together():
    model, processor = build("llava")
    rows = [{"image": photo(seed=seed), "text": QUESTION} for seed in range(2)]
    together = glasshead.explain(model, rows, tokenizer=processor, answer=" sleeping", method="gradient")
    for row, own in zip(rows, together, strict=True):
        alone = glasshead.explain(model, [row], tokenizer=processor, answer=" sleeping", method="gradient")
        assert own.scores == pytest.approx(alone[0].scores, abs=1e-5)
    contrast, other = (
        glasshead.explain(
            model, rows, tokenizer=processor, answer=one, against=two, method="erasure-mean-embedding"
        )
        for one, two in ((" sleeping", " yes"), (" yes", " sleeping"))
    )
    for own, mirrored in zip(contrast, other, strict=True):
        assert own.scores == pytest.approx([-score for score in mirrored.scores], abs=1e-4)
    assert together[0].scores != pytest.approx(together[1].scores, abs=1e-5)


def test_a_chat_with_an_image_is_read_by_the_template_of_the_processor():
    model, processor = build("llava")
    chatting = copy.copy(processor)
    chatting.chat_template = (
        "{% for message in messages %}{% for part in message['content'] %}"
        "{% if part['type'] == 'image' %}<image>{% else %}{{ part['text'] }} {% endif %}"
        "{% endfor %}{% endfor %}{% if add_generation_prompt %}A :{% endif %}"
    )
    chat = [
        {
            "role": "user",
            "content": [{"type": "image", "image": photo()}, {"type": "text", "text": QUESTION}],
        }
    ]
    by_chat = glasshead.explain(model, chat, tokenizer=chatting, answer=" sleeping")
    by_row = glasshead.explain(
        model, [{"image": photo(), "text": QUESTION}], tokenizer=chatting, answer=" sleeping"
    )
    assert by_chat[0].scores == by_row[0].scores
    assert by_chat[0].text == f"{QUESTION} A : sleeping"


def test_the_model_and_its_processor_stay_as_they_are():
    model, processor = build("llava")
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    files = processor.tokenizer.backend_tokenizer.to_str()
    explained("llava", "gradient")
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())
    assert processor.tokenizer.backend_tokenizer.to_str() == files
    assert type(processor.tokenizer).__name__ != "TokenizerSpy"
    assert not any(module._forward_pre_hooks for module in model.modules())


def test_marked_parts_and_second_texts_are_refused_and_named_parts_are_units():
    model, processor = build("llava")
    row = [{"image": photo(), "text": QUESTION}]
    with pytest.raises(InputError, match="no marked parts"):
        glasshead.explain(model, row, tokenizer=processor, answer=" sleeping", unit="segment")
    own = explained("llava", "erasure-mean-embedding", segments=["the cat"])[0]
    assert "the cat" in own.tokens
    assert own.tokens[:2] == ("row 1, column 1", "row 1, column 2")
