"""Pretrained word vectors in GloVe's text format: ``word x₁ … x_d`` per line, optionally gzipped."""

import gzip
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from glasshead.errors import InputError
from glasshead.reasons import because

FORMAT = "every line is a word and its numbers, with one blank between them"


def read_vectors(
    path: Path, vocabulary: Mapping[str, int], *, size: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The ids that the file knows, int [m] ascending, and their vectors, float32 [m, d].

    A word is found as it is spelled in the file or else in lower case, as our tokenizers write words. If a
    word has several lines, the first counts, because these files are sorted by frequency. Numbers of words
    outside the vocabulary are counted, not read. A first line ``words dimensions`` (word2vec, fastText) is
    not a vector.

    Raises:
        InputError: with the line number, if a line has another number of values than the first, a value that
            is read is not a finite number, or bytes are not UTF-8; if the file cannot be read, knows no word,
            or has vectors of another ``size`` than requested.
    """
    spelled: dict[int, np.ndarray] = {}
    lowered: dict[int, np.ndarray] = {}
    try:
        for number, word, values in _lines(path, size):
            index, table = vocabulary.get(word), spelled
            if index is None:
                index, table = vocabulary.get(word.lower()), lowered
            if index is not None and index not in table:
                table[index] = _vector(path, number, word, values)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(
            f"cannot read the word vectors {path}{because(error)}: give a .txt or .gz file"
        ) from error
    vectors = lowered | spelled
    if not vectors:
        raise InputError(
            f"{path} has no vector for any of the {len(vocabulary)} words of the vocabulary: give vectors "
            "for the language and spelling of the texts"
        )
    ids = sorted(vectors)
    return np.array(ids), np.stack([vectors[index] for index in ids])


def _lines(path: Path, wished: int | None) -> Iterator[tuple[int, str, str]]:
    """Line number, word, and the numbers as text, of which there are equally many on every line."""
    size = None
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rb") as lines:
        for number, raw in enumerate(lines, start=1):
            try:
                line = raw.decode().rstrip(" \r\n")
            except UnicodeDecodeError as error:
                raise InputError(
                    f"{path} line {number} is not UTF-8: give a text file (unpacked, or as .gz) in UTF-8"
                ) from error
            if number == 1:
                line = line.removeprefix("\ufeff")  # a byte order mark
            if not line:
                continue
            word, _, values = line.partition(" ")
            header = number == 1 and word.isdecimal() and values.isdecimal()
            if size is None:
                size = int(values) if header else len(line.split(" ")) - 1
                if size and wished not in (None, size):
                    raise InputError(
                        f"{path} has vectors of {size} values, but the embeddings have {wished}: give "
                        "another file, or embeddings of its size"
                    )
            if header:
                continue
            if not values or values.count(" ") + 1 != size:
                word, values = _with_blanks(path, number, line, size)
            yield number, word, values


def _with_blanks(path: Path, number: int, line: str, size: int) -> tuple[str, str]:
    """Word and numbers of a line with a word such as ``. . .``, of which GloVe's largest file has some.

    Raises:
        InputError: if the line has too few numbers, or too many.
    """
    fields = line.split(" ")
    if size and len(fields) > size + 1 and not all(map(_is_number, fields[1:-size])):
        return " ".join(fields[:-size]), " ".join(fields[-size:])
    raise InputError(
        f"{path} line {number} has {len(fields) - 1} values, but {max(size, 1)} are expected: {FORMAT}"
    )


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _vector(path: Path, number: int, word: str, values: str) -> np.ndarray:
    """The numbers of a line.

    Raises:
        InputError: if one of them is not a number, or not finite in float32.
    """
    try:
        with np.errstate(over="ignore"):
            vector = np.array(values.split(" "), dtype=np.float32)
    except ValueError as error:
        raise InputError(f"{path} line {number}: a value of {word!r} is not a number: {FORMAT}") from error
    if not np.isfinite(vector).all():
        raise InputError(
            f"{path} line {number}: a value of {word!r} is not finite: correct or remove the line"
        )
    return vector
