"""Lists of images in a column, as people hold them: files, Pillow, arrays, features of data sets."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from datasets import Dataset, DatasetDict, Features, Image, List, Value

from glasshead.data import LoadOptions, as_dataset, decode_pixels, read_given
from glasshead.data.image_columns import read_pictures
from glasshead.errors import InputError
from image_text_families import photo

SEEDS = ((0, 1), (2,), (1, 0, 3))
KINDS = Features({"images": List(Image()), "prompt": Value("string"), "answer": Value("string")})


def pixels(seed):
    """A small photo, which is not square."""
    return np.asarray(photo(12, 9 + seed, seed))


def rows_of(cell_of):
    """Rows with these cells for the photos of each."""
    return [
        {"images": [cell_of(seed) for seed in seeds], "prompt": "what", "answer": "no"} for seeds in SEEDS
    ]


@pytest.fixture
def named(tmp_path, monkeypatch):
    """Rows with names of files, in the folder of these."""
    (tmp_path / "img").mkdir()
    monkeypatch.chdir(tmp_path)
    for seed in range(4):
        photo(12, 9 + seed, seed).save(f"img/{seed}.png")
    return rows_of(lambda seed: f"img/{seed}.png")


def saved(rows, folder):
    """A folder of `save_to_disk`."""
    rows.save_to_disk(folder)
    return folder


def written(rows, file):
    """A parquet file."""
    rows.to_parquet(file)
    return file


IN_MEMORY = {
    "rows of Pillow": lambda: rows_of(lambda seed: photo(12, 9 + seed, seed)),
    "rows of arrays": lambda: rows_of(pixels),
    "rows of floats": lambda: rows_of(lambda seed: pixels(seed) / 255),
    "rows of tuples": lambda: [row | {"images": tuple(row["images"])} for row in rows_of(pixels)],
    "a table of Pillow": lambda: pd.DataFrame(rows_of(lambda seed: photo(12, 9 + seed, seed))),
    "a table of arrays": lambda: pd.DataFrame(rows_of(pixels)),
    "a data set of lists": lambda: Dataset.from_list(rows_of(lambda seed: pixels(seed).tolist())),
}
BY_NAME = {
    "rows": lambda rows: rows,
    "rows of paths": lambda rows: [row | {"images": [Path(name) for name in row["images"]]} for row in rows],
    "a table": pd.DataFrame,
    "a table of arrays of names": lambda rows: pd.DataFrame(
        [row | {"images": np.array(row["images"], dtype=object)} for row in rows]
    ),
    "a data set of names": Dataset.from_list,
    "a data set of images": lambda rows: Dataset.from_list(rows, features=KINDS),
    "a data set in another order": lambda rows: Dataset.from_list(rows[::-1], features=KINDS).select(
        [2, 1, 0]
    ),
    "splits": lambda rows: DatasetDict({"all": Dataset.from_list(rows, features=KINDS)}),
    "saved names": lambda rows: saved(Dataset.from_list(rows), "saved"),
    "saved images": lambda rows: saved(Dataset.from_list(rows, features=KINDS), "saved"),
    "saved arrays": lambda rows: saved(IN_MEMORY["a data set of lists"](), "saved"),
    "parquet of names": lambda rows: written(Dataset.from_list(rows), "rows.parquet"),
    "parquet of images": lambda rows: written(Dataset.from_list(rows, features=KINDS), "rows.parquet"),
}


def check(source):
    read = read_given(as_dataset(source), "all", LoadOptions())
    assert [len(row.images) for row in read] == [len(seeds) for seeds in SEEDS]
    for row, seeds in zip(read, SEEDS, strict=True):
        for picture, seed in zip(row.images, seeds, strict=True):
            assert np.array_equal(np.asarray(decode_pixels(picture)), pixels(seed))


@pytest.mark.parametrize("held", IN_MEMORY)
def test_images_in_memory_are_read(held):
    check(IN_MEMORY[held]())
    check(called_image(IN_MEMORY[held]()))


@pytest.mark.parametrize("held", BY_NAME)
def test_images_by_their_names_are_read(held, named):
    check(BY_NAME[held](named))
    if not isinstance(source := BY_NAME[held](named), Path | str):
        check(called_image(source))


def called_image(source):
    """The same images in a column `image`."""
    if isinstance(source, list):
        return [{"image" if name == "images" else name: cell for name, cell in row.items()} for row in source]
    if isinstance(source, pd.DataFrame):
        return source.rename(columns={"images": "image"})
    return source.rename_column("images", "image")


@pytest.mark.parametrize("column", ["image", "images"])
def test_rows_may_have_one_image_or_a_list(column, named):
    for one in (photo(12, 9), "img/0.png", pixels(0)):
        rows = [{column: cell, "prompt": "what", "answer": "no"} for cell in ([one, one], one)]
        read = read_given(as_dataset(rows), "all", LoadOptions())
        assert [len(row.images) for row in read] == [2, 1]
    rows = [{column: np.stack([pixels(0)] * 3), "prompt": "what", "answer": "no"}]
    (row,) = read_given(as_dataset(rows), "all", LoadOptions())
    assert len(row.images) == 3


def test_a_name_may_begin_with_a_bracket(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    photo(12, 9).save("[draft].png")
    (one,) = read_pictures("row 1", "[draft].png")
    assert one.name == "[draft].png"


def test_greys_and_a_single_image_are_lists_too():
    grey = pixels(0)[..., 0]
    (row,) = read_given(as_dataset([rows_of(pixels)[0] | {"images": [grey, grey]}]), "all", LoadOptions())
    assert np.array_equal(np.asarray(decode_pixels(row.images[1]))[..., 2], grey)
    for cell in (photo(12, 9), [photo(12, 9)]):
        (row,) = read_given(as_dataset([rows_of(pixels)[0] | {"images": cell}]), "all", LoadOptions())
        assert len(row.images) == 1


def test_a_folder_of_splits_has_its_images_in_it(named, tmp_path, monkeypatch):
    for split in ("train", "test"):
        (tmp_path / f"{split}.jsonl").write_text("\n".join(map(json.dumps, named)))
    monkeypatch.chdir("/")
    assert [len(row.images) for row in read_given(tmp_path, "test", LoadOptions())] == [2, 1, 3]


def test_what_is_not_an_image_is_said_with_its_row(named):
    rows = rows_of(pixels)
    rows[1]["images"] = [pixels(2), "img/9.png"]
    with pytest.raises(InputError, match=r"row 2: 'img/9\.png' is not a file"):
        as_dataset(rows)
    for cell, message in ((["img/0.png", 3], "row 7: int is not an image"), ("[img/0.png]", "is not JSON")):
        with pytest.raises(InputError, match=message):
            read_pictures("row 7", cell)
    assert [one.name for one in read_pictures("row 7", '["img/0.png", "img/1.png"]')] == [
        "img/0.png", "img/1.png",
    ]  # fmt: skip
    assert read_pictures("row 7", "") == read_pictures("row 7", None) == read_pictures("row 7", []) == []
