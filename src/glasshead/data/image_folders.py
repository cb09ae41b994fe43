"""Folders and zip files of images → the columns of every split: ``cat/1.png``, or ``train/cat/1.png``."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from glasshead.data.pictures import IMAGE_SUFFIXES, Picture, read_picture
from glasshead.data.read import SPLITS, Columns
from glasshead.data.schema import NoLabelError
from glasshead.errors import InputError

IMAGE, LABEL = "image", "label"
MOST_IMAGE_BYTES = 256_000_000
"""A larger file in a zip is not an image."""
CLASS_FOLDERS = "put the images of each class into a folder with its name, as in cat/1.png"


class ImageFile(NamedTuple):
    """Where an image stands, relative to its folder or zip, and how its bytes are read."""

    place: PurePosixPath
    picture: Picture


def holds_images(path: Path) -> bool:
    """Whether a folder holds images, in itself or in folders, or zip files that are called after splits."""
    return any(True for _ in image_paths(path)) or any(split_zips(path))


def holds_undivided_images(path: Path) -> bool:
    """Whether a folder holds images of classes, and no splits of them."""
    if not path.is_dir() or any(split_zips(path)):
        return False
    first = next(image_paths(path), None)
    return first is not None and first.relative_to(path).parts[0].lower() not in SPLITS


def image_splits(folder: Path) -> dict[str, Columns]:
    """The columns of every split of a folder of images; all under ``train`` where no folder names a split.

    Raises:
        InputError: if the images have no classes, if some stand deeper than a class folder, or a file cannot
            be read.
    """
    zips = dict(split_zips(folder))
    if zips:
        by_split: dict[str, Columns] = {}
        for split, path in zips.items():
            splits = zip_splits(path)
            by_split[split] = splits.get(split) or next(iter(splits.values()))
        return by_split
    deeper = (path.relative_to(folder) for path in folder.glob("*/*/*/**/*"))
    if (lost := next(filter(is_image, deeper), None)) is not None:
        raise InputError(f"{folder}: {lost} is nested too deep: {CLASS_FOLDERS}")
    files = [
        ImageFile(PurePosixPath(path.relative_to(folder).as_posix()), read_picture(path))
        for path in image_paths(folder)
    ]
    return by_splits(str(folder), files)


def zip_splits(path: Path) -> dict[str, Columns]:
    """The columns of every split of a zip file.

    Raises:
        InputError: as `image_splits`, and if it is not a whole zip file.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            files = []
            for entry in sorted(archive.infolist(), key=lambda entry: entry.filename):
                place = PurePosixPath(entry.filename)
                if entry.is_dir() or not is_image(place):
                    continue
                if entry.file_size > MOST_IMAGE_BYTES:
                    raise InputError(
                        f"{path}: {entry.filename} unpacks to {entry.file_size:,} "
                        "bytes, too many for an image"
                    )
                files.append(ImageFile(place, Picture(place.name, archive.read(entry))))
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError) as error:
        raise InputError(f"{path} is not a whole zip file ({error}): compress it again") from error
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error
    return by_splits(str(path), files)


def list_images(folder: Path) -> list[Path]:
    """All images of a folder and its folders, in order.

    Raises:
        InputError: if there is none.
    """
    paths = list(image_paths(folder))
    if not paths:
        raise InputError(f"{folder} has no image: give one of {', '.join(IMAGE_SUFFIXES)}")
    return paths


def is_image(place: PurePosixPath | Path) -> bool:
    """Whether a file is called like an image; what systems hide next to images is none."""
    hidden = any(part.startswith((".", "__MACOSX")) for part in place.parts[-3:])
    return place.suffix.lower() in IMAGE_SUFFIXES and not hidden


def image_paths(folder: Path) -> Iterator[Path]:
    """The images in a folder, in its folders and in theirs."""
    for pattern in ("*", "*/*", "*/*/*"):
        yield from sorted(path for path in folder.glob(pattern) if is_image(path.relative_to(folder)))


def split_zips(folder: Path) -> Iterator[tuple[str, Path]]:
    """The zip files that are called after a split."""
    for path in sorted(folder.glob("*.zip")):
        if path.stem.lower() in SPLITS:
            yield SPLITS[path.stem.lower()], path


def by_splits(source: str, files: list[ImageFile]) -> dict[str, Columns]:
    """Columns of images and classes: the class is the folder of an image, the split the folder above it.

    Raises:
        NoLabelError: if an image stands in no folder of a class.
        InputError: if there is no image, or there is no train split.
    """
    if not files:
        raise InputError(f"{source} has no image: {CLASS_FOLDERS}")
    flat = [file for file in files if len(file.place.parts) < 2 or file.place.parts[-2].lower() in SPLITS]
    if flat:
        raise NoLabelError(f"{source}: {flat[0].place} has no class: {CLASS_FOLDERS}")
    splits = [file.place.parts[-3].lower() if len(file.place.parts) > 2 else "" for file in files]
    named = [SPLITS.get(split, "train") for split in splits]
    if any(split in SPLITS for split in splits) and not all(split in SPLITS for split in splits):
        odd = next(file for file, split in zip(files, splits, strict=True) if split not in SPLITS)
        raise InputError(f"{source}: {odd.place} is in no split, but others are: move it into one")
    columns: dict[str, Columns] = {}
    for split in dict.fromkeys(named):
        own = [file for file, name in zip(files, named, strict=True) if name == split]
        values: dict[str, list[Any]] = {
            IMAGE: [Picture("/".join(file.place.parts[-2:]), file.picture.content) for file in own],
            LABEL: [file.place.parts[-2] for file in own],
        }
        columns[split] = Columns(source if len(set(named)) == 1 else f"{source} ({split})", values, {})
    return columns
