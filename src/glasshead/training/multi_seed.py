"""One training with one seed after the other, and the mean and spread of what comes out."""

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from transformers import TrainerCallback

from glasshead.errors import InputError
from glasshead.files import check_writable, partial_path, remove, reserve_folder
from glasshead.opening import MEASURED, REPEATS, read_object
from glasshead.spelling import spell
from glasshead.torch_modes import in_own_modes
from glasshead.training.checkpointing import (
    CHECKPOINTS,
    begin_work,
    check_own,
    check_same,
    publish,
    recover,
    valid_checkpoints,
)
from glasshead.training.config import TrainingConfig
from glasshead.training.train import train, training_fingerprint
from glasshead.training.write_run import write_json

if TYPE_CHECKING:
    from datasets import DatasetDict

PLAN = "plan.json"
MOST_REPEATS = 1000
SEEDS = 2**32
"""So many seeds have the generators."""


@in_own_modes
def train_repeats(
    data: "DatasetDict",
    config: TrainingConfig,
    out: Path,
    seeds: Sequence[int],
    *,
    source: dict[str, Any] | None = None,
    resume: bool = False,
    overwrite: bool = False,
    callbacks: Sequence[TrainerCallback] = (),
) -> Path:
    """Train with each of the ``seeds`` into OUT/seed-…, and write mean ± std to OUT/repeats.json.

    Work in progress lives in ``out.partial``; ``resume`` keeps complete runs and continues the one that was
    interrupted.

    Raises:
        InputError: on fewer than two seeds, more than 1,000, or a repeated one, and as `train`.
    """
    check_seeds(seeds)
    check_writable(out, overwrite=overwrite, resume=resume)
    work = partial_path(out)
    plan = training_fingerprint(data, config, seeds[0], source) | {"seeds": list(seeds)}
    with reserve_folder(out, overwrite=overwrite) as reserved:
        recover(out, work, work / PLAN)
        _check_repeats(work, plan, resume=resume, overwrite=overwrite)
        folders = [work / f"seed-{seed}" for seed in seeds]
        try:
            if not resume:
                begin_work(work, work / PLAN, plan)
            for seed, folder in zip(seeds, folders, strict=True):
                if not folder.exists():
                    train(
                        data,
                        config,
                        folder,
                        seed=seed,
                        source=source,
                        resume=bool(valid_checkpoints(partial_path(folder) / CHECKPOINTS)),
                        callbacks=callbacks,
                    )
        except BaseException:
            if not any(folder.exists() or partial_path(folder).exists() for folder in folders):
                remove(work)  # nothing worth resuming
            raise
        write_json(work / REPEATS, summary(folders, seeds))
        publish(reserved, work, work / PLAN)
    return out


def check_seeds(seeds: Sequence[int]) -> None:
    """Raise InputError unless these are several seeds, of which the generators know each."""
    count = len(list(islice(seeds, MOST_REPEATS + 1)))  # a range may be longer than `len` can say
    if count < 2:
        raise InputError(f"repeats need 2 seeds or more, not {count}: leave them out for a single run")
    if count > MOST_REPEATS:
        raise InputError(f"repeats take at most {MOST_REPEATS:,} seeds")
    if max(seeds) >= SEEDS or min(seeds) < 0:
        raise InputError(f"the seeds must be between 0 and {SEEDS - 1:,}")
    if len(set(seeds)) < len(seeds):
        raise InputError("one of the seeds is given twice")


def _check_repeats(work: Path, plan: dict[str, Any], *, resume: bool, overwrite: bool) -> None:
    """Raise InputError unless these repeats can begin, or go on, in the work folder."""
    record = work / PLAN
    if resume:
        if not record.is_file():
            raise InputError(f"nothing to resume: there is no {work}; train without {spell('resume')}")
        check_same(plan, record)
        return
    if record.is_file() and not overwrite:
        raise InputError(
            f"{work} holds unfinished repeats: pass {spell('resume', True)} to continue or "
            f"{spell('overwrite', True)}"
        )
    check_own(work, record)


def summary(folders: Sequence[Path], seeds: Sequence[int]) -> dict[str, Any]:
    """Mean, standard deviation (n − 1) and the values of every metric, in the order of the seeds."""
    metrics_by_run = [read_object(folder / MEASURED) for folder in folders]
    metrics = {
        split: {
            name: mean_std([run[split][name] for run in metrics_by_run]) for name in metrics_by_run[0][split]
        }
        for split in ("dev", "test")
        if split in metrics_by_run[0]
    }
    return {"seeds": list(seeds), "metrics": metrics}


def mean_std(values: Sequence[float]) -> dict[str, Any]:
    """A mean over runs with what it is the mean of."""
    return {"mean": float(np.mean(values)), "std": float(np.std(values, ddof=1)), "values": list(values)}
