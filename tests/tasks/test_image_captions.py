"""Models that compare images with captions, as zero-shot pipelines of Transformers ask them."""

from functools import cache, partial

import numpy as np
import pytest
import torch
import transformers as hf
from PIL import Image

import glasshead
from caption_models import KINDS, NAMES, build, clip_processor
from glasshead import explain
from glasshead.data import decode_pixels
from glasshead.errors import InputError
from image_families import PATCH, SIZE, pictures, processor, rows
from model_state import model_state


@cache
def pipeline(kind):
    """Its pipeline."""
    model, tokenizer = build(kind)
    return hf.pipeline(
        "zero-shot-image-classification", model=model, tokenizer=tokenizer, image_processor=processor()
    )


def image():
    """An image of Pillow."""
    return decode_pixels(pictures(1)[0])


def whole(kind, names=NAMES, template="This is a photo of {}."):
    """What the whole model reads of the image and captions: logits come with gradients of the pixels."""
    pipe = pipeline(kind)
    read = pipe.preprocess(image(), names, template)
    pixels = read["pixel_values"].requires_grad_()
    return pixels, lambda values: pipe.model(**read["text_inputs"][0], pixel_values=values).logits_per_image[
        0
    ]


@pytest.mark.parametrize("template", [None, "a film that is {}"])
@pytest.mark.parametrize("kind", KINDS)
def test_probabilities_are_those_that_the_pipeline_prints(kind, template):
    pipe = pipeline(kind)
    asked = {} if template is None else {"hypothesis_template": template}
    printed = {row["label"]: row["score"] for row in pipe(image(), candidate_labels=NAMES, **asked)}
    for name in NAMES:
        (own,) = explain(pipe, image(), choices=NAMES, template=template, target=name, method="gradient")
        assert own.target == name
        assert own.prediction == pytest.approx(printed[name], abs=2e-5)
    (own,) = explain(pipe, image(), choices=NAMES, template=template)
    assert own.target == max(printed, key=printed.__getitem__)


@pytest.mark.parametrize("kind", ["clip", "siglip"])
def test_gradients_and_erasures_are_those_of_the_whole_model(kind):
    pixels, logits_of = whole(kind)
    link = torch.sigmoid if kind == "siglip" else lambda logits: logits.softmax(-1)
    p = link(logits_of(pixels))[1]
    p.backward()
    asked = {"choices": NAMES, "target": "dull plot"}
    (slopes,) = explain(pipeline(kind), image(), method="captum:integrated-gradients", **asked)
    zeros = torch.zeros_like(pixels)
    with torch.no_grad():
        assert sum(slopes.scores) == pytest.approx(
            float(p.detach() - link(logits_of(zeros))[1]), abs=2e-3
        )  # a sum of 50 steps
    subject = glasshead.open(pipeline(kind))
    classifier = subject.model.about(subject.tokenizer, NAMES)
    patches = classifier.model if kind == "siglip" else classifier
    own = pixels.detach().clone().requires_grad_()
    link(patches(pixel_values=own).logits[0])[1].backward()
    torch.testing.assert_close(own.grad, pixels.grad, atol=1e-6, rtol=1e-4)
    (changes,) = explain(pipeline(kind), image(), method="erasure-neutral-colour", **asked)
    for change, box in zip(changes.scores, changes.boxes, strict=True):
        if box is None:  # the class token
            continue
        left, top, right, bottom = box
        without = pixels.detach().clone()
        without[0, :, top:bottom, left:right] = 0
        with torch.no_grad():
            assert change == pytest.approx(float(p.detach() - link(logits_of(without))[1]), abs=1e-6)


@pytest.mark.parametrize("kind", ["clip", "siglip"])
def test_captions_are_read_once_and_the_model_stays_as_it_was(kind):
    model, tokenizer = pipeline(kind).model, pipeline(kind).tokenizer
    before, calls = model_state(model, tokenizer), []
    subject = glasshead.open(pipeline(kind))
    text_model = subject.model.model.text_model
    text_model.register_forward_hook(lambda *_: calls.append(1))
    classifier = subject.model.about(subject.tokenizer, NAMES)
    assert len(calls) == 1
    assert not any("text" in name for name, _ in classifier.named_modules())
    assert model_state(model, tokenizer) == before


def planted_image(random, caption):
    """Grey with some noise, and one square, red, green or blue, or none: the image, and its place."""
    pixels = random.integers(118, 138, (SIZE, SIZE, 3), dtype=np.uint8)
    place = int(random.integers((SIZE // PATCH) ** 2))
    row, column = divmod(place, SIZE // PATCH)
    if caption < 3:
        square = pixels[row * PATCH : (row + 1) * PATCH, column * PATCH : (column + 1) * PATCH]
        square[:] = 60
        square[..., caption] = 220
    return Image.fromarray(pixels), place


@cache
def planted():
    """A CLIP that has learnt which colour a square has, or that there is none, of four captions."""
    names = ["good", "bad", "long", "plot"]
    model, tokenizer = build("clip")
    for parameter in model.parameters():
        if parameter.ndim > 1:
            torch.nn.init.normal_(parameter, std=0.15)
    reader, random = processor(), np.random.default_rng(0)
    texts = tokenizer([f"This is a photo of {name}." for name in names], padding=True, return_tensors="pt")
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    torch.manual_seed(0)
    for _ in range(300):
        captions = random.integers(4, size=32)
        images = [planted_image(random, caption)[0] for caption in captions]
        pixels = reader(images, return_tensors="pt")["pixel_values"]
        logits = model(**texts, pixel_values=pixels).logits_per_image
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(logits, torch.from_numpy(captions)).backward()
        optimizer.step()
    rows = [(*planted_image(random, number % 3), names[number % 3]) for number in range(60)]
    return model.eval(), hf.CLIPProcessor(image_processor=clip_processor(), tokenizer=tokenizer), names, rows


@pytest.mark.parametrize(
    ("method", "least", "most"),
    [
        ("erasure-neutral-colour", 0.95, 1.0),
        ("captum:integrated-gradients", 0.95, 1.0),
        ("random", 0.0, 0.5),
    ],
)
def test_the_patch_that_decides_is_found(method, least, most):
    model, reader, names, rows = planted()
    images = [row[0] for row in rows]
    explained = explain(model, images, tokenizer=reader, choices=names, method=method)
    right = [
        int(np.argmax(own.scores[1:])) == place
        for own, (_, place, name) in zip(explained, rows, strict=True)
        if own.predicted == name
    ]
    assert len(right) > 54
    assert least <= np.mean(right) <= most


@pytest.mark.slow
def test_classes_of_the_data_are_the_captions_of_an_audit_and_of_all_that_reads_data(tmp_path):
    for kind in ("clip", "siglip"):
        pipe, data = pipeline(kind), rows(12, NAMES)
        card = glasshead.audit(pipe, data, audits=["agreement", "performance"], draws=2, limit=6)
        assert {finding.audit for finding in card.findings} >= {"agreement", "performance"}
        assert any("This is a photo of {}." in note for note in card.facts["notes"])
        glasshead.rank(pipe, data, methods=["gradient", "random"], removals=["blur"], limit=4)
        assert glasshead.heads(pipe, data, limit=4).heads
    for number, picture in enumerate(pictures(6)):
        folder = tmp_path / "images" / NAMES[number % 3]
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{number}.png").write_bytes(picture.content)
    card = glasshead.audit(pipeline("clip"), tmp_path / "images", audits=["agreement"], draws=2)
    assert card.findings
    with pytest.raises(InputError, match="is not a name"):
        glasshead.audit(pipeline("clip"), rows(6, ["0", "1"]), audits=["agreement"])


def test_images_without_labels_name_no_captions_and_captions_are_not_renamed():
    plain = rows(6, NAMES).remove_columns("label")
    for ask, message in (
        (glasshead.heads, "names of the data's classes"),
        (
            partial(glasshead.audit, audits=["identifiability"]),
            r"it has: image\).* the labels are the captions",
        ),
    ):
        with pytest.raises(InputError, match=message):
            ask(pipeline("clip"), plain)
    with pytest.raises(
        InputError, match="`labels` renames classes, but the classes of this model are captions"
    ):
        glasshead.open(pipeline("clip"), labels={"cat": "tiger"})


def test_a_saved_model_is_opened_with_its_processor_and_opened_again(tmp_path):
    model, tokenizer = build("clip")
    model.save_pretrained(tmp_path / "my-clip")
    hf.CLIPProcessor(image_processor=clip_processor(), tokenizer=tokenizer).save_pretrained(
        tmp_path / "my-clip"
    )
    subject = glasshead.open(tmp_path / "my-clip")
    asked = {"choices": NAMES, "method": "gradient"}
    (own,) = explain(subject, image(), **asked)
    (again,) = explain(subject.model, image(), tokenizer=subject.tokenizer, **asked)
    assert own.scores == again.scores
    assert own.prediction == pytest.approx(
        explain(pipeline("clip"), image(), **asked)[0].prediction, abs=1e-6
    )
    (half,) = explain(model.bfloat16(), image(), tokenizer=subject.tokenizer, **asked)
    assert half.prediction == pytest.approx(own.prediction, abs=0.05)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({}, "chooses between captions"),
        ({"choices": "good film"}, "has only one"),
        ({"choices": ["a", "a"]}, "once"),
        ({"choices": NAMES, "template": "no place"}, "one place"),
        ({"choices": ["bad", "good " * 80]}, "'This is a photo of good good .* at most 66: shorten it"),
        ({"choices": NAMES, "target": "cat"}, "cat"),
        ({"choices": NAMES, "at": 1}, "leave it out"),
        ({"choices": NAMES, "pairs": "more"}, "one image at a time"),
    ],
)
def test_what_cannot_be_asked_is_refused(asked, message):
    with pytest.raises(InputError, match=message):
        explain(pipeline("clip"), image(), **asked)


def test_one_caption_may_stand_alone_where_each_has_a_probability_of_its_own():
    (own,) = explain(pipeline("siglip"), image(), choices="good film")
    printed = pipeline("siglip")(image(), candidate_labels=["good film"])
    assert own.prediction == pytest.approx(printed[0]["score"], abs=1e-6)


def test_what_does_not_read_images_and_texts_is_refused():
    model, tokenizer = build("clip")
    with pytest.raises(InputError, match="captions, but this needs a model that reads only texts"):
        explain(pipeline("clip"), image(), choices=NAMES, task="similarity-mean")
    for reader in (tokenizer, processor()):
        with pytest.raises(InputError, match="does not read both"):
            explain(model, image(), tokenizer=reader, choices=NAMES)
    with pytest.raises(InputError, match="needs its processor"):
        explain(model, image(), choices=NAMES)
    pipe = pipeline("clip")
    other = hf.pipeline(
        "zero-shot-image-classification", model=pipe.model, tokenizer=pipe.tokenizer,
        image_processor=processor(), hypothesis_template="a {}",
    )  # fmt: skip
    with pytest.raises(InputError, match="hypothesis_template"):
        glasshead.open(other)


def test_a_model_that_compares_otherwise_is_refused():
    class Other(hf.CLIPModel):
        def forward(self, **inputs):
            output = super().forward(**inputs)
            output.logits_per_image = output.logits_per_image.square()
            return output

    model, tokenizer = build("clip")
    other = Other(model.config).eval()
    other.__class__.__name__ = "CLIPModel"
    reader = hf.CLIPProcessor(image_processor=clip_processor(), tokenizer=tokenizer)
    with pytest.raises(InputError, match="cosine of two vectors"):
        glasshead.open(other, reader)
