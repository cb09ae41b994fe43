"""A spreadsheet keeps what its cells hold, and says what of it is no table."""

import sys

import pytest
from openpyxl import Workbook

from glasshead.data import load
from glasshead.data.read import read
from glasshead.errors import InputError


def saved(path, *sheets):
    book = Workbook()
    book.remove(book.active)
    for number, rows in enumerate(sheets):
        sheet = book.create_sheet(f"part {number}")
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def test_texts_and_numbers_stay_and_empty_rows_and_sheets_are_none(tmp_path):
    rows = [("text", " label "), ("NA", 1), (None, None), ("null", 0), ("=", None), ("two\nlines", 1)]
    path = saved(tmp_path / "a.xlsx", [], rows, [])
    assert read(path).values == {"text": ["NA", "null", "=", "two\nlines"], "label": [1, 0, None, 1]}


def test_it_is_a_data_set_alone_or_in_a_folder(tmp_path):
    rows = [("text", "label"), *((f"text {number}", number % 2) for number in range(40))]
    alone = load(saved(tmp_path / "train.xlsx", rows), divide=False)["train"]
    assert alone["text"][:] == [text for text, _ in rows[1:]]
    assert alone.features["label"].names == ["0", "1"]
    saved(tmp_path / "dev.xlsx", rows[:9])
    assert {name: len(part) for name, part in load(tmp_path).items()} == {"train": 40, "dev": 8}


@pytest.mark.parametrize(
    ("sheets", "said"),
    [
        ([[]], "is empty"),
        ([[("text", "label")]], "is empty"),
        ([[("text",), ("a",)], [("text",), ("b",)]], r"has several sheets \(part 0, part 1\)"),
        ([[("text", None), ("a", "b")]], "a column without a name"),
        ([[("text", "text"), ("a", "b")]], "names a column twice"),
    ],
)
def test_what_is_no_table(tmp_path, sheets, said):
    with pytest.raises(InputError, match=said):
        read(saved(tmp_path / "a.xlsx", *sheets))


def test_what_is_no_spreadsheet(tmp_path):
    (tmp_path / "a.xlsx").write_bytes(b"PK")
    with pytest.raises(InputError, match=r"a\.xlsx is not an \.xlsx file, or is damaged"):
        read(tmp_path / "a.xlsx")


def test_without_openpyxl_it_says_what_to_install(tmp_path, monkeypatch):
    path = saved(tmp_path / "a.xlsx", [("text",), ("a",)])
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(InputError, match=r"needs an extra: pip install 'glasshead\[xlsx\]'$"):
        read(path)
