"""Train models on two tasks whose true answer is known, and ask every audit about them.

"histogram": how often does a letter occur in a text? Token classifiers of one layer with tied queries and
keys, whose scores read places alone ("positional"), letters alone ("semantic"), or neither ("uniform").
"dyck": which bracket has to close next? Two layers that read from left to right, with softmax, and with
uniform weights in both.
"""

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from glasshead import audit
from glasshead.data import LoadOptions
from glasshead.opening import MEASURED, load_run, read_object, read_record
from glasshead.papers.minima import compare_minima, curvatures, polish
from glasshead.papers.results import Curvature
from glasshead.report import PLOTS
from glasshead.statistics import pointing_hits, precision_recall_area
from glasshead.training import TensorDataset, encoded_split, label_tensor, preset_config
from reproduction.study import measure_missing, picture
from reproduction.trainings import Cell, Set, Trainings, key, loaded

SEEDS = 10
TEXTS = 60
"""Of the test split, for every audit."""
LANDSCAPE = 300
"""Of the train split, for the Hessian and the loss on lines."""
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
    "dyck": cells(Set("dyck"), LAYERS, **DYCK),
}
TRAININGS = Trainings("solvable", TABLES, summary)


def measure_minima(processes: int = 1) -> None:
    """Of each seed the positional and the semantic run of "histogram", side by side."""
    jobs = {str(seed): partial(minima, seed) for seed in range(SEEDS)}
    measure_missing("solvable", "minima", jobs, processes, digits=None)


def minima(seed: int) -> dict[str, Any]:
    """Both as they were trained and polished, and what is between them; of the first seed a picture."""
    both = [cell for cell in TABLES["histogram"] if cell.name in ("positional", "semantic")]
    folders = [TRAININGS.ensure_run("histogram", cell, seed) for cell in both]
    compared = compare_minima(folders, limit=LANDSCAPE, seed=seed)
    if seed == 0:
        PLOTS["minima"].draw(compared).save(picture("solvable-minima.png"), overwrite=True)
    return {
        cell.name: {"trained": around(one.accuracy, one.curvatures), "polished": polished(folder, seed)}
        for cell, folder, one in zip(both, folders, compared.solutions, strict=True)
    } | {"matched" if line.matched else "as it is": round(line.barrier, 5) for line in compared.lines}


def around(accuracy: float, found: dict[str, Curvature]) -> dict[str, Any]:
    """Accuracy on test and the loss of training, with five digits."""
    curvatures = {
        name: {key: float(f"{value:.5g}") for key, value in asdict(one).items()}
        for name, one in found.items()
    }
    return {"accuracy": round(accuracy, 5), **curvatures}


def polished(folder: Path, seed: int) -> dict[str, Any]:
    """The same of a model that has gone on to descend, with its scores held as in training."""
    run, data = load_run(folder), loaded(HISTOGRAM)
    rows = {
        split: TensorDataset(encoded_split(run.tokenizer, data[split]), label_tensor(data[split]))
        for split in ("train", "test")
    }
    model = polish(run.model, rows["train"])
    with torch.no_grad():
        right = model(**rows["test"].encoded.inputs()).logits.argmax(dim=1) == rows["test"].labels
    return around(float(right.double().mean()), curvatures(model, rows["train"], limit=LANDSCAPE, seed=seed))


def measure_texts(processes: int = 1) -> None:
    """Every run but the floor of "histogram", which has no map to ask about."""
    jobs = {
        f"{table} | {key(cell, seed)}": partial(read_texts, table, cell, seed)
        for table in ("histogram", "dyck")
        for cell, seed in TRAININGS.cells(table)
        if (table, cell.name) != ("histogram", "uniform")
    }
    measure_missing("solvable", "texts", jobs, processes)


@torch.no_grad()
def read_texts(table: str, cell: Cell, seed: int) -> dict[str, Any]:
    """How many test texts stand in train, too, accuracy on the others, and of "histogram" what the map has at
    the place that asks and at the other copies of its letter."""
    data = loaded(cell.data)
    run, test = load_run(TRAININGS.ensure_run(table, cell, seed)), data["test"]
    known = set(data["train"]["text"])
    unseen = np.array([text not in known for text in test["text"]])
    inputs = encoded_split(run.tokenizer, test).inputs()
    found = run.model(**inputs, output_attentions=True)
    right = (found.logits.argmax(dim=1) == label_tensor(test)).numpy()
    numbers = {
        "texts": len(test),
        "distinct": len(set(test["text"])),
        "unseen": int(unseen.sum()),
        "accuracy on unseen": float(right[unseen].mean()),
    }
    return numbers | (copies(run.model, inputs, found.attentions[0]) if table == "histogram" else {})


def copies(model: Any, inputs: dict[str, torch.Tensor], weights: torch.Tensor) -> dict[str, float]:
    """How often the place that asks has the largest weight, and the area under precision and recall of the
    other copies of its letter among the other places, by the weights and by random ones."""
    ids, mask = inputs["input_ids"], inputs["attention_mask"].bool()
    asks = torch.nn.functional.one_hot(model.asked(ids, mask).token, ids.shape[1]).bool()
    letters, row = model.embedding.letters[ids], weights[:, 0, 0].double()
    marked = (letters == letters[asks][:, None]) & ~asks
    others = (mask & ~asks).numpy()
    rng = np.random.default_rng(0)
    scores = {"other copies": [row.numpy()], "at random": [rng.random(row.shape) for _ in range(20)]}
    areas = {
        name: float(np.nanmean([precision_recall_area(each, marked.numpy(), others) for each in draws]))
        for name, draws in scores.items()
    }
    pointed = pointing_hits(row.numpy(), asks.numpy(), mask.numpy())
    return {"largest where it asks": float(pointed.mean()), **areas}
