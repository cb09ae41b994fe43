"""A folder, a file or a name on the Hub → the columns of every split."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from huggingface_hub import HfApi, constants

from glasshead.data.image_folders import holds_images, holds_undivided_images, image_splits, zip_splits
from glasshead.data.image_sets import IMAGE_SETS
from glasshead.data.options import LoadOptions
from glasshead.data.read import DEFAULTS, SPLITS, SUFFIXES, TREES, ZIP, Columns, data_stem, read
from glasshead.data.saved_sets import columns_of_rows, is_saved_set, is_saved_whole, load_saved_set
from glasshead.data.synthetic import DATASETS
from glasshead.errors import InputError
from glasshead.registry import did_you_mean, with_suggestion
from glasshead.spelling import spell

if TYPE_CHECKING:
    from datasets import Dataset

WHOLE = ("all", "sample")

HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?(:[\w.-]+)?")


def resolve_source(source: str | Path, options: LoadOptions = DEFAULTS) -> tuple[dict[str, Columns], bool]:
    """Columns per split; and whether they are one whole that is yet to be split, then called train."""
    name = str(source)
    if not name.strip():
        raise InputError(
            f"an empty name is not a data set, file or folder: {did_you_mean(name, set_names())}"
        )
    try:
        path = Path(source).expanduser()
        is_folder, exists = path.is_dir(), path.exists()
    except (OSError, RuntimeError) as error:  # too long a name, an unreadable parent, an unknown ~user
        raise InputError(f"no such file or folder: {name} ({error})") from error
    if is_folder and is_saved_set(path):
        saved = load_saved_set(path)
        if isinstance(saved, Mapping):
            return columns_of_splits(name, saved), False
        return {"train": columns_of_rows(name, saved)}, True
    if is_folder:
        return _folder(path, options)
    if exists and path.name.lower().endswith(ZIP):
        return whole_unless_split(zip_splits(path))
    if exists:
        return {"train": read(path, options)}, True
    if isinstance(source, Path) or _looks_like_a_path(name):
        raise InputError(f"no such file or folder: {name}")
    if not HUB_NAME.fullmatch(name):
        raise InputError(f"{name!r} is not a data set, file or folder: {did_you_mean(name, set_names())}")
    try:
        splits = from_hub(name)
    except InputError as error:
        raise InputError(with_suggestion(str(error), did_you_mean(name, set_names()))) from error
    return columns_of_splits(name, splits), False


def is_undivided(path: Path) -> bool:
    """Whether a folder holds one data set without splits: saved rows, or images by class."""
    return is_saved_whole(path) or holds_undivided_images(path)


def columns_of_splits(name: str, splits: "Mapping[str, Dataset]") -> dict[str, Columns]:
    """The columns of the splits that are called as we call them, or ``validation``.

    Raises:
        InputError: if there is no train split, or two are dev.
    """
    by_split: dict[str, Columns] = {}
    for split in splits.keys() & SPLITS.keys():
        if SPLITS[split] in by_split:
            raise InputError(f"{name} has both a dev and a validation split: save the one you mean as files")
        by_split[SPLITS[split]] = columns_of_rows(f"{name} ({split})", splits[split])
    if "train" not in by_split:
        raise InputError(
            f"{name} has no train split (it has: {', '.join(splits)}): choose another data set, or save the "
            "split that you mean by itself with save_to_disk"
        )
    return by_split


def set_names() -> list[str]:
    """What is called by a name."""
    return [*DATASETS, *IMAGE_SETS]


def _looks_like_a_path(name: str) -> bool:
    """Whether a name that does not exist here must not be asked from the Hub.

    ``owner/name`` is how the Hub calls its data sets, so one separator alone proves nothing, unless
    ``owner`` is a folder here.
    """
    if name.startswith((".", "~", "/")) or name.endswith("/") or "\\" in name or name.count("/") > 1:
        return True
    parent = Path(name).parent
    return (parent != Path() and parent.is_dir()) or bool(re.search(r"\.[A-Za-z]\w*$", name))


def _folder(folder: Path, options: LoadOptions) -> tuple[dict[str, Columns], bool]:
    """The files of a folder that are called after a split, or else the one that holds everything; labelled
    trees where there is nothing else."""
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        raise InputError(f"cannot read {folder}: {error.strerror}") from error
    stems = named_files(entries, SUFFIXES) or named_files(entries, TREES)
    if not stems and holds_images(folder):
        return whole_unless_split(image_splits(folder))
    files = list(stems)
    splits = _one_each(files, lambda path: SPLITS.get(stems[path]))
    if "train" in splits:
        return {split: read(path, options) for split, path in splits.items()}, False
    if splits:
        raise InputError(f"{folder} has {', '.join(splits)} but no train file: add train.csv")
    one_file = _one_each(files, lambda path: "whole")
    if not one_file:
        raise InputError(
            f"{folder} has no data: name the files train, dev and test (or one of them all), "
            f"with one of {', '.join(SUFFIXES)}, or put images into a folder for each class"
        )
    return {"train": read(one_file["whole"], options)}, True


def named_files(paths: Iterable[Path], suffixes: Iterable[str] = SUFFIXES) -> dict[Path, str]:
    """The files named after a split, or as one data set, and their names."""
    return {path: stem for path in paths if (stem := data_stem(path, suffixes)) in (*SPLITS, *WHOLE)}


def whole_unless_split(splits: dict[str, Columns]) -> tuple[dict[str, Columns], bool]:
    """Columns per split, and whether they are one whole.

    Raises:
        InputError: if there is no train split among several.
    """
    if "train" not in splits:
        names = ", ".join(splits)
        raise InputError(f"{next(iter(splits.values())).source} has {names} but no train split: add one")
    return splits, len(splits) == 1


def _one_each(files: Sequence[Path], role: Callable[[Path], str | None]) -> dict[str, Path]:
    """The file for each role.

    Raises:
        InputError: if two files claim one role.
    """
    chosen: dict[str, Path] = {}
    for path in files:
        name = role(path)
        if name is None:
            continue
        if name in chosen:
            other = chosen[name].name
            raise InputError(
                f"{path.parent} has two files for one split, {other} and {path.name}: remove one"
            )
        chosen[name] = path
    return chosen


def from_hub(name: str) -> "Mapping[str, Dataset]":
    """The splits of ``owner/name`` or ``owner/name:configuration``.

    Raises:
        InputError: if there is no such data set, or no connection.
    """
    import datasets

    repository, _, configuration = name.partition(":")
    remedy = f"give a folder, a file, or a name in {spell('DATASETS')}"
    if not constants.HF_HUB_OFFLINE:
        # load_dataset would try for half a minute, and print every attempt.
        try:
            exists = HfApi().repo_exists(repository, repo_type="dataset")
        except Exception as error:  # the HTTP library beneath changes from version to version
            raise InputError(
                f"{name!r} is not a file or folder, and the Hugging Face Hub cannot be reached: {remedy}, "
                "or set HF_HUB_OFFLINE=1 to use a downloaded copy"
            ) from error
        if not exists:
            raise InputError(f"{name!r} is not a file or folder, and not on the Hugging Face Hub: {remedy}")
    try:
        return datasets.load_dataset(repository, configuration or None)
    except Exception as error:  # loading scripts, formats and servers fail in every way there is
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise InputError(f"cannot load {name!r} from the Hugging Face Hub ({reason}): {remedy}") from error
