"""Word vectors in GloVe text format."""

import gzip

import numpy as np
import pytest

from glasshead.errors import InputError
from glasshead.models import read_vectors

VOCABULARY = {"[PAD]": 0, "good": 5, "bad": 6}


def test_known_words_only_and_gzip(tmp_path):
    text = "the 0.1 0.2\ngood 1 -2.5\n"
    (tmp_path / "v.txt").write_text(text)
    (tmp_path / "v.txt.gz").write_bytes(gzip.compress(text.encode()))
    for name in ("v.txt", "v.txt.gz"):
        ids, vectors = read_vectors(tmp_path / name, VOCABULARY)
        assert ids.tolist() == [5]
        np.testing.assert_array_equal(vectors, np.array([[1, -2.5]], dtype=np.float32))


def test_a_word2vec_header_is_skipped(tmp_path):
    (tmp_path / "v.txt").write_text("1 2\ngood 1 2\n")
    assert read_vectors(tmp_path / "v.txt", VOCABULARY)[1].shape == (1, 2)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"good 1 2\nbad 1 2 3\n", "line 2: 3 values where 2 are expected"),
        (b"good 1 2\nbad 1 x\n", "line 2: a value of 'bad' is not a number"),
        (b"good\n", "line 1"),
        (b"the 1 2\n", "none of the 3 words"),
        (b"", "none of the 3 words"),
        (b"good \xff 1\n", "not UTF-8"),
    ],
)
def test_malformed_files_name_the_line(tmp_path, content, message):
    path = tmp_path / "v.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_vectors(path, VOCABULARY)


def test_a_missing_file_and_a_file_that_is_no_gzip(tmp_path):
    with pytest.raises(InputError, match="cannot read"):
        read_vectors(tmp_path / "none.txt", VOCABULARY)
    (tmp_path / "v.gz").write_text("good 1 2")
    with pytest.raises(InputError, match="cannot read"):
        read_vectors(tmp_path / "v.gz", VOCABULARY)


def test_real_glove(real_data):
    path = real_data / "glove" / "glove.twitter.27B.25d.common12k.txt.gz"
    ids, vectors = read_vectors(path, VOCABULARY)
    assert sorted(ids.tolist()) == [5, 6]
    assert vectors.shape == (2, 25)
