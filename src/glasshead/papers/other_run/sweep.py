"""Adversaries of one run for several λ, and what other maps cost (Wiegreffe and Pinter, 2019)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glasshead.errors import InputError, ParameterError
from glasshead.files import partial_path
from glasshead.opening import RECORD, read_record
from glasshead.papers.other_run.map_divergence import map_divergence
from glasshead.papers.results import AdversaryCurve
from glasshead.spelling import spell
from glasshead.torch_modes import in_own_modes
from glasshead.training import (
    CHECKPOINTS,
    OTHER_RUN,
    TrainingConfig,
    check_same,
    fingerprint_of,
    train,
    training_fingerprint,
    valid_checkpoints,
)

if TYPE_CHECKING:
    from datasets import DatasetDict

LAMBDAS = (0.0, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2)


@in_own_modes
def train_adversaries(
    data: "DatasetDict",
    config: TrainingConfig,
    out: Path,
    *,
    weights: Sequence[float] = LAMBDAS,
    seed: int = 0,
    source: dict[str, Any] | None = None,
) -> dict[float, Path]:
    """Train one adversary for each of the ``weights`` λ in OUT/weight-λ, and return the folders.

    ``config`` names the run that they start from (``attention="adversarial:RUN"``). Finished trainings are
    kept, and interrupted ones are resumed.

    Raises:
        InputError: if ``config`` names no run, a weight is given twice, or a folder holds another training,
        and as `train`.

    Source: Wiegreffe and Pinter (2019), section 4 and Fig. 5.
    """
    if config.adversary_weight is None:
        raise InputError(f"a sweep needs a run to start from: use {spell('attention', 'adversarial:RUN')}")
    if len(set(weights)) < len(weights) or not weights:
        raise ParameterError("weights", f"must be different numbers, not {list(weights)}")
    folders = {}
    for weight in weights:
        folder = out / f"weight-{weight:g}"
        recipe = config.with_settings({"adversary_weight": weight})
        if (folder / RECORD).is_file():
            check_finished(folder, training_fingerprint(data, recipe, seed, source))
        else:
            started = bool(valid_checkpoints(partial_path(folder) / CHECKPOINTS))
            train(data, recipe, folder, seed=seed, source=source, resume=started)
        folders[weight] = folder
    return folders


def check_finished(folder: Path, plan: dict[str, Any]) -> None:
    """Raise InputError unless a run came out of the same training."""
    read_record(folder)
    try:
        check_same(plan, folder / RECORD)
    except InputError:
        raise InputError(f"{folder} holds another training: choose another {spell('out')}") from None


def adversaries_by_weight(folders: Sequence[Path], base: Path) -> dict[float, Path]:
    """The runs by their λ.

    Raises:
        InputError: if one is not an adversary of the current ``base``, or two have the same λ.
    """
    known = fingerprint_of(str(base))
    runs: dict[float, Path] = {}
    for folder in folders:
        record = read_record(folder)
        weight = record["recipe"].get("adversary_weight")
        if not isinstance(weight, int | float):
            raise InputError(
                f"{folder} is not an adversary: train one with {spell('attention', f'adversarial:{base}')}, "
                "or leave it out"
            )
        if record.get(OTHER_RUN) != known:
            raise InputError(f"{folder} starts from another run than {base}: name that run")
        if weight in runs:
            raise InputError(f"{runs[weight]} and {folder} have one λ, {weight:g}: leave one of them out")
        runs[weight] = folder
    return runs


@in_own_modes
def adversary_curve(
    adversaries: Mapping[float, object],
    base: object,
    texts: Sequence[str],
    *,
    seeds: Sequence[object] = (),
    seed: int = 0,
) -> AdversaryCurve:
    """`map_divergence` of the adversaries of ``base`` that `train_adversaries` gives, by λ; each has its
    ``weight`` λ, and its ``row()`` is a row of a table.

    Mean JSD of the maps is the abscissa and mean TVD of the predictions the ordinate of Fig. 5 of the paper:
    if maps change a lot at no cost, they were not needed.

    Raises:
        InputError: as `map_divergence`.

    Source: Wiegreffe and Pinter (2019), section 4.
    """
    points = []
    for weight, model in sorted(adversaries.items()):
        point = map_divergence(model, base, texts, seeds=seeds, seed=seed)
        points.append(replace(point, facts={"weight": weight} | dict(point.facts)))
    return AdversaryCurve(points)
