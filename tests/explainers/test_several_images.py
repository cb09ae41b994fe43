"""Several images in one text: each token belongs to the image that changes it."""

import copy

import numpy as np
import pytest
import torch
from PIL import Image

import glasshead
from glasshead.data import reader_of
from glasshead.errors import InputError
from glasshead.huggingface import see
from glasshead.opening import OpenOptions, open_subject
from image_text_families import FAMILIES, build, own_pass, photo

pytestmark = pytest.mark.usefixtures("quiet")
QUICK = ("llava", "gemma3")
NAMES = [pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow) for name in FAMILIES]
SIZES = ((96, 64), (64, 96))


def asked(name, **more):
    """Two photos with text between them."""
    mark = build(name)[1].image_token
    images = [photo(*size, seed=seed) for seed, size in enumerate(SIZES)]
    return {"images": images, "text": f"the {mark} dog : {mark} what is the cat doing ?"} | more


def explained(name, method="attention", row=None, **options):
    model, processor = build(name)
    rows = [row or asked(name)]
    return glasshead.explain(model, rows, tokenizer=processor, answer=" sleeping", method=method, **options)[
        0
    ]


def reader(name):
    return reader_of(open_subject(*build(name), OpenOptions(images=True)).tokenizer)


@pytest.mark.parametrize("name", NAMES)
def test_probability_and_attention_are_those_of_the_model_itself(name):
    row = asked(name)
    output, inputs, ids = own_pass(name, row["text"], " sleeping", row["images"])
    own = explained(name, unit="token")
    assert list(own.ids) == inputs["input_ids"][0].tolist()
    log_p = output.logits[0, -len(ids) - 1].log_softmax(-1)[ids[0]]
    assert own.prediction == pytest.approx(float(log_p.exp()), rel=1e-4)
    expected = output.attentions[-1][0].mean(dim=0)[-len(ids) - 1]
    assert own.scores == pytest.approx(expected.tolist(), abs=1e-6)


@pytest.mark.parametrize("name", [one for one in NAMES if one.values[0] != "idefics2"])
def test_coloured_squares_change_the_tokens_whose_places_they_cover_and_no_other_image(name):
    """The other way to know places: single tokens are covered by colour, and the model looks again."""
    model, _ = build(name)
    own = reader(name)
    (text,) = own.inputs([asked(name)])
    names, boxes, owners = text.images.names, text.images.boxes, text.images.owners[text.images.seen]
    assert len(names) == len(set(names))
    grey = [Image.new("RGB", size, (128, 128, 128)) for size in SIZES]

    def look(images):
        pixels = own.process(images, own.prompt_of(asked(name)["text"], 2)).pixels
        return see(model, pixels).of_all_layers[torch.from_numpy(text.images.seen)]

    before = look(grey)
    for number in range(2):
        of_image, moves, covers = np.flatnonzero(owners == number), [], []
        assert all(names[place].startswith(f"image {number + 1}, ") for place in of_image)
        for token in of_image[:: max(len(of_image) // 8, 1)]:
            painted = [one.copy() for one in grey]
            painted[number].paste((255, 64, 0), square := middle_of(boxes[token]))
            moved = (look(painted) - before).norm(dim=-1).numpy()
            assert moved[owners != number].max() <= 1e-4 * moved.max()
            moves.append(moved[of_image] / moved.max())
            covers.append([overlap(square, boxes[place]) for place in of_image])
        assert np.corrcoef(np.ravel(moves), np.ravel(covers))[0, 1] > 0.5


def middle_of(box):
    """Half of the sides of a large box; a larger change of the image may change all of its tokens."""
    left, top, right, bottom = box
    across, down = (0, 0) if right - left < 30 else ((right - left) // 4, (bottom - top) // 4)
    return left + across, top + down, right - across, bottom - down


def overlap(one, other):
    """The share of a box that another one covers."""
    sides = [max(min(one[at + 2], other[at + 2]) - max(one[at], other[at]), 0) for at in (0, 1)]
    return sides[0] * sides[1] / max((other[2] - other[0]) * (other[3] - other[1]), 1)


@pytest.mark.parametrize("name", NAMES)
def test_texts_with_one_and_with_two_images_are_explained_together(name):
    model, processor = build(name)
    rows = [asked(name), {"image": photo(120, 40), "text": "what is the cat doing ?"}]
    together = glasshead.explain(model, rows, tokenizer=processor, answer=" sleeping", method="gradient")
    for row, own in zip(rows, together, strict=True):
        assert own.scores == pytest.approx(explained(name, "gradient", row).scores, abs=1e-5)
    assert [len(own.images) for own in together] == ([2, 0] if name == "idefics2" else [2, 1])


def test_units_are_numbered_through_and_say_their_image():
    own = explained("llava")
    assert own.text == "the [image 1] dog : [image 2] what is the cat doing ? sleeping"
    assert own.tokens[:3] == ("the", "image 1, row 1, column 1", "image 1, row 1, column 2")
    assert own.tokens[17:21] == ("dog", ":", "image 2, row 1, column 1", "image 2, row 1, column 2")
    assert own.words[:-1] == tuple(range(len(own.words) - 1))  # the token that is explained is no unit
    assert own.image_numbers[:2] == (None, 1)
    assert own.image_numbers.count(1) == own.image_numbers.count(2) == 16
    assert [own.text[slice(*own.offsets[place])] for place in (0, 17, 18)] == ["the", "dog", ":"]
    table = glasshead.explain(
        build("llava")[0], [asked("llava")], tokenizer=build("llava")[1], answer=" sleeping"
    ).to_pandas()
    assert table["image"].tolist()[19] == 2
    assert table["image"].isna().sum() == len(own.tokens) - 32


def test_a_list_of_images_marks_before_the_text_and_a_chat_are_the_same():
    model, processor = build("llava")
    images = asked("llava")["images"]
    by_list = explained("llava", row={"image": images, "text": "what is it ?"})
    by_marks = explained("llava", row={"images": images, "text": "<image><image>what is it ?"})
    assert by_list.scores == by_marks.scores
    assert by_list.text == "[image 1] [image 2] what is it ? sleeping"
    chatting = copy.copy(processor)
    chatting.chat_template = (
        "{% for message in messages %}{% for part in message['content'] %}"
        "{% if part['type'] == 'image' %}<image>{% else %}{{ part['text'] }} {% endif %}"
        "{% endfor %}{% endfor %}{% if add_generation_prompt %}A :{% endif %}"
    )
    parts = [
        {"type": "image", "image": images[0]}, {"type": "text", "text": "dog"},
        {"type": "image", "image": images[1]}, {"type": "text", "text": "what"},
    ]  # fmt: skip
    chat = [{"role": "user", "content": parts}]
    own = glasshead.explain(model, chat, tokenizer=chatting, answer=" sleeping")[0]
    assert own.text == "[image 1] dog [image 2] what A : sleeping"
    row = {"images": images, "text": "<image>dog <image>what A :"}
    assert own.scores == explained("llava", row=row).scores


def test_the_other_image_is_not_changed_when_parts_of_one_are_painted_over():
    """Erasure from pixels: the fall without a part is that of photos painted by hand."""
    row = asked("llava")
    own = explained("llava", "erasure-neutral-colour", row)
    whole = own.prediction
    for place in (1, 25):
        painted = [image.copy() for image in row["images"]]
        number = own.image_numbers[place] - 1
        colour = tuple(round(255 * part) for part in build("llava")[1].image_processor.image_mean)
        painted[number].paste(colour, own.boxes[place])
        alone = explained("llava", row=row | {"images": painted}).prediction
        expected = np.log(whole) - np.log(alone)
        assert own.scores[place] == pytest.approx(expected, abs=2e-2)


def test_several_large_photos_take_the_room_of_one_on_a_page():
    large = [photo(1200, 800), photo(800, 1200, 1), photo(1000, 1000, 2), photo(1200, 800, 3)]
    one = explained("llava", row={"image": large[0], "text": "what is it ?"})
    four = explained("llava", row={"images": large, "text": "what is it ?"})
    assert sum(map(len, four.images)) < 2 * len(one.images[0])
    assert max(box[3] for box in four.boxes if box is not None) <= 320


def test_marks_that_are_not_one_for_each_image_are_refused():
    model, processor = build("llava")
    row = {"images": [photo(), photo()], "text": "<image> what is it ?"}
    with pytest.raises(InputError, match="1 times for 2 images"):
        glasshead.explain(model, [row], tokenizer=processor, answer=" sleeping")


def test_a_processor_of_one_image_is_refused():
    """It leaves out all images behind the first."""
    model, processor = build("llava")

    class OneImage(type(processor)):
        def __call__(self, images=None, text=None, **options):
            nested = isinstance(images[0], list)
            text = [text[0].replace("<image>", "", text[0].count("<image>") - 1)] if nested else text
            return super().__call__(images=images[0][:1] if nested else images, text=text, **options)

    one = OneImage(
        processor.image_processor, processor.tokenizer, patch_size=8,
        vision_feature_select_strategy="default", num_additional_image_tokens=1,
    )  # fmt: skip
    assert glasshead.explain(model, [{"image": photo(), "text": "what"}], tokenizer=one, answer=" sleeping")
    with pytest.raises(InputError, match="reads one image with a text, and these are 2"):
        glasshead.explain(model, [asked("llava")], tokenizer=one, answer=" sleeping")


@pytest.mark.slow
def test_a_model_that_needs_words_between_images_says_so():
    model, processor = build("qwen2_vl")
    row = asked("qwen2_vl")
    own = glasshead.explain(model, [row], tokenizer=processor, answer=" sleeping")
    assert len(own[0].images) == 2
    with pytest.raises(InputError, match="put words between the images"):
        glasshead.explain(model, [row | {"text": "what"}], tokenizer=processor, answer=" sleeping")


def test_images_that_are_mixed_before_the_language_model_are_refused(monkeypatch):
    """A model in which each vector depends on all images."""
    own = reader("llava")

    def mix(pixels):
        vectors = own_look(pixels)
        return vectors + vectors.mean(dim=0) if pixels["pixel_values"].shape[0] > 1 else vectors

    own_look = own.look
    monkeypatch.setitem(own.__dict__, "look", mix)
    monkeypatch.setitem(own.__dict__, "check", lambda *rest: None)
    monkeypatch.setitem(own.__dict__, "places", {})
    with pytest.raises(InputError, match="mixes the images"):
        own.inputs([asked("llava")])
