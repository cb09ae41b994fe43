"""Texts, folders of texts and data sets become documents, and documents become blocks."""

import gzip

import pytest
from corpora import sentences
from datasets import ClassLabel, Dataset, Features, Value

from glasshead import InputError
from glasshead.data import train_tokenizer
from glasshead.language import cut_blocks, pack, read_corpus


def test_lines_are_documents_and_the_last_ones_are_dev(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("\n".join(f"line {number:02}" for number in range(20)))
    corpus = read_corpus(path)
    assert corpus.train == tuple(f"line {number:02}" for number in range(18))
    assert corpus.dev == ("line 18", "line 19")


def test_blank_lines_part_paragraphs(tmp_path):
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(b"one\r\ntwo\r\n\r\nthree\n \t\n\nfour\n"))
    corpus = read_corpus(path, dev_fraction=0.5)
    assert corpus.train + corpus.dev == ("one\ntwo", "three", "four")


def test_files_of_a_folder_are_parted_by_their_names(tmp_path):
    (tmp_path / "train.txt").write_text("a\nb")
    (tmp_path / "valid.txt").write_text("c")
    (tmp_path / "test.txt").write_text("d")
    corpus = read_corpus(tmp_path)
    assert (corpus.train, corpus.dev) == (("a", "b"), ("c",))


def test_class_numbers_beside_texts_are_not_read(tmp_path):
    rows = {"text": [f"line {number}" for number in range(8)], "label": [0, 1] * 4}
    features = Features(text=Value("string"), label=ClassLabel(names=["a", "b"]))
    Dataset.from_dict(rows, features=features).to_parquet(tmp_path / "a.parquet")
    corpus = read_corpus(tmp_path / "a.parquet")
    assert sorted(corpus.train + corpus.dev) == rows["text"]


def test_other_folders_are_one_text_in_order_of_names(tmp_path):
    for name in ("b", "a", "c"):
        (tmp_path / f"{name}.txt").write_text(f"{name} 1\n{name} 2")
    (tmp_path / "about.json").write_text('{"licence": "none"}')
    corpus = read_corpus(tmp_path)
    assert corpus.train + corpus.dev == ("a 1", "a 2", "b 1", "b 2", "c 1", "c 2")


def test_rows_of_a_table_need_no_labels_and_dev_is_a_random_part(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text\n" + "\n".join(f"row {number:02}" for number in range(40)))
    first, again, other = (read_corpus(path, seed=seed) for seed in (0, 0, 1))
    assert len(first.dev) == 4
    assert sorted(first.train + first.dev) == [f"row {number:02}" for number in range(40)]
    assert first == again
    assert first.dev != other.dev


def test_a_named_data_set_is_a_corpus():
    corpus = read_corpus("synthetic")
    assert len(corpus.train) > len(corpus.dev) > 1


def test_the_fingerprint_tells_corpora_apart(tmp_path):
    prints = set()
    for number, text in enumerate(("ab\nc\nd", "a\nbc\nd", "ab\nc\ne")):
        path = tmp_path / f"{number}.txt"
        path.write_text(text)
        prints.add(read_corpus(path).facts()["fingerprint"])
    assert len(prints) == 3


def test_documents_are_packed_with_an_end_behind_each():
    tokenizer = train_tokenizer(sentences(), lowercase=False, min_freq=1)
    tokens = pack(tokenizer, ["the red fox", "a dog"])
    end = tokenizer.sep_token
    assert tokenizer.convert_ids_to_tokens(tokens.tolist()) == ["the", "red", "fox", end, "a", "dog", end]
    assert cut_blocks(tokens, 3, "train").tolist() == [tokens[:3].tolist(), tokens[3:6].tolist()]
    with pytest.raises(InputError, match="train has 7 tokens, less than one block of 8"):
        cut_blocks(tokens, 8, "train")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b" \n\n \n", "is empty"),
        (b"a\0b\nc", "is binary"),
        (b"\x89PNG\xff\xfe", "is not UTF-8"),
        (b"one line", "only one line"),
    ],
)
def test_what_is_no_corpus_is_refused(tmp_path, content, message):
    path = tmp_path / "a.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_corpus(path)
