"""Many texts, part by part: what is known of every row of every chosen head, written down as it is found.

A part is a few texts. It is two files, `heads-00000.parquet` (one line per row of a head) and
`weights-00000.parquet` (one line per weight that was asked about), so that what was interrupted goes on
where it stopped and memory does not grow with the number of texts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from glasshead.data import Encoded, token_names
from glasshead.files import SETTINGS_FILE, claim_folder
from glasshead.identifiability.attention_row import AttentionRow
from glasshead.identifiability.interval_options import IntervalOptions
from glasshead.identifiability.lines import SCHEMAS
from glasshead.identifiability.lp.intervals import Intervals
from glasshead.identifiability.lp.tasks import IntervalTask
from glasshead.identifiability.parallel_intervals import solve_parallel
from glasshead.identifiability.query_certificate import OUTPUT, QueryCertificate, query_certificate
from glasshead.identifiability.row_extraction import attention_rows
from glasshead.identifiability.row_selector import RowSelector
from glasshead.results import CLEAR_RANK_MARGIN, POINT_WIDTH
from glasshead.trace import ReadRows

PART = 32  # texts
ROWS_PER_PART = 512  # rows of heads whose lines are held at once
TOP = 5  # the tokens that a reader looks at
STORE_FILES = (SETTINGS_FILE, "*.aside", "weights-*.parquet", "heads-*.parquet")
"""What lies in a store; where the last of them are, a part is whole."""


@dataclass(frozen=True)
class ResultStore:
    """A folder of parts. ``settings`` identify the parts: those with other settings are not used."""

    folder: Path
    settings: Mapping[str, Any]

    def open(self) -> None:
        """Make the folder, or continue an existing one.

        Raises:
            InputError: if its parts were made with other settings.
        """
        claim_folder(self.folder, self.settings)

    def path(self, name: str, part: int) -> Path:
        return self.folder / f"{name}-{part:05}.parquet"

    def has(self, part: int) -> bool:
        """Whether a part is whole: its last file is there."""
        return self.path("heads", part).exists()

    @contextmanager
    def open_part(self, part: int) -> Iterator[Callable[..., None]]:
        """Write lines about heads and weights as they come; the files get their names when the block ends
        without an error."""
        unfinished = {name: self.path(name, part).with_suffix(".aside") for name in SCHEMAS}
        with ExitStack() as stack:
            writers = [
                stack.enter_context(pq.ParquetWriter(unfinished[name], schema))
                for name, schema in SCHEMAS.items()
            ]

            def write(*lines: Sequence[Mapping[str, Any]]) -> None:
                for writer, schema, some in zip(writers, SCHEMAS.values(), lines, strict=True):
                    writer.write_table(pa.Table.from_pylist(list(some), schema))

            yield write
        for name in reversed(SCHEMAS):
            unfinished[name].replace(self.path(name, part))

    def heads(self) -> dict[str, np.ndarray]:
        """The columns of all lines about heads."""
        return self.columns("heads")

    def weights(self) -> dict[str, np.ndarray]:
        """The columns of all lines about weights."""
        return self.columns("weights")

    def columns(self, name: str) -> dict[str, np.ndarray]:
        """The columns of all lines of that name."""
        schema = SCHEMAS[name]
        tables = [
            pq.read_table(path, schema=schema) for path in sorted(self.folder.glob(f"{name}-*.parquet"))
        ]
        table = pa.concat_tables(tables) if tables else schema.empty_table()
        return {column: table[column].to_numpy(zero_copy_only=False) for column in schema.names}


def merge_parts(parts: Path, folder: Path) -> None:
    """Merge the parts of a store into one file for each name, with one part in memory at a time; without
    parts there is no file."""
    for name, schema in SCHEMAS.items():
        paths = sorted(parts.glob(f"{name}-*.parquet"))
        if paths:
            with pq.ParquetWriter(folder / f"{name}.parquet", schema) as writer:
                for path in paths:
                    writer.write_table(pq.read_table(path, schema=schema))


def solve_batches(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    encoded: Encoded,
    selector: RowSelector,
    options: IntervalOptions,
    folder: Path,
    *,
    seed: int = 0,
    ids: Sequence[int] | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
    read: ReadRows | None = None,
) -> ResultStore:
    """Intervals of every chosen row of every chosen head for every text; what is already in the folder is
    not computed again. If rows are chosen by what is ``read``, this is measured, unless it is known. The
    draws for a text follow from the seed and its number among ``ids`` (None: its place).

    Raises:
        InputError: as `attention_rows`, and if the parts in the folder come from other texts, weights,
        options or seeds, or from another version.
    """
    store = ResultStore(folder, store_settings(model, encoded, selector, options, seed))
    store.open()
    total = len(encoded.ids)
    numbers = list(range(total)) if ids is None else ids
    for part, start in enumerate(range(0, total, PART)):
        if not store.has(part):
            here = slice(start, min(start + PART, total))
            some, known = encoded.some(here), None if read is None else read.some(here)
            words = [token_names(tokenizer, ids) for ids in some.ids.tolist()]
            with store.open_part(part) as write:
                for rows in attention_rows(model, some, selector, known):
                    null = draw_null_rows(rows, numbers[here], seed)
                    for first in range(0, len(rows), ROWS_PER_PART):
                        chunk = slice(first, first + ROWS_PER_PART)
                        write(
                            *build_records(
                                rows[chunk], null[chunk], start, numbers[here], words, options, seed
                            )
                        )
        progress(min(start + PART, total), total)
    return store


def build_records(
    rows: Sequence[AttentionRow],
    null: Sequence[bool],
    start: int,
    numbers: Sequence[int],
    words: Sequence[Sequence[str]],
    options: IntervalOptions,
    seed: int,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The lines about some rows and their weights. ``start`` is the number of the text that is 0 among them,
    ``numbers`` are those from which draws follow, and ``null`` says of which rows random values are asked
    about too."""
    tasks = [options.task(row) for row in rows]
    nulls = {
        index: randomise_values(tasks[index], np.random.default_rng([seed, 5, numbers[row.text], row.layer]))
        for index, row in enumerate(rows)
        if null[index]
    }
    answers = list(solve_parallel([*tasks, *nulls.values()], options.processes))
    chance = dict(zip(nulls, answers[len(tasks) :], strict=True))
    heads, weights = [], []
    for index, (row, task, (intervals, argmax_may_change)) in enumerate(
        zip(rows, tasks, answers, strict=False)
    ):
        location = {
            "text": start + row.text, "layer": row.layer, "head": row.head, "row": row.row, "part": row.part,
        }  # fmt: skip
        # Weights that the output fixes are fixed for every query; where there is none, nothing is said.
        fixed = (
            intervals.nullity <= 0
            and intervals.margin >= CLEAR_RANK_MARGIN
            and row.score_jacobian is not None
        )
        certificate = (
            QueryCertificate("fixed", proven=True, reason=OUTPUT) if fixed else query_certificate(row)
        )
        random = chance.get(index)
        heads.append(
            location
            | {
                "tokens": len(row.weights),
                "rank": intervals.rank,
                "nullity": intervals.nullity,
                "expected": len(row.weights) - min(len(row.weights), row.T.shape[1] + row.sums_to_one),
                "margin": none_if_not_finite(intervals.margin),
                "kind": row.kind,
                "learned": row.learned,
                "projected": row.projected,
                "identifiable": is_identifiable(intervals, options, len(row.weights)),
                "width": mean_width(intervals),
                "may_be_zero": share_may_be_zero(intervals),
                "another_first": argmax_may_change,
                "given_keys": certificate.verdict,
                "given_keys_proven": certificate.proven,
                "given_keys_gap": none_if_not_finite(certificate.gap),
                "given_keys_smallest": none_if_not_finite(certificate.smallest),
                "given_keys_reason": certificate.reason,
                "failed": len(intervals.failed),
                "unbounded": int((np.isinf(intervals.low) | np.isinf(intervals.high)).sum()),
                "random_width": None if random is None else mean_width(random.intervals),
                "random_may_be_zero": None if random is None else share_may_be_zero(random.intervals),
                "random_another_first": None if random is None else random.argmax_may_change,
            }
        )
        for one, key in enumerate(task.keys):
            position = int(row.keys[key])
            weights.append(
                location
                | {
                    "key": position,
                    "token": words[row.text][position] if position < len(words[row.text]) else "",
                    "weight": float(intervals.value[one]),
                    "low": none_if_nan(intervals.low[one]),
                    "high": none_if_nan(intervals.high[one]),
                    "failed": intervals.failed.get(one, ""),
                }
            )
    return heads, weights


def draw_null_rows(rows: Sequence[AttentionRow], numbers: Sequence[int], seed: int) -> list[bool]:
    """One row of each text and layer, drawn by the numbers of both: a null of every row would cost twice."""
    groups: dict[tuple[int, int], list[int]] = {}
    for index, row in enumerate(rows):
        groups.setdefault((numbers[row.text], row.layer), []).append(index)
    drawn = [False] * len(rows)
    for (text, layer), mine in groups.items():
        drawn[mine[int(np.random.default_rng([seed, 6, text, layer]).integers(len(mine)))]] = True
    return drawn


def is_identifiable(intervals: Intervals, options: IntervalOptions, keys: int) -> bool | None:
    """Whether every weight of a map is fixed, up to the tolerance; None where only some were asked about, or
    where the rank that says so is close to rounding."""
    if intervals.nullity <= 0 and intervals.margin < CLEAR_RANK_MARGIN:
        return None
    if options.tolerance == 0:
        return intervals.nullity <= 0
    if len(intervals.low) < keys or intervals.failed:
        return None
    return bool((intervals.high - intervals.low <= POINT_WIDTH).all())


def randomise_values(task: IntervalTask, rng: np.random.Generator) -> IntervalTask:
    """The weights of a row over random values of the same size: what any map of this length comes to."""
    return task._replace(T=rng.normal(size=task.T.shape))


def mean_width(intervals: Intervals) -> float | None:
    """The mean width of the intervals; None where a weight has none, or nothing bounds it."""
    mean = float((intervals.high - intervals.low).mean()) if len(intervals.low) else np.nan
    return mean if np.isfinite(mean) else None


def share_may_be_zero(intervals: Intervals) -> float | None:
    """The share that may be zero of the largest weights (five, or as many as there are that are not zero)."""
    top = np.argsort(-np.abs(intervals.value), kind="stable")[:TOP]
    top = top[np.abs(intervals.value[top]) > POINT_WIDTH]
    ends = np.stack([intervals.low[top], intervals.high[top]])
    if not len(top) or np.isnan(ends).any():
        return None
    return float(((ends[0] <= POINT_WIDTH) & (ends[1] >= -POINT_WIDTH)).mean())


def none_if_nan(value: float) -> float | None:
    """None for what is not known; ±∞ stays, since Parquet has it."""
    return None if np.isnan(value) else float(value)


def none_if_not_finite(value: float) -> float | None:
    """None for what is not a number, or has no bound."""
    return float(value) if np.isfinite(value) else None


def store_settings(
    model: PreTrainedModel, encoded: Encoded, selector: RowSelector, options: IntervalOptions, seed: int
) -> dict[str, Any]:
    """What the parts of a store are parts of: texts, weights and options."""
    return {
        "version": metadata.version("glasshead"),
        "where": asdict(selector),
        # How many processes share the work changes no interval.
        "question": {name: value for name, value in asdict(options).items() if name != "processes"},
        "seed": seed,
        **fingerprints(model, encoded),
        "part": PART,
    }


def fingerprints(model: PreTrainedModel, encoded: Encoded) -> dict[str, str]:
    """SHA-256 of the inputs of a model, and of its weights."""
    texts = hashlib.sha256()
    for start in range(0, len(encoded.ids), PART):
        inputs = encoded.inputs(slice(start, start + PART))
        for name in sorted(inputs):
            texts.update(inputs[name].numpy().tobytes())
    return {"texts": texts.hexdigest(), "weights": weights_digest(model)}


def weights_digest(model: PreTrainedModel) -> str:
    """SHA-256 of the weights of a model."""
    weights = hashlib.sha256()
    for name, value in model.state_dict().items():
        weights.update(name.encode())
        for part in plain_parts(value):
            weights.update(part)
    return weights.hexdigest()


def plain_parts(value: Any) -> Iterator[Any]:
    """The bytes of an entry of a state: of packed weights, those of each tensor that they consist of."""
    if hasattr(value, "__tensor_flatten__"):
        for name in value.__tensor_flatten__()[0]:
            yield from plain_parts(getattr(value, name))
    elif isinstance(value, torch.Tensor):
        yield value.detach().cpu().reshape(-1).contiguous().view(torch.uint8).numpy().data
    else:
        yield repr(value).encode()
