"""Read what trained runs predicted: single run folders, and folders of runs repeated with several seeds.

A run folder has ``metrics.json`` and ``predictions.parquet`` (split, index, label, predicted, probability); a
folder of repeats has ``repeats.json`` and one run folder for each of its seeds, ``seed-0``, ``seed-1``, ….
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from glasshead.errors import InputError
from glasshead.files import check_readable
from glasshead.opening import MEASURED, RECORD, REPEATS, Record, read_object, run_folders, validate_record
from glasshead.reasons import because
from glasshead.results import CARD_FILE, METRIC_NAMES, Floor, RunGroup
from glasshead.spelling import spell
from glasshead.statistics import Predictions, metric_values, metrics_of
from glasshead.training.baselines import constant_guess, describe_guess, floor_metrics, only_class
from glasshead.training.predict import PREDICTIONS

KINDS = {CARD_FILE: "an audit", REPEATS: "a folder of repeats", RECORD: "a run"}
ROUNDING = 1e-6  # metrics that differ by more are not those of these predictions
Columns = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class RunGroupPredictions:
    """A folder to compare: its metrics, and the rows of one split in the order of ``index``."""

    group: RunGroup
    fingerprint: str
    index: NDArray[np.int64]
    labels: NDArray[Any]
    predicted: NDArray[Any]
    """[S, n], by ascending seed."""
    floor: Floor


def folder_kind(folder: Path) -> str:
    """The kind of a folder, in words.

    Raises:
        InputError: if it cannot be compared.
    """
    check_readable(folder)
    for name, kind in KINDS.items():
        if (folder / name).is_file():
            return kind
    what = "does not exist" if not folder.exists() else f"has no {', '.join(list(KINDS)[:-1])} or {RECORD}"
    raise InputError(f"{folder} is not an audit, a run or a folder of repeats ({what})")


def load_predictions(folder: Path, name: str, split: str) -> RunGroupPredictions:
    """A run, or all runs of a folder of repeats, on one split.

    Raises:
        InputError: if a file is missing or damaged, if there is no such split, or if repeats differ in more
            than their seeds.
    """
    runs = sorted(((_record(run), run) for run in run_folders(folder)), key=lambda pair: pair[0]["seed"])
    records = [record for record, _ in runs]
    for key, what in (("recipe", "recipes"), ("fingerprint", "data")):
        if any(_part(record, key) != _part(records[0], key) for record in records):
            raise InputError(
                f"{folder} contains runs with different {what}: repeats differ only in their seeds"
            )
    tables = [_table(run, split) for _, run in runs]
    if any(not _same_rows(table, tables[0]) for table in tables):
        raise InputError(f"{folder} contains runs that were tested on different rows: train again")
    metrics = [_metrics(run) for _, run in runs]
    shapes = [{part: list(names) for part, names in parts.items()} for parts in metrics]
    for shape, (_, run) in zip(shapes, runs, strict=True):
        if shape != shapes[0] or split not in shape:
            raise InputError(f"{run / MEASURED} is damaged (it lacks metrics): train again")
    first, predicted = tables[0], np.stack([table["predicted"] for table in tables])
    only = {record["seed"]: only_class(row) for (record, _), row in zip(runs, predicted, strict=True)}
    group = RunGroup(
        name=name,
        facts={"recipe": records[0].get("recipe"), "data": records[0]["data"]},
        seeds=tuple(record["seed"] for record in records),
        metrics={
            part: {metric: [run[part][metric] for run in metrics] for metric in names}
            for part, names in metrics[0].items()
        },
        only_class={seed: name for seed, name in only.items() if name is not None},
    )
    labels = {part: _table(runs[0][1], part)["label"] for part in metrics[0]}
    guess = constant_guess(records[0]["data"])
    floor = Floor(
        describe_guess(guess), {part: floor_metrics(guess, values) for part, values in labels.items()}
    )
    fingerprint = str(_part(records[0], "fingerprint"))
    predictions = RunGroupPredictions(group, fingerprint, first["index"], first["label"], predicted, floor)
    check_metrics(predictions, split, folder)
    return predictions


def check_metrics(group: RunGroupPredictions, split: str, folder: Path) -> None:
    """Raise InputError unless the predictions give the metrics that the run has recorded."""
    predictions = align_classes([group])[0]
    for name, metric in metrics_of(predictions).items():
        recorded = group.group.metrics[split].get(name)
        if recorded is None or not np.allclose(
            metric_values(metric, predictions), recorded, rtol=0, atol=ROUNDING
        ):
            raise InputError(f"{folder}: {PREDICTIONS} does not give the {name} of {MEASURED}: train again")


def align_classes(groups: list[RunGroupPredictions]) -> list[Predictions]:
    """The predictions of several folders with one numbering of their classes.

    Raises:
        InputError: on different data, other rows, or two runs with the same seed in a group.
    """
    first = groups[0]
    for other in groups:
        if other.fingerprint != first.fingerprint:
            raise InputError(
                f"{first.group.name} and {other.group.name} were trained on different data: "
                "only runs on the same data can be compared"
            )
        if (first.labels.dtype.kind == "f") != (other.labels.dtype.kind == "f"):
            raise InputError(f"{first.group.name} and {other.group.name} do not both predict ratings")
        if not np.array_equal(other.index, first.index) or not np.array_equal(other.labels, first.labels):
            raise InputError(
                f"{first.group.name} and {other.group.name} were tested on different rows: "
                f"train both with the same {spell('split_seed')}"
            )
        if len(set(other.group.seeds)) < len(other.group.seeds):
            raise InputError(f"{other.group.name} contains two runs with the same seed: train again")
    seeds = [group.group.seeds for group in groups]
    if first.labels.dtype.kind == "f":
        pairs = zip(seeds, groups, strict=True)
        return [Predictions(own, first.labels, group.predicted, None) for own, group in pairs]
    sizes = [group.predicted.size for group in groups]
    names, codes = np.unique(
        np.concatenate([first.labels, *(group.predicted.ravel() for group in groups)]), return_inverse=True
    )
    labels, *predicted = np.split(codes, np.cumsum([len(first.labels), *sizes])[:-1])
    return [
        Predictions(own, labels, values.reshape(len(own), -1), len(names))
        for own, values in zip(seeds, predicted, strict=True)
    ]


def _record(folder: Path) -> dict[str, Any]:
    record = validate_record(folder / RECORD, read_object(folder / RECORD), Record)
    if _part(record, "fingerprint") is None:
        raise InputError(f"{folder / RECORD} is damaged (no fingerprint of the data): train again")
    return record


def _part(record: dict[str, Any], key: str) -> Any:
    """The recipe, in which there is no seed, or the fingerprint of the data."""
    if key == "fingerprint":
        return record["data"].get(key)
    return record.get(key)


def _metrics(folder: Path) -> dict[str, dict[str, float]]:
    """The metrics that a group is judged by, per split."""
    metrics = read_object(folder / MEASURED)
    parts = {split: metrics[split] for split in ("dev", "test") if isinstance(metrics.get(split), dict)}
    return {
        split: {name: float(part[name]) for name in METRIC_NAMES if isinstance(part.get(name), (int, float))}
        for split, part in parts.items()
    }


def _table(folder: Path, split: str) -> Columns:
    """The rows of one split, by ascending index."""
    path = folder / PREDICTIONS
    if not path.is_file():
        raise InputError(f"{folder} has no {PREDICTIONS}: train it again with this version")
    try:
        table = pq.read_table(path, columns=["split", "index", "label", "predicted"])
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"{path} is damaged{because(error)}: train again") from error
    splits = table["split"].to_numpy(zero_copy_only=False)
    rows = splits == split
    if not rows.any():
        known = ", ".join(sorted(set(splits.tolist()))) or "none"
        raise InputError(f"{folder} predicted no {split!r} split, only: {known}")
    columns = {"index": table["index"].to_numpy()[rows]}
    for name in ("label", "predicted"):
        column = table[name].to_numpy(zero_copy_only=False)[rows]
        rated = pa.types.is_floating(table[name].type) or pa.types.is_integer(table[name].type)
        columns[name] = column.astype(np.float64) if rated else column.astype(str)
        if rated and not np.isfinite(columns[name]).all():
            raise InputError(f"{path} is damaged (a {name} is not a number): train again")
    order = np.argsort(columns["index"], kind="stable")
    return {name: column[order] for name, column in columns.items()}


def _same_rows(table: Columns, other: Columns) -> bool:
    return all(np.array_equal(table[name], other[name]) for name in ("index", "label"))
