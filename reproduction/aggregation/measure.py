"""Rank all ways to aggregate heads and layers, in the Transformers of the study `rank`."""

import json
from pathlib import Path
from typing import Any

import glasshead
from reproduction.rank.measure import classifiers, method_numbers
from reproduction.study import DATA
from reproduction.trainings import Trainings

TEXTS = 50
METHODS = (
    "attention",
    "layer-mean",
    "layer-max",
    "layer-min",
    "rollout",
    "attention-flow",
    "gradient-attention",
    "gradient-attention-signed",
    "value-norm",
    "value-norm-residual",
    "value-zeroing",
    "alti",
    "attn-lrp",
    "cp-lrp",
    "erasure-delete",
    "random",
)
"""Every aggregation (the sum over layers ranks as the mean), beside deleting each word and random numbers."""
TABLES = {
    folder: [cell for cell in classifiers(folder, epochs) if cell.name != "pooled"]
    for folder, epochs in (("sst2", 1), ("trec", 2), ("ag_news", 2))
}


def summary(run: Path) -> dict[str, Any]:
    """The standings of every method, and what the attention of the model does."""
    record = json.loads((run / "run.json").read_text(encoding="utf-8"))
    data, seed = DATA / run.parents[1].name, record["seed"]
    ranking = glasshead.rank(
        run, data, METHODS, removals=("delete",), limit=TEXTS, seed=seed, dtype="float32"
    )
    metrics = json.loads((run / "metrics.json").read_text(encoding="utf-8"))
    return {
        "accuracy": metrics["test"]["accuracy"],
        "epochs": len(metrics["epochs"]),
        "before": (record.get("attention_use") or {}).get("before"),
        "use": ranking.facts["attention_use"]["after"],
        "methods": {method.name: method_numbers(method) for method in ranking.methods},
        "agreement": {pair.finding.against: pair.finding.estimate for pair in ranking.agreement},
    }


TRAININGS = Trainings("aggregation", TABLES, summary, runs="rank")
