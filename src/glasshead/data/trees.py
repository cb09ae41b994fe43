"""Labelled trees, as of the Stanford Sentiment Treebank → texts, classes, and the words that make the class.

A line is a binary tree whose nodes carry a sentiment from 0 (very negative) to 4 (very positive), as people
gave it to each word and phrase by itself: ``(4 (2 a) (4 (3 lovely) (2 film)))``.

Source: Socher et al. 2013.
"""

import re
from collections.abc import Iterable
from typing import Any

from glasshead.data.marks import MARKS, Span
from glasshead.errors import InputError

LEAF = re.compile(r"\(([0-4]) ([^ ()]+)\)")
SENTIMENTS = ["very negative", "negative", "neutral", "positive", "very positive"]
CLASSES = ["negative", "positive"]
SIDES = (0, 0, -1, 1, 1)
"""The class of each sentiment; −1, which counts as no label, for neutral."""


def parse_trees(source: str, lines: Iterable[str]) -> tuple[dict[str, list[Any]], dict[str, list[str]]]:
    """Columns, and the names behind those of class numbers.

    ``text`` has the words with blanks between; ``label`` is negative or positive, and none of a neutral
    sentence, as in SST-2; ``sentiment`` is one of five. A word is one of the ``marks`` if its own sentiment
    is on the side of the sentence: 0 or 1 in a negative one, 3 or 4 in a positive one. Neutral words never
    are, and nobody has marked a neutral sentence.

    Raises:
        InputError: with the number of a line that is no such tree.
    """
    columns: dict[str, list[Any]] = {"text": [], "label": [], "sentiment": [], MARKS: []}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        words = LEAF.findall(line)
        if not is_tree(line):
            if not columns["text"]:
                raise InputError(
                    f"{source} holds plain texts, but more is needed here: give a table with a column for "
                    "each part, such as text, text_pair and label, or a folder of images for each class"
                )
            raise InputError(
                f"{source} line {number} is not a labelled tree: write one per line, as "
                "(4 (2 a) (4 (3 lovely) (2 film)))"
            )
        sentiment = int(line[1])
        columns["text"].append(" ".join(word for _, word in words))
        columns["label"].append(SIDES[sentiment])
        columns["sentiment"].append(sentiment)
        columns[MARKS].append(None if SIDES[sentiment] < 0 else words_on_side(words, SIDES[sentiment]))
    return columns, {"label": CLASSES, "sentiment": SENTIMENTS}


def is_tree(line: str) -> bool:
    """Whether a line is a labelled tree: a binary one with n leaves has 2n − 1 nodes."""
    nodes = 2 * len(LEAF.findall(line)) - 1
    return line.count("(") == line.count(")") == nodes and line[1:2] in tuple("01234")


def words_on_side(words: Iterable[tuple[str, str]], side: int) -> list[Span]:
    """The places of the words with a sentiment on this side, in the text of words with blanks between."""
    spans, start = [], 0
    for sentiment, word in words:
        if SIDES[int(sentiment)] == side:
            spans.append((start, start + len(word)))
        start += len(word) + 1
    return spans
