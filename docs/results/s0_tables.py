"""Huang, Yang and Wang (2024), Tables 1 and 2 and Fig. 2, again: five seeds, real data, with the gauge fixed.

    python docs/results/s0_tables.py run      train and audit what is missing; writes s0_tables.json
    python docs/results/s0_tables.py write    s0_tables.json → docs/results.md

The data are read from the folder GLASSHEAD_DATA (default ../shared/data beside the checkout).
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "passive")

from glasshead.audit import audit
from glasshead.data import LoadOptions, load
from glasshead.results import AuditCard
from glasshead.training import PRESETS, load_run, train

HERE = Path(__file__).parent
DATA = Path(os.environ.get("GLASSHEAD_DATA", HERE.parents[2] / "shared" / "data"))
RUNS = HERE.parents[1] / "runs" / "s0_tables"
VALUES = HERE / "s0_tables.json"
SEEDS = range(5)
ACTIVATIONS = ("softmax", "tanhmax")
# Title → folder, how it is read, and what of the preset s0-code is changed for it.
SETS: dict[str, tuple[str, LoadOptions, dict[str, Any]]] = {
    "20 Newsgroups sports": ("20news_sports", LoadOptions(), {}),
    "SST-2": ("sst2", LoadOptions(), {"epochs": 15}),
    "AG News World/Business": ("ag_news", LoadOptions(classes=("World", "Business")), {}),
    "IMDB": ("imdb", LoadOptions(), {"max_length": 100, "epochs": 8}),
}


def run() -> None:
    """Everything that is not there yet; a broken run goes on where it stopped."""
    values: dict[str, Any] = json.loads(VALUES.read_text()) if VALUES.exists() else {}
    for title, (folder, options, changes) in SETS.items():
        data = None
        for seed in SEEDS:
            for activation in ACTIVATIONS:
                key = f"{title} | {activation} | {seed}"
                if key in values:
                    continue
                data = data or load(DATA / folder, options)
                out = RUNS / f"{folder}-{activation}-{seed}"
                recipe = PRESETS["s0-code"].with_changes(activation=activation, **changes)
                started = time.perf_counter()
                if not out.exists():
                    source = {"source": folder, "options": {"classes": options.classes}}
                    train(data, recipe, out, seed=seed, source=source, overwrite=True)
                card = audit(load_run(out), data["test"], seed=seed)
                values[key] = summary(card)
                VALUES.write_text(json.dumps(values, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")
                print(
                    key, f"{card.facts['accuracy']:.3f}", f"{time.perf_counter() - started:.0f} s", flush=True
                )


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


if __name__ == "__main__":
    run()
