"""What was measured of every input, shard by shard: in a folder, or in memory.

A shard is some inputs and one audit: a Parquet file with a row for each input, which appears whole or not at
all. Rows are known by the ids of their inputs, so an audit goes on where it stopped, more inputs add shards,
and what was measured for one card serves another.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from glasshead.audits.judging.base import Measured
from glasshead.audits.judging.reference_facts import Reference
from glasshead.audits.judging.table import Column, Table, from_arrow, place_rows, stack_tables, to_arrow
from glasshead.errors import InputError
from glasshead.files import claim_folder, read_parquet, write_text

FOLDER = "measurements"
"""Where they lie in the folder of an audit."""
MEASURED = (f"{FOLDER}/*.json", f"{FOLDER}/.*", f"{FOLDER}/*/.*", f"{FOLDER}/*/*.parquet")
"""What lies there; the last are the shards."""
ID, FACTS = "id", b"glasshead facts"


@dataclass(frozen=True)
class Measurements:
    """Shards of rows by audit, in a ``folder``; None: in memory."""

    folder: Path | None = None
    kept: dict[str, list[tuple[Table, Mapping[str, Any]]]] = field(default_factory=dict)

    def claim(self, settings: Mapping[str, Any]) -> None:
        """Begin, or take up what was measured with the same settings.

        Raises:
            InputError: if what lies there was measured otherwise.
        """
        if self.folder is not None:
            claim_folder(self.folder, settings)

    def describe(self, name: str, values: Mapping[str, Any]) -> None:
        """Write down what holds of all rows."""
        if self.folder is not None:
            write_text(self.folder / name, json.dumps(values, indent=1), overwrite=True)

    def names(self) -> list[str]:
        """The audits that have rows."""
        folders = [] if self.folder is None else [path.name for path in self.folder.glob("*/")]
        return sorted({*self.kept, *folders})

    def reference(self, name: str, measure: Callable[[], Reference]) -> Reference:
        """What is measured for all inputs: once, so that inputs that are added later have the same.

        Raises:
            InputError: if its file is damaged.
        """
        if self.folder is None:
            return measure()
        path = self.folder / f"{name}.json"
        if not path.exists():
            write_text(path, json.dumps(measure().to_json()))
        try:
            return Reference.of_json(json.loads(path.read_text(encoding="utf-8")))
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{path} is damaged: delete the folder {self.folder} and start again") from error

    def ids(self, audit: str) -> NDArray[np.int64]:
        """The inputs that have a row of that audit."""
        known = [table[ID] for table, _ in self.shards(audit, [ID])]
        return np.concatenate(known) if known else np.zeros(0, dtype=np.int64)

    def add(self, audit: str, ids: NDArray[np.int64], measured: Measured, declared: Sequence[Column]) -> None:
        """Keep the rows of some inputs, all or nothing."""
        table = {ID: ids, **measured.columns}
        if self.folder is None:
            self.kept.setdefault(audit, []).append((table, measured.facts))
            return
        digest = hashlib.sha256(np.ascontiguousarray(ids).tobytes()).hexdigest()[:16]
        path = self.folder / audit / f"{digest}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        aside = path.with_name(f".{digest}.aside")
        pq.write_table(to_arrow(table, declared, {FACTS: json.dumps(measured.facts).encode()}), aside)
        aside.replace(path)

    def shards(
        self, audit: str, columns: Iterable[str] | None = None
    ) -> Iterator[tuple[Table, Mapping[str, Any]]]:
        """The shards of an audit with their facts, or some columns of them.

        Raises:
            InputError: if one is damaged.
        """
        yield from self.kept.get(audit, [])
        for table, facts in self.files(audit, columns):
            yield from_arrow(table), facts

    def files(
        self, audit: str, columns: Iterable[str] | None = None
    ) -> Iterator[tuple[pa.Table, Mapping[str, Any]]]:
        """The shards of an audit that are files, as these hold them.

        Raises:
            InputError: if one is damaged.
        """
        columns = None if columns is None else list(columns)
        for path in [] if self.folder is None else sorted((self.folder / audit).glob("*.parquet")):
            try:
                table = read_parquet(path, columns)
                yield table, json.loads((table.schema.metadata or {}).get(FACTS, b"{}"))
            except (pa.ArrowException, OSError, ValueError) as error:
                raise InputError(f"{path} is damaged: delete it and resume") from error

    def read(self, audit: str, ids: NDArray[np.int64], declared: Sequence[Column]) -> Measured:
        """The rows of these inputs in this order, with those that were ``asked``, and what holds of all."""
        kept, files = self.kept.get(audit, []), list(self.files(audit))
        tables = [table for table, _ in kept] + from_files([table for table, _ in files])
        known = [(table[ID], facts) for table, facts in kept]
        known += [(from_arrow(table.select([ID]))[ID], facts) for table, facts in files]
        table = stack_tables(tables, declared)
        place = {number: row for row, number in enumerate(table.get(ID, np.zeros(0)).tolist())}
        asked = np.isin(ids, list(place))
        rows = np.array([place[number] for number in ids[asked].tolist()], dtype=np.int64)
        columns = {name: values[rows] for name, values in table.items() if name != ID}
        facts = merge([facts for own, facts in known if np.isin(own, ids).any()])
        return Measured(place_rows(columns, asked, declared), facts)


def from_files(shards: Sequence[pa.Table]) -> list[Table]:
    """The rows of shards, of those with the same columns in one table: a column costs more than its rows."""
    alike: dict[tuple[str, ...], list[pa.Table]] = {}
    for shard in shards:
        alike.setdefault(tuple(shard.schema.names), []).append(shard)
    return [from_arrow(pa.concat_tables(own)) for own in alike.values()]


def merge(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Facts of shards as one: what some of them say, and of lists what all of them say. Where words differ,
    they come one after the other; of anything else that differs the first."""
    names = dict.fromkeys(name for part in parts for name in part)
    return {name: merge_values([part.get(name) for part in parts]) for name in names}


def merge_values(values: Sequence[Any]) -> Any:
    """A fact of several shards; None: a shard does not have it."""
    known = [value for value in values if value is not None]
    if known and isinstance(known[0], Mapping):
        return merge(known)
    if known and isinstance(known[0], list):
        return [one for one in known[0] if all(value is not None and one in value for value in values)]
    if known and isinstance(known[0], str):
        return "; ".join(dict.fromkeys(known))
    return known[0] if known else None


def copy_measurements(source: Path, target: Path) -> None:
    """Take over the content of another folder, by links where the disk allows."""
    for path in [*sorted(source.rglob("*.parquet")), *sorted(source.glob("*.json"))]:
        place = target / path.relative_to(source)
        place.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".json":  # is written anew
            shutil.copyfile(path, place)
            continue
        try:
            place.hardlink_to(path)
        except OSError:
            shutil.copyfile(path, place)
