"""Images from folders, zip files, Parquet and memory: the same rows, or one clear line."""

import io
import zipfile

import numpy as np
import pytest
from datasets import ClassLabel, Dataset, Features, Value
from datasets import Image as ImageFeature
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from glasshead.data import DATASETS, IMAGE_SETS, LoadOptions, NoLabelError, as_split, describe, load
from glasshead.data.pictures import MOST_PIXELS, Picture, as_picture, decode_pixels
from glasshead.errors import InputError

COLOURS = {"cat": (200, 10, 10), "dog": (10, 10, 200)}


def saved(image, format="PNG", **options):
    file = io.BytesIO()
    image.save(file, format, **options)
    return file.getvalue()


def files(classes=COLOURS, each=12):
    """What a folder holds: place and bytes."""
    rng = np.random.default_rng(0)
    for name, colour in classes.items():
        for number in range(each):
            pixels = np.clip(np.array(colour) + rng.integers(-9, 9, size=(6, 8, 3)), 0, 255).astype(np.uint8)
            yield f"{name}/{number}.png", saved(Image.fromarray(pixels))


def fill(folder, places=None):
    for place, content in places or files():
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def zipped(path, places=None):
    with zipfile.ZipFile(path, "w") as archive:
        for place, content in places or files():
            archive.writestr(place, content)
    return path


def pixels(name, content):
    return np.asarray(decode_pixels(Picture(name, content)))


def test_a_folder_and_a_zip_of_it_hold_the_same_images(tmp_path):
    of_folder = load(fill(tmp_path / "pets"))
    of_zip = load(zipped(tmp_path / "pets.zip"))
    assert set(of_folder) == {"train", "dev", "test"}
    assert of_folder["train"].features["label"].names == ["cat", "dog"]
    assert describe(of_folder)["fingerprint"] == describe(of_zip)["fingerprint"]
    rows = of_folder["train"][:]
    for name, label, cell in zip(rows["text"], rows["label"], rows["image"], strict=True):
        assert name.split("/")[0] == ["cat", "dog"][label]
        assert decode_pixels(as_picture(cell)).size == (8, 6)


def test_folders_and_zips_that_are_called_after_splits_are_these_splits(tmp_path):
    train = [(f"train/{place}", content) for place, content in files()]
    test = [(f"test/{place}", content) for place, content in files(each=2)]
    one = load(fill(tmp_path / "one", [*train, *test]))
    other = tmp_path / "other"
    other.mkdir()
    zipped(other / "train.zip", train)
    zipped(other / "test.zip", test)
    two = load(other)
    for loaded in (one, two):
        assert {split: len(rows) for split, rows in loaded.items()}["test"] == 4
        assert "dev" in loaded
    assert describe(one)["fingerprint"] == describe(two)["fingerprint"]


def test_equal_images_stand_on_one_side_whatever_their_names(tmp_path):
    places = list(files(each=30))
    copies = [(place.replace(".png", "-copy.png"), content) for place, content in places]
    loaded = load(fill(tmp_path / "pets", [*places, *copies]))
    sides = [{cell["bytes"] for cell in rows["image"]} for rows in loaded.values()]
    assert sum(map(len, sides)) == len(set().union(*sides)) == 60


def test_a_parquet_file_as_the_hub_has_it_with_columns_of_its_own_names(tmp_path):
    """CIFAR-100 calls its columns img, fine_label and coarse_label."""
    features = Features(
        {
            "img": ImageFeature(),
            "fine_label": ClassLabel(names=["apple", "bear"]),
            "coarse_label": Value("int64"),
        }
    )
    images = [Image.new("RGB", (4, 4), (9 * number, 0, 0)) for number in range(20)]
    rows = Dataset.from_dict(
        {"img": images, "fine_label": [number % 2 for number in range(20)], "coarse_label": [3] * 20},
        features=features,
    )
    rows.to_parquet(tmp_path / "cifar100.parquet")
    with pytest.raises(NoLabelError, match="fine_label"):
        load(tmp_path / "cifar100.parquet")
    loaded = load(tmp_path / "cifar100.parquet", LoadOptions(label_column="fine_label"))
    assert loaded["train"].features["label"].names == ["apple", "bear"]
    split = as_split(rows, LoadOptions(label_column="fine_label"))
    assert np.asarray(decode_pixels(as_picture(split[2]["image"])))[0, 0].tolist() == [18, 0, 0]
    assert split[2]["text"] == "row 3"


@pytest.mark.parametrize("name", list(IMAGE_SETS))
def test_sets_by_name_have_images_and_are_no_texts(name):
    loaded = load(name)
    assert name not in DATASETS
    assert len(loaded["train"].features["label"].names) in (3, 10)
    assert decode_pixels(as_picture(loaded["dev"][0]["image"])).mode == "RGB"


def test_the_marked_box_of_a_planted_square_is_where_its_colour_is():
    rows = load("squares")["dev"]
    names = rows.features["label"].names
    for row in rows.select(range(20)):
        found = np.asarray(decode_pixels(as_picture(row["image"]))).astype(int)
        coloured = np.ptp(found, axis=2) > 0
        ((left, top, right, bottom),) = row["marks"]
        assert coloured[top:bottom, left:right].all()
        assert coloured.sum() == (right - left) * (bottom - top)
        channel = found[top, left].argmax()
        assert names[row["label"]] == ("red", "green", "blue")[channel]


def test_what_a_camera_noted_turns_the_image_upright():
    upright = Image.fromarray(np.arange(24, dtype=np.uint8).reshape(2, 4, 3) * 10)
    exif = Image.Exif()
    exif[0x0112] = 6  # "turn me clockwise"
    turned = upright.transpose(Image.Transpose.ROTATE_90)
    np.testing.assert_array_equal(pixels("a.png", saved(turned, exif=exif)), np.asarray(upright))


@given(st.integers(0, 65_535))
def test_sixteen_bits_become_eight_and_keep_their_share_of_white(value):
    grey = Image.fromarray(np.full((2, 2), value, dtype=np.uint16))
    (shade,) = set(pixels("a.png", saved(grey)).ravel().tolist())
    assert abs(shade / 255 - value / 65_535) <= 0.5 / 255 + 1e-9


def test_grey_palettes_and_transparency_become_colours():
    assert pixels("grey.png", saved(Image.new("L", (2, 2), 77))).tolist() == [[[77] * 3] * 2] * 2
    palette = Image.new("RGB", (2, 2), (10, 20, 30)).quantize(4)
    assert pixels("palette.png", saved(palette))[0, 0].tolist() == [10, 20, 30]
    for alpha, expected in ((255, 100), (0, 255), (127, 178)):
        found = pixels("alpha.png", saved(Image.new("RGBA", (1, 1), (100, 100, 100, alpha))))
        assert abs(int(found[0, 0, 0]) - expected) <= 1


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"this is not an image", "is not an image that can be read"),
        (b"", "is not an image that can be read"),
        (saved(Image.effect_noise((64, 64), 90))[:900], "is truncated or damaged"),
        (saved(Image.effect_noise((64, 64), 90), "JPEG")[:900], "is truncated or damaged"),
        (saved(Image.fromarray(np.ones((2, 2), dtype=np.float32)), "TIFF"), "floating-point"),
    ],
)
def test_what_is_no_whole_image_is_refused_by_name(content, words):
    with pytest.raises(InputError, match=rf"^odd\.png .*{words}") as refused:
        decode_pixels(Picture("odd.png", content))
    assert "\n" not in str(refused.value)


def test_a_huge_image_is_refused_before_it_is_unpacked():
    side = int(MOST_PIXELS**0.5) + 1
    bomb = saved(Image.new("1", (side, side)))
    assert len(bomb) < 100_000
    with pytest.raises(InputError, match=r"^bomb\.png has more than 64,000,000 pixels"):
        decode_pixels(Picture("bomb.png", bomb))


def test_folders_that_hold_no_classes_no_images_or_half_a_split_are_refused(tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(InputError, match="has no data"):
        load(empty)
    with pytest.raises(InputError, match=r"0\.png has no class: put the images of each class into a folder"):
        load(fill(tmp_path / "flat", [(place.split("/")[1], content) for place, content in files()]))
    with pytest.raises(InputError, match="is in no split, but others are"):
        load(fill(tmp_path / "half", [*files(), ("train/cat/1.png", b"")]))
    with pytest.raises(InputError, match="has test but no train split"):
        load(fill(tmp_path / "test-only", [(f"test/{place}", content) for place, content in files()]))
    with pytest.raises(InputError, match=r"is nested too deep: put the images of each class"):
        load(fill(tmp_path / "deep", [*files(), ("2026/train/cat/1.png", b"")]))
    with pytest.raises(InputError, match="has no image"):
        load(zipped(tmp_path / "texts.zip", [("cat/1.txt", b"a cat")]))
    (tmp_path / "broken.zip").write_bytes(zipped(tmp_path / "whole.zip").read_bytes()[:-30])
    with pytest.raises(InputError, match="is not a whole zip file"):
        load(tmp_path / "broken.zip")


def test_what_systems_hide_beside_images_is_no_image(tmp_path):
    hidden = [("__MACOSX/cat/._0.png", b"x"), ("cat/.thumb.png", b"x")]
    zipped(tmp_path / "pets.zip", [*files(), *hidden])
    assert sum(map(len, load(tmp_path / "pets.zip").values())) == 24


def test_marks_that_are_no_boxes_are_refused_with_their_row():
    features = Features({"image": ImageFeature(), "label": Value("string"), "boxes": Value("string")})
    rows = {
        "image": [Image.new("RGB", (4, 4))] * 2,
        "label": ["a", "b"],
        "boxes": ["[[0, 0, 2, 2]]", "[[3, 1]]"],
    }
    with pytest.raises(InputError, match=r"row 2: .*is not a list of boxes"):
        as_split(Dataset.from_dict(rows, features=features), LoadOptions(marks_column="boxes"))


def test_an_image_that_pillow_has_opened_is_the_image_of_its_file(tmp_path):
    """Upright too, though a PNG of it would not say how it was held."""
    image, held = Image.fromarray(np.arange(6 * 10 * 3, dtype=np.uint8).reshape(6, 10, 3)), Image.Exif()
    held[0x0112] = 6
    path = tmp_path / "held.png"
    path.write_bytes(saved(image, exif=held))
    opened = decode_pixels(as_picture(Image.open(path)))
    assert opened.size == (6, 10)
    assert np.array_equal(opened, decode_pixels(as_picture(path)))
    deep = Image.fromarray(np.full((4, 4), 65_535, dtype=np.int32))
    assert np.asarray(decode_pixels(as_picture(deep)))[0, 0].tolist() == [255, 255, 255]


def test_what_pillow_cannot_hand_on_is_refused():
    with pytest.raises(InputError, match="floating-point pixels"):
        as_picture(Image.new("F", (4, 4)))
    whole = saved(Image.fromarray(np.random.default_rng(0).integers(0, 256, (40, 40, 3), dtype=np.uint8)))
    with pytest.raises(InputError, match="truncated or damaged"):
        as_picture(Image.open(io.BytesIO(whole[: len(whole) // 2])))
