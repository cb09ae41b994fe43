"""VᵀW of several runs against the ratio of positive to negative texts that they were trained on."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from glasshead.errors import InputError
from glasshead.opening import read_record, run_folders
from glasshead.papers.dynamics.post_hoc import config_of
from glasshead.papers.results import CouplingByRatio, History, RatioPoint, read_history
from glasshead.training import TrainingConfig, option_fields


@dataclass(frozen=True)
class RunCoupling:
    """What one run tells at a step; ``name`` is VᵀW, or what stands for it behind a map."""

    folder: Path
    point: RatioPoint
    name: str
    labels: tuple[str, str]
    step: int
    settings: dict[str, Any]


def coupling_by_ratio(folders: Sequence[Path], step: int | None = None) -> CouplingByRatio:
    """VᵀW of all runs (each seed of repeats) at the snapshot nearest to a step, or else at the last.

    Raises:
        InputError: on a run without a history or without VᵀW of two classes, on runs that differ in more
            than their texts and seeds, and if all have the same ratio.

    Source: Sun and Lu (2020), Fig. 7.
    """
    runs = {run.resolve(): run for folder in folders for run in run_folders(folder)}
    couplings = [coupling_of_run(run, step) for run in runs.values()]
    first = couplings[0]
    for other in couplings[1:]:
        check_alike(first, other)
    steps = sorted({one.step for one in couplings})
    when = f"at step {steps[0]:,}" if len(steps) == 1 else f"at steps {steps[0]:,} to {steps[-1]:,}"
    result = CouplingByRatio([one.point for one in couplings], first.name, first.labels, when)
    if len(result.groups) < 2:
        raise InputError(
            f"these runs have the same ratio of {first.labels[1]} to {first.labels[0]} texts, "
            f"{result.groups[0].ratio:.2g}: name runs of two or more (with other values of ratio)"
        )
    return result


def coupling_of_run(folder: Path, step: int | None) -> RunCoupling:
    """The ratio and VᵀW of one run, at the snapshot nearest to a step, else the last.

    Raises:
        InputError: if it has none, or ended before that step.
    """
    record = read_record(folder)
    classes = record["data"].get("classes", {}).get("train", {})
    if len(classes) != 2:
        what = f"has {len(classes)} classes" if classes else "predicts ratings"
        raise InputError(f"{folder} {what}: a ratio of positive to negative texts needs two classes")
    history = read_history(folder)
    name = coupling_name(history)
    if name is None:
        raise InputError(
            f"{folder} has no VᵀW, because its model ({history.facts['title']}) has no such product"
        )
    (negative, less), (positive, more) = classes.items()
    if not less or not more:
        raise InputError(f"{folder} was trained on texts of one class, so it has no ratio")
    curve = history.curve(name)
    at = history.nearest(step)
    point = RatioPoint(more / less, curve["mean"][curve["step"] == at].item())
    return RunCoupling(folder, point, name, (negative, positive), at, recipe_settings(config_of(record)))


def recipe_settings(recipe: TrainingConfig) -> dict[str, Any]:
    """Every setting of a recipe and of its model by its own name, whether somebody chose it or not."""
    config = recipe.model_config()
    named = {
        name: value for name, value in recipe.as_dict().items() if name not in ("preset", "architecture")
    }
    return named | {field.name: getattr(config, field.name) for field in option_fields(type(config))}


def coupling_name(history: History) -> str | None:
    """The name of VᵀW, of V′ᵀW′ where there is a map; None where V and W share no space."""
    names = [name for name in history.quantities() if "ᵀ" in name]
    return names[-1] if names else None


def check_alike(first: RunCoupling, other: RunCoupling) -> None:
    """Raise InputError for runs whose VᵀW differ for another reason than their texts and seeds."""
    settings = first.settings | other.settings
    names = [name for name in settings if first.settings.get(name) != other.settings.get(name)]
    if first.labels != other.labels:
        names.append("classes")
    if names:
        raise InputError(
            f"{first.folder} and {other.folder} differ in {', '.join(names)}: "
            "name runs that differ only in their texts and seeds"
        )
