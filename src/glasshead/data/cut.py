"""Tables → train, dev and test, or a part of them, and a sentence on how each was made."""

from collections.abc import Mapping
from pathlib import Path

from glasshead.data.options import LoadOptions
from glasshead.data.ratings import rating_values
from glasshead.data.schema import Table
from glasshead.data.split import FRACTIONS, assign_splits, ranges, stratified_sample
from glasshead.errors import InputError

Splits = tuple[dict[str, Table], dict[str, str]]


def split_all(tables: dict[str, Table], options: LoadOptions) -> Splits:
    """Train, dev and test from one table."""
    whole = tables["train"]
    parts = _parts(whole, FRACTIONS, options)
    how = {
        split: f"{100 * share:g} % of {Path(whole.source).name}, {_manner(options)}{_left_out(whole)}"
        for split, share in FRACTIONS.items()
    }
    return parts, how


def split_dev(tables: dict[str, Table], options: LoadOptions) -> Splits:
    """The splits as they are, and a dev split from train where there is none."""
    how = {split: f"read from {Path(table.source).name}{_left_out(table)}" for split, table in tables.items()}
    if "dev" in tables:
        return tables, how
    share = options.dev_fraction
    parts = _parts(tables["train"], {"train": 1 - share, "dev": share}, options)
    how["dev"] = f"{100 * share:g} % of train, {_manner(options)}"
    how["train"] += f", without the {100 * share:g} % that became dev"
    return tables | parts, how


def subsample(tables: dict[str, Table], how: dict[str, str], options: LoadOptions) -> Splits:
    """A random part of every split that has more rows than asked for.

    Raises:
        InputError: if the part of train is too small for all its classes, or for two ratings.
    """
    rows, parts, told = options.rows, dict(tables), dict(how)
    if rows is None:
        return tables, how
    train = tables["train"]
    least = 2 if options.rated else len(set(train.label))
    if rows < least:
        things = "ratings" if options.rated else "classes"
        raise InputError(
            f"`rows={rows}` is too few for {least} {things} of {train.source}: give {least} or more"
        )
    for split, table in tables.items():
        whole = len(table.text)
        if whole > rows:
            parts[split] = table.take(stratified_sample(_strata(table, options), rows, options.split_seed))
            told[split] += f", {rows} of {whole} rows drawn with seed {options.split_seed}, {_by(options)}"
    return parts, told


def _parts(table: Table, fractions: Mapping[str, float], options: LoadOptions) -> dict[str, Table]:
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
    return ranges(rating_values(table)) if options.rated else table.label


def _by(options: LoadOptions) -> str:
    return f"stratified by {'rating' if options.rated else 'class'}"


def _manner(options: LoadOptions) -> str:
    return f"cut with seed {options.split_seed}, {_by(options)}, equal texts on one side"


def _left_out(table: Table) -> str:
    return f", {table.unlabelled} rows without a label left out" if table.unlabelled else ""
