"""Classifiers of images: trained, opened again, and refused what they cannot read."""

import copy
import io
from functools import cache

import numpy as np
import pytest
import torch
import transformers
from PIL import Image
from transformers import ViTForImageClassification

import glasshead
from glasshead.data import AUGMENTATIONS, ImageReader, LoadOptions, as_picture, inputs_of, load
from glasshead.errors import InputError
from glasshead.explainers import make_context
from glasshead.huggingface import PatchClassifier, mechanism_of, own_model, plug
from glasshead.models.convolutional_vit import ConvolutionalViTForImageClassification
from glasshead.opening import is_run, load_run, open_subject
from glasshead.training import TrainingConfig, preset_config, train
from image_families import FAMILIES, PATCH, SIZE, SPECIAL, image_model, pictures, processor
from small import tokenizer

ROWS = LoadOptions(max_examples=48)


@cache
def squares():
    return load("squares", ROWS)


def config(**changes):
    settings = {"epochs": 1, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2} | changes
    return preset_config(None, "vit").with_settings(settings)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "vit"
    return train(squares(), config(attention="tanhmax"), folder, source={"source": "squares"})


def test_a_run_of_images_is_transformers_own_model_with_our_mechanism(run):
    assert is_run(run)
    opened = load_run(run)
    assert type(opened.model) is ViTForImageClassification
    assert {mechanism_of(module.attention).signed for module in opened.model.vit.layers} == {True}
    assert opened.labels == ["blue", "green", "red"]
    assert opened.record["gauge"]["signs"] == opened.model.config.gauge
    assert len(opened.model.config.gauge) == 2
    assert transformers.AutoConfig.from_pretrained(run).model_type == "vit"


def test_a_run_opens_as_patches_and_predicts_what_it_recorded(run):
    subject = glasshead.open(run)
    assert isinstance(subject.model, PatchClassifier)
    assert isinstance(subject.tokenizer, ImageReader)
    assert (subject.tokenizer.grid.rows, subject.tokenizer.grid.special) == (8, 1)
    images, _ = inputs_of(squares()["test"])
    encoded = subject.tokenizer.encode(images)
    with torch.no_grad():
        predicted = subject.model(**encoded.inputs()).logits.argmax(dim=1)
    import pyarrow.parquet as pq

    table = pq.read_table(run / "predictions.parquet").to_pandas()
    written = table[table["split"] == "test"]["predicted"]
    assert [subject.labels[each] for each in predicted] == list(written)


def test_training_twice_with_one_seed_gives_one_model_though_images_are_shifted(run, tmp_path):
    again = train(squares(), config(attention="tanhmax"), tmp_path / "again", source={"source": "squares"})
    first, second = (load_run(folder).model.state_dict() for folder in (run, again))
    for name, value in first.items():
        torch.testing.assert_close(value, second[name])


@pytest.mark.parametrize("name", list(FAMILIES))
def test_models_of_every_family_are_patches_behind_their_special_tokens(name):
    """What changes with the pixels of a patch, before any token looks at another, is that patch alone."""
    model = image_model(name)
    before = {key: value.clone() for key, value in model.state_dict().items()}
    subject = open_subject(model, processor())
    grid = subject.tokenizer.grid
    assert (grid.rows, grid.columns, grid.special) == (SIZE // PATCH, SIZE // PATCH, SPECIAL.get(name, 1))
    (picture,) = pictures(1)
    encoded = subject.tokenizer.encode([picture])
    patch = 5
    left, top, right, bottom = grid.box(patch)
    changed = encoded.take([0, 0])
    changed.pixels[1, :, top:bottom, left:right] = 255 - changed.pixels[1, :, top:bottom, left:right]
    with torch.no_grad(), glasshead.record(subject.model, [0]) as trace:
        logits = subject.model(**changed.inputs()).logits
    keys = trace.only[0].call.k
    moved = (keys[0] - keys[1]).abs().amax(dim=(0, 2)) > 1e-6
    assert moved.nonzero().flatten().tolist() == [grid.special + patch]
    own = model(pixel_values=changed.inputs()["pixel_values"]).logits
    torch.testing.assert_close(logits, own, rtol=1e-4, atol=1e-4)
    assert all(torch.equal(value, before[key]) for key, value in model.state_dict().items())
    assert own_model(subject.model) is not model


def test_the_row_that_is_read_is_that_of_the_classifier():
    rows = {}
    for name in FAMILIES:
        subject = open_subject(image_model(name), processor())
        rows[name] = make_context(
            subject.model, subject.tokenizer.encode(pictures(2)), subject.tokenizer
        ).rows.in_words
    weighted = "rows weighted by how much the prediction depends on them"
    assert rows == {
        "vit": "row of the first token",
        "deit": "row of the first token",
        "deit-teacher": weighted,
        "beit": "mean of the rows that the prediction reads",
        "dinov2": weighted,
        "dinov2-registers": weighted,
        "clip": "mean of the rows that the prediction reads",
        "siglip": "mean of all rows",
    }


def test_a_saved_model_and_a_pipeline_open_alike(tmp_path):
    model = image_model()
    model.save_pretrained(tmp_path)
    processor().save_pretrained(tmp_path)
    pipe = transformers.pipeline("image-classification", model=model, image_processor=processor())
    (picture,) = pictures(1)
    said = {each["label"]: each["score"] for each in pipe(Image.open(io.BytesIO(picture.content)))}
    for source in (str(tmp_path), pipe):
        subject = glasshead.open(source)
        with torch.no_grad():
            logits = subject.model(**subject.tokenizer.encode([picture]).inputs()).logits[0]
        for label, probability in zip(subject.labels, logits.softmax(dim=0).tolist(), strict=True):
            assert abs(said[label] - probability) < 1e-4


def test_a_plugged_vit_that_was_saved_opens_with_its_mechanism(tmp_path):
    model = plug(ViTForImageClassification(copy.deepcopy(image_model().config)).eval(), "tanhmax")
    model.save_pretrained(tmp_path)
    processor().save_pretrained(tmp_path)
    subject = glasshead.open(str(tmp_path))
    encoded = subject.tokenizer.encode(pictures(1))
    with torch.no_grad(), glasshead.record(subject.model) as trace:
        subject.model(**encoded.inputs())
    assert trace.only[0].call.mechanism.signed


def test_what_does_not_fit_is_refused_in_one_line(tmp_path):
    texts = load("synthetic", ROWS)
    for act, words in (
        (
            lambda: train(texts, config(), tmp_path / "a"),
            "the model vit reads images, but these data are texts",
        ),
        (
            lambda: train(squares(), TrainingConfig(), tmp_path / "b"),
            "the model pooled reads texts, but these",
        ),
        (lambda: config(augment="mirror"), "unknown augmentation 'mirror'"),
        (lambda: TrainingConfig(augment="shift"), "augmentation is for images"),
        (lambda: config(tokenizer="bpe"), "reads images and has no tokenizer"),
        (lambda: config(num_attention_heads=3), "3 heads do not divide 16"),
        (
            lambda: train(squares(), config(patch_size=5), tmp_path / "c"),
            "5 does not divide images of 24 pixels",
        ),
        (lambda: open_subject(image_model(), tokenizer()), "is not an image processor"),
        (lambda: open_subject(image_model(), processor(16)), "fails on the pixels of an image of 16 × 16"),
    ):
        with pytest.raises(InputError, match=words) as refused:
            act()
        assert "\n" not in str(refused.value)


def test_a_processor_without_one_size_is_refused():
    odd = processor()
    odd.size = {"shortest_edge": SIZE}
    with pytest.raises(InputError, match=r"gives images of different shapes different sizes|makes no pixels"):
        open_subject(image_model(), odd)


@pytest.mark.parametrize("name", list(AUGMENTATIONS))
def test_changed_images_have_the_shape_and_the_colours_of_the_old_ones(name):
    torch.manual_seed(0)
    pixels = torch.rand(8, 3, 16, 16)
    changed = AUGMENTATIONS[name](pixels)
    assert changed.shape == pixels.shape
    assert not torch.equal(changed, pixels)
    for before, after in zip(pixels, changed, strict=True):
        assert set(after.flatten().tolist()) <= set(before.flatten().tolist())


def test_pixels_are_what_the_processor_makes_of_them():
    (picture,) = pictures(1, size=30)
    subject = open_subject(image_model(), processor())
    own = subject.tokenizer.encode([picture]).inputs()["pixel_values"][0].numpy()
    image = Image.open(io.BytesIO(as_picture(picture).content)).convert("RGB")
    theirs = processor()([image], return_tensors="np")["pixel_values"][0]
    np.testing.assert_allclose(own, theirs, atol=1e-5)


def test_patches_by_convolutions_are_saved_opened_and_explained(tmp_path):
    """Of our own class, with one vector for each patch, and the same logits when it is opened."""
    settings = config(stem="convolution", attention="tanhmax", patch_size=4)
    made = train(squares(), settings, tmp_path / "run")
    model = load_run(made).model
    assert type(model) is ConvolutionalViTForImageClassification
    assert transformers.AutoConfig.from_pretrained(made).model_type == "glasshead-vit"
    subject = glasshead.open(made)
    assert (subject.tokenizer.grid.rows, subject.tokenizer.grid.special) == (6, 1)
    image = pictures(1)[0]
    pixels = subject.tokenizer.encode([as_picture(image)]).inputs()["pixel_values"]
    with torch.no_grad():
        torch.testing.assert_close(
            subject.model(pixel_values=pixels).logits, model(pixel_values=pixels).logits
        )
    for method in ("attention", "erasure-mean-colour", "captum:integrated-gradients"):
        assert len(glasshead.explain(made, image, method=method)[0].scores) == 37


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"stem": "convolutions"}, "did you mean 'convolution'"),
        ({"stem": "convolution", "image_size": 24, "patch_size": 3}, "a power of two, not 3"),
    ],
)
def test_stems_that_cannot_be_are_refused(changes, says, tmp_path):
    with pytest.raises(InputError, match=says):
        train(squares(), config(**changes), tmp_path / "run")
