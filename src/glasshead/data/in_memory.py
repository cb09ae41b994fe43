"""A data set that somebody has in memory → one split in the one schema."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from glasshead.data.classes import order_classes, select_classes
from glasshead.data.columns import require_column
from glasshead.data.describe import has_images
from glasshead.data.encode import check_utf8, join_pair
from glasshead.data.image_columns import add_images, image_cells, with_array_images
from glasshead.data.load import dataset_of
from glasshead.data.marks import MARKS, find_marks, marks_feature
from glasshead.data.options import LoadOptions
from glasshead.data.ratings import check_ratings
from glasshead.data.read import Columns
from glasshead.data.read import names_of_codes as coded_names
from glasshead.data.schema import tabulate
from glasshead.errors import InputError

if TYPE_CHECKING:
    from datasets import Dataset, DatasetDict


def as_dataset(data: object) -> str | Path | Dataset | DatasetDict:
    """Data as the library reads them: a source, a data set, a `pandas.DataFrame`, or a list of rows.

    Raises:
        InputError: on anything else.
    """
    import pandas as pd
    from datasets import Dataset, DatasetDict

    if isinstance(data, str | Path):
        try:
            Path(data).exists()
        except OSError as error:
            raise InputError(f"there is no data {str(data)[:60]}…: {error.strerror}") from None
        return data
    if isinstance(data, DatasetDict):
        return DatasetDict({name: with_array_images(rows) for name, rows in data.items()})
    if isinstance(data, Dataset):
        return with_array_images(data)
    if isinstance(data, pd.DataFrame):
        check_utf8(*(cell for column in data.columns for cell in data[column] if isinstance(cell, str)))
        images = image_cells({str(name): list(data[name]) for name in data.columns})
        rows = Dataset.from_pandas(data.drop(columns=list(images)), preserve_index=False)
        return with_array_images(add_images(rows, images))
    if isinstance(data, list) and data and all(isinstance(row, dict) for row in data):
        check_utf8(*(cell for row in data for cell in row.values() if isinstance(cell, str)))
        images = image_cells({name: [row.get(name) for row in data] for name in dict.fromkeys(chain(*data))})
        others = [{name: cell for name, cell in row.items() if name not in images} for row in data]
        rows = Dataset.from_list(others) if any(others) else Dataset.from_dict({})
        return with_array_images(add_images(rows, images))
    if isinstance(data, list) and data and all(isinstance(row, str) for row in data):
        check_utf8(*data)
        return Dataset.from_dict({"text": data})
    raise InputError(
        f"{type(data).__name__} cannot be read as data: give a file, a folder, a Hub name, a "
        "datasets.Dataset, a pandas.DataFrame, or a list of dictionaries or of texts"
    )


def as_split(data: Dataset, options: LoadOptions, columns: Sequence[str] = ()) -> Dataset:
    """The rows of a `datasets.Dataset` with the columns text, (text_pair or image,) label, and further
    ``columns``.

    A data set that has these columns already, with a `ClassLabel` or numbers in float64, is returned
    unchanged.

    Raises:
        InputError: if a column is missing, or has no texts or no labels, and on marks that are not in their
            text.
    """
    from datasets import ClassLabel, Image, Value

    from glasshead.data.keep_images_encoded import keep_images_encoded

    data = keep_images_encoded(data)

    label = data.features.get("label")
    in_schema = isinstance(label, ClassLabel) or label == Value("float64")
    if in_schema and data.features.get("text") == Value("string") and options == LoadOptions():
        for name in columns:
            require_column("the data set", data.column_names, name)
        return with_checked_marks(data)
    kept = [
        name
        for name, kind in data.features.items()
        if isinstance(kind, Value | ClassLabel | Image) or name in (*columns, options.marks_column or MARKS)
    ]
    table = tabulate(cells_of(data.select_columns(kept)), options, columns)
    tables = select_classes({"train": table}, options.classes)
    if options.rated:
        check_ratings(tables)
    names = None if options.rated else order_classes(tables)
    return dataset_of(tables["train"], names, "given in memory")


def cells_of(data: Dataset) -> Columns:
    """The columns of a data set as they are, images in the bytes of their files."""
    from glasshead.data.keep_images_encoded import keep_images_encoded

    data = keep_images_encoded(data)
    cells = {name: list(data[name]) for name in data.column_names}
    return Columns("the data set", cells, coded_names(data.features))


def with_checked_marks(data: Dataset) -> Dataset:
    """Rows in the schema; a column ``marks`` that holds nothing but spans is in the schema too.

    Raises:
        InputError: with the row of a span that is not in its text.
    """
    if MARKS not in data.features:
        return data
    texts = list(data["text"][:])
    if "text_pair" in data.features:
        texts = list(map(join_pair, texts, data["text_pair"][:]))
    in_schema = data.features[MARKS] == marks_feature()
    cells = {MARKS: list(data[MARKS][:])}
    named = MARKS if in_schema else None
    rows = range(1, len(data) + 1)
    marks = find_marks("the data set", cells, rows, texts, named, boxes=has_images(data))
    if marks is None or in_schema:
        return data
    return data.remove_columns(MARKS).add_column(MARKS, marks, feature=marks_feature())
