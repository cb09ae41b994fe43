"""Which audit notices that the map of a right model says nothing? Tasks whose true answer is known.

    python docs/results/solvable.py run [TABLE …]   train and audit what is missing, PROCESSES at a time
    python docs/results/solvable.py minima          their Hessian, and the loss between two of a seed

"histogram": how often does a letter occur in a text? Token classifiers of one layer with tied queries and
keys, whose scores read places alone ("positional"), letters alone ("semantic"), or neither ("uniform").
"starts": scores that read both, from new weights of places, or of letters, alone.
"dyck": which bracket has to close next? Two layers that read from left to right, with softmax, and with
uniform weights in both.

Writes a JSON file per table. `solvable_tables.py` draws and writes what it says.
"""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from glasshead import audit
from glasshead.data import LoadOptions
from glasshead.report import PLOTS
from glasshead.training import MEASURED, compare_minima, preset_config, read_object, read_record
from study import HERE, Cell, Set, Study, main, rounded

SEEDS = 10
TEXTS = 60
"""Of the test split, for every audit."""
LANDSCAPE = 300
"""Of the test split, for the Hessian and the loss on lines."""
AUDITS = ("explanation", "plausibility")
FINDINGS = {
    "agreement with gradients": "agreement.attention-absolute.gradient.all",
    "agreement with erasure": "agreement.attention-absolute.erasure-renormalise.all",
    "shuffled weights": "perturbation.permutation.absolute.all",
    "uniform weights": "perturbation.uniform.absolute.all",
    "random weights": "perturbation.random-normalised.absolute.all",
    "another map": "adversarial.found.free.all",
    "another map of the head": "adversarial.found.producible.all",
    "without the heads": "heads.removal.all",
    "operators": "operators.attention-absolute.survival.all",
    "comprehensiveness": "faithfulness.comprehensiveness.all",
    "sufficiency": "faithfulness.sufficiency.all",
    "the only map": "identifiability.identifiable.all",
    "planted places": "plausibility.auprc.all",
}
"""What is asked, by the name of its finding."""
HISTOGRAM = Set("histogram", LoadOptions(generator={"letters": 8, "instances": 8000}))
RECIPE: dict[str, Any] = {
    "tied": True,
    "intermediate_size": 64,
    "batch_size": 128,
    "learning_rate": 5e-3,
    "epochs": 60,
}
KINDS: dict[str, dict[str, Any]] = {
    "positional": {"scores": "positional"},
    "semantic": {"scores": "semantic"},
    "uniform": {"attention": "uniform"},
}
STARTS = {"positional start": {"start": "positional"}, "semantic start": {"start": "semantic"}}


def cells(data: Set, kinds: dict[str, dict[str, Any]], seeds: int = SEEDS, **settings: Any) -> list[Cell]:
    """One cell for each kind of attention."""
    recipe = preset_config("token-classifier", None)
    return [Cell(name, data, recipe.with_changes(**settings, **kind), seeds) for name, kind in kinds.items()]


def summary(run: Path) -> dict[str, Any]:
    """Accuracy, the use of attention, and what each audit says: estimate, interval, difference from the
    null."""
    source = read_record(run)["data"]["source"]  # read as the run has read it
    card = audit(run, source, audits=AUDITS, limit=TEXTS, split="test", seed=0)
    known = {finding.name: finding for finding in card.findings}
    found = {}
    for question, name in FINDINGS.items():
        if (finding := known.get(name)) is not None:
            over = finding.over_null.get("random")
            found[question] = {
                "estimate": finding.estimate,
                "interval": finding.interval,
                "over random": None if over is None else over.interval,
            }
    use = card.facts["attention_use"]["after"][-1]
    return {
        "accuracy": accuracy_of(run),
        "entropy": use["entropy"],
        "entropy interval": use["interval"],
        "score_sd": use["score_sd"],
        "findings": found,
    }


def accuracy_of(run: Path) -> float:
    """On the whole test split."""
    return float(read_object(run / MEASURED)["test"]["accuracy"])


DYCK = RECIPE | {
    "tied": False,
    "num_hidden_layers": 2,
    "left_to_right": True,
    "learning_rate": 3e-3,
    "epochs": 10,
}
LAYERS: dict[str, dict[str, Any]] = {"softmax": {}, "uniform": {"attention": "uniform"}}
TABLES = {
    "histogram": cells(HISTOGRAM, KINDS, **RECIPE),
    "starts": cells(HISTOGRAM, STARTS, 5, **RECIPE),
    "dyck": cells(Set("dyck"), LAYERS, **DYCK),
}
STUDY = Study("solvable", TABLES, summary)


def minima() -> None:
    """minima.json: of each seed the positional and the semantic run of "histogram", side by side; and a
    picture of those of the first."""
    both = [cell for cell in TABLES["histogram"] if cell.name in ("positional", "semantic")]
    values = {}
    for seed in range(SEEDS):
        folders = [STUDY.ensure_run("histogram", cell, seed) for cell in both]
        compared = compare_minima(folders, limit=LANDSCAPE, seed=seed)
        if seed == 0:
            PLOTS["minima"].draw(compared).save(HERE.parent / "images" / "solvable-minima.png")
        values[str(seed)] = rounded(
            {
                cell.name: asdict(one.curvature) | {"variance": dict(one.shares), "loss": one.loss}
                for cell, one in zip(both, compared.solutions, strict=True)
            }
            | {"matched" if line.matched else "as it is": line.barrier for line in compared.lines}
        )
        print(seed, json.dumps(values[str(seed)])[:120], flush=True)
    lines = [f"{json.dumps(seed)}: {json.dumps(entry)}" for seed, entry in values.items()]
    (HERE / "solvable" / "minima.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    minima() if sys.argv[1:] == ["minima"] else main(STUDY, __doc__)
