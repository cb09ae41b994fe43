"""Byte pair encoding step by step, as it is taught; `train_byte_pairs` does the same fast, on bytes."""

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

from glasshead.errors import InputError
from glasshead.papers.results import Merge, MergeTrace


def byte_pair_merges(words: Iterable[str], merges: int) -> MergeTrace:
    """Start from characters; the most frequent pair of neighbours in a word becomes a token, ``merges`` times
    or until no word has two tokens.

    Of pairs that are equally frequent the one whose tokens came first is merged: characters by code point,
    then new tokens in their order, as the library tokenizers does. A word counts as often as it occurs.

    Raises:
        InputError: if there is no word.

    Source: Sennrich et al., ACL 2016, algorithm 1.
    """
    frequencies = Counter(word for word in words if word)
    if not frequencies:
        raise InputError("there are no words")
    counts = tuple(frequencies.values())
    start = tokens = tuple(tuple(word) for word in frequencies)
    numbers = {letter: number for number, letter in enumerate(sorted({*"".join(frequencies)}))}
    trace = []
    for _ in range(merges):
        pairs = Counter[tuple[str, str]]()
        for word, count in zip(tokens, counts, strict=True):
            for pair in pairwise(word):
                pairs[pair] += count
        if not pairs:
            break
        best = min(pairs, key=lambda pair: (-pairs[pair], numbers[pair[0]], numbers[pair[1]]))
        tokens = tuple(merge_pair(word, best) for word in tokens)
        numbers.setdefault("".join(best), len(numbers))
        trace.append(Merge(best, pairs[best], tokens))
    return MergeTrace(start, counts, tuple(trace))


def merge_pair(tokens: tuple[str, ...], pair: tuple[str, str]) -> tuple[str, ...]:
    """The tokens of a word in which every pair, from the left, is one."""
    joined: list[str] = []
    place = 0
    while place < len(tokens):
        width = 2 if tokens[place : place + 2] == pair else 1
        joined.append("".join(tokens[place : place + width]))
        place += width
    return tuple(joined)
