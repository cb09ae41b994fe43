"""What to do next, in the words of the command line: finer snapshots, another step, another training."""

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from glasshead.papers.results import History
    from glasshead.results import Finding

MAX_SETTINGS = 4
"""A command with more of them is not written out."""
DATA_OPTIONS = {
    "text_column": "--text-column", "label_column": "--label-column", "max_examples": "--rows",
    "split_seed": "--split-seed",
}  # fmt: skip
"""Options of the data that are written out."""


def history_remarks(history: "History", findings: "Sequence[Finding]", step: int | None) -> list[str]:
    """All remarks that a history calls for."""
    remarks = plateau_remark(history), best_step_remark(history, step), interval_remark(history, findings)
    return [remark for remark in remarks if remark is not None]


def plateau_remark(history: "History") -> str | None:
    """That a model has learned next to nothing, where the loss of its train texts says so."""
    from glasshead.papers.dynamics import loss_plateau
    from glasshead.report import number

    losses = loss_plateau(history)
    if losses is None:
        return None
    fall = f"the loss has hardly fallen, from {number(losses[0])} to {number(losses[1])}"
    return f"{fall}: such a training says little about the development of attention"


def best_step_remark(history: "History", step: int | None) -> str | None:
    """That the numbers are not those of the model in the run, which is that of its best epoch."""
    from glasshead.papers.dynamics import stop_step

    best = stop_step(history)
    if step is not None or best is None:
        return None
    snapshot = history.nearest(best)
    near = "" if snapshot == best else ", the snapshot nearest to it"
    shown = f"the numbers are those of step {int(history.steps[-1]):,}"
    return f"{shown}; the run keeps the model of step {best:,}: see --step {snapshot}{near}"


def interval_remark(history: "History", findings: "Sequence[Finding]") -> str | None:
    """How to record more snapshots, where they are too far apart for curves or terms to say much."""
    from glasshead.papers.dynamics import interval_for_curves, interval_for_terms

    snapshots, last = len(history.steps), int(history.steps[-1])
    if (every := interval_for_curves(history)) is not None:
        return (
            f"only {snapshots} snapshots in {last:,} steps: train with --watch-every {every} for finer curves"
        )
    if (every := interval_for_terms(history, findings)) is not None:
        spacing = f"snapshots {history.facts['every']} steps apart"
        return f"{spacing} are too far apart for some terms: train with --watch-every {every}"
    return None


def not_recorded_remark(run: Path, data: str | None, record: dict[str, Any]) -> str:
    """That only the trained model is shown, and how to record its training."""
    again = retrain_command(record, data, Path(f"{run}-watched"))
    remedy = "again with --watch dynamics" if again is None else f"it again: {again}"
    start = f"the training of {run} was not recorded, so only the trained model is shown; to record it"
    return f"{start}, train {remedy}"


def retrain_command(record: dict[str, Any], data: str | None, out: Path) -> str | None:
    """The command; None where it would be a long one, or is not known."""
    from dataclasses import asdict

    from glasshead.data import DATASETS, LoadOptions
    from glasshead.papers.dynamics import config_of
    from glasshead.training import TRAINING_PRESETS

    source, recipe = data or record["data"].get("source"), config_of(record)
    if source is None or recipe.preset not in TRAINING_PRESETS:
        return None
    preset = TRAINING_PRESETS[recipe.preset]
    usual, actual = (config.as_dict() | dict(config.architecture) for config in (preset, recipe))
    settings = {name: value for name, value in actual.items() if value != usual.get(name)}
    settings.pop("architecture", None)
    model = settings.pop("model", None)
    defaults = asdict(LoadOptions(dev_fraction=recipe.dev_fraction))
    recorded = record["data"].get("options", {})
    load_options = {name: value for name, value in recorded.items() if value != defaults.get(name)}
    generator = load_options.pop("generator", None) or {}
    if generator and source not in DATASETS:
        return None
    if set(usual) - set(actual) or not set(load_options) <= set(DATA_OPTIONS):
        return None
    if len(settings) + len(load_options) + len(generator) > MAX_SETTINGS:
        return None
    words = ["glasshead", "train", str(source), "--preset", recipe.preset]
    words += [] if model is None else ["--model", model]
    for name, value in settings.items():
        words += ["--set", f"{name}={value if isinstance(value, str) else json.dumps(value)}"]
    for name, value in load_options.items():
        words += [DATA_OPTIONS[name], str(value)]
    for name, value in generator.items():
        words += ["--option", f"{name}={value}"]
    words += ["--seed", str(record["seed"]), "--watch", "dynamics", "--out", str(out)]
    return shlex.join(words)
