"""Tables → train, dev and test, or a part of them, and a sentence on how each was made.

Which rows become which is decided by a seed: stratified, with equal texts on one side.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path

import numpy as np

from glasshead.data.options import LoadOptions
from glasshead.data.ratings import rating_values
from glasshead.data.schema import Table
from glasshead.errors import InputError
from glasshead.nouns import IMAGE_NOUNS, TEXTS
from glasshead.spelling import spell

FRACTIONS = {"train": 0.7, "dev": 0.15, "test": 0.15}
Splits = tuple[dict[str, Table], dict[str, str]]


def split_all(tables: dict[str, Table], options: LoadOptions) -> Splits:
    """Train, dev and test from one table."""
    table = tables["train"]
    parts = _divide(table, FRACTIONS, options)
    source = f"{Path(table.source).name}, {_manner(table, options)}{_label_remark(table)}"
    return parts, {split: f"{100 * share:g} % of {source}" for split, share in FRACTIONS.items()}


def describe_source(tables: Mapping[str, Table]) -> dict[str, str]:
    """Where each split was read."""
    return {
        split: f"read from {Path(table.source).name}{_label_remark(table)}" for split, table in tables.items()
    }


def split_dev(tables: dict[str, Table], options: LoadOptions) -> Splits:
    """The splits as they are, and a dev split from train if there is none."""
    how = describe_source(tables)
    if "dev" in tables:
        return tables, how
    share = options.dev_fraction
    parts = _divide(tables["train"], {"train": 1 - share, "dev": share}, options)
    how["dev"] = f"{100 * share:g} % of train, {_manner(tables['train'], options)}"
    how["train"] += f", without the {100 * share:g} % that became dev"
    return tables | parts, how


def subsample_splits(tables: dict[str, Table], how: dict[str, str], options: LoadOptions) -> Splits:
    """A random part of every split that has more rows than asked for.

    Raises:
        InputError: if the part of train is too small for all its classes, or for two ratings.
    """
    size, parts, notes = options.max_examples, dict(tables), dict(how)
    if size is None:
        return tables, how
    train = tables["train"]
    least = 2 if options.rated else len(set(train.label))
    if size < least:
        things = "ratings" if options.rated else "classes"
        raise InputError(
            f"{spell('max_examples', size)} is too few for {least} {things} of {train.source}: give "
            f"{least} or more"
        )
    for split, table in tables.items():
        rows = len(table.text)
        if rows > size:
            parts[split] = table.take(sample_strata(_strata(table, options), size, options.split_seed))
            notes[split] += f", {size} of {rows} rows drawn with seed {options.split_seed}, {_by(options)}"
    return parts, notes


def _divide(table: Table, fractions: Mapping[str, float], options: LoadOptions) -> dict[str, Table]:
    part = assign_splits(table.keys(), _strata(table, options), list(fractions.values()), options.split_seed)
    places: dict[str, list[int]] = {split: [] for split in fractions}
    splits = list(fractions)
    for row, number in enumerate(part.tolist()):
        places[splits[number]].append(row)
    # One class is the graver trouble, and reported by itself.
    if not all(places.values()) and len(set(table.label)) > 1:
        raise InputError(
            f"{table.source} has too few rows ({len(part)}) to cut {' and '.join(splits[1:])} from it: "
            "add rows, or give a folder with train, dev and test files"
        )
    return {split: table.take(rows) for split, rows in places.items()}


def _strata(table: Table, options: LoadOptions) -> list[str]:
    return rating_bins(rating_values(table)) if options.rated else table.label


def _by(options: LoadOptions) -> str:
    return f"stratified by {'rating' if options.rated else 'class'}"


def _manner(table: Table, options: LoadOptions) -> str:
    nouns = TEXTS if table.pictures is None else IMAGE_NOUNS
    return f"cut with seed {options.split_seed}, {_by(options)}, equal {nouns.texts} on one side"


def _label_remark(table: Table) -> str:
    return f", {table.unlabelled} rows without a label left out" if table.unlabelled else ""


def assign_splits(
    keys: Sequence[Hashable], labels: Sequence[str], fractions: Sequence[float], seed: int
) -> np.ndarray:
    """The part of every row, for parts of these fractions; rows of equal key share a part.

    Groups of equal rows are shuffled and dealt out class by class, each to the part that its class lacks
    most, so that every class is divided as the whole. The first part holds every class.
    """
    members: dict[Hashable, list[int]] = defaultdict(list)
    for row, key in enumerate(keys):
        members[key].append(row)
    groups = list(members.values())
    shuffled = np.random.default_rng(seed).permutation(len(groups)).tolist()
    # A group may hold several labels: its first one decides for which class it is dealt out.
    by_class = sorted(shuffled, key=lambda group: labels[groups[group][0]])

    parts = range(len(fractions))
    part = np.zeros(len(labels), dtype=np.int64)
    counts = [0] * len(fractions)  # rows per part
    stratum, own = "", [0] * len(fractions)  # rows per part of one class
    for index, group in enumerate(by_class):
        rows = groups[group]
        first = index == 0 or labels[rows[0]] != stratum
        if first:
            stratum, own = labels[rows[0]], [0] * len(fractions)
        of_class, of_all = sum(own) + len(rows), sum(counts) + len(rows)
        lack = [
            # Rounded, because a tie within the class is settled by the whole, not by the last bit.
            (round(fractions[k] * of_class - own[k], 6), fractions[k] * of_all - counts[k])
            for k in parts
        ]
        chosen = 0 if first else max(parts, key=lack.__getitem__)
        part[rows] = chosen
        own[chosen] += len(rows)
        counts[chosen] += len(rows)

    present = {label for label, k in zip(labels, part.tolist(), strict=True) if k == 0}
    for rows in groups:
        if not {labels[row] for row in rows} <= present:
            # A class that only occurs in groups dealt out for another one.
            part[rows] = 0
            present.update(labels[row] for row in rows)
    return part


def sample_strata(strata: Sequence[str], rows: int, seed: int) -> list[int]:
    """The places of so many rows, ascending: of every stratum the same share, and at least one row if it can.

    Row r (0, 1, …) of a shuffled stratum of n rows is taken before all rows with a larger r / n, so that a
    larger draw with the same seed holds a smaller one.
    """
    order = np.random.default_rng(seed).permutation(len(strata)).tolist()
    sizes, counts = Counter(strata), Counter[str]()
    shares = []
    for row in order:
        stratum = strata[row]
        shares.append(counts[stratum] / sizes[stratum])
        counts[stratum] += 1
    first = np.argsort(shares, kind="stable")[:rows]
    return sorted(order[place] for place in first)


def rating_bins(ratings: Sequence[float], most: int = 10) -> list[str]:
    """Strata of ratings: the ratings themselves if they are few, else ranges of about equally many rows.

    There are at most ``most``, and at most one for every ``most`` rows; equal ratings share one.
    """
    values = np.asarray(ratings, dtype=np.float64)
    number = min(most, max(1, len(values) // most))
    distinct, place = np.unique(values, return_inverse=True)
    if len(distinct) > number:
        below = np.searchsorted(np.sort(values), values)  # how many ratings are lower
        place = below * number // len(values)
    return [str(stratum) for stratum in place.tolist()]
