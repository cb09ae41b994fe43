"""Train three classifiers, and rank six explanations of each.

SST-2 is ranked on the test sentences of the labelled trees, whose words people have marked. MiniLM is read
from the Hub, or from its cache.
"""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

import glasshead
from glasshead.results import MethodRanking, RankedMethod
from glasshead.training import TrainingConfig, preset_config
from reproduction.encoder_scale.measure import first_scale
from reproduction.study import DATA
from reproduction.trainings import Cell, Set, Trainings

SEEDS, TEXTS = 5, 50
MINILM = "sentence-transformers/all-MiniLM-L6-v2"
METHODS = (
    "attention",
    "gradient-after-norm",
    "erasure",
    "erasure-delete",
    "captum:integrated-gradients",
    "random",
)
RANKED = {"sst2": "sst_trees", "trec": "trec"}
"""The texts that are ranked, by what the model is trained on."""


def classifiers(folder: str, minilm_epochs: int) -> list[Cell]:
    """A pooled classifier, a small Transformer and a fine-tuned MiniLM of one data set."""
    minilm = TrainingConfig(
        preset="own",
        model=MINILM,
        learning_rate=5e-5,
        batch_size=32,
        epochs=minilm_epochs,
        by_length=True,
    )
    # SD 0.3, times √d (see transformers.md): attention is far from uniform from the start.
    encoder = first_scale(preset_config("transformer-small", "encoder")).with_changes(
        initializer_range=0.3, epochs=10
    )
    recipes = {"pooled": preset_config("s0-paper", "pooled"), "encoder": encoder, "minilm": minilm}
    return [Cell(name, Set(folder), recipe, SEEDS) for name, recipe in recipes.items()]


TABLES = {"sst2": classifiers("sst2", 1), "trec": classifiers("trec", 2)}


def summary(run: Path) -> dict[str, Any]:
    """The standings of every method, and what the attention of the model does."""
    record = json.loads((run / "run.json").read_text(encoding="utf-8"))
    data = DATA / RANKED[run.parents[1].name]
    ranking = glasshead.rank(run, data, METHODS, limit=TEXTS, seed=record["seed"])
    metrics = json.loads((run / "metrics.json").read_text(encoding="utf-8"))
    return {
        "accuracy": metrics["test"]["accuracy"],
        "epochs": len(metrics["epochs"]),
        "entropy": attention_entropy(run, ranking),
        "removals": list(ranking.removals),
        "methods": {method.name: method_numbers(method) for method in ranking.methods},
        "agreement": {pair.finding.against: pair.finding.estimate for pair in ranking.agreement},
    }


def method_numbers(method: RankedMethod) -> dict[str, Any]:
    """By statistic and meaning of deleting: the mean, that of a random order, and the standing."""
    numbers: dict[str, Any] = {"predictions": method.predictions, "own_removal": method.own_removal}
    for finding in method.findings:
        name = ".".join(part for part in (finding.statistic, finding.against) if part)
        numbers[name] = [finding.estimate, finding.null["random"], str(method.standings[finding.name])]
    return numbers


def attention_entropy(run: Path, ranking: MethodRanking) -> float:
    """The mean entropy of the weights that are read, as a share of that of uniform weights."""
    shares = []
    for attribution in glasshead.explain(run, ranking.examples["text"]):
        weights = np.abs(attribution.scores)
        if len(weights) > 1 and weights.sum() > 0:
            weights = weights[weights > 0] / weights.sum()
            shares.append(-float((weights * np.log(weights)).sum()) / math.log(len(attribution.scores)))
    return float(np.mean(shares))


TRAININGS = Trainings("rank", TABLES, summary)
