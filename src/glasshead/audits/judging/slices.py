"""Parts of the texts for which findings are computed again: by class, length, correctness, confidence, how
certain the weights are, or a column."""

import math
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasshead.arrays import Flags
from glasshead.audits.judging.table import Table
from glasshead.errors import ParameterError
from glasshead.nouns import Nouns
from glasshead.results import INTERVAL_LEVEL, ON_IMAGE, ON_WORDS, UNIT
from glasshead.statistics import LEVEL, simultaneous_level

CLASS, LENGTH, CORRECT = "class", "length", "correct"
CONFIDENCE, IDENTIFIABILITY = "confidence", "identifiability"
COMPUTED = (CLASS, LENGTH, CORRECT, CONFIDENCE, IDENTIFIABILITY, UNIT)
"""What needs no column of the data."""
KINDS = (ON_IMAGE, ON_WORDS)
"""The two kinds of units of texts with images."""
COLUMN = "column."
"""Before the name of a column of the data."""
MOST_BINS = 4
MOST_VALUES = 8
MOST_DIGITS = 9
LENGTH_STRATA = 16
MISSING, OTHER = "(missing)", "(other)"


class Group(NamedTuple):
    """Units that a finding is about; ``by`` is what divides them, empty for groups that every audit has,
    and ``level`` is that of their intervals."""

    name: str
    members: Flags
    by: str = ""
    level: float = LEVEL


@dataclass(frozen=True)
class Slicing:
    """One way of cutting the texts: ``slice_of_text`` [N] says in which of the named slices a text is. The
    ``note`` of a way that is `COMPUTED` has fields for what inputs are called. Where
    there are ``strata`` [N], differences are tested among the texts of each alone."""

    by: str
    names: tuple[str, ...]
    slice_of_text: NDArray[np.int64]
    note: str = ""
    strata: NDArray[np.int64] | None = None

    def groups(self, level: float) -> Iterator[Group]:
        """The slices, with intervals of that level."""
        for number, name in enumerate(self.names):
            yield Group(name, self.slice_of_text == number, self.by, level)

    @property
    def sizes(self) -> dict[str, int]:
        """How many texts each slice holds."""
        counts = np.bincount(self.slice_of_text, minlength=len(self.names))
        return dict(zip(self.names, counts.tolist(), strict=True))

    @property
    def column(self) -> list[str]:
        """The name of the slice of each text."""
        return [self.names[number] for number in self.slice_of_text.tolist()]


def columns_to_read(by: Iterable[str]) -> tuple[str, ...]:
    """The columns of the data that slices need.

    Raises:
        ParameterError: on the columns of texts and labels.
    """
    columns = tuple(name for name in dict.fromkeys(by) if name not in COMPUTED)
    for name in columns:
        if name == "label":
            raise ParameterError("by", "slices by label are called 'class': use that")
        if name in ("text", "text_pair"):
            raise ParameterError("by", f"cannot slice by {name!r}: give {', '.join(COMPUTED)} or a column")
    return columns


def count_slices(slicings: Sequence[Slicing], by: Container[str]) -> int:
    """How many slices all cuts have, with the two kinds of units."""
    return sum(len(slicing.names) for slicing in slicings) + len(KINDS) * (UNIT in by)


def common_level(slicings: Sequence[Slicing], by: Container[str], level: float = LEVEL) -> float:
    """The level of the intervals of slices, corrected for the number of slices (Bonferroni)."""
    return simultaneous_level(count_slices(slicings, by), level)


def slicings_of(table: Table, label_names: Sequence[str], by: Iterable[str]) -> list[Slicing]:
    """How the rows of a table are cut, in the order in which it was asked; by unit no row is."""
    return [slice_rows(table, label_names, name) for name in by if name != UNIT]


def slice_rows(table: Table, label_names: Sequence[str], by: str) -> Slicing:
    """One way of cutting the rows of a table (`ModelView.inputs`)."""
    if by == CLASS:
        return slice_by_class(table["label"], label_names)
    if by == LENGTH:
        return slice_by_length(table["tokens"])
    if by == CORRECT:
        return slice_by_correctness(table["predicted"] == table["label"])
    if by == CONFIDENCE:
        return slice_by_confidence(table["confidence"])
    if by == IDENTIFIABILITY:
        return slice_by_identifiability(table["alone"], table["width"], table["tokens"])
    return slice_by_column(by, table[COLUMN + by].tolist())


def groups_of(
    table: Table,
    label_names: Sequence[str],
    by: Sequence[str],
    part: str = "",
    level: float = LEVEL,
    whole: Table | None = None,
) -> list[Group]:
    """All rows, those of each true class, if classes are predicted, and the slices of all cuts, with
    simultaneous intervals; of a part of the units of each text all rows alone, those of image tokens and of
    words at the level of slices of the ``whole`` inputs."""
    rows = np.ones(len(table["label"]), bool)
    if part in KINDS:
        slicings = slicings_of(table if whole is None else whole, label_names, by)
        return [Group(part, rows, UNIT, common_level(slicings, {*by, UNIT}, level))]
    every = [Group(part or "all", rows, level=level)]
    if part:
        return every
    of_classes = "target" in table and "surprisal" not in table
    if of_classes and CLASS not in by:
        classes = slice_by_class(table["label"], label_names).groups(level)
        every += [group._replace(by="") for group in classes]
    slicings = slicings_of(table, label_names, by)
    common = common_level(slicings, by, level)
    return every + [group for slicing in slicings for group in slicing.groups(common)]


def slice_by_class(labels: NDArray[np.int64], names: Sequence[str]) -> Slicing:
    """One slice for each true class."""
    return Slicing(CLASS, tuple(f"class {name}" for name in names), labels.astype(np.int64))


def slice_by_correctness(correct: Flags) -> Slicing:
    """What the model gets right, and what it gets wrong."""
    return Slicing(CORRECT, ("correct", "wrong"), (~correct).astype(np.int64))


def slice_by_length(tokens: NDArray[np.int64]) -> Slicing:
    """Quarters of the texts by their number of tokens, as far as texts of one length allow."""
    bin_of_text, edges = quantile_bins(tokens.astype(np.float64))
    names = tuple(f"length {describe_range(f'{low:g}', f'{high:g}')}" for low, high in edges)
    return Slicing(LENGTH, names, bin_of_text, "lengths are in {tokens}, after truncation")


def slice_by_confidence(probability: NDArray[np.float64]) -> Slicing:
    """Quarters of the texts by the probability of the class that is predicted."""
    bin_of_text, edges = quantile_bins(probability)
    names = tuple(f"{CONFIDENCE} {words}" for words in distinct_ranges(edges))
    return Slicing(CONFIDENCE, names, bin_of_text, "confidence is the probability of the predicted class")


def slice_by_identifiability(
    alone: NDArray[np.floating], width: NDArray[np.floating], tokens: NDArray[np.int64]
) -> Slicing:
    """Texts before which all maps are the only ones (the share ``alone`` is 1), the others by the mean
    ``width`` of their intervals, and those of which that is undecided; texts of like length are strata."""
    unique = alone == 1
    open_width = ~unique & ~np.isnan(width)
    place = np.full(len(alone), MOST_BINS + 1)
    place[unique] = 0
    names = ["unique weights", *[""] * MOST_BINS, "weights undecided"]
    if open_width.any():
        bin_of_text, edges = quantile_bins(width[open_width].astype(np.float64), MOST_BINS - 1)
        place[open_width] = 1 + bin_of_text
        names[1 : 1 + len(edges)] = [f"intervals {words} wide" for words in distinct_ranges(edges)]
    present, slice_of_text = np.unique(place, return_inverse=True)
    return Slicing(
        IDENTIFIABILITY,
        tuple(names[number] for number in present),
        slice_of_text.astype(np.int64),
        "long {texts} have wider intervals, so differences are tested among {texts} of about the same length",
        quantile_bins(tokens.astype(np.float64), LENGTH_STRATA)[0],
    )


def distinct_ranges(edges: Sequence[tuple[float, float]]) -> list[str]:
    """Ranges with as many digits as tell them apart, at least two."""
    for digits in range(2, MOST_DIGITS):
        words = [describe_range(f"{low:.{digits}f}", f"{high:.{digits}f}") for low, high in edges]
        if len(set(words)) == len(words):
            return words
    return [describe_range(repr(low), repr(high)) for low, high in edges]


def slice_by_column(name: str, values: Sequence[str | None]) -> Slicing:
    """One slice for each value of a column, if they are few; else quarters of numbers, or the commonest
    values and the rest; and one of texts without a value.

    Raises:
        ParameterError: if every text has another value, which is not a number.
    """
    counts = Counter(value for value in values if value is not None)
    numbers = {value: as_number(value) for value in counts}
    numeric = not any(math.isnan(number) for number in numbers.values())
    note = ""
    if len(counts) > MOST_VALUES and numeric:
        place, ranges = numeric_bins(values, numbers)
    else:
        if len(counts) > MOST_VALUES and max(counts.values()) == 1:
            raise ParameterError(
                "by", f"{name!r}: every text has a different value there, so there are no slices"
            )
        kept = sorted(counts, key=lambda value: (-counts[value], value))[:MOST_VALUES]
        if len(counts) > MOST_VALUES:
            note = (
                f"{name!r} has {len(counts):,} values: the {MOST_VALUES} commonest, and all others together"
            )
        ranges = sorted(kept, key=numbers.__getitem__) if numeric else kept
        rank = {value: number for number, value in enumerate(ranges)}
        place = [rank.get(value or "", len(ranges)) for value in values]
        ranges = [*ranges, free_name(OTHER, counts)]
    place = [len(ranges) if value is None else number for value, number in zip(values, place, strict=True)]
    names = [f"{name}: {label}" for label in (*ranges, free_name(MISSING, counts))]
    present, slice_of_text = np.unique(np.array(place, dtype=np.int64), return_inverse=True)
    return Slicing(name, tuple(names[number] for number in present), slice_of_text.astype(np.int64), note)


def free_name(name: str, values: Container[str]) -> str:
    """The name, in further parentheses while a value is called so."""
    while name in values:
        name = f"({name})"
    return name


def numeric_bins(values: Sequence[str | None], numbers: dict[str, float]) -> tuple[list[int], list[str]]:
    """The quarter of each value, and the ranges of the quarters as they are written in the data."""
    known = np.array([numbers[value] for value in values if value is not None])
    bins, edges = quantile_bins(known)
    written = {number: value for value, number in reversed(numbers.items())}
    remaining = iter(bins.tolist())
    place = [-1 if value is None else next(remaining) for value in values]
    return place, [describe_range(written[low], written[high]) for low, high in edges]


def quantile_bins(
    values: NDArray[np.float64], most: int = MOST_BINS
) -> tuple[NDArray[np.int64], list[tuple[float, float]]]:
    """The bin of each value [N], and the least and the largest value of each bin.

    There are at most so many bins of about equally many values; equal values share one.
    """
    ordered = np.sort(values)
    # A bin ends where a quarter of the values ends, or after the last that equals it.
    ends = np.unique(
        [ordered[max(math.ceil(len(values) * part / most) - 1, 0)] for part in range(1, most + 1)]
    )
    bin_of_value = np.searchsorted(ends, values)
    edges = [(float(values[bin_of_value == b].min()), float(end)) for b, end in enumerate(ends)]
    return bin_of_value.astype(np.int64), edges


def describe_range(low: str, high: str) -> str:
    """``1-9``; a single number by itself; ``-3 to 5`` where a hyphen could be read as a sign."""
    if low == high:
        return low
    return f"{low} to {high}" if "-" in low + high else f"{low}-{high}"


def as_number(text: str) -> float:
    """The finite number that a text is; NaN if it is none."""
    try:
        number = math.nan if "_" in text else float(text)  # Python reads 1_000 as a number
    except ValueError:
        return math.nan
    return number if math.isfinite(number) else math.nan


def interval_facts(
    slicings: Sequence[Slicing], by: Container[str], inputs: int, level: float
) -> dict[str, Any]:
    """What a card records about its intervals: their level, if it is not the usual one, and of slices that of
    theirs, and how many of the ``inputs`` each holds."""
    whole = {} if level == LEVEL else {INTERVAL_LEVEL: level}
    if not count_slices(slicings, by):
        return whole
    units = {UNIT: dict.fromkeys(KINDS, inputs)} if UNIT in by else {}
    return whole | {
        "slices": {slicing.by: slicing.sizes for slicing in slicings} | units,
        "slice_level": common_level(slicings, by, level),
    }


def slice_notes(
    slicings: Sequence[Slicing], by: Container[str], nouns: Nouns, level: float = LEVEL
) -> list[str]:
    """What a reader of slices must know, in words about inputs of that kind."""
    count = count_slices(slicings, by)
    if not count:
        return []
    corrected, whole = (f"{100 * each:.4g} %" for each in (common_level(slicings, by, level), level))
    notes = [
        f"Intervals of slices are at {corrected}: {whole}, corrected for all {count} slices (Bonferroni). "
        f"Together they hold in about {whole} of cases, and in fewer if "
        "slices are small and their numbers skewed."
    ]
    if slicings:
        notes[0] += (
            " A permutation test, corrected for the number of tests, says whether a mean over "
            f"{nouns.texts} differs between slices; means over {nouns.token} types have none."
        )
        notes.append(
            f"Slices also differ in other things, such as {nouns.words}, lengths, classes and "
            "difficulty: a difference between them does not identify a cause."
        )
    if UNIT in by:
        notes.append(
            "Image tokens and words of the same texts differ in number, and in other things. A paired test, "
            "corrected for the number of tests, says whether the rank correlations of the audited "
            "explanation, minus those of random weights, differ between them. Other numbers depend on how "
            "many units there are, so they are not tested."
        )
    return [
        *notes,
        *(
            f"Slices by {one.by}: {nouns.fill(one.note) if one.by in COMPUTED else one.note}."
            for one in slicings
            if one.note
        ),
    ]
