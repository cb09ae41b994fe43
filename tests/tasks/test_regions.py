"""Models of semantic segmentation, asked which class a region of an image has."""

from base64 import b64decode
from io import BytesIO
from math import isqrt

import numpy as np
import pytest
import torch
from PIL import Image

import glasshead
from glasshead import explain
from glasshead.data import LoadOptions
from glasshead.data.pictures import as_picture
from glasshead.data.segmented_images import as_mask, decode_mask
from glasshead.errors import InputError
from glasshead.tasks import QUESTIONS, Chosen
from model_state import model_state
from segmenters import (
    CONFIGS,
    NAMES,
    SIDE,
    SIZE,
    cell,
    mask,
    neighbour_model,
    photo,
    segmented,
    segmenter,
    segmenting_processor,
)


def asked(model, image, **options):
    (own,) = explain(model, image, tokenizer=segmenting_processor(), **options)
    return own


def maps_of(model, pixels, side):
    """By hand: the logits of the model itself, scaled as its processor scales them before it prints classes,
    and averaged over each patch [K, side, side]."""
    with torch.no_grad():
        logits = model(pixel_values=pixels).logits
    logits = torch.nn.functional.interpolate(logits, (SIZE, SIZE), mode="bilinear")[0]
    return logits.unflatten(2, (side, -1)).unflatten(1, (side, -1)).mean(dim=(2, 4))


def pixels_of(image):
    return segmenting_processor()([image], return_tensors="pt")["pixel_values"]


@pytest.mark.parametrize("method", ["gradient", "erasure-neutral-colour", "captum:integrated-gradients"])
def test_the_patch_that_decides_is_found(method):
    model = neighbour_model()
    for row, column in ((1, 2), (3, 4), (4, 1)):
        own = asked(model, photo(), at=f"{row},{column}", method=method)
        left = (row - 1) * SIDE + (column - 2) % SIDE
        assert np.flatnonzero(np.abs(own.scores) > 1e-6).tolist() == [left]


def test_random_scores_do_not_find_it():
    rows = explain(
        neighbour_model(), [photo(seed) for seed in range(60)], at="2,3", method="random",
        tokenizer=segmenting_processor(),
    )  # fmt: skip
    assert np.mean([np.argmax(own.scores) == SIDE + 1 for own in rows]) < 0.25


@pytest.mark.parametrize(
    "kind", ["beit", *(pytest.param(k, marks=pytest.mark.slow) for k in CONFIGS if k != "beit")]
)
def test_numbers_are_the_means_of_the_models_own_over_the_region(kind):
    model, image = segmenter(kind), photo(1)
    own = asked(model, image, method="erasure-neutral-colour")
    maps = maps_of(model, pixels_of(image), isqrt(sum(box is not None for box in own.boxes)))
    before = model_state(model)
    predicted = maps.argmax(dim=0)
    z = maps[:, predicted == predicted.flatten().mode().values].mean(dim=1)
    assert own.prediction == pytest.approx(float(z.softmax(0).max()), abs=1e-5)
    assert own.target == NAMES[int(z.argmax())]
    at = asked(model, image, at="2,3", target="tree", method="gradient")
    assert at.prediction == pytest.approx(float(maps[:, 1, 2].softmax(0)[2]), abs=1e-5)
    assert model_state(model) == before


def test_erasure_is_the_change_of_the_same_region():
    """By hand: the colour that the processor subtracts in a patch, and a pass of the model itself."""
    model, image = segmenter("beit"), photo(2)
    own = asked(model, image, at="1,1", target="road", method="erasure-neutral-colour")
    pixels, step = pixels_of(image), SIZE // SIDE
    p = float(maps_of(model, pixels, SIDE)[:, 0, 0].softmax(0)[1])
    for patch, score in enumerate(score for score, box in zip(own.scores, own.boxes, strict=True) if box):
        changed = pixels.clone()
        row, column = divmod(patch, SIDE)
        changed[:, :, row * step : (row + 1) * step, column * step : (column + 1) * step] = 0
        without = float(maps_of(model, changed, SIDE)[:, 0, 0].softmax(0)[1])
        assert score == pytest.approx(p - without, abs=1e-5)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"at": "9,1"}, "images have 4 rows and 4 columns of patches"),
        ({"at": "0,1"}, "images have 4 rows and 4 columns"),
        ({"at": "middle"}, "give row and column of a patch, such as '3,5'"),
        ({"target": "rod"}, "did you mean 'road'"),
        ({"target": 7}, "is 7: choose from: road, sky, tree"),
    ],
)
def test_what_is_not_there_is_refused(options, words):
    with pytest.raises(InputError, match=words):
        asked(segmenter("beit"), photo(), **options)


def test_the_region_is_outlined_on_the_image():
    own = asked(neighbour_model(), photo(), at="2,3", method="gradient")
    image = Image.open(BytesIO(b64decode(own.images[0].partition(",")[2])))
    pixels, (left, top, right, bottom) = np.asarray(image), own.boxes[SIDE + 2]
    middle = (top + bottom) // 2, (left + right) // 2
    assert {tuple(pixels[middle[0], x]) for x in (left, right)} == {(255, 255, 255)}
    assert tuple(pixels[middle]) != (255, 255, 255)
    other = own.boxes[0]
    assert tuple(pixels[(other[1] + other[3]) // 2, other[0] + 1]) not in {(255, 255, 255), (0, 0, 0)}


def test_a_class_that_the_model_predicts_nowhere_is_refused():
    model, dark = neighbour_model(), Image.new("RGB", (SIZE, SIZE))
    with pytest.raises(InputError, match="predicts no patch as 'bright'"):
        asked(model, dark, target="bright", method="gradient")
    with pytest.raises(InputError, match=r"predicts no patch of image 2 \(image\) as 'bright'"):
        explain(model, [photo(), dark], target="bright", method="gradient", tokenizer=segmenting_processor())
    assert asked(model, dark, target="bright", at="1,1", method="gradient").target == "bright"


def test_a_pipeline_is_opened():
    from transformers import pipeline

    own = pipeline("image-segmentation", model=segmenter("beit"), image_processor=segmenting_processor())
    (one,) = explain(own, photo(), method="gradient")
    assert one.target in NAMES.values()


def drawn(rows, **options):
    """The questions that are drawn of images with masks."""
    subject = glasshead.open(neighbour_model(), segmenting_processor(**options))
    read = QUESTIONS["regions"].read(rows, "test", LoadOptions())
    places = np.arange(len(read))
    return QUESTIONS["regions"].draw(subject.model, subject.tokenizer, Chosen(read, places, places, 0))[0]


def test_a_row_is_about_a_patch_and_its_class_in_the_mask():
    rows = drawn(segmented(8))
    step = SIZE // SIDE
    for seed, (patch, label) in enumerate(zip(rows["patch"], rows["label"], strict=True)):
        row, column = divmod(patch, SIDE)
        assert np.asarray(mask(seed))[row * step, column * step] == label
    assert len({*rows["patch"]}) > 2


def test_labels_are_those_that_the_processor_makes_of_masks():
    """One that reduces labels calls 0 no class."""
    up = lambda seed: Image.fromarray(np.asarray(mask(seed)) + 1)  # noqa: E731
    plain, reduced = drawn(segmented(4)), drawn(segmented(4, up), do_reduce_labels=True)
    assert (plain["patch"], plain["label"]) == (reduced["patch"], reduced["label"])


@pytest.mark.parametrize(
    ("masks", "words"),
    [
        (photo, "is coloured: save the number of each pixel's class"),
        (lambda seed: Image.fromarray(np.full((SIZE, SIZE), 9, np.uint8)), "has the class 9"),
        (
            lambda seed: Image.fromarray(np.full((SIZE, SIZE), 255, np.uint8)),
            "none of these rows has a patch",
        ),
    ],
)
def test_masks_that_cannot_be_read(masks, words):
    with pytest.raises(InputError, match=words):
        drawn(segmented(3, masks))


def sideways(image):
    """The image as a camera stores it that was held upright."""
    orientation = Image.Exif()
    orientation[0x0112] = 6
    return cell(image.transpose(Image.Transpose.ROTATE_90), exif=orientation)


SAME_MASKS = {
    "an array": lambda own: np.asarray(own),
    "an array of int64": lambda own: np.asarray(own).astype(np.int64),
    "lists": lambda own: np.asarray(own).tolist(),
    "truth values": lambda own: np.asarray(own) > 0,
    "mode I": lambda own: Image.fromarray(np.asarray(own).astype(np.int32)),
    "mode I;16": lambda own: cell(Image.fromarray(np.asarray(own).astype(np.uint16))),
    "mode P": lambda own: cell(palette(own)),
    "opaque": lambda own: cell(own.convert("LA")),
    "on its side": sideways,
}


@pytest.mark.parametrize("kind", SAME_MASKS)
def test_masks_of_whole_numbers_of_every_kind_are_the_same(kind):
    expected = mask(1)
    assert np.array_equal(
        decode_mask(as_picture(as_mask(SAME_MASKS[kind](expected), ""))), np.asarray(expected)
    )


def palette(image):
    result = Image.fromarray(np.asarray(image), "P")
    result.putpalette([0, 0, 0, 200, 30, 30])
    return result


def test_masks_of_another_size_or_cut_off_are_refused():
    with pytest.raises(InputError, match="has 32 × 16 pixels, and its image 32 × 32: give masks of the size"):
        drawn(segmented(2, lambda seed: mask(seed).crop((0, 0, SIZE, SIZE // 2))))
    with pytest.raises(InputError, match="is truncated or damaged"):
        decode_mask(as_picture(cell(mask())["bytes"][:60]))
    for numbers in (np.full((4, 4), -1), np.full((4, 4), 70_000)):
        with pytest.raises(InputError, match=r"the mask of row 1 has numbers from .* use classes from 0"):
            as_mask(numbers, "of row 1")


def test_data_without_masks():
    with pytest.raises(InputError, match="no column of images and one of masks"):
        glasshead.audit(
            neighbour_model(), segmented(3).remove_columns("annotation"), tokenizer=segmenting_processor()
        )


def test_an_audit_finds_what_decides_and_random_scores_do_not():
    """The model is right of every patch, and gradients are faithful to it."""
    options = {"tokenizer": segmenting_processor(), "audits": ["performance", "faithfulness"]}
    cards = {
        method: glasshead.audit(neighbour_model(), segmented(30), method=method, limit=30, **options)
        for method in ("erasure-blur", "random")
    }
    card = cards["erasure-blur"]
    assert card.finding("performance.accuracy.all").estimate > 0.9
    assert card.finding("faithfulness.comprehensiveness.all").verdict == "more faithful than random patches"
    assert (
        cards["random"].finding("faithfulness.comprehensiveness.all").verdict
        != "more faithful than random patches"
    )
