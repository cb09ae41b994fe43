"""What each input does to scores, entropy and accuracy."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from reproduction.encoder_scale.measure import INPUTS, MECHANISMS, ROWS, SETS, TRAININGS
from reproduction.markdown import markdown, t_half

TITLES = {"transformer": "Transformer", "da-transformer": "DA-Transformer"}
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


def scale_table(name: str) -> str:
    """What one scale of the input does on a data set, and what else there is to compare with."""
    known = {cell: list(runs.values()) for cell, runs in TRAININGS.known(name).items()}
    cells = [
        use_row(TITLES[mechanism], READS[mechanism, read], known[f"{mechanism}, {read}"])
        for mechanism in MECHANISMS
        for read in INPUTS
        if f"{mechanism}, {read}" in known
    ]
    if (further := f"{name}_rows") in TRAININGS.tables:
        known = {cell: list(runs.values()) for cell, runs in TRAININGS.known(further).items()}
        cells += [use_row(*FURTHER[cell], known[cell]) for cell in ROWS if cell in known]
    heads = ("", "first layer reads", "seeds", "steps", "SD of scores", "entropy", "dev %", "test %")
    return markdown(heads, cells, rule="---")


def page() -> Iterator[str]:
    """A part of transformers.md."""
    yield NOTE
    for name, title in SETS.items():
        yield from (f"**{title}**", scale_table(name))
