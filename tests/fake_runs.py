"""Run folders as a training writes them, with predictions that are as good as one likes."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.metrics import accuracy_score, f1_score, mean_absolute_error, root_mean_squared_error

NAMES = np.array(["abbreviation", "entity", "human", "number"])


def classes(n=300, seed=0):
    """True classes."""
    return NAMES[np.random.default_rng([seed, 1]).integers(0, len(NAMES), n)]


def guesses(labels, accuracy, seed):
    """Predictions that are right so often, on average."""
    rng = np.random.default_rng([seed, 2])
    wrong = NAMES[(np.searchsorted(NAMES, labels) + rng.integers(1, len(NAMES), len(labels))) % len(NAMES)]
    return np.where(rng.random(len(labels)) < accuracy, labels, wrong)


def metrics_of(labels, predicted):
    """What a training records."""
    if labels.dtype.kind == "f":
        return {
            "rmse": float(root_mean_squared_error(labels, predicted)),
            "mae": float(mean_absolute_error(labels, predicted)),
        }
    return {
        "accuracy": float(accuracy_score(labels, predicted)),
        "macro_f1": float(f1_score(labels, predicted, average="macro", zero_division=0)),
    }


def write_run(
    folder, labels, predicted, *, seed=0, fingerprint="f" * 64, recipe=None, order=None, index=None
):
    """One run; ``order`` is that of the rows in the file."""
    folder.mkdir(parents=True)
    recipe = {"model": "encoder", "attention": "softmax"} if recipe is None else recipe
    described = (
        {"ratings": {"train": {"mean": float(labels.mean()), "std": float(labels.std())}}}
        if labels.dtype.kind == "f"
        else {"classes": {"train": {name: (labels == name).sum().item() for name in NAMES.tolist()}}}
    )
    record = {
        "recipe": recipe,
        "seed": seed,
        "data": {"source": "data/trec", "fingerprint": fingerprint} | described,
        "gauge": None,
    }
    (folder / "run.json").write_text(json.dumps(record), encoding="utf-8")
    values = metrics_of(labels, predicted)
    (folder / "metrics.json").write_text(json.dumps({"dev": values, "test": values}), encoding="utf-8")
    n = len(labels)
    order = np.arange(n) if order is None else order
    index = np.arange(n) if index is None else index
    parts = [
        pa.table(
            {
                "split": [split] * n,
                "index": index[order],
                "label": labels[order].tolist(),
                "predicted": predicted[order].tolist(),
                "probability": pa.array([None if labels.dtype.kind == "f" else 0.5] * n, pa.float64()),
            }
        )
        for split in ("dev", "test")
    ]
    pq.write_table(pa.concat_tables(parts), folder / "predictions.parquet")
    return folder


def write_repeats(folder, labels, predicted, seeds=None, **options):
    """A folder of repeats from predictions [S, n]."""
    seeds = list(range(len(predicted))) if seeds is None else list(seeds)
    for seed, each in zip(seeds, predicted, strict=True):
        write_run(folder / f"seed-{seed}", labels, each, seed=seed, **options)
    values = [metrics_of(labels, each) for each in predicted]
    summary = {
        name: {"mean": float(np.mean(column)), "std": float(np.std(column, ddof=1)), "values": column}
        for name in values[0]
        for column in [[each[name] for each in values]]
    }
    body = {"seeds": seeds, "metrics": {"dev": summary, "test": summary}}
    (folder / "repeats.json").write_text(json.dumps(body), encoding="utf-8")
    return folder
