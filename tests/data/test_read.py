"""Every way a file can be wrong ends in one line that names it; every way it can be right keeps its texts."""

import csv
import gzip
import json

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from datasets import ClassLabel, Dataset, Features, Value
from hypothesis import given, settings
from hypothesis import strategies as st

from glasshead.data.read import data_stem, read
from glasshead.errors import InputError

TEXTS = [
    "NA",
    "null",
    "None",
    "",
    " ",
    "nan",
    "1",
    'a "quoted" word',
    "a, b",
    "two\nlines",
    "\u2028",
    "naïve",
    "a\tb",
]


def refusal(path):
    with pytest.raises(InputError) as caught:
        read(path)
    message = str(caught.value)
    assert "\n" not in message
    assert str(path) in message
    assert ": " in message  # what, then the remedy
    return message


def written(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".jsonl", ".jsonl.gz", ".parquet"])
def test_texts_survive_as_they_are(tmp_path, suffix):
    path = tmp_path / f"data{suffix}"
    frame = pd.DataFrame({"text": TEXTS, "label": ["x"] * len(TEXTS)})
    if suffix == ".parquet":
        frame.to_parquet(path)
    elif "json" in suffix:
        frame.to_json(path, orient="records", lines=True, force_ascii=False)
    else:
        frame.to_csv(path, index=False)
    columns = read(path)
    assert columns.values == {"text": TEXTS, "label": ["x"] * len(TEXTS)}
    assert columns.source == str(path)


@pytest.mark.parametrize("suffix", [".tsv", ".tsv.gz"])
def test_tsv(tmp_path, suffix):
    texts = [text for text in TEXTS if "\t" not in text]
    path = tmp_path / f"data{suffix}"
    pd.DataFrame({"text": texts, "label": texts}).to_csv(path, sep="\t", index=False)
    assert read(path).values == {"text": texts, "label": texts}


printable = st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=8)


@settings(deadline=None, max_examples=50)
@given(rows=st.lists(st.tuples(printable, printable), min_size=1))
def test_any_csv_that_python_writes_is_read_back(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("csv") / "data.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["text", "label"])
        writer.writerows(rows)
    values = read(path).values
    assert list(zip(values["text"], values["label"], strict=True)) == rows


@settings(deadline=None, max_examples=50)
@given(rows=st.lists(st.tuples(printable, st.none() | st.integers() | printable), min_size=1))
def test_any_json_lines_are_read_back(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("json") / "data.jsonl"
    records = [{"text": text, "label": label} for text, label in rows]
    path.write_text("\n".join(json.dumps(record) for record in records), encoding="utf-8")
    values = read(path).values
    assert list(zip(values["text"], values["label"], strict=True)) == rows


def test_byte_order_mark_windows_lines_and_blanks_around_names(tmp_path):
    path = written(tmp_path / "a.csv", b'\xef\xbb\xbftext, label\r\n"one\r\nmore",x\r\n\r\ntwo,y\r\n')
    assert read(path).values == {"text": ["one\r\nmore", "two"], "label": ["x", "y"]}


def test_a_text_longer_than_the_csv_module_likes_and_its_limit_is_put_back(tmp_path):
    before = csv.field_size_limit()
    path = written(tmp_path / "a.csv", "text,label\n" + "a " * 100_000 + ",x\n")
    assert len(read(path).values["text"][0]) == 200_000
    assert csv.field_size_limit() == before


def test_json_keys_may_be_missing_and_blank_lines_are_no_records(tmp_path):
    path = written(tmp_path / "a.jsonl", '{"text": "a", "label": 1}\n\n{"label": 2, "more": "b"}\n')
    assert read(path).values == {"text": ["a", None], "label": [1, 2], "more": [None, "b"]}


def test_parquet_of_datasets_brings_class_names(tmp_path):
    path = tmp_path / "a.parquet"
    features = Features({"text": Value("string"), "label": ClassLabel(names=["no", "yes"])})
    Dataset.from_dict({"text": ["a", "b"], "label": [1, 0]}, features=features).to_parquet(path)
    assert read(path).coded == {"label": ["no", "yes"]}
    pq.write_table(pa.table({"text": ["a"], "label": [1]}), path)
    assert read(path).coded == {}


@pytest.mark.parametrize(
    ("name", "expected"),
    [("Train.CSV", "train"), ("dev.tsv.gz", "dev"), ("a.b.jsonl", "a.b"), ("a.txt", None), ("csv", None)],
)
def test_stem(tmp_path, name, expected):
    assert data_stem(tmp_path / name) == expected


def test_missing_file(tmp_path):
    assert "no such file or folder" in refusal(tmp_path / "a.csv")


def test_directory(tmp_path):
    (tmp_path / "a.csv").mkdir()
    assert "is a directory" in refusal(tmp_path / "a.csv")


@pytest.mark.parametrize("name", ["a.xls", "a.doc", "a"])
def test_unsupported_extension(tmp_path, name):
    assert ".parquet" in refusal(written(tmp_path / name, "text,label\na,b\n"))


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".csv.gz", ".parquet"])
def test_empty_file(tmp_path, suffix):
    assert "is empty" in refusal(written(tmp_path / f"a{suffix}", ""))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "text,label\n"),
        ("a.csv", "\n\n"),
        ("a.csv", b"\xef\xbb\xbf"),
        ("a.tsv", "text\tlabel"),
        ("a.jsonl", "\n \n"),
        ("a.csv.gz", gzip.compress(b"", mtime=0)),
    ],
)
def test_file_without_rows(tmp_path, name, content):
    assert "is empty" in refusal(written(tmp_path / name, content))


def test_parquet_without_rows(tmp_path):
    pq.write_table(pa.table({"text": pa.array([], pa.string())}), tmp_path / "a.parquet")
    assert "is empty" in refusal(tmp_path / "a.parquet")


@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.csv.gz"])
def test_bytes_that_are_not_utf8(tmp_path, name, start):
    content = start + b"text,label\nfine,x\ncaf\xe9,y\n"
    path = written(tmp_path / name, gzip.compress(content) if name.endswith("gz") else content)
    assert "line 3 is not UTF-8" in refusal(path)


@pytest.mark.parametrize("damage", [lambda data: data[:-9], lambda data: b"no gzip"])
def test_damaged_gzip(tmp_path, damage):
    path = written(tmp_path / "a.csv.gz", damage(gzip.compress(b"text,label\na,b\n" * 50)))
    assert "gzip" in refusal(path)


@pytest.mark.parametrize(("row", "fields"), [("a,b,c", "3 fields"), ("a", "1 field"), ('"a",b,', "3 fields")])
def test_ragged_rows(tmp_path, row, fields):
    message = refusal(written(tmp_path / "a.csv", f'text,label\n"two\nlines",x\n{row}\nfine,y\n'))
    assert f"line 4 has {fields} where the header has 2" in message


@pytest.mark.parametrize("row", ['"a,b', '"a" c,b'])
def test_unbalanced_quotes(tmp_path, row):
    message = refusal(written(tmp_path / "a.csv", f"text,label\nfine,x\n{row}\nfine,y\n"))
    assert "begins on line 3" in message
    assert "quotes" in message


def test_quotes_that_swallow_lines_of_a_tsv(tmp_path):
    path = written(tmp_path / "a.tsv", 'text\tlabel\n"a\tx\nb"\ty\n')
    assert "line 2 has a tab inside a quoted field" in refusal(path)


def test_a_column_named_twice(tmp_path):
    assert "names a column twice" in refusal(written(tmp_path / "a.csv", "text,text\na,b\n"))
    pq.write_table(pa.Table.from_arrays([pa.array(["a"])] * 2, ["text", "text"]), tmp_path / "a.parquet")
    assert "names a column twice" in refusal(tmp_path / "a.parquet")


@pytest.mark.parametrize("line", ["{", "text,label", '{"text": "a"} {}', "[" * 100_000])
def test_malformed_json(tmp_path, line):
    message = refusal(written(tmp_path / "a.jsonl", f'{{"text": "a"}}\n\n{line}\n'))
    assert "line 3 is not JSON" in message


@pytest.mark.parametrize("line", ["[1]", "3", "null", '"text"'])
def test_json_that_is_no_object(tmp_path, line):
    assert "line 1 is not a JSON object" in refusal(written(tmp_path / "a.jsonl", line))


def test_half_a_surrogate_pair(tmp_path):
    path = written(tmp_path / "a.jsonl", '{"text": "fine \\ud83d\\ude00"}\n{"text": "\\ud83d"}\n')
    assert "line 2" in refusal(path)


def test_not_a_parquet_file(tmp_path):
    assert "not a parquet file" in refusal(written(tmp_path / "a.parquet", "text,label\na,b\n"))


def test_broken_metadata_of_datasets(tmp_path):
    path = tmp_path / "a.parquet"
    table = pa.table({"text": ["a"], "label": [1]})
    for metadata in (b"garbage", b'{"info": 3}', b'{"info": {"features": {"label": {"_type": "Nothing"}}}}'):
        pq.write_table(table.replace_schema_metadata({b"huggingface": metadata}), path)
        with pytest.raises(InputError, match=r"is not a parquet file, or is damaged: write it again"):
            read(path)
