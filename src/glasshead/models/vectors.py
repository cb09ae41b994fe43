"""Pretrained word vectors in GloVe's text format: ``word x₁ … x_d`` per line, optionally gzipped."""

import gzip
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from glasshead.errors import InputError


def read_vectors(path: Path, vocabulary: Mapping[str, int]) -> tuple[np.ndarray, np.ndarray]:
    """The ids that the file knows, int [m], and their vectors, float32 [m, d].

    Raises:
        InputError: with the line number, if a line has another number of values than the first, a value is
            not a number, or the file cannot be read.
    """
    ids, rows, size = [], [], 0
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                word, *values = line.rstrip().split(" ")
                # word2vec's text format begins with a line "words dimensions".
                if number == 1 and len(values) == 1 and word.isdecimal():
                    continue
                size = size or len(values)
                if not values or len(values) != size:
                    raise InputError(f"{path}, line {number}: {len(values)} values where {size} are expected")
                if word in vocabulary:
                    rows.append(np.array(values, dtype=np.float32))
                    ids.append(vocabulary[word])
    except InputError:
        raise
    except ValueError as error:
        if isinstance(error, UnicodeDecodeError):
            raise InputError(f"{path} is not UTF-8 text") from error
        raise InputError(f"{path}, line {number}: a value of {word!r} is not a number") from error
    except (OSError, EOFError) as error:
        raise InputError(f"cannot read the word vectors {path}: {error}") from error
    if not ids:
        raise InputError(f"{path} has a vector for none of the {len(vocabulary)} words of the vocabulary")
    return np.array(ids), np.stack(rows)
