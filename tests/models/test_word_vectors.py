"""Word vectors in GloVe text format."""

import gzip

import numpy as np
import pytest

from glasshead.errors import InputError
from glasshead.models import read_vectors

VOCABULARY = {"[PAD]": 0, "good": 5, "bad": 6, "<br />": 7, "naïve": 8}


def written(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def found(path, **options):
    """Vectors by id."""
    ids, vectors = read_vectors(path, VOCABULARY, **options)
    assert vectors.dtype == np.float32
    assert len(ids) == len(set(ids.tolist())) == len(vectors)
    return dict(zip(ids.tolist(), vectors.tolist(), strict=True))


def refusal(path, **options):
    with pytest.raises(InputError) as caught:
        read_vectors(path, VOCABULARY, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert str(path) in message
    return message


def test_known_words_only_and_gzip(tmp_path):
    text = "the 0.1 0.2\nbad 3 4\ngood 1 -2.5e0\n"
    written(tmp_path / "v.txt", text)
    written(tmp_path / "v.txt.gz", gzip.compress(text.encode()))
    for name in ("v.txt", "v.txt.gz"):
        ids, vectors = read_vectors(tmp_path / name, VOCABULARY)
        assert ids.tolist() == [5, 6]
        np.testing.assert_array_equal(vectors, np.array([[1, -2.5], [3, 4]], dtype=np.float32))


@pytest.mark.parametrize(
    "content",
    [
        "1 2\ngood 1 2\n",
        "good 1 2",
        "\ufeffgood 1 2\n",
        "good 1 2 \r\n\r\n",
        "\ngood 1 2\n\n",
        "1 2 \ngood 1 2 ",
    ],
    ids=[
        "header",
        "no last line feed",
        "byte order mark",
        "carriage returns",
        "blank lines",
        "trailing blanks",
    ],
)
def test_ways_to_write_one_vector(tmp_path, content):
    assert found(written(tmp_path / "v.txt", content)) == {5: [1, 2]}


def test_numbers_may_be_words(tmp_path):
    path = written(tmp_path / "v.txt", "2007 1 2\n2008 3 4\n")
    ids, vectors = read_vectors(path, {"2007": 3})
    assert ids.tolist() == [3]
    assert vectors.tolist() == [[1, 2]]


class TestWords:
    def test_of_two_lines_for_a_word_the_first_counts(self, tmp_path):
        assert found(written(tmp_path / "v.txt", "good 1 2\nbad 3 4\ngood 5 6\n")) == {5: [1, 2], 6: [3, 4]}

    def test_a_word_is_found_in_lower_case_too(self, tmp_path):
        assert found(written(tmp_path / "v.txt", "NAÏVE 1 2\nBad 3 4\nBAD 5 6\n")) == {8: [1, 2], 6: [3, 4]}

    def test_but_its_own_spelling_comes_first_wherever_it_stands(self, tmp_path):
        assert found(written(tmp_path / "v.txt", "Good 1 2\ngood 3 4\nGOOD 5 6\n")) == {5: [3, 4]}

    def test_a_vocabulary_with_capitals_is_met_as_it_is_spelled(self, tmp_path):
        path = written(tmp_path / "v.txt", "good 3 4\nGood 1 2\n")
        ids, vectors = read_vectors(path, {"Good": 1, "good": 2})
        assert dict(zip(ids.tolist(), vectors.tolist(), strict=True)) == {1: [1, 2], 2: [3, 4]}

    def test_words_with_blanks_are_words(self, tmp_path):
        # The largest GloVe file has lines such as ". . . 0.1 …" and "at name@domain.com 0.1 …".
        lines = ["good 1 2", ". . . 3 4", "at name@domain.com 5 6", "<br /> 7 8", "\u00a0 9 9", "\u0085 9 9"]
        assert found(written(tmp_path / "v.txt", "\n".join(lines))) == {5: [1, 2], 7: [7, 8]}

    def test_the_numbers_of_other_words_are_not_read(self, tmp_path):
        assert found(written(tmp_path / "v.txt", "good 1 2\nother x nan\n")) == {5: [1, 2]}


class TestRefusals:
    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ("good 1 2\nbad 1 2 3\n", "line 2 has 3 values, but 2 are expected"),
            ("good 1 2\nother 1\n", "line 2 has 1 values, but 2 are expected"),
            ("good 1 2\n\nother 1\n", "line 3 has 1 values"),
            ("good 1 2\nother\n", "line 2 has 0 values"),
            ("good\t1\t2\n", "line 1 has 0 values"),
            ("good\n", "line 1 has 0 values"),
            ("2 3\ngood 1 2\n", "line 2 has 2 values, but 3 are expected"),
            ("good 1 2\nbad 1 x\n", "line 2: a value of 'bad' is not a number"),
            ("good 1 2\nbad  1\n", "line 2: a value of 'bad' is not a number"),
            ("good 1 nan\n", "line 1: a value of 'good' is not finite"),
            ("bad 1 2\ngood -inf 1\n", "line 2: a value of 'good' is not finite"),
            ("good 1 1e39\n", "line 1: a value of 'good' is not finite"),
            (b"good 1 2\nna\xefve 1 2\n", "line 2 is not UTF-8"),
            (b"PK\x03\x04\x14\x00 \xff\xfe\n", "line 1 is not UTF-8: give a text file (unpacked"),
            ("the 1 2\n", "any of the 5 words"),
            ("400000 300\n", "any of the 5 words"),
            ("", "any of the 5 words"),
            ("\n\n", "any of the 5 words"),
        ],
    )
    def test_malformed_files_name_the_line(self, tmp_path, content, message):
        assert message in refusal(written(tmp_path / "v.txt", content))

    @pytest.mark.parametrize("content", ["good 1 2\n", "9 2\ngood 1 2\n"])
    def test_another_size_than_wished_for(self, tmp_path, content):
        path = written(tmp_path / "v.txt", content)
        assert found(path, size=2) == {5: [1, 2]}
        assert "has vectors of 2 values, but the embeddings have 3" in refusal(path, size=3)

    def test_what_cannot_be_opened(self, tmp_path):
        assert "cannot read" in refusal(tmp_path / "none.txt")
        assert "directory" in refusal(tmp_path)
        assert "cannot read" in refusal(written(tmp_path / "v.gz", "good 1 2"))

    @pytest.mark.parametrize("damage", ["truncated", "changed"])
    def test_a_damaged_gzip(self, tmp_path, damage):
        numbers = np.random.default_rng(0).normal(size=(300, 2))
        text = "".join(f"w{i} {a} {b}\n" for i, (a, b) in enumerate(numbers))
        whole = bytearray(gzip.compress(b"good 1 2\n" + text.encode()))
        if damage == "truncated":
            del whole[-200:]
        else:
            whole[len(whole) // 2 : len(whole) // 2 + 400] = bytes(400)
        assert "cannot read the word vectors" in refusal(written(tmp_path / "v.txt.gz", bytes(whole)))


def test_against_a_plain_reader(tmp_path):
    random = np.random.default_rng(0)
    vocabulary = {f"w{number}": number for number in range(0, 400, 3)}
    numbers = random.normal(size=(400, 7)).astype(np.float32)
    order = random.permutation(400)
    lines = [f"w{i} {' '.join(map(repr, numbers[i].tolist()))}" for i in order]
    ids, vectors = read_vectors(written(tmp_path / "v.txt", "\n".join(lines)), vocabulary)
    assert ids.tolist() == list(vocabulary.values())
    np.testing.assert_array_equal(vectors, numbers[ids])


def test_real_glove(real_data):
    path = real_data / "glove" / "glove.twitter.27B.25d.common12k.txt.gz"
    ids, vectors = read_vectors(path, VOCABULARY, size=25)
    assert ids.tolist() == [5, 6]
    assert vectors.shape == (2, 25)
