"""Bounded Dyck grammars: which bracket has to close next?

``( [ ] ( )`` has the class ``)``: the first bracket is still open, and it is the last one that is. Its place
is marked. Every text ends with a closing bracket, so that its last token does not give the answer away.

Source: Hewitt et al. (2020), RNNs can generate bounded hierarchical languages with optimal memory, section 2;
Wen, Li, Liu and Risteski (2023), Transformers are uninterpretable with myopic methods, section 3.
"""

from dataclasses import dataclass

import numpy as np

from glasshead.data import DATASETS, DrawnSplit, SyntheticDataset, check_integer, check_sizes, split_sizes

BRACKETS = ("()", "[]", "{}")
LONGEST_DYCK = 64


@dataclass(frozen=True)
class DyckOptions:
    """How many texts, of how many of the brackets (), [], {}, how deep, and how long at most.

    Raises:
        InputError: if a value is out of its range.
    """

    instances: int = 8_000
    brackets: int = 2
    depth: int = 3
    length: int = 12
    seed: int = 0

    def __post_init__(self) -> None:
        check_integer(self, "brackets", 2, len(BRACKETS))
        check_integer(self, "depth", 2, LONGEST_DYCK)
        check_integer(self, "length", 4, LONGEST_DYCK)
        check_sizes(self, self.brackets, "brackets")

    @property
    def lengths(self) -> range:
        """The numbers of brackets that a text may have; with depth 2 they are odd.

        Before the closing bracket at the end at most ``depth`` are open, so that one stays open, and of an
        even number of brackets an even number stays open.
        """
        return range(3, self.length + 1, 2 if self.depth == 2 else 1)

    @property
    def class_names(self) -> tuple[str, ...]:
        """The closing brackets."""
        return tuple(pair[1] for pair in BRACKETS[: self.brackets])


def draw_dyck(options: DyckOptions) -> dict[str, DrawnSplit]:
    """Texts whose last open bracket is equally often of each kind.

    Lengths are uniform over those that are possible, from 3 on. A bracket opens with probability ½ where it
    may open and may close.
    """
    rng = np.random.default_rng(options.seed)
    return {split: dyck_split(options, size, rng) for split, size in split_sizes(options.instances).items()}


def dyck_split(options: DyckOptions, size: int, rng: np.random.Generator) -> DrawnSplit:
    """The texts of one split."""
    labels = rng.permutation(np.arange(size) % options.brackets)
    rows = [draw_text(options, int(label), rng) for label in labels]
    return DrawnSplit(
        [" ".join(words) for words, _ in rows],
        labels.tolist(),
        [[(2 * place, 2 * place + 1)] for _, place in rows],
    )


def draw_text(options: DyckOptions, label: int, rng: np.random.Generator) -> tuple[list[str], int]:
    """The brackets of one text, and the place of the last that is open, which is of the kind ``label``."""
    length = options.lengths[int(rng.integers(len(options.lengths)))]
    words: list[str] = []
    opened: list[int] = []
    while len(words) < length or len(opened) == 0 or words[-1] in OPENING_BRACKETS:
        if len(words) >= length:  # not an end: draw again
            words, opened = [], []
        opens = not opened or (len(opened) < options.depth and rng.random() < 0.5)
        if opens:
            opened.append(len(words))
            words.append(BRACKETS[int(rng.integers(options.brackets))][0])
        else:
            words.append(CLOSED_BY[words[opened.pop()]])
    words[opened[-1]] = BRACKETS[label][0]
    return words, opened[-1]


OPENING_BRACKETS = tuple(pair[0] for pair in BRACKETS)
CLOSED_BY = {pair[0]: pair[1] for pair in BRACKETS}

DATASETS.register("dyck")(
    SyntheticDataset(
        "brackets, the last of which is to be closed: a bounded Dyck grammar (Wen et al. 2023)",
        DyckOptions(),
        draw_dyck,
    )
)
