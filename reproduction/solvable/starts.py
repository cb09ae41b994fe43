"""Does the start of a training decide what its attention reads? The histogram task, scores that read both.

    python docs/results/solvable_starts.py

"new": new weights of queries and keys that read places, or letters, alone; "trained": the models of
`solvable.py`, whose scores were held to places, or to letters, are freed and trained on. Both go on by SGD
and by Adam. Writes solvable/starts.json: where the attention is at the end.
"""

import json
import sys
from pathlib import Path
from typing import Any

from glasshead.data import LoadOptions
from glasshead.opening import load_run
from glasshead.papers.minima import compare_minima
from glasshead.training import preset_config, train
from solvable import HISTOGRAM, LANDSCAPE, RECIPE, STUDY, TABLES, around, write_lines
from study import HERE, Set, loaded

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
RUNS = HERE.parents[1] / "runs" / "solvable" / "starts"


def new(kind: str, optimizer: str, seed: int) -> Path:
    """The run of new weights that read one part alone at first."""
    shared = {name: RECIPE[name] for name in ("tied", "intermediate_size")}
    recipe = preset_config("token-classifier", None).with_changes(start=kind, **shared, **NEW[optimizer])
    return trained(MORE, recipe, RUNS / f"new-{kind}-{optimizer}" / f"seed-{seed}", seed)


def freed(kind: str, optimizer: str, seed: int) -> Path:
    """The run that goes on from a model whose scores were held to one part, and now may read both."""
    (cell,) = [cell for cell in TABLES["histogram"] if cell.name == kind]
    begun = RUNS / "freed" / f"{kind}-{seed}"
    if not begun.exists():
        held = load_run(STUDY.ensure_run("histogram", cell, seed))
        held.model.free_scores()
        held.model.save_pretrained(begun)
        held.tokenizer.save_pretrained(begun)
    recipe = preset_config(None, str(begun)).with_changes(
        max_length=16, by_length=False, **TRAINED[optimizer]
    )
    return trained(HISTOGRAM, recipe, RUNS / f"trained-{kind}-{optimizer}" / f"seed-{seed}", seed)


def trained(data: Set, recipe: Any, out: Path, seed: int) -> Path:
    """A run, unless it is there."""
    if not out.exists():
        train(loaded(data), recipe, out, seed=seed, source=data.source())
    return out


def measured(folder: Path, seed: int) -> dict[str, Any]:
    """Accuracy and entropy on test, what the variance of scores comes from, and the loss around it."""
    (one,) = compare_minima([folder], limit=LANDSCAPE, seed=seed).solutions
    return around(one.accuracy, {"freed": one.curvatures["freed"]}) | {
        "entropy": round(one.entropy, 5),
        "shares": {name: round(share, 5) for name, share in one.shares.items()},
    }


def main() -> None:
    """Train and measure what is missing."""
    path = HERE / "solvable" / "starts.json"
    values = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    for seed in range(SEEDS):
        for begin in (new, freed):
            for optimizer in ("SGD", "Adam"):
                for kind in KINDS:
                    name = f"{'new' if begin is new else 'trained'} | {kind} | {optimizer} | {seed}"
                    if name not in values:
                        values[name] = measured(begin(kind, optimizer, seed), seed)
                        print(name, json.dumps(values[name]), flush=True)
                        write_lines("starts", values)


if __name__ == "__main__":
    sys.exit(__doc__) if len(sys.argv) > 1 else main()
