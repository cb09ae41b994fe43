"""What one scale of the input does to encoders, and which one the presets have therefore.

    python docs/results/encoder_scale.py run [TABLE …]   train what is missing, PROCESSES at a time
    python docs/results/encoder_scale.py write           the JSON files → encoder-scale.md

Four inputs of the first layer, for the vanilla Transformer (softmax, with sinusoids p_i) and DA-Transformer
(no sinusoids), each trained until dev is flat; "first" is what models had at first:

    first         √d e_i + p_i, and e_i
    factor        √d e_i + p_i, and √d e_i
    norm          LN(e_i + p_i), and LN(e_i)
    norm, factor  LN(√d e_i + p_i), and LN(√d e_i)

"trec_rows" adds on TREC, with the norm: DA-Transformer with sinusoids, softmax without any positions, and
uniform attention without positions, pooled by the mean.

Writes a JSON file per table.
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from glasshead.training import TrainingConfig, preset_config
from study import HERE, Cell, Set, Study, main, t_half

SETS = {"trec": "TREC", "sst2": "SST-2"}
TREC, SST2 = map(Set, SETS)
TITLES = {"transformer": "Transformer", "da-transformer": "DA-Transformer"}

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


STUDY = Study("encoder_scale", TABLES, summary)


NOTE = (
    "What remedies do, all trained until dev is flat (patience 5): *e* is the embedding of a word (SD 0.1, "
    "d = 64), *p* a sinusoid. Means over seeds, accuracies with the 95 % t-interval of the mean. Scores and "
    "entropy are those of the layer, on 128 texts of dev, before → after training; entropy is a share of the "
    "largest, 1 where all tokens weigh the same."
)
READS = {
    ("transformer", "factor"): "√d e + p (at first)",
    ("transformer", "norm"): "LN(e + p)",
    ("transformer", "norm, factor"): "LN(√d e + p)",
    ("da-transformer", "first"): "e (at first)",
    ("da-transformer", "factor"): "√d e",
    ("da-transformer", "norm"): "LN(e)",
    ("da-transformer", "norm, factor"): "LN(√d e)",
}
FURTHER = {
    "distances and sinusoids": ("DA-Transformer with sinusoids", "LN(e + p)"),
    "no positions": ("Transformer without positions", "LN(e)"),
    "uniform": ("uniform attention, pooled by the mean, without positions", "LN(e)"),
}


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Markdown."""
    return [
        "| " + " | ".join(heads) + " |",
        "|" + "---|" * len(heads),
        *("| " + " | ".join(row) + " |" for row in rows),
        "",
    ]


def mean_interval(numbers: Sequence[float]) -> str:
    """mean [95 % t-interval of the mean] in per cent, the mean alone below five seeds."""
    mean, half = 100 * float(np.mean(numbers)), t_half(100 * np.array(numbers))
    return f"{mean:.1f}" if len(numbers) < 5 else f"{mean:.1f} [{mean - half:.1f}, {mean + half:.1f}]"


def use_row(title: str, reads: str, runs: Sequence[dict[str, Any]]) -> list[str]:
    """Steps, what attention did, and accuracy of the runs of a cell."""
    changes = [
        " → ".join(
            f"{np.mean([run['use'][when][0][key] for run in runs]):.3f}" for when in ("before", "after")
        )
        for key in ("score_sd", "entropy")
    ]
    steps = np.mean([run["training"]["steps"] for run in runs])
    accuracies = [mean_interval([run[split]["accuracy"] for run in runs]) for split in ("dev", "test")]
    return [title, reads, str(len(runs)), f"{steps:.0f}", *changes, *accuracies]


def scale_table(name: str) -> list[str]:
    """What one scale of the input does on a data set, and what else there is to compare with."""
    known = {cell: list(runs.values()) for cell, runs in STUDY.known(name).items()}
    cells = [
        use_row(TITLES[mechanism], READS[mechanism, read], known[f"{mechanism}, {read}"])
        for mechanism in MECHANISMS
        for read in INPUTS
        if f"{mechanism}, {read}" in known
    ]
    if (further := f"{name}_rows") in STUDY.tables:
        known = {cell: list(runs.values()) for cell, runs in STUDY.known(further).items()}
        cells += [use_row(*FURTHER[cell], known[cell]) for cell in ROWS if cell in known]
    heads = ("", "first layer reads", "seeds", "steps", "SD of scores", "entropy", "dev %", "test %")
    return [f"**{SETS[name]}**", "", *table(heads, cells)]


def write() -> None:
    """encoder-scale.md."""
    lines = ["<!-- Written by docs/results/encoder_scale.py: do not edit. -->", "", NOTE, ""]
    lines += [line for name in SETS for line in scale_table(name)]
    (HERE / "encoder-scale.md").write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    write() if sys.argv[1:] == ["write"] else main(STUDY, __doc__)
