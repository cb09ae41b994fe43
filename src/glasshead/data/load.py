"""A name, a folder or a file → `datasets.DatasetDict`: text, (text_pair or image,) label, further columns."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from glasshead.data.classes import merge_classes, order_classes, select_classes
from glasshead.data.columns import require_column
from glasshead.data.image_folders import IMAGE
from glasshead.data.image_sets import IMAGE_SETS
from glasshead.data.marks import MARKS, marks_feature
from glasshead.data.options import LoadOptions
from glasshead.data.ratings import check_ratings, rating_values
from glasshead.data.read import DEFAULTS
from glasshead.data.resolve import resolve_source
from glasshead.data.schema import Table, tabulate
from glasshead.data.splits import FRACTIONS, Splits, describe_source, split_all, split_dev, subsample_splits
from glasshead.data.synthetic import DATASETS, GeneratorOptions
from glasshead.errors import InputError
from glasshead.registry import did_you_mean

if TYPE_CHECKING:
    from datasets import Dataset, DatasetDict

T = TypeVar("T")
ALL_SPLITS = "all"


def load(
    source: str | Path,
    options: LoadOptions = DEFAULTS,
    *,
    columns: Sequence[str] = (),
    divide: bool = True,
) -> "DatasetDict":
    """Splits train, dev and, where the source has one, test, with a label; without ``divide`` those of the
    source alone, so that a single file is the split train.

    ``source`` is, in this order, a name in `DATASETS` or `IMAGE_SETS`, an existing folder or file, or a name
    on the Hub (``owner/name``, ``owner/name:configuration``). The label is a `ClassLabel`, or float64 where
    the task is regression. Images are in ``image``, undecoded, and ``text`` is their name. Further
    ``columns`` are kept as strings, and ``marks`` as lists of spans where there are any. How each split was
    made is in its ``info.description``.

    Raises:
        InputError: if the source cannot be found or read, or does not hold such a task.
    """
    from datasets import DatasetDict

    name = str(source)
    if isinstance(source, str) and name in DATASETS:
        for column in columns:
            require_column(name, ("text", "label"), column)
        tables, how = _generate(name, options)
    elif isinstance(source, str) and name in IMAGE_SETS:
        table = {"train": tabulate(IMAGE_SETS[name].columns(name), options, columns)}
        tables, how = split_all(_select_labels(table, options), options)
    else:
        if options.generator:
            known = ", ".join(DATASETS)
            raise InputError(f"{name} is not synthetic: generator options are for {known}")
        tables, how = _read_source(source, options, columns, divide)
    names = None if options.rated else order_classes(tables)
    tables, how = subsample_splits(tables, how, options)
    return DatasetDict(
        {split: dataset_of(tables[split], names, how[split]) for split in FRACTIONS if split in tables}
    )


def select_split(loaded: "DatasetDict", split: str, source: str | Path) -> "Dataset":
    """The rows of one split, or of all of them one after the other for ``all``.

    Raises:
        InputError: if there is no such split.
    """
    from datasets import concatenate_datasets

    if split == ALL_SPLITS:
        return concatenate_datasets(list(loaded.values()))
    return part_of(loaded, split, source)


def part_of(parts: Mapping[str, T], split: str, source: str | Path) -> T:
    """What a source has for a split.

    Raises:
        InputError: if there is no such split.
    """
    if split not in parts:
        raise InputError(f"{source} has no split {split!r}: {did_you_mean(split, [*parts, ALL_SPLITS])}")
    return parts[split]


def _read_source(source: str | Path, options: LoadOptions, extra: Sequence[str], divide: bool) -> Splits:
    columns_by_split, is_one = resolve_source(source, options)
    tables = {split: tabulate(columns, options, extra) for split, columns in columns_by_split.items()}
    # A split whose labels the Hub keeps back is no split to us.
    tables = {split: table for split, table in tables.items() if table.label or split == "train"}
    _require_same_columns(tables)
    tables = _select_labels(_marks_for_all(tables), options)
    if not divide:
        return tables, describe_source(tables)
    return (split_all if is_one else split_dev)(tables, options)


def _select_labels(tables: dict[str, Table], options: LoadOptions) -> dict[str, Table]:
    """The tables with the labels that were asked for."""
    if options.rated:
        check_ratings(tables)
    return merge_classes(select_classes(tables, options.classes), options.labels)


def _require_same_columns(tables: dict[str, Table]) -> None:
    """Raise InputError if some splits have pairs and others have not."""
    train = tables["train"]
    for table in tables.values():
        if (table.text_pair is None) != (train.text_pair is None):
            raise InputError(
                f"only one of {train.source} and {table.source} has text pairs: "
                "give pairs in both or in "
                "neither"
            )


def _marks_for_all(tables: dict[str, Table]) -> dict[str, Table]:
    """The tables, all with marks if one has some."""
    if all(table.marks is None for table in tables.values()):
        return tables
    return {
        split: replace(table, marks=table.marks or [None] * len(table.text))
        for split, table in tables.items()
    }


def _generate(name: str, options: LoadOptions) -> Splits:
    settings: GeneratorOptions = DATASETS[name].options(options.generator)
    tables = {
        split: Table(
            source=f"{name} ({split})",
            text=drawn.texts,
            text_pair=None,
            label=[settings.class_names[number] for number in drawn.labels],
            rows=list(range(1, len(drawn.texts) + 1)),
            order=settings.class_names,
            marks=drawn.marks,
        )
        for split, drawn in DATASETS[name].draw(settings).items()
    }
    how = dict.fromkeys(tables, f"drawn by {name} with seed {settings.seed}")
    return _select_labels(tables, options), how


def dataset_of(table: Table, names: Sequence[str] | None, description: str) -> "Dataset":
    """Rows with a class, or with a rating where there are no names of classes."""
    from datasets import ClassLabel, Dataset, DatasetInfo, Features, Image, Value

    columns: dict[str, Sequence[Any]] = {"text": table.text}
    if table.text_pair is not None:
        columns["text_pair"] = table.text_pair
    columns |= {name: values for name, values in table.extra.items() if name not in (*columns, "label")}
    kinds: dict[str, Any] = {name: Value("string") for name in columns}
    if table.pictures is not None:
        columns[IMAGE] = [{"bytes": picture.content, "path": picture.name} for picture in table.pictures]
        kinds[IMAGE] = Image(decode=False)
    if table.marks is not None:
        columns[MARKS], kinds[MARKS] = table.marks, marks_feature()
    if names is None:
        kinds["label"] = Value("float64")
        columns["label"] = rating_values(table)
    else:
        kinds["label"] = ClassLabel(names=list(names))
        numbers = {name: number for number, name in enumerate(names)}
        columns["label"] = [numbers[label] for label in table.label]
    features = Features(kinds)
    info = DatasetInfo(description=description, features=features)
    return Dataset.from_dict(columns, features=features, info=info)
