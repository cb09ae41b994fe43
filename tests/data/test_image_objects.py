"""Images as people hold them: files' bytes, rows and tables of images, arrays in data sets."""

import numpy as np
import pandas as pd
import pytest
from datasets import Dataset, DatasetDict

import glasshead
from glasshead.data import as_dataset, decode_pixels, read_split
from glasshead.data.options import LoadOptions
from glasshead.errors import InputError
from image_families import CLASSES, image_model, pictures, processor, rows

IMAGES = [decode_pixels(picture) for picture in pictures(3)]
ARRAYS = np.stack([np.asarray(image) for image in IMAGES])
LABELS = list(CLASSES)


def explained(source):
    """The scores of the first image."""
    return glasshead.explain(image_model(), source, tokenizer=processor(), method="gradient")[0].scores


@pytest.mark.parametrize(
    "source",
    [
        pd.DataFrame({"image": IMAGES, "label": LABELS}),
        pd.DataFrame({"img": list(ARRAYS)}),
        pd.Series(IMAGES),
        rows(3),
        rows(3)["image"],
        {"image": IMAGES[0], "label": "cat"},
        pictures(1)[0].content,
    ],
    ids=["table", "table of arrays", "column", "data set", "column of it", "row", "bytes"],
)
def test_an_image_is_explained_alike_however_it_is_held(source):
    assert explained(source) == pytest.approx(explained(IMAGES[0]), abs=1e-6)


@pytest.mark.parametrize("held", ["images", "arrays", "files", "dictionaries", "lists", "parts"])
def test_data_in_memory_hold_the_same_images(held, tmp_path):
    paths = []
    for number, image in enumerate(IMAGES):
        paths.append(str(tmp_path / f"{number}.png"))
        image.save(paths[-1])
    data = {
        "images": lambda: pd.DataFrame({"image": IMAGES, "label": LABELS}),
        "arrays": lambda: pd.DataFrame({"image": list(ARRAYS / 255), "label": LABELS}),
        "files": lambda: pd.DataFrame({"img": paths, "label": LABELS}),
        "dictionaries": lambda: [
            {"image": own, "label": label} for own, label in zip(ARRAYS, LABELS, strict=True)
        ],
        "lists": lambda: Dataset.from_dict({"image": ARRAYS, "label": LABELS}),
        "parts": lambda: DatasetDict({"test": Dataset.from_dict({"image": ARRAYS, "label": LABELS})}),
    }[held]()
    split = read_split(as_dataset(data), "test" if held == "parts" else "all", LoadOptions())
    read = glasshead.open(image_model(), processor()).tokenizer.inputs(split["image"][:])
    assert [(np.asarray(decode_pixels(one)) == own).all() for one, own in zip(read, ARRAYS, strict=True)] == [
        True
    ] * 3


GREY = ARRAYS[..., 0]


@pytest.mark.parametrize(
    "make",
    [
        lambda cells: Dataset.from_dict({"img": cells, "label": LABELS}),
        lambda cells: pd.DataFrame({"image": list(cells), "label": LABELS}),
        lambda cells: [{"image": own, "label": label} for own, label in zip(cells, LABELS, strict=True)],
        lambda cells: [
            {"image": own.tolist(), "label": label} for own, label in zip(cells, LABELS, strict=True)
        ],
    ],
    ids=["data set", "table", "rows of arrays", "rows of lists"],
)
def test_arrays_of_greys_are_images_and_those_of_one_axis_are_refused(make):
    split = read_split(as_dataset(make(GREY)), "all", LoadOptions())
    read = glasshead.open(image_model(), processor()).tokenizer.inputs(split["image"][:])
    for one, own in zip(read, GREY, strict=True):
        assert np.array_equal(np.asarray(decode_pixels(one))[..., 1], own)
    with pytest.raises(InputError, match="an array of 144 is not an image"):
        as_dataset(make(GREY.reshape(3, -1)))


def test_a_row_without_an_image_is_named():
    data = [{"image": IMAGES[0], "label": "cat"}, {"image": None, "label": "dog"}]
    with pytest.raises(InputError, match="row 2 has no image"):
        glasshead.audit(image_model(), data, tokenizer=processor())


def test_pixels_that_a_processor_made_are_refused():
    made = processor()(IMAGES, return_tensors="pt")
    for source, words in (
        (made, "give the original images"),
        (made["pixel_values"], "before any normalisation"),
        (pd.DataFrame({"picture": IMAGES}), "no column of images: call it 'image'"),
    ):
        with pytest.raises(InputError, match=words):
            explained(source)
