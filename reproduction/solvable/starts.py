"""Does the start of a training decide what its attention reads? The histogram task, scores that read both.

"new": new weights of queries and keys that read places, or letters, alone; "trained": the models of
the study, whose scores were held to places, or to letters, are freed and trained on. Both go on by SGD
and by Adam. What is measured is where the attention is at the end.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from glasshead.data import LoadOptions
from glasshead.opening import load_run
from glasshead.papers.minima import compare_minima
from glasshead.training import preset_config, train
from reproduction.solvable.measure import HISTOGRAM, LANDSCAPE, RECIPE, TABLES, TRAININGS, around
from reproduction.study import RUNS, measure_missing
from reproduction.trainings import Set, loaded

SEEDS = 5
MORE = Set("histogram", LoadOptions(generator={"letters": 8, "instances": 40000}))
"""New weights need more texts: by SGD, 5,600 are learned by heart."""
NEW = {
    "SGD": {"optimizer": "sgd", "learning_rate": 0.03, "batch_size": 32, "epochs": 30},
    "Adam": {"optimizer": "adam", "learning_rate": 1e-3, "batch_size": 32, "epochs": 10},
}
TRAINED = {
    "SGD": {"optimizer": "sgd", "learning_rate": 5e-3, "batch_size": 32, "epochs": 40},
    "Adam": {"optimizer": "adam", "learning_rate": 1e-3, "batch_size": 32, "epochs": 20},
}
KINDS = ("positional", "semantic")
STARTS = RUNS / "solvable" / "starts"


def new(kind: str, optimizer: str, seed: int) -> Path:
    """The run of new weights that read one part alone at first."""
    shared = {name: RECIPE[name] for name in ("tied", "intermediate_size")}
    recipe = preset_config("token-classifier", None).with_changes(start=kind, **shared, **NEW[optimizer])
    return trained(MORE, recipe, STARTS / f"new-{kind}-{optimizer}" / f"seed-{seed}", seed)


def freed(kind: str, optimizer: str, seed: int) -> Path:
    """The run that goes on from a model whose scores were held to one part, and now may read both."""
    (cell,) = [cell for cell in TABLES["histogram"] if cell.name == kind]
    begun = STARTS / "freed" / f"{kind}-{seed}"
    if not begun.exists():
        held = load_run(TRAININGS.ensure_run("histogram", cell, seed))
        held.model.free_scores()
        held.model.save_pretrained(begun)
        held.tokenizer.save_pretrained(begun)
    recipe = preset_config(None, str(begun)).with_changes(
        max_length=16, by_length=False, **TRAINED[optimizer]
    )
    return trained(HISTOGRAM, recipe, STARTS / f"trained-{kind}-{optimizer}" / f"seed-{seed}", seed)


def trained(data: Set, recipe: Any, out: Path, seed: int) -> Path:
    """A run, unless it is there."""
    if not out.exists():
        train(loaded(data), recipe, out, seed=seed, source=data.source())
    return out


def measured(begin: Callable[[str, str, int], Path], kind: str, optimizer: str, seed: int) -> dict[str, Any]:
    """Accuracy and entropy on test, what the variance of scores comes from, and the loss around it."""
    folder = begin(kind, optimizer, seed)
    (one,) = compare_minima([folder], limit=LANDSCAPE, seed=seed).solutions
    return around(one.accuracy, {"freed": one.curvatures["freed"]}) | {
        "entropy": round(one.entropy, 5),
        "shares": {name: round(share, 5) for name, share in one.shares.items()},
    }


def measure_starts(processes: int = 1) -> None:
    """Both kinds of starts, with both optimizers."""
    jobs = {
        f"{'new' if begin is new else 'trained'} | {kind} | {optimizer} | {seed}": partial(
            measured, begin, kind, optimizer, seed
        )
        for seed in range(SEEDS)
        for begin in (new, freed)
        for optimizer in ("SGD", "Adam")
        for kind in KINDS
    }
    measure_missing("solvable", "starts", jobs, processes, digits=None)
