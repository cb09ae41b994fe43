"""Two versions of a text next to each other: which letters of one stand where letters of the other do."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import regex

UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
"""Scripts without blanks between words."""
WORDS = regex.compile(rf"(?V1)((?:(?=[\w--[{UNSPACED}]])\X)+|(?!\s)\X)((?:(?=\s)\X)*)")
BLANKS = regex.compile(r"(?:(?=\s)\X)*")
MOST_PAIRS = 400_000_000
"""For a word of one text with a word of the other that are looked at: a second or two. Two texts with more of
them, after what they begin and end with alike, differ as a whole."""


@dataclass(frozen=True)
class AlignedPiece:
    """Letters [start, end) of both texts that share a column; one of them may be empty."""

    before: tuple[int, int]
    after: tuple[int, int]
    same: bool


class Word(NamedTuple):
    """A word or mark, the place where it begins, where it ends, and where the blanks behind it end."""

    text: str
    start: int
    end: int
    blank_end: int


def align_texts(before: str, after: str) -> list[AlignedPiece]:
    """Both texts in pieces: one for each shared word and the characters around it, and one for each part
    that differs.

    Every letter of both texts is in one piece, in order. The longest common subsequence of words and marks
    decides what is shared; scripts without blanks are compared letter by letter, and letters keep their
    accents.
    """
    firsts, seconds = words_of(before), words_of(after)
    pieces: list[AlignedPiece] = []
    differs = [0, 0, 0, 0]  # where a stretch begins and ends, in both texts

    def close() -> None:
        pieces.extend(apart(before, after, *differs))

    for i, j in shared_pairs([word.text for word in firsts], [word.text for word in seconds]):
        one, other = firsts[i], seconds[j]
        differs[1], differs[3] = one.start, other.start
        close()
        if one.text:
            pieces.append(AlignedPiece((one.start, one.end), (other.start, other.end), True))
        blanks = (one.end, one.blank_end), (other.end, other.blank_end)
        differs = [one.end, one.end, other.end, other.end]
        if before[slice(*blanks[0])] == after[slice(*blanks[1])]:
            if one.end < one.blank_end:
                pieces.append(AlignedPiece(*blanks, True))
            differs = [one.blank_end, one.blank_end, other.blank_end, other.blank_end]
    differs[1], differs[3] = len(before), len(after)
    close()
    return pieces


def apart(
    before: str, after: str, start: int, end: int, other: int, other_end: int
) -> Iterator[AlignedPiece]:
    """A stretch that differs, if it is not empty, and the blanks with which it ends in both texts."""
    first, second = before[start:end], after[other:other_end]
    blanks = len(first) - len(first.rstrip())
    if blanks != len(second) - len(second.rstrip()) or first[-blanks:] != second[-blanks:]:
        blanks = 0
    if first != second:
        yield AlignedPiece((start, end - blanks), (other, other_end - blanks), False)
    if blanks:
        yield AlignedPiece((end - blanks, end), (other_end - blanks, other_end), True)


def words_of(text: str) -> list[Word]:
    """Words and marks with the blanks behind each; the first is empty, and has those before all others."""
    found = BLANKS.match(text)
    assert found is not None
    words = [Word("", 0, 0, found.end())]
    words += [
        Word(each[1], each.start(), each.end(1), each.end()) for each in WORDS.finditer(text, found.end())
    ]
    return words


def shared_pairs(firsts: Sequence[str], seconds: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Places of the longest common subsequence of two sequences, in order."""
    shorter = min(len(firsts), len(seconds))
    head = next((i for i in range(shorter) if firsts[i] != seconds[i]), shorter)
    rest = shorter - head
    tail = next((i for i in range(rest) if firsts[-1 - i] != seconds[-1 - i]), rest)
    yield from ((i, i) for i in range(head))
    middle = firsts[head : len(firsts) - tail], seconds[head : len(seconds) - tail]
    if len(middle[0]) * len(middle[1]) <= MOST_PAIRS:
        numbers: dict[str, int] = {}
        one, other = (
            np.array([numbers.setdefault(word, len(numbers)) for word in words], dtype=np.int32)
            for words in middle
        )
        yield from ((head + i, head + j) for i, j in longest_common(one, other))
    yield from ((len(firsts) - i, len(seconds) - i) for i in range(tail, 0, -1))


def longest_common(one: np.ndarray, other: np.ndarray) -> list[tuple[int, int]]:
    r"""Places of the longest common subsequence, by dynamic programming.

    .. math:: L_{ij} = \max(L_{i-1,j},\, L_{i,j-1},\, L_{i-1,j-1} + [x_i = y_j])

    L grows along a row by at most one; where it does is kept, a bit for each pair (Wagner and Fischer 1974).
    """
    row = np.zeros(len(other) + 1, dtype=np.int32)
    grows = np.zeros((len(one), (len(other) + 7) // 8), dtype=np.uint8)
    for i, word in enumerate(one):
        np.maximum(row[1:], row[:-1] + (other == word), out=row[1:])
        np.maximum.accumulate(row, out=row)
        grows[i] = np.packbits(row[1:] > row[:-1])
    pairs = []
    i, j = len(one) - 1, len(other) - 1
    while i >= 0 and j >= 0:
        if one[i] == other[j]:
            pairs.append((i, j))
            i, j = i - 1, j - 1
        elif grows[i, j // 8] >> (7 - j % 8) & 1:
            i -= 1
        else:
            j -= 1
    return pairs[::-1]
