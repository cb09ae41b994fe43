"""The histogram task: how often does the letter that is asked about occur in the text?

``d a t _a_ i a i a i a`` has the class 5: the letter between underscores is asked about. The places of this
letter are marked: they are all that the answer rests on.

Source: Weiss, Goldberg and Yahav (2021), Thinking like Transformers; Cui, Behrens, Krzakala and Zdeborová
(2024), section 2. They ask about every letter of a text at once; here each text is asked about one.
"""

import string
from dataclasses import dataclass

import numpy as np

from glasshead.data import (
    DATASETS,
    DrawnSplit,
    Marks,
    SyntheticDataset,
    check_integer,
    check_sizes,
    split_sizes,
)

CONCENTRATION = 0.5
"""α of the Dirichlet distribution of the other letters: some occur often, most hardly."""
LONGEST_HISTOGRAM = 64


@dataclass(frozen=True)
class HistogramOptions:
    """How many texts, of how many of the letters a, b, …, and how long.

    Raises:
        InputError: if a value is out of its range, or there are fewer texts than counts.
    """

    instances: int = 20_000
    letters: int = 20
    length: int = 10
    seed: int = 0

    def __post_init__(self) -> None:
        check_integer(self, "length", 2, LONGEST_HISTOGRAM)
        check_integer(self, "letters", 2, len(string.ascii_lowercase))
        check_sizes(self, self.length, "counts")

    @property
    def class_names(self) -> tuple[str, ...]:
        """The counts."""
        return tuple(str(count) for count in range(1, self.length + 1))


def draw_histogram(options: HistogramOptions) -> dict[str, DrawnSplit]:
    """Texts in which the letter that is asked about occurs equally often once, twice, …

    The letter, its places and which of them is asked about are uniform; the other places hold other letters,
    with probabilities from a Dirichlet distribution that is drawn anew for each text.
    """
    rng = np.random.default_rng(options.seed)
    return {
        split: histogram_split(options, size, rng) for split, size in split_sizes(options.instances).items()
    }


def histogram_split(options: HistogramOptions, size: int, rng: np.random.Generator) -> DrawnSplit:
    """The texts of one split."""
    length, letters = options.length, options.letters
    counts = rng.permutation(np.arange(size) % length) + 1
    letter = rng.integers(letters, size=size)
    shares = rng.dirichlet(np.full(letters - 1, CONCENTRATION), size=size)
    drawn = (rng.random((size, length, 1)) > shares.cumsum(axis=1)[:, None, :-1]).sum(axis=2)
    others = drawn + (drawn >= letter[:, None])  # any letter but the one that is asked about
    places = rng.permuted(np.tile(np.arange(length), (size, 1)), axis=1)
    own = places < counts[:, None]
    ids = np.where(own, letter[:, None], others)
    place = places.argmin(axis=1)  # one of its own
    texts, marks = [], []
    for row, at, mine in zip(ids, place, own, strict=True):
        words = [string.ascii_lowercase[letter] for letter in row]
        words[at] = f"_{words[at]}_"
        texts.append(" ".join(words))
        marks.append(mark_spans(words, mine))
    return DrawnSplit(texts, (counts - 1).tolist(), marks)


def mark_spans(words: list[str], chosen: np.ndarray) -> Marks:
    """Where the chosen words stand in the text."""
    marks: list[tuple[int, ...]] = []
    start = 0
    for word, is_chosen in zip(words, chosen, strict=True):
        if is_chosen:
            marks.append((start, start + len(word)))
        start += len(word) + 1
    return marks


DATASETS.register("histogram")(
    SyntheticDataset(
        "how often a letter of a text occurs in it, with its places marked (Weiss et al. 2021)",
        HistogramOptions(),
        draw_histogram,
    )
)
