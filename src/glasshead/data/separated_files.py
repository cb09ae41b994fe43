"""CSV and TSV → columns, exactly as they were written.

They go through the csv module and not through pandas or `datasets`: those turn the texts ``NA`` and ``null``
into missing values, and fill a short row with empty fields without a word.
"""

import csv
import io
import re
import sys

from glasshead.data.columns import check_names
from glasshead.errors import InputError, pluralise
from glasshead.spelling import spell

TAB = "\t"
SEPARATORS = (";", TAB, "|", ",")
COLUMN = re.compile(r"\w[\w .-]{0,40}")
"""What looks like the name of a column, and not like a part of a sentence."""


def separated_columns(source: str, text: str, separator: str) -> dict[str, list[str]]:
    """Columns of a csv or tsv file; quotes are doubled inside quoted fields, blank lines are not rows.

    Raises:
        InputError: if it is empty, its columns have another separator, and with the line of a malformed row.
    """
    check_separator(source, text, separator)
    kept = csv.field_size_limit(sys.maxsize)  # its default refuses texts of 131,072 characters
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    rows, begins, last = [], [], 0
    try:
        for row in reader:
            if row:
                rows.append(row)
                begins.append(last + 1)
            last = reader.line_num
    except csv.Error as error:
        raise InputError(
            f"{source}: the record that begins on line {last + 1} has unbalanced quotes: "
            'quote the field and write " inside it as ""'
        ) from error
    finally:
        csv.field_size_limit(kept)
    if not rows:
        raise InputError(f"{source} is empty: give a file with a header and rows")
    header = [name.strip() for name in rows[0]]
    check_names(source, header)
    for row, line in zip(rows, begins, strict=True):
        if len(row) != len(header):
            raise InputError(
                f"{source} line {line} has {pluralise(len(row), 'field')} where the header has "
                f"{len(header)}: quote fields that contain the separator"
            )
        # Unbalanced quotes swallow the separators that follow them; no real tsv field holds a tab.
        if separator == TAB and any(TAB in field for field in row):
            raise InputError(f"{source} line {line} has a tab inside a quoted field: save the file as csv")
    return {name: list(column) for name, column in zip(header, zip(*rows[1:], strict=True), strict=False)}


def check_separator(source: str, text: str, separator: str) -> None:
    """Raise InputError where the names of the columns are separated by something else."""
    header = next((line for line in text.splitlines() if line.strip()), "")
    for other in SEPARATORS:
        names = [name.strip().strip('"') for name in header.split(other)]
        if separator not in header and len(names) > 1 and all(map(COLUMN.fullmatch, names)):
            called, given = ("tabs", "tab") if other == TAB else (repr(other), other)
            raise InputError(
                f"{source} separates its columns by {called}: read it with {spell('separator', given)}"
            )
