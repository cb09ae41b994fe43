"""Train an LSTM, its adversary and MLPs with their weights, and ask the LSTM for other maps.

Sizes are cut so that one core needs about an hour.
"""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

import glasshead
from glasshead.data import LoadOptions
from glasshead.papers.other_run import map_divergence
from glasshead.training import preset_config
from reproduction.floors.measure import unigrams
from reproduction.trainings import Cell, Set, Trainings, loaded

SEEDS, TEXTS = 5, 200
LAMBDAS = (0.0, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2)
"""Of the sweep; its adversaries depart from the base LSTM of their seed."""
EDGES = [*np.arange(0, math.log(2), 0.05).round(2).tolist(), math.log(2)]
"""Of the histogram; no JSD is more than ln 2."""
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
BASE, ADVERSARY = "base LSTM", "adversary LSTM"
COLUMN = "adversarial.jsd.free"
KINDS = ("free", "same-output", "producible")
POSITIVE = {"sst2": "positive", "20news_sports": "hockey", "imdb": "positive", "ag_news": "Business"}
"""The class that F1 is of."""

RECIPE = preset_config("s0-paper", "pooled").with_settings(
    {
        "word_vectors": "glove/glove.twitter.27B.25d.common12k.txt.gz",
        "score": "additive",
        "head_dim": 32,
        "value_dim": None,
        "temperature": 0.2,
        "hidden_size": 64,
        "dropout": 0.0,
        "learning_rate": 2e-3,
        "min_freq": 2,
        "by_length": True,
    }
)


def cells(data: Set, max_length: int, epochs: int) -> list[Cell]:
    """An LSTM, its adversary and one with uniform weights; an MLP with uniform, own and imposed weights."""
    lstm = RECIPE.with_changes(encoder="lstm", max_length=max_length, epochs=epochs)
    mlp = lstm.with_changes(encoder="affine")
    base = Cell(BASE, data, lstm, SEEDS)
    adversary = Cell(ADVERSARY, data, lstm, SEEDS, base, "adversarial")
    return [
        base,
        Cell("uniform LSTM", data, lstm.with_changes(attention="uniform"), SEEDS),
        Cell("MLP uniform", data, mlp.with_changes(attention="uniform"), SEEDS),
        Cell("MLP trained", data, mlp, SEEDS),
        adversary,
        Cell("MLP base", data, mlp, SEEDS, base, "frozen"),
        Cell("MLP adversary", data, mlp, SEEDS, adversary, "frozen"),
    ]


TABLES = {
    "sst2": cells(Set("sst2"), 64, 5),
    "20news_sports": cells(Set("20news_sports"), 128, 16),
    "imdb": cells(Set("imdb", LoadOptions(max_examples=5000)), 128, 4),
    "ag_news": cells(Set("ag_news", LoadOptions(classes=("World", "Business"))), 64, 6),
}


def sweep(base: Cell) -> list[Cell]:
    """Adversaries of a base LSTM, for every λ."""
    return [
        Cell(
            f"λ {weight:g}", base.data, base.recipe, SEEDS, base, "adversarial", {"adversary_weight": weight}
        )
        for weight in LAMBDAS
    ]


SWEEPS = {f"{table}-sweep": sweep(TABLES[table][0]) for table in ("sst2", "ag_news", "20news_sports")}


def summary(run: Path) -> dict[str, Any]:
    """What was predicted and what attention did; of a base what other maps there are, and how far it is from
    that of the seed before; of an adversary how far it is from its base."""
    record = json.loads((run / "run.json").read_text(encoding="utf-8"))
    table = run.parents[1].name
    tables = TABLES | SWEEPS
    cell = next(each for each in tables[table] if each.mark(TRAININGS.version) == run.parent.name[-8:])
    use = record["attention_use"]["after"][0]
    numbers = prediction_numbers(run, POSITIVE[cell.data.folder]) | {
        "rows": record["data"]["rows"],
        "seconds": record["seconds"],
        "entropy": use["entropy"],
        "score_sd": use["score_sd"],
    }
    if cell.name == BASE:
        numbers["adversarial"] = adversarial_numbers(run, loaded(cell.data)["test"], record["seed"])
        numbers["unigrams"] = unigrams(cell.data, "text")["accuracy"]
    if (origin := reference_run(table, cell, record["seed"])) is not None:
        numbers["divergence"] = divergence_numbers(run, origin, loaded(cell.data)["test"]["text"])
    return numbers


def reference_run(table: str, cell: Cell, seed: int) -> Path | None:
    """The run that maps and predictions are held against: an adversary's base, a base's seed before."""
    if cell.relation == "adversarial" and cell.other is not None:
        return TRAININGS.ensure_run(table, cell.other, seed)
    return TRAININGS.ensure_run(table, cell, seed - 1) if cell.name == BASE and seed > 0 else None


def prediction_numbers(run: Path, positive: str) -> dict[str, Any]:
    """Accuracy and F1 of the positive class on test, with n; accuracy on dev."""
    import pandas as pd
    from sklearn.metrics import f1_score

    rows = pd.read_parquet(run / "predictions.parquet")
    dev, test = (rows[rows["split"] == split] for split in ("dev", "test"))
    return {
        "dev": float((dev["label"] == dev["predicted"]).mean()),
        "accuracy": float((test["label"] == test["predicted"]).mean()),
        "f1": float(f1_score(test["label"], test["predicted"], pos_label=positive)),
        "n": len(test),
        "positive": int((test["label"] == positive).sum()),
    }


def adversarial_numbers(run: Path, texts: Any, seed: int) -> dict[str, Any]:
    """ε-max JSD of `TEXTS` texts beside that of random weights, and the findings about other maps."""
    card = glasshead.audit(run, texts, audits=("adversarial",), limit=TEXTS, seed=seed)
    findings = {}
    for finding in card.findings:
        if finding.group == "all":
            name = ".".join(part for part in (finding.statistic, finding.against) if part)
            findings[name] = {
                "estimate": finding.estimate,
                "interval": finding.interval,
                "random": finding.null.get("random"),
                "n": finding.n,
                "undefined": finding.undefined,
            }
    return {
        "epsilon": card.facts["adversarial"]["epsilon"],
        "own": distribution(card.examples[COLUMN]),
        "random": distribution(card.examples[f"{COLUMN}.null.random"]),
        "findings": findings,
    }


def distribution(values: Any) -> dict[str, Any]:
    """Counts between `EDGES`, and quantiles; texts without a value are left out."""
    values = np.asarray(values, dtype=float)
    values = values[~np.isnan(values)]
    counts, _ = np.histogram(np.clip(values, 0, EDGES[-1]), EDGES)
    return {"counts": counts.tolist(), "quantiles": np.quantile(values, QUANTILES).tolist()}


def divergence_numbers(run: Path, base: Path, texts: list[str]) -> dict[str, Any]:
    """How far the maps and the predictions of a run are from those of another one, of evenly spaced texts."""
    places = np.linspace(0, len(texts) - 1, TEXTS).round().astype(int)  # a file may be sorted by class
    found = map_divergence(run, base, [texts[place] for place in places])
    return {
        name: {"estimate": each.estimate, "interval": each.interval, "null": dict(each.null), "n": each.n}
        for name, each in (("maps", found.maps), ("predictions", found.predictions))
    }


TRAININGS = Trainings("debate", TABLES | SWEEPS, summary)
