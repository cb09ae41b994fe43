"""Train encoders whose first layer reads one of several inputs.

Four inputs of the first layer, for the vanilla Transformer (softmax, with sinusoids p_i) and DA-Transformer
(no sinusoids), each trained until dev is flat; "first" is what models had at first:

    first         √d e_i + p_i, and e_i
    factor        √d e_i + p_i, and √d e_i
    norm          LN(e_i + p_i), and LN(e_i)
    norm, factor  LN(√d e_i + p_i), and LN(√d e_i)

"trec_rows" adds on TREC, with the norm: DA-Transformer with sinusoids, softmax without any positions, and
uniform attention without positions, pooled by the mean.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from glasshead.training import TrainingConfig, preset_config
from reproduction.trainings import Cell, Set, Trainings

SETS = {"trec": "TREC", "sst2": "SST-2"}
TREC, SST2 = map(Set, SETS)

INPUTS: dict[str, dict[str, Any]] = {
    "first": {},
    "factor": {"scale_embedding": True},
    "norm": {"scale_embedding": False, "layernorm_embedding": True},
    "norm, factor": {"scale_embedding": True, "layernorm_embedding": True},
}
MECHANISMS = ("transformer", "da-transformer")
SEEDS = 5


def first_scale(recipe: TrainingConfig) -> TrainingConfig:
    """The preset as it was at first: embeddings are scaled where sinusoids are added, and nowhere else."""
    later = ("scale_embedding", "layernorm_embedding")
    rest = {name: value for name, value in recipe.architecture.items() if name not in later}
    return replace(recipe, architecture=rest)


def cells(data: Set, **changes: Any) -> list[Cell]:
    """Both mechanisms with every input; what the vanilla Transformer had at first is the factor."""
    return [
        Cell(
            f"{name}, {read}",
            data,
            first_scale(preset_config(f"{name}-small", None)).with_changes(patience=5, **changes, **options),
            SEEDS,
        )
        for name in MECHANISMS
        for read, options in INPUTS.items()
        if (name, read) != ("transformer", "first")
    ]


ROWS: dict[str, tuple[str, dict[str, Any]]] = {
    "distances and sinusoids": ("da-transformer", {"positions": "sinusoidal"}),
    "no positions": ("transformer", {"positions": "none"}),
    "uniform": ("transformer", {"attention": "uniform", "pooling": "mean", "positions": "none"}),
}
"""What the two mechanisms have to be held against, with the norm of the presets."""


def rows(data: Set, **changes: Any) -> list[Cell]:
    """The further rows on one data set."""
    return [
        Cell(
            name,
            data,
            preset_config(f"{preset}-small", None).with_changes(patience=5, **changes, **options),
            SEEDS,
        )
        for name, (preset, options) in ROWS.items()
    ]


TABLES = {
    "trec": cells(TREC, epochs=30),
    "sst2": cells(SST2, epochs=20),
    "trec_rows": rows(TREC, epochs=30),
}


def summary(run: Path) -> dict[str, Any]:
    """Dev and test, how long it took, and what attention did before and after."""
    metrics = json.loads((run / "metrics.json").read_text(encoding="utf-8"))
    record = json.loads((run / "run.json").read_text(encoding="utf-8"))
    use = {
        when: [{name: layer[name] for name in ("name", "score_sd", "entropy")} for layer in layers]
        for when, layers in record["attention_use"].items()
    }
    return {"dev": metrics["dev"], "test": metrics["test"], "training": record["training"], "use": use}


TRAININGS = Trainings("encoder_scale", TABLES, summary)
