"""Raw columns → the one schema: text, perhaps text_pair, label, columns asked for, all strings."""

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from hashlib import sha256
from typing import Any

from glasshead.data.columns import cell_texts, require_column
from glasshead.data.encode import join_pair
from glasshead.data.image_columns import IMAGE_COLUMNS
from glasshead.data.marks import Marks, find_marks
from glasshead.data.options import LoadOptions
from glasshead.data.pictures import NAMELESS, Picture, as_picture, is_picture_cell
from glasshead.data.read import Columns
from glasshead.errors import InputError
from glasshead.spelling import spell

PICTURE_COLUMN = " pictures"
"""The column of images while a table is made, which no file can call so."""
PAIRS = (
    ("premise", "hypothesis"),
    ("text1", "text2"),
    ("sentence1", "sentence2"),
    ("sentence_A", "sentence_B"),
)
"""What data sets call two texts, where none is ``text``."""
RATINGS = ("score", "relatedness_score")
"""What data sets call a rating, where none is ``label``."""
UNLABELLED = -1  # how the Hub marks a row without a gold label, in a column of class numbers


class NoLabelError(InputError):
    """There is no column of labels, and none was named."""


class NoTextError(InputError):
    """There is no column of texts, and none was named."""


@dataclass(frozen=True)
class Table:
    """Rows in the one schema; `order` is the class order if the source fixes one.

    ``rows`` numbers them as in the source, from 1, a header not counted; ``unlabelled`` counts those the
    source itself marks as having no label, which are not here. ``extra`` are the further columns that were
    asked for, None where a value is missing. ``marks`` are spans of the text, or of both texts of a pair as
    `join_pair` has them; None where the source has none. Of images, ``pictures``, the text is the name.
    """

    source: str
    text: list[str]
    text_pair: list[str] | None
    label: list[str]
    rows: list[int]
    order: tuple[str, ...] | None = None
    unlabelled: int = 0
    extra: dict[str, list[str | None]] = field(default_factory=dict)
    marks: list[Marks] | None = None
    pictures: list[Picture] | None = None

    def take(self, places: Iterable[int]) -> "Table":
        """The rows at these places, in this order."""
        places = list(places)
        pair = None if self.text_pair is None else [self.text_pair[i] for i in places]
        return replace(
            self,
            text=[self.text[i] for i in places],
            text_pair=pair,
            label=[self.label[i] for i in places],
            rows=[self.rows[i] for i in places],
            extra={name: [values[i] for i in places] for name, values in self.extra.items()},
            marks=None if self.marks is None else [self.marks[i] for i in places],
            pictures=None if self.pictures is None else [self.pictures[i] for i in places],
        )

    def only(self, classes: Collection[str]) -> "Table":
        """The rows of these classes."""
        return self.take(i for i, label in enumerate(self.label) if label in classes)

    def keys(self) -> list[tuple[str, str]]:
        """What makes a row a duplicate of another: its text and text_pair, or the bytes of its image."""
        if self.pictures is not None:
            return [(sha256(picture.content).hexdigest(), "") for picture in self.pictures]
        pair = [""] * len(self.text) if self.text_pair is None else self.text_pair
        return list(zip(self.text, pair, strict=True))


def tabulate(columns: Columns, options: LoadOptions, extra: Sequence[str] = ()) -> Table:
    """Find text, text_pair, label and the ``extra`` columns, and make strings of them.

    Without `text_column` the text is ``text`` (with ``text_pair``, if there is one), else two texts
    are called as in `PAIRS`; a rating is ``label``, else as in `RATINGS`. An integer label
    becomes its decimal string.

    Raises:
        NoLabelError: if there is no label, and no column of labels was named.
        NoTextError: if there is no text, and no column of texts was named.
        InputError: if a column is missing, a text is missing or no string, a label is empty or neither string
            nor number, or marks are not spans of the text.
    """
    cells, rated = columns.values, options.rated
    given = list(cells)
    image = image_column(cells, options)
    if image is not None:
        columns, cells, options = name_pictures(columns, image, options)
    text, pair = options.text_column or "text", "text_pair"
    if options.text_column is None and "text" not in cells:
        text, pair = next((names for names in PAIRS if set(names) <= set(cells)), (text, pair))
    label = options.label_column or "label"
    if rated and options.label_column is None and label not in cells:
        label = next((name for name in RATINGS if name in cells), label)
    for name, option in ((text, spell("text_column")), (label, spell("label_column"))):
        if name not in cells:
            error = InputError
            if (name, options.label_column) == (label, None):
                error = NoLabelError
            elif (name, options.text_column) == (text, None):
                error = NoTextError
            captions = (
                "" if image is None else ". For a model that reads captions, the labels are the captions"
            )
            has = ", ".join(cell for cell in given if not cell.startswith(" "))
            raise error(
                f"{columns.source} has no column {name!r} (it has: {has}): name it with {option}{captions}"
            )
    for name in extra:
        require_column(columns.source, cells, name)
    labels, names = decode_column(columns, label), columns.coded.get(label)
    labelled = list(range(len(labels)))
    if names is not None:
        labelled = [i for i, code in enumerate(cells[label]) if code is not None and code != UNLABELLED]

    def texts(name: str) -> list[str]:
        for place in labelled:
            value = cells[name][place]
            if not isinstance(value, str):
                raise InputError(f"{columns.source} row {place + 1} {_no_text(value, name)}")
        return [cells[name][place] for place in labelled]

    def strings(values: list[Any], convert: Callable[[Any], str | None], trouble: str) -> list[str]:
        converted = [convert(values[i]) for i in labelled]
        for place, value in zip(labelled, converted, strict=True):
            if value is None:
                raise InputError(f"{columns.source} row {place + 1} {trouble}")
        return converted  # type: ignore[return-value]  # no None is left

    wanted = "a number" if rated else "a string or an integer"
    firsts, seconds = texts(text), texts(pair) if pair in cells else None
    rows = [i + 1 for i in labelled]
    joined = firsts if seconds is None else list(map(join_pair, firsts, seconds))
    return Table(
        source=columns.source,
        text=firsts,
        text_pair=seconds,
        label=strings(
            labels, _rating if rated else _label, f"has no usable {label!r}: give every row {wanted}"
        ),
        rows=rows,
        order=None if names is None else tuple(names),
        unlabelled=len(labels) - len(labelled),
        extra={
            name: [values[i] for i in labelled]
            for name in extra
            for values in [cell_texts(columns.source, name, decode_column(columns, name))]
        },
        marks=find_marks(columns.source, cells, rows, joined, options.marks_column, boxes=image is not None),
        pictures=None if image is None else [as_picture(cells[PICTURE_COLUMN][i]) for i in labelled],
    )


def image_column(cells: Mapping[str, list[Any]], options: LoadOptions) -> str | None:
    """The column that holds images: the named one, else ``image`` or ``img`` where there is no text."""
    names = IMAGE_COLUMNS if options.text_column is None else (options.text_column,)
    if options.text_column is None and "text" in cells:
        return None
    for name in names:
        first = next((value for value in cells.get(name, ()) if value is not None), None)
        if is_picture_cell(first):
            return name
    return None


def name_pictures(
    columns: Columns, image: str, options: LoadOptions
) -> tuple[Columns, dict[str, list[Any]], LoadOptions]:
    """The columns with the images' names as texts.

    Raises:
        InputError: with the row of a cell that is not an image.
    """
    pictures = []
    for row, value in enumerate(columns.values[image], start=1):
        if not is_picture_cell(value):
            raise InputError(
                f"{columns.source} row {row} has no image in the column {image!r}: remove the row"
            )
        picture = as_picture(value)
        pictures.append(replace(picture, name=f"row {row}") if picture.name == NAMELESS else picture)
    kept: dict[str, list[Any]] = {
        name: values for name, values in columns.values.items() if name not in (image, "text")
    }
    kept["text"], kept[PICTURE_COLUMN] = [picture.name for picture in pictures], pictures
    cells = kept
    return replace(columns, values=cells), cells, replace(options, text_column=None)


def decode_column(columns: Columns, name: str) -> list[Any]:
    """The values of a column, and of a column of class numbers the names of the classes."""
    if name not in columns.coded:
        return columns.values[name]
    known = dict(enumerate(columns.coded[name]))
    return [known.get(code) for code in columns.values[name]]


def _missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _no_text(value: Any, column: str) -> str:
    """What is wrong with a value that should be a text, and the remedy."""
    if _missing(value):
        return f'has no text in the column {column!r}: give it one ("" is an empty text), or remove the row'
    kind = (
        "a number" if isinstance(value, int | float | Decimal) and not isinstance(value, bool) else "no text"
    )
    return (
        f"has {kind} in the column {column!r}: write it as a string, or name the column of the texts with "
        f"{spell('text_column')}"
    )


def _label(value: Any) -> str | None:
    if isinstance(value, bool):
        return str(value).lower()
    # Integers next to a missing value come as floats.
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return (str(value).strip() or None) if isinstance(value, str | int) else None


def _rating(value: Any) -> str | None:
    return _label(value) if _missing(value) or not isinstance(value, float | Decimal) else str(value)


def class_order(labels: Iterable[str]) -> tuple[str, ...]:
    """Distinct labels: by number if all are integers, else alphabetically."""
    distinct = set(labels)
    if all(re.fullmatch(r"[+-]?[0-9]{1,999}", label) for label in distinct):  # int() takes 4,300 digits
        return tuple(sorted(distinct, key=lambda label: (int(label), label)))
    return tuple(sorted(distinct))
