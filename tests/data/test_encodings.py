"""Which encoding and which separator a file has: what is not the usual is named, and never guessed."""

import gzip

import pytest

from glasshead.data import LoadOptions, has_lines, load, read_plain
from glasshead.data.read import read
from glasshead.data.tagged_words import read_tagged
from glasshead.errors import InputError
from glasshead.language import read_corpus

ROWS = "text;label\ncafé, naïve;gut\nüber;schlecht\n"
COLUMNS = {"text": ["café, naïve", "über"], "label": ["gut", "schlecht"]}


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-16-le", "utf-8"])
@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.tsv"])
def test_a_file_is_read_in_the_encoding_and_by_the_separator_that_are_named(tmp_path, encoding, name):
    content = ROWS.encode(encoding)
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    assert read(tmp_path / name, LoadOptions(encoding=encoding, separator=";")).values == COLUMNS


@pytest.mark.parametrize("separator", ["\t", "\\t", "tab"])
def test_a_tab_may_be_typed(tmp_path, separator):
    (tmp_path / "a.csv").write_text(ROWS.replace(";", "\t"))
    assert read(tmp_path / "a.csv", LoadOptions(separator=separator)).values == COLUMNS


@pytest.mark.parametrize(
    ("separator", "said"),
    [
        (";", "separates its columns by ';': read it with `separator=';'`"),
        ("|", "separates its columns by '|': read it with `separator='|'`"),
        ("\t", "separates its columns by tabs: read it with `separator='tab'`"),
    ],
)
def test_another_separator_is_named_with_the_option_that_sets_it(tmp_path, separator, said):
    (tmp_path / "a.csv").write_text(ROWS.replace(";", separator).replace(",", ""))
    with pytest.raises(InputError) as refused:
        read(tmp_path / "a.csv")
    assert str(refused.value).endswith(said)


def test_commas_where_another_separator_was_named(tmp_path):
    (tmp_path / "a.csv").write_text("text,label\na,b\n")
    with pytest.raises(InputError, match="by ',': read it with `separator=','`"):
        read(tmp_path / "a.csv", LoadOptions(separator=";"))


def test_another_encoding_is_refused_with_the_option_that_sets_it(tmp_path):
    (tmp_path / "a.csv").write_bytes(ROWS.encode("latin-1"))
    with pytest.raises(InputError, match=r"line 2 is not UTF-8: name the encoding .* `encoding='latin-1'`"):
        read(tmp_path / "a.csv")
    with pytest.raises(InputError, match="is not utf-16: name the encoding"):
        read(tmp_path / "a.csv", LoadOptions(encoding="utf-16"))


def test_utf8_is_not_read_as_anything_else(tmp_path):
    (tmp_path / "a.csv").write_text(ROWS, encoding="utf-8")
    with pytest.raises(InputError, match="is UTF-8 and not latin-1: read it with `encoding='utf-8'`"):
        read(tmp_path / "a.csv", LoadOptions(encoding="latin-1", separator=";"))
    (tmp_path / "a.csv").write_text("text,label\nplain,b\n", encoding="ascii")
    assert read(tmp_path / "a.csv", LoadOptions(encoding="latin-1")).values["text"] == ["plain"]


def test_files_of_texts_of_tags_and_of_trees(tmp_path):
    options = LoadOptions(encoding="latin-1")
    texts, tags, trees = (tmp_path / name for name in ("a.txt", "a.conll", "train.txt"))
    texts.write_bytes("café\nüber\n".encode("latin-1"))
    assert has_lines(texts)
    assert read_plain(texts, options).firsts == ["café", "über"]
    assert "café" in read_corpus(texts, encoding="latin-1").train
    tags.write_bytes("café B-X\n\nüber O\n".encode("latin-1"))
    assert [text.text for text in read_tagged(tags, "all", options)] == ["café", "über"]
    trees.write_bytes(("(4 (2 un) (4 café))\n(0 (2 un) (0 rôle))\n" * 20).encode("latin-1"))
    assert not has_lines(trees)
    assert set(load(trees, options, divide=False)["train"]["text"][:]) == {"un café", "un rôle"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"encoding": "latn-1"}, "`encoding` must be a name such as latin-1"),
        ({"encoding": "base64"}, "`encoding` must be a name such as latin-1"),
        ({"encoding": 3}, "`encoding` must be a name such as latin-1"),
        ({"separator": ""}, "`separator` must be one character"),
        ({"separator": "::"}, "`separator` must be one character"),
        ({"separator": '"'}, "`separator` must be one character"),
        ({"separator": 3}, "`separator` must be one character"),
    ],
)
def test_what_is_no_encoding_or_separator(options, said):
    with pytest.raises(InputError, match=said):
        LoadOptions(**options)
