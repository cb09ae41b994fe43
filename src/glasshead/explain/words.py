"""From tokens to words: sub-words of one word are added up."""

from dataclasses import replace

import numpy as np

from glasshead.results import Attribution


def by_word(attribution: Attribution) -> Attribution:
    """An attribution whose tokens are words of the original text.

    A word's score is the sum over its tokens (attention *to* a split-up word adds up, Clark et al. 2019); its
    place runs from its first to its last character. Special tokens (word −1) stay as they are.
    """
    starts: list[int] = []
    for index, word in enumerate(attribution.words):
        if index == 0 or word == -1 or word != attribution.words[index - 1]:
            starts.append(index)
    ends = [*starts[1:], len(attribution.words)]
    pieces = list(zip(starts, ends, strict=True)) if starts else []

    def add(values: tuple[float, ...]) -> tuple[float, ...]:
        return tuple(np.add.reduceat(values, starts).tolist()) if starts else ()

    offsets = tuple((attribution.offsets[a][0], attribution.offsets[b - 1][1]) for a, b in pieces)
    return replace(
        attribution,
        tokens=tuple(
            attribution.text[begin:end] if attribution.words[a] != -1 else attribution.tokens[a]
            for (a, _), (begin, end) in zip(pieces, offsets, strict=True)
        ),
        ids=tuple(attribution.ids[a] for a in starts),
        words=tuple(attribution.words[a] for a in starts),
        offsets=offsets,
        scores=add(attribution.scores),
        contributions=None if attribution.contributions is None else add(attribution.contributions),
    )
