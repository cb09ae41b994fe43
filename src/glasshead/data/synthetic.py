"""Reviews made of planted words, for which the truth about every word is known.

An instance of class c holds `polar_per_instance` words of c's own group and `neutral_per_instance` neutral
words in random order, each drawn with replacement; with probability `noise` a polar place holds a word of
another class. Each split is drawn for itself and is balanced and symmetric: all classes reuse the same draws,
dealt out anew, so with equal class sizes the neutral words occur exactly as often in every class, and the
i-th word of one class as often as the i-th word of another.

Source: Sun and Lu 2020, section C (Data I and II; the number of instances is not given there) and section F
(K classes). Each file of `datasets/` is one set.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, NamedTuple, Protocol

import numpy as np

from glasshead.data.marks import Marks
from glasshead.data.splits import FRACTIONS
from glasshead.data.synthetic_vocabulary import GENRES, NEGATIVE, NEUTRAL_WORDS, POSITIVE, extend_vocabulary
from glasshead.errors import InputError
from glasshead.registry import Registry, did_you_mean

NEUTRAL_GROUP = "neutral"
MOST_INSTANCES = 10_000_000


def check_integer(options: object, name: str, smallest: int, largest: int = MOST_INSTANCES) -> None:
    """Raise InputError unless an option is an integer of that range; a seed may be any large one."""
    value = getattr(options, name)
    if isinstance(value, bool) or not isinstance(value, int) or value < smallest:
        raise InputError(f"generator option {name} is {value!r}: give an integer of {smallest} or more")
    if name != "seed" and value > largest:
        raise InputError(f"generator option {name} is too large: give at most {largest:,}")


def split_sizes(instances: int) -> dict[str, int]:
    """How many instances each split has."""
    sizes = {split: round(share * instances) for split, share in FRACTIONS.items()}
    sizes["train"] += instances - sum(sizes.values())
    return sizes


def check_sizes(options: Any, least: int, what: str) -> None:
    """Raise InputError unless instances and seed are integers of their range, and each split has an
    instance of each of the ``least`` classes, which are called ``what``."""
    check_integer(options, "instances", 20)
    check_integer(options, "seed", 0)
    if min(split_sizes(options.instances).values()) < least:
        raise InputError(f"generator option instances is {options.instances}: {least} {what} need more texts")


@dataclass(frozen=True)
class SyntheticOptions:
    """Sizes and chances of one synthetic data set; `polar_words` is per class.

    `ratio` is positive to negative instances, for two classes only. Two classes are called negative and
    positive, more (up to eight) are genres.

    Raises:
        InputError: if a value is out of its range.
    """

    instances: int = 4_000
    classes: int = 2
    polar_words: int = 50
    neutral_words: int = 1_000
    polar_per_instance: int = 2
    neutral_per_instance: int = 10
    noise: float = 0.0
    ratio: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        for name, smallest in (
            ("instances", 20),
            ("classes", 2),
            ("polar_words", 1),
            ("neutral_words", 1),
            ("polar_per_instance", 1),
            ("neutral_per_instance", 0),
            ("seed", 0),
        ):
            check_integer(self, name, smallest)
        if self.classes > len(GENRES):
            raise InputError(
                f"generator option classes is {self.classes}: there are words for only {len(GENRES)}"
            )
        if not 0 <= self.noise < 1:
            raise InputError(
                f"generator option noise is {self.noise!r}: give a number from 0 up to but not 1"
            )
        if not 0 < self.ratio < float("inf"):
            raise InputError(f"generator option ratio is {self.ratio!r}: give a number above 0")
        if self.ratio != 1 and self.classes > 2:
            raise InputError("generator option ratio is for two classes: leave it out, or make two classes")

    @property
    def class_names(self) -> tuple[str, ...]:
        """Names of the classes in the order of their numbers."""
        return ("negative", "positive") if self.classes == 2 else tuple(GENRES)[: self.classes]


class GeneratorOptions(Protocol):
    """What the options of every generator, a frozen dataclass, have."""

    @property
    def seed(self) -> int: ...
    @property
    def class_names(self) -> tuple[str, ...]: ...


class DrawnSplit(NamedTuple):
    """Texts, class numbers and, where the truth is a part of the text, its spans."""

    texts: list[str]
    labels: list[int]
    marks: list[Marks] | None = None


def groups(options: SyntheticOptions) -> dict[str, list[str]]:
    """The words of every class, in class order, and then the neutral ones."""
    bases = (NEGATIVE, POSITIVE) if options.classes == 2 else tuple(GENRES.values())
    words = {
        name: extend_vocabulary(base, options.polar_words)
        for name, base in zip(options.class_names, bases, strict=False)
    }
    return words | {NEUTRAL_GROUP: extend_vocabulary(NEUTRAL_WORDS, options.neutral_words)}


def planted_groups(options: SyntheticOptions) -> dict[str, str]:
    """The group every word was planted in: a class name, or ``neutral``."""
    return {word: group for group, words in groups(options).items() for word in words}


def generate_splits(options: SyntheticOptions) -> dict[str, tuple[list[str], list[int]]]:
    """Texts and class numbers of the splits train, dev and test."""
    rng = np.random.default_rng(options.seed)
    return {split: _draw(options, size, rng) for split, size in split_sizes(options.instances).items()}


def reviews(options: SyntheticOptions) -> dict[str, DrawnSplit]:
    """Reviews as a `SyntheticDataset` has them, without marks."""
    return {split: DrawnSplit(*drawn) for split, drawn in generate_splits(options).items()}


def _draw(options: SyntheticOptions, size: int, rng: np.random.Generator) -> tuple[list[str], list[int]]:
    """One split: the same draws for every class, dealt out anew, then everything shuffled."""
    per_class = _class_sizes(options, size)
    most = int(per_class.max())
    polar_places, neutral_places = options.polar_per_instance, options.neutral_per_instance
    pool = rng.integers(options.polar_words, size=most * polar_places)
    neutral_pool = rng.integers(options.neutral_words, size=most * neutral_places)
    # How far the class of a polar word is from the class of its instance; 0 without noise.
    wrong = rng.permutation(pool.size) < round(options.noise * pool.size)
    shifts = np.where(wrong, rng.integers(1, options.classes, size=pool.size), 0)

    rows = []
    for number, count in enumerate(per_class):
        dealt = rng.permutation(pool.size)[: count * polar_places]
        word_class = (number + shifts[dealt]) % options.classes
        polar = word_class * options.polar_words + pool[dealt]
        neutral = options.classes * options.polar_words + rng.permutation(neutral_pool)
        rows.append(
            np.concatenate(
                [
                    polar.reshape(count, polar_places),
                    neutral[: count * neutral_places].reshape(count, neutral_places),
                ],
                axis=1,
            )
        )  # [instances of the class, words]
    labels = np.repeat(np.arange(options.classes), per_class)
    order = rng.permutation(size)
    ids = rng.permuted(np.concatenate(rows), axis=1)[order]
    vocabulary = np.array(list(planted_groups(options)), dtype=object)
    return [" ".join(words) for words in vocabulary[ids]], labels[order].tolist()


def _class_sizes(options: SyntheticOptions, size: int) -> np.ndarray:
    """Instances per class, differing by at most one unless a ratio is asked for; none is empty."""
    if options.ratio == 1:
        return np.full(options.classes, size // options.classes) + (
            np.arange(options.classes) < size % options.classes
        )
    positive = min(max(round(size * options.ratio / (1 + options.ratio)), 1), size - 1)
    return np.array([size - positive, positive])


@dataclass(frozen=True)
class SyntheticDataset:
    """A named synthetic data set: what it is, the options it starts from, and what draws its splits."""

    description: str
    defaults: Any
    draw: Callable[[Any], dict[str, DrawnSplit]] = reviews

    def options(self, changes: Mapping[str, int | float]) -> Any:
        """The defaults with some changed by name.

        Raises:
            InputError: on an unknown name or a value out of range.
        """
        known = [option.name for option in fields(self.defaults)]
        for name in changes:
            if name not in known:
                raise InputError(f"unknown generator option {name!r}: {did_you_mean(name, known)}")
        return type(self.defaults)(**(asdict(self.defaults) | dict(changes)))


DATASETS: Registry[SyntheticDataset] = Registry("data set", "datasets")
