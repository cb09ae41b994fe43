"""Train a classifier: what it reaches on test, how long it was trained, and how it used its attention."""

import math
from pathlib import Path
from typing import Any

from glasshead.opening import MEASURED, read_object, read_record
from glasshead.papers.experiments.job import MEASURES, Job, Measured
from glasshead.results import LayerUse
from glasshead.training import load_predictions


@MEASURES.register("classifier")
def classifier(job: Job) -> Measured:
    """Test metrics, dev metrics of the epoch that is kept, epochs and steps, and the use of attention.

    The entropy and the standard deviation of the scores are lists of [layer, before, after]. ``w`` and ``v``
    are what distance-aware heads have learned, head by head.
    """
    run = job.train()
    metrics, record = read_object(run / MEASURED), read_record(run)
    epochs = metrics["epochs"]
    per_epoch = math.ceil(record["data"]["rows"]["train"] / job.cell.recipe.batch_size)
    best = "rmse" if "rmse" in metrics["dev"] else "accuracy"
    kept = (min if best == "rmse" else max)(epochs, key=lambda epoch: epoch[best])
    numbers: dict[str, Any] = {name: value for name, value in metrics["test"].items() if name != "loss"}
    numbers |= {f"dev_{name}": value for name, value in metrics["dev"].items() if name != "loss"}
    numbers |= {
        "epochs": len(epochs),
        "steps": per_epoch * len(epochs),
        "kept_step": round(per_epoch * kept["epoch"]),
    }
    numbers |= attention_numbers(record.get("attention_use"))
    numbers |= distance_weights(run)
    if best == "rmse":
        return Measured(numbers)
    predictions = load_predictions(run, job.cell.name, "test")
    return Measured(numbers, predictions.predicted[0] == predictions.labels)


def attention_numbers(use: Any) -> dict[str, list[Any]]:
    """Entropy of the weights and standard deviation of the scores by layer, before and after training."""
    if use is None:
        return {}
    before: list[LayerUse | None] = use["before"] or [None] * len(use["after"])
    numbers: dict[str, list[Any]] = {"entropy": [], "score_sd": []}
    for first, last in zip(before, use["after"], strict=True):
        for name, values in numbers.items():
            values.append([last["name"], None if first is None else first[name], last[name]])  # type: ignore[literal-required]
    return numbers


def distance_weights(run: Path) -> dict[str, list[float]]:
    """w_h and v_h of all distance-aware heads of a run, the layers one after the other."""
    from safetensors.numpy import load_file

    weights: dict[str, list[float]] = {}
    for path in sorted(run.glob("*.safetensors")):
        for name, value in sorted(load_file(path).items()):
            for letter in ("w", "v"):
                if name.endswith(f".position.{letter}") and value.ndim == 1:  # others have maps of that name
                    weights.setdefault(letter, []).extend(value.tolist())
    return weights
