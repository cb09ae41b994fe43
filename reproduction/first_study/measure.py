"""Train both activations with the settings of the published code, and audit each model on its test split.

Trainings have a fixed number of epochs, and the audits an older gauge: `glasshead reproduce s0` trains until
dev is flat.
"""

from functools import partial
from typing import Any

from glasshead.audits import audit
from glasshead.data import LoadOptions
from glasshead.opening import load_run
from glasshead.results import AuditCard
from glasshead.training import TRAINING_PRESETS, train
from reproduction.study import RUNS, measure_missing
from reproduction.trainings import Set, loaded

SEEDS = range(5)
TESTS = ("performance", "agreement", "perturbation", "tokens")
ACTIVATIONS = ("softmax", "tanhmax")
# Title → folder, how it is read, and what of the preset s0-code is changed for it.
SETS: dict[str, tuple[str, LoadOptions, dict[str, Any]]] = {
    "20 Newsgroups sports": ("20news_sports", LoadOptions(), {}),
    "SST-2": ("sst2", LoadOptions(), {"epochs": 15}),
    "AG News World/Business": ("ag_news", LoadOptions(classes=("World", "Business")), {}),
    "IMDB": ("imdb", LoadOptions(), {"max_length": 100, "epochs": 8}),
}


def measure_models(processes: int = 1) -> None:
    """Every set with both activations."""
    jobs = {
        f"{title} | {activation} | {seed}": partial(one, title, activation, seed)
        for title in SETS
        for seed in SEEDS
        for activation in ACTIVATIONS
    }
    measure_missing("first_study", "models", jobs, processes)


def one(title: str, activation: str, seed: int) -> dict[str, Any]:
    """Train a model, unless it is there, and audit it."""
    folder, options, changes = SETS[title]
    data = loaded(Set(folder, options))
    out = RUNS / "first_study" / f"{folder}-{activation}-{seed}"
    recipe = TRAINING_PRESETS["s0-code"].with_changes(activation=activation, **changes)
    if not out.exists():
        source = {"source": folder, "options": {"classes": options.classes}}
        train(data, recipe, out, seed=seed, source=source, overwrite=True)
    return summary(audit(load_run(out), data["test"], audits=TESTS, seed=seed))


def summary(card: AuditCard) -> dict[str, Any]:
    """The numbers of one run that the tables need."""
    return {
        "accuracy": card.facts["accuracy"],
        "macro_f1": card.facts["macro_f1"],
        "gauge": card.facts["gauge"],
        "epochs": card.facts["recipe"]["epochs"],
        "findings": {
            finding.name: {
                "estimate": finding.estimate,
                "std": finding.std,
                "interval": finding.interval,
                "null": finding.null,
                "n": finding.n,
                "significant": finding.significant_fraction,
            }
            for finding in card.findings
            if finding.audit != "perturbation" or not finding.group.startswith("max weight")
        },
    }
