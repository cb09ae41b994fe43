"""VᵀW of several runs against the ratio of positive to negative texts that they were trained on."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from glasshead.errors import InputError
from glasshead.histories import History, read_history
from glasshead.report.dynamics import figure_of
from glasshead.report.dynamics.ratios import Point, by_ratio, ratios, told
from glasshead.report.prints import drawn, plain
from glasshead.training.run import read_record, run_folders


@dataclass(frozen=True)
class Coupled:
    """What one run tells at a step; ``name`` is VᵀW, or what stands for it behind a map, ``recipe`` its
    settings."""

    folder: Path
    point: Point
    name: str
    labels: tuple[str, str]
    step: int
    recipe: dict[str, Any]


def ratios_picture(folders: Sequence[Path], kind: str, step: int | None = None) -> tuple[bytes, list[str]]:
    """The picture of all runs (of repeats, of each seed), and a line of numbers for each ratio.

    Raises:
        InputError: on a run that was not watched or has no VᵀW of two classes, on runs that differ in more
            than their texts and seeds, and where all have one ratio.

    Source: Sun and Lu (2020), Fig. 7.
    """
    runs = {run.resolve(): run for folder in folders for run in run_folders(folder)}
    found = [coupled(run, step) for run in runs.values()]
    first = found[0]
    for each in found[1:]:
        check_alike(first, each)
    points = [each.point for each in found]
    seeds = by_ratio(points)
    if len(seeds) < 2:
        raise InputError(
            f"these runs have one ratio of {first.labels[1]} to {first.labels[0]} texts, "
            f"{plain(float(f'{seeds[0].ratio:.2g}'))}: name runs of two or more (--option ratio=2)"
        )
    steps = sorted({each.step for each in found})
    when = f"at step {steps[0]:,}" if len(steps) == 1 else f"at steps {steps[0]:,} to {steps[-1]:,}"
    picture = ratios(points, first.name, first.labels, when)
    lines = [f"{plain(float(f'{each.ratio:.2g}'))}: {first.name} {told(each)}" for each in seeds]
    return drawn(figure_of(picture), kind), lines


def coupled(folder: Path, step: int | None) -> Coupled:
    """The ratio and VᵀW of one run, at the look nearest to a step, else the last.

    Raises:
        InputError: if it has none.
    """
    record = read_record(folder)
    classes = record["data"].get("classes", {}).get("train", {})
    if len(classes) != 2:
        what = f"has {len(classes)} classes" if classes else "predicts ratings"
        raise InputError(f"{folder} {what}: a ratio of positive to negative texts needs two classes")
    history = read_history(folder)
    name = coupling_of(history)
    if name is None:
        raise InputError(f"{folder} has no VᵀW, in its model ({history.facts['title']}) nothing is coupled")
    (negative, less), (positive, more) = classes.items()
    if not less or not more:
        raise InputError(f"{folder} was trained on texts of one class: it has no ratio of two")
    curve = history.curve(name)
    at = -1 if step is None else int(np.argmin(np.abs(curve["step"] - step)))
    point = Point(more / less, float(curve["mean"][at]))
    recipe = record["recipe"]
    looked = int(curve["step"][at])
    return Coupled(folder, point, name, (negative, positive), looked, recipe | recipe.get("architecture", {}))


def coupling_of(history: History) -> str | None:
    """The name of VᵀW, of V′ᵀW′ where there is a map; None where V and W share no space."""
    names = [name for name in history.quantities() if "ᵀ" in name]
    return names[-1] if names else None


def check_alike(first: Coupled, other: Coupled) -> None:
    """Raise InputError for runs whose VᵀW differ for another reason than their texts and seeds."""
    settings = [name for name in first.recipe | other.recipe if name != "architecture"]
    names = [name for name in settings if first.recipe.get(name) != other.recipe.get(name)]
    if first.labels != other.labels:
        names.append("classes")
    if names:
        raise InputError(
            f"{first.folder} and {other.folder} differ in {', '.join(names)}: "
            "name runs that differ in their texts and seeds alone"
        )
