"""The command that does a training once more and records its dynamics."""

import json
import shlex
from pathlib import Path
from typing import Any

MAX_SETTINGS = 4
"""A command with more of them is not written out."""
DATA_OPTIONS = {
    "text_column": "--text-column", "label_column": "--label-column", "max_examples": "--rows",
    "split_seed": "--split-seed",
}  # fmt: skip
"""Options of the data that are written out."""


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
