"""A name, a folder or a file → `datasets.DatasetDict` with the columns text, (text_pair,) label."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from datasets import ClassLabel, Dataset, DatasetDict, DatasetInfo, Features, Value

from glasshead.data import hub
from glasshead.data.read import SUFFIXES, Columns, read, stem
from glasshead.data.schema import Table, class_order, tabulate
from glasshead.data.split import FRACTIONS, assign
from glasshead.data.synthetic import DATASETS, generate
from glasshead.errors import InputError
from glasshead.registry import nearest

SPLITS = {"train": "train", "dev": "dev", "validation": "dev", "test": "test"}
WHOLE = ("all", "sample")


@dataclass(frozen=True)
class LoadOptions:
    """How to read a source; `dataclasses.asdict` of it is JSON, and ``LoadOptions(**json)`` brings it back.

    ``classes`` keeps those classes only, in the order given. ``generator`` changes options of a synthetic set
    (`SyntheticOptions`).

    Raises:
        InputError: if a value cannot be meant.
    """

    text_column: str | None = None
    label_column: str | None = None
    classes: tuple[str, ...] | None = None
    split_seed: int = 0
    dev_fraction: float = 0.1
    generator: Mapping[str, int | float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.classes is not None:
            object.__setattr__(self, "classes", tuple(self.classes))  # a list, when it comes from JSON
            if len(set(self.classes)) < max(2, len(self.classes)):
                raise InputError(f"--classes {','.join(self.classes)}: name two or more different classes")
        if not 0 < self.dev_fraction <= 0.5:
            raise InputError(f"a dev fraction of {self.dev_fraction} is not possible: give one up to 0.5")
        if self.split_seed < 0:
            raise InputError(f"a split seed of {self.split_seed} is not possible: give 0 or more")


DEFAULTS = LoadOptions()


def load(source: str | Path, options: LoadOptions = DEFAULTS) -> DatasetDict:
    """Splits train, dev and, where the source has one, test, with a `ClassLabel` called label.

    ``source`` is, in this order, a name in `DATASETS`, an existing folder or file, or a name on the Hub
    (``owner/name``, ``owner/name:configuration``). How each split was made stands in its
    ``info.description``.

    Raises:
        InputError: if the source cannot be found or read, or does not hold a classification task.
    """
    name = str(source)
    if isinstance(source, str) and name in DATASETS:
        made, how = _generated(name, options)
    else:
        if options.generator:
            known = ", ".join(DATASETS)
            raise InputError(f"{name} is not synthetic: generator options go with {known}")
        found, whole = _found(source)
        tables = {
            split: tabulate(columns, options.text_column, options.label_column)
            for split, columns in found.items()
        }
        # A split whose labels the Hub keeps back is no split to us.
        tables = {split: table for split, table in tables.items() if table.label or split == "train"}
        made, how = (_cut_whole if whole else _cut_dev)(_kept(tables, options), options)
    names = _class_names(made, options)
    return DatasetDict(
        {split: _dataset(made[split], names, how[split]) for split in FRACTIONS if split in made}
    )


def _generated(name: str, options: LoadOptions) -> tuple[dict[str, Table], dict[str, str]]:
    settings = DATASETS[name].options(options.generator)
    tables = {
        split: Table(
            source=f"{name} ({split})",
            text=texts,
            text_pair=None,
            label=[settings.class_names[number] for number in numbers],
            rows=list(range(1, len(texts) + 1)),
            order=settings.class_names,
        )
        for split, (texts, numbers) in generate(settings).items()
    }
    tables = _kept(tables, options)
    return tables, dict.fromkeys(tables, f"drawn by {name} with seed {settings.seed}")


def _found(source: str | Path) -> tuple[dict[str, Columns], bool]:
    """Columns per split; and whether they are one whole that is yet to be split, then called train."""
    name = str(source)
    if not name.strip():
        raise InputError(f"an empty name is no data set, file or folder: {nearest(name, DATASETS)}")
    try:
        path = Path(source).expanduser()
        is_folder, exists = path.is_dir(), path.exists()
    except (OSError, RuntimeError) as error:  # too long a name, an unreadable parent, an unknown ~user
        raise InputError(f"no such file or folder: {name} ({error})") from error
    if is_folder:
        return _folder(path)
    if exists:
        return {"train": read(path)}, True
    if isinstance(source, Path) or _looks_like_a_path(name):
        raise InputError(f"no such file or folder: {name}")
    if not hub.NAME.fullmatch(name):
        raise InputError(f"{name!r} is no data set, file or folder: {nearest(name, DATASETS)}")
    try:
        columns = hub.from_hub(name)
    except InputError as error:
        hint = nearest(name, DATASETS)
        raise InputError(f"{error}; {hint}" if hint.startswith("did you mean") else str(error)) from error
    found: dict[str, Columns] = {}
    for split in columns.keys() & SPLITS.keys():
        if SPLITS[split] in found:
            raise InputError(f"{name} has both a dev and a validation split: save the one you mean as files")
        found[SPLITS[split]] = columns[split]
    if "train" not in found:
        raise InputError(f"{name} has no train split (it has: {', '.join(columns)}): choose another data set")
    return found, False


def _looks_like_a_path(name: str) -> bool:
    """Whether a name that does not exist here must not be asked from the Hub.

    ``owner/name`` is how the Hub calls its data sets, so one separator alone proves nothing, unless
    ``owner`` is a folder here.
    """
    if name.startswith((".", "~", "/")) or name.endswith("/") or "\\" in name or name.count("/") > 1:
        return True
    parent = Path(name).parent
    return (parent != Path() and parent.is_dir()) or bool(re.search(r"\.[A-Za-z]\w*$", name))


def _folder(folder: Path) -> tuple[dict[str, Columns], bool]:
    """The files of a folder that are called after a split, or else the one that holds everything."""
    try:
        files = sorted(path for path in folder.iterdir() if stem(path) in (*SPLITS, *WHOLE))
    except OSError as error:
        raise InputError(f"cannot read {folder}: {error.strerror}") from error
    splits = _one_each(files, lambda path: SPLITS.get(stem(path) or ""))
    if "train" in splits:
        return {split: read(path) for split, path in splits.items()}, False
    if splits:
        raise InputError(f"{folder} has {', '.join(splits)} but no train file: add train.csv")
    whole = _one_each(files, lambda path: "whole")
    if not whole:
        raise InputError(
            f"{folder} holds no data: name the files train, dev and test (or one of them all), "
            f"with one of {', '.join(SUFFIXES)}"
        )
    return {"train": read(whole["whole"])}, True


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


def _kept(tables: dict[str, Table], options: LoadOptions) -> dict[str, Table]:
    """Only the rows of the classes asked for."""
    if options.classes is None:
        return tables
    known = {label for table in tables.values() for label in table.label}
    for name in options.classes:
        if name not in known:
            raise InputError(f"{tables['train'].source} has no class {name!r}: {nearest(name, known)}")
    return {split: table.only(set(options.classes)) for split, table in tables.items()}


def _cut_whole(tables: dict[str, Table], options: LoadOptions) -> tuple[dict[str, Table], dict[str, str]]:
    """Train, dev and test from one table."""
    whole = tables["train"]
    parts = _parts(whole, FRACTIONS, options.split_seed)
    how = {
        split: f"{100 * share:g} % of {Path(whole.source).name}, {_manner(options)}{_left_out(whole)}"
        for split, share in FRACTIONS.items()
    }
    return parts, how


def _cut_dev(tables: dict[str, Table], options: LoadOptions) -> tuple[dict[str, Table], dict[str, str]]:
    """The splits as they are, and a dev split from train where there is none."""
    how = {split: f"read from {Path(table.source).name}{_left_out(table)}" for split, table in tables.items()}
    if "dev" in tables:
        return tables, how
    share = options.dev_fraction
    parts = _parts(tables["train"], {"train": 1 - share, "dev": share}, options.split_seed)
    how["dev"] = f"{100 * share:g} % of train, {_manner(options)}"
    how["train"] += f", without the {100 * share:g} % that became dev"
    return tables | parts, how


def _parts(table: Table, fractions: Mapping[str, float], seed: int) -> dict[str, Table]:
    part = assign(table.keys(), table.label, list(fractions.values()), seed).tolist()
    places: dict[str, list[int]] = {split: [] for split in fractions}
    splits = list(fractions)
    for row, number in enumerate(part):
        places[splits[number]].append(row)
    # One class is the graver trouble, and reported by itself.
    if not all(places.values()) and len(set(table.label)) > 1:
        raise InputError(
            f"{table.source} has too few rows ({len(part)}) to cut {' and '.join(splits[1:])} from it: "
            "add rows, or give a folder with train, dev and test files"
        )
    return {split: table.take(rows) for split, rows in places.items()}


def _manner(options: LoadOptions) -> str:
    return f"cut with seed {options.split_seed}, stratified by class, equal texts on one side"


def _left_out(table: Table) -> str:
    return f", {table.unlabelled} rows without a label left out" if table.unlabelled else ""


def _class_names(tables: dict[str, Table], options: LoadOptions) -> tuple[str, ...]:
    """The classes in order, all of them present in train.

    Raises:
        InputError: if there is one only, or another split has one that train lacks.
    """
    train = tables["train"]
    present = set(train.label)
    if not present:
        raise InputError(f"{train.source} has no labelled rows: choose another column with --label-column")
    if len(present) == 1:
        raise InputError(
            f"{train.source} has a single class, {train.label[0]!r}: give rows of two or more classes, "
            "or name another --label-column"
        )
    for table in tables.values():
        if not table.label:
            raise InputError(
                f"{table.source} has no rows of the classes {', '.join(sorted(present))}: add some"
            )
        for row, label in zip(table.rows, table.label, strict=True):
            if label not in present:
                raise InputError(
                    f"{table.source} row {row} has the class {label!r}, which train lacks: "
                    "correct the label, or keep the classes of train with --classes"
                )
        if (table.text_pair is None) != (train.text_pair is None):
            raise InputError(
                f"only one of {train.source} and {table.source} has text pairs: give both or none"
            )
    order = options.classes or train.order or class_order(present)
    return tuple(name for name in order if name in present)


def _dataset(table: Table, names: Sequence[str], description: str) -> Dataset:
    numbers = {name: number for number, name in enumerate(names)}
    columns: dict[str, list[str] | list[int]] = {"text": table.text}
    if table.text_pair is not None:
        columns["text_pair"] = table.text_pair
    kinds = {name: Value("string") for name in columns} | {"label": ClassLabel(names=list(names))}
    columns["label"] = [numbers[label] for label in table.label]
    features = Features(kinds)
    info = DatasetInfo(description=description, features=features)
    return Dataset.from_dict(columns, features=features, info=info)
