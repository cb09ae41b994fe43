"""Many texts, part by part: what is known of every row of every chosen head, written down as it is found.

A part is a few texts. It is two files, `heads-00000.parquet` (one line per row of a head) and
`weights-00000.parquet` (one line per weight that was asked about), so that an interrupted survey goes on
where it stopped and memory does not grow with the number of texts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from transformers import PreTrainedModel

from glasshead.data.encode import Encoded
from glasshead.errors import InputError
from glasshead.feasible import Intervals
from glasshead.feasible.tasks import Task
from glasshead.identifiability.certainty import Question, answers
from glasshead.identifiability.certificate import given_keys
from glasshead.identifiability.heads import HeadRow, Where, head_rows

PART = 32  # texts
TOP = 5  # the tokens that a reader looks at
CERTAIN = 1e-6  # an interval that is narrower, or an end so close to zero, counts as none
SETTINGS = "survey.json"

HEADS = pa.schema(
    {
        "text": pa.int64(), "layer": pa.int32(), "head": pa.int32(), "row": pa.int32(), "part": pa.int32(),
        "tokens": pa.int32(), "rank": pa.int32(), "nullity": pa.int32(), "expected": pa.int32(),
        "margin": pa.float64(), "projected": pa.bool_(), "identifiable": pa.bool_(), "width": pa.float64(),
        "may_be_zero": pa.float64(), "another_first": pa.bool_(), "given_keys": pa.string(),
        "failed": pa.int32(), "unbounded": pa.int32(), "random_width": pa.float64(),
        "random_may_be_zero": pa.float64(), "random_another_first": pa.bool_(),
    }
)  # fmt: skip
WEIGHTS = pa.schema(
    {
        "text": pa.int64(), "layer": pa.int32(), "head": pa.int32(), "row": pa.int32(), "part": pa.int32(),
        "key": pa.int32(), "token": pa.string(), "weight": pa.float64(), "low": pa.float64(),
        "high": pa.float64(), "failed": pa.string(),
    }
)  # fmt: skip
FILES = {"heads": HEADS, "weights": WEIGHTS}


@dataclass(frozen=True)
class Store:
    """A folder of parts. ``settings`` say what they are parts of: others are not taken up."""

    folder: Path
    settings: Mapping[str, Any]

    def open(self) -> None:
        """Make the folder, or take up what was begun in it.

        Raises:
            InputError: if it holds parts of another survey.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / SETTINGS
        mine = json.loads(json.dumps(self.settings))
        if path.exists():
            if json.loads(path.read_text(encoding="utf-8")) != mine:
                raise InputError(
                    f"{self.folder} holds part of another audit: repeat that command, or remove the folder"
                )
            return
        path.write_text(json.dumps(mine, indent=1), encoding="utf-8")

    def path(self, name: str, part: int) -> Path:
        return self.folder / f"{name}-{part:05}.parquet"

    def has(self, part: int) -> bool:
        """Whether a part is whole: its last file is there."""
        return self.path("heads", part).exists()

    def write(self, part: int, **lines: Sequence[Mapping[str, Any]]) -> None:
        """A part, each file aside and renamed; ``heads`` last, which says that the part is whole."""
        for name in ("weights", "heads"):
            aside = self.path(name, part).with_suffix(".aside")
            pq.write_table(pa.Table.from_pylist(list(lines[name]), FILES[name]), aside)
            aside.replace(self.path(name, part))

    def heads(self) -> dict[str, np.ndarray]:
        """The columns of all lines about heads."""
        tables = [pq.read_table(path, schema=HEADS) for path in sorted(self.folder.glob("heads-*.parquet"))]
        table = pa.concat_tables(tables) if tables else HEADS.empty_table()
        return {name: table[name].to_numpy(zero_copy_only=False) for name in HEADS.names}


def join(parts: Path, folder: Path) -> None:
    """All parts of a store as one file of each name, one part in memory at a time; none makes no file."""
    for name, schema in FILES.items():
        found = sorted(parts.glob(f"{name}-*.parquet"))
        if found:
            with pq.ParquetWriter(folder / f"{name}.parquet", schema) as writer:
                for path in found:
                    writer.write_table(pq.read_table(path, schema=schema))


def survey(
    model: PreTrainedModel,
    encoded: Encoded,
    tokens: Callable[[int], Sequence[str]],
    where: Where,
    question: Question,
    store: Store,
    *,
    seed: int = 0,
    processes: int = 1,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> None:
    """Ask the question of every chosen row of every chosen head before every text; what is in the store
    already is not asked again. ``tokens`` gives the tokens of a text, for the lines about weights.

    Raises:
        InputError: as `head_rows`, and if the store is of another survey.
    """
    store.open()
    total = len(encoded.ids)
    for part, start in enumerate(range(0, total, PART)):
        if not store.has(part):
            texts = slice(start, min(start + PART, total))
            heads: list[dict[str, Any]] = []
            weights: list[dict[str, Any]] = []
            for rows in head_rows(model, encoded.some(texts), where):
                lines = of_rows(rows, start, tokens, question, seed, processes)
                heads += lines[0]
                weights += lines[1]
            store.write(part, heads=heads, weights=weights)
        progress(min(start + PART, total), total)


def of_rows(
    rows: Sequence[HeadRow],
    first: int,
    tokens: Callable[[int], Sequence[str]],
    question: Question,
    seed: int,
    processes: int,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The lines about some rows; ``first`` is the number of the text that is 0 among them."""
    tasks = [question.task(row) for row in rows]
    nulls = {
        index: with_random_values(tasks[index], np.random.default_rng([seed, 5, first + rows[index].text]))
        for index in one_of_each(rows, seed)
    }
    found = list(answers([*tasks, *nulls.values()], processes))
    chance = dict(zip(nulls, found[len(tasks) :], strict=True))
    heads, weights = [], []
    for index, (row, task, (seen, another)) in enumerate(zip(rows, tasks, found, strict=False)):
        place = {
            "text": first + row.text, "layer": row.layer, "head": row.head, "row": row.row, "part": row.part,
        }  # fmt: skip
        random = chance.get(index)
        heads.append(
            place
            | {
                "tokens": len(row.weights),
                "rank": seen.rank,
                "nullity": seen.nullity,
                "expected": len(row.weights) - min(len(row.weights), row.T.shape[1] + row.sums_to_one),
                "margin": seen.margin if np.isfinite(seen.margin) else None,
                "projected": row.projected,
                "identifiable": seen.nullity <= 0,
                "width": width(seen),
                "may_be_zero": may_be_zero(seen),
                "another_first": another,
                # Weights that the output fixes are fixed for every query.
                "given_keys": "unique" if seen.nullity <= 0 else given_keys(row).verdict,
                "failed": len(seen.failed),
                "unbounded": int((np.isinf(seen.low) | np.isinf(seen.high)).sum()),
                "random_width": None if random is None else width(random.intervals),
                "random_may_be_zero": None if random is None else may_be_zero(random.intervals),
                "random_another_first": None if random is None else random.another_first,
            }
        )
        words = tokens(first + row.text)
        for one, key in enumerate(task.asked):
            stands = int(row.keys[key])
            weights.append(
                place
                | {
                    "key": stands,
                    "token": words[stands] if stands < len(words) else "",
                    "weight": float(seen.value[one]),
                    "low": number(seen.low[one]),
                    "high": number(seen.high[one]),
                    "failed": seen.failed.get(one, ""),
                }
            )
    return heads, weights


def one_of_each(rows: Sequence[HeadRow], seed: int) -> list[int]:
    """For each text the index of one of its rows, drawn by the text's number: a null costs one row."""
    by_text: dict[int, list[int]] = {}
    for index, row in enumerate(rows):
        by_text.setdefault(row.text, []).append(index)
    return [
        mine[int(np.random.default_rng([seed, 6, text]).integers(len(mine)))]
        for text, mine in by_text.items()
    ]


def with_random_values(task: Task, rng: np.random.Generator) -> Task:
    """The same weights over random values of the same size: what any map of this length comes to."""
    return task._replace(T=rng.normal(size=task.T.shape))


def width(seen: Intervals) -> float | None:
    """The mean width of the intervals; None where a weight has none, or nothing bounds it."""
    mean = float((seen.high - seen.low).mean()) if len(seen.low) else np.nan
    return mean if np.isfinite(mean) else None


def may_be_zero(seen: Intervals) -> float | None:
    """Of the largest weights (five, or as many as there are that are not zero) the share that may be zero."""
    top = np.argsort(-np.abs(seen.value), kind="stable")[:TOP]
    top = top[np.abs(seen.value[top]) > CERTAIN]
    ends = np.stack([seen.low[top], seen.high[top]])
    if not len(top) or np.isnan(ends).any():
        return None
    return float(((ends[0] <= CERTAIN) & (ends[1] >= -CERTAIN)).mean())


def number(value: float) -> float | None:
    """None for what is not known; ±∞ stays, since Parquet has it."""
    return None if np.isnan(value) else float(value)


def settings_of(where: Where, question: Question, **more: Any) -> dict[str, Any]:
    """What a store is for."""
    return {"where": asdict(where), "question": asdict(question)} | more
