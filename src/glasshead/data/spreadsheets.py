"""A spreadsheet → columns, as its cells hold them: texts, numbers, dates."""

from pathlib import Path
from typing import Any

from glasshead.data.columns import check_names
from glasshead.errors import InputError, MissingExtra

Cells = tuple[Any, ...]


def spreadsheet_columns(path: Path) -> dict[str, list[Any]]:
    """The columns of the one sheet that holds something; their names stand in its first row.

    Raises:
        InputError: if openpyxl is missing, it is no such file, several sheets hold something, or a column has
            no name of its own.
    """
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise MissingExtra(f"reading {path}", "xlsx") from None
    try:
        book = load_workbook(path, data_only=True)
        rows_of = {sheet.title: filled(sheet.iter_rows(values_only=True)) for sheet in book.worksheets}
    except OSError:
        raise
    except Exception as error:  # archives, XML and styles break in every way
        raise InputError(f"{path} is not an .xlsx file, or is damaged: save it again") from error
    titles = [title for title, rows in rows_of.items() if rows]
    if len(titles) > 1:
        raise InputError(f"{path} has several sheets ({', '.join(titles)}): save the one you mean as a file")
    if not titles:
        return {}
    columns = filled(zip(*rows_of[titles[0]], strict=True))
    if any(name is None for name, *_ in columns):
        raise InputError(f"{path} has a column without a name: write names into its first row")
    names = [str(name).strip() for name, *_ in columns]
    check_names(str(path), names)
    return {name: cells for name, (_, *cells) in zip(names, columns, strict=True)}


def filled(several: Any) -> list[Cells]:
    """The rows, or columns, that hold something."""
    return [cells for cells in several if any(cell is not None for cell in cells)]
