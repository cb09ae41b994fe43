"""Train a classifier on a data set into a run folder that appears whole or not at all."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from transformers import PreTrainedModel, TrainerCallback

from glasshead.data import AUGMENTATIONS, Encoded, UnitReader, describe
from glasshead.errors import InputError
from glasshead.files import check_writable, remove
from glasshead.opening import VOCABULARY
from glasshead.results import LayerUse
from glasshead.spelling import spell
from glasshead.torch_modes import in_own_modes
from glasshead.trace import attention_use
from glasshead.training.baselines import floor_record
from glasshead.training.build_model import (
    build_classifier,
    check_kind,
    encoded_split,
    identifiable_length,
    label_tensor,
    split_coverage,
)
from glasshead.training.config import TrainingConfig
from glasshead.training.other_run import fingerprint_of
from glasshead.training.patience import Patience, training_length
from glasshead.training.penalties import PenaltyGradient, penalty_values
from glasshead.training.predict import PREDICTIONS, RATING_COLUMNS, class_names_of, predict, write_predictions
from glasshead.training.store_gauge import store_gauge
from glasshead.training.tensor_dataset import TensorDataset
from glasshead.training.train_data import train_counts
from glasshead.training.training_run import TrainingRun, training_run
from glasshead.training.write_run import write_vocabulary

if TYPE_CHECKING:
    from datasets import DatasetDict


OTHER_RUN = "other_run"
"""The weights of the run that a training builds on."""

DEV_TEXTS = 128
"""Texts of dev, evenly spaced, so that no random number is drawn; their labels are not read."""


@in_own_modes
def train(
    data: "DatasetDict",
    config: TrainingConfig,
    out: str | Path,
    *,
    seed: int = 0,
    source: dict[str, Any] | None = None,
    resume: bool = False,
    overwrite: bool = False,
    callbacks: Sequence[TrainerCallback] = (),
) -> Path:
    """Train, keep the best dev epoch, test it, fix the sign gauge, and write the run folder ``out``.

    ``source`` says where the data came from and is recorded. Work in progress lives in ``out.partial`` with a
    checkpoint per epoch; ``resume`` continues from the last complete one, with the same result as an
    uninterrupted run.

    Raises:
        InputError: if ``out`` exists, the data do not fit the model, or there is nothing to resume.
    """
    out = Path(out)
    check_writable(out, overwrite=overwrite, resume=resume)
    check_kind(config, data)
    plan = training_fingerprint(data, config, seed, source)
    with training_run(out, plan, callbacks, resume=resume, overwrite=overwrite) as run:
        _fill(run, data, config)
    return out


def training_fingerprint(
    data: "DatasetDict", config: TrainingConfig, seed: int, source: dict[str, Any] | None
) -> dict[str, Any]:
    """Everything that decides the result; a training is resumed only if it is the same."""
    settings = config.as_dict()
    del settings["dev_fraction"]  # a wish of the preset; what was cut is told by the data
    plan = {"recipe": settings, "seed": seed, "data": (source or {}) | describe(data)}
    return plan if config.other_run is None else plan | {OTHER_RUN: fingerprint_of(config.other_run)}


def _fill(run: TrainingRun, data: "DatasetDict", config: TrainingConfig) -> None:
    """Train, and write what came out."""
    from glasshead.training.trainer import make_trainer

    built = build_classifier(config, data)
    model, tokenizer = built.model, built.tokenizer
    rows = {
        split: TensorDataset(encoded_split(tokenizer, data[split]), label_tensor(data[split]))
        for split in data
    }
    notes = built.notes + identifiable_length(model, [split.encoded for split in rows.values()])
    notes += [
        line
        for split in data
        for line in split_coverage(tokenizer, data[split], rows[split].encoded).lines(split)
    ]
    changed = rows
    if config.augment is not None:
        own = rows["train"]
        changed = rows | {"train": TensorDataset(own.encoded, own.labels, AUGMENTATIONS[config.augment])}
    run.attach(model=model, tokenizer=tokenizer, rows=rows["train"], recipe=config)
    first = penalty_values(model, config.penalties)
    trainer = make_trainer(model, config, changed, run.checkpoints, run.seed, run.callbacks, built.objective)
    texts = sample_evenly(rows["dev"])
    use = {"before": measure_use(model, texts)}  # of a resumed training too: the seed makes it again
    for callback in trainer.callback_handler.callbacks:
        if isinstance(callback, Patience) and run.checkpoint is not None:
            callback.resume(run.checkpoint, trainer.args)
    run.train(trainer)
    outputs = {split: predict(trainer, rows[split]) for split in RATING_COLUMNS if split in rows}
    last = penalty_values(model, config.penalties)
    weights_are_numbers = all(parameter.isfinite().all() for parameter in model.parameters())
    weights_are_numbers &= all(map(math.isfinite, last.values()))
    if not weights_are_numbers or not all(np.isfinite(logits).all() for logits in outputs.values()):
        remove(run.checkpoints)  # no number to go on from
        remedy = (
            f"{spell('learning_rate')} or {spell('penalties')}"
            if config.penalties
            else spell("learning_rate")
        )
        raise InputError(f"the training diverged to NaN: lower {remedy}")
    # A step too large for a penalty makes it grow: nobody should have to guess.
    notes += [
        f"penalty {name}: {first[name]:.3g} at first, {last[name]:.3g} in the epoch kept" for name in last
    ]
    notes += [
        note
        for callback in trainer.callback_handler.callbacks
        if isinstance(callback, PenaltyGradient)
        for note in callback.notes
    ]
    length, remarks = training_length(trainer, config.patience)
    notes += remarks
    use["after"] = measure_use(model, texts)
    gauge = store_gauge(model, rows["train"])
    metrics: dict[str, Any] = dict(write_predictions(model, outputs, rows, run.folder / PREDICTIONS))
    metrics["epochs"] = [
        {
            name.removeprefix("eval_"): null_unless_finite(entry[name])
            for name in entry
            if name.removeprefix("eval_") in metrics["dev"]
        }
        | {"epoch": entry["epoch"]}
        for entry in trainer.state.log_history
        if "eval_loss" in entry
    ]
    for entry in metrics["epochs"]:
        entry["loss"] = None if entry["loss"] is None else entry["loss"] / config.loss_scale
    if not isinstance(tokenizer, UnitReader):
        tokens = list(tokenizer.convert_ids_to_tokens(list(range(len(tokenizer)))))
        write_vocabulary(run.folder / VOCABULARY, tokens, train_counts(model, tokenizer, rows["train"]))
    pairs = {split: class_names_of(model, logits, rows[split]) for split, logits in outputs.items()}
    facts = {
        "gauge": gauge,
        "notes": notes,
        "attention_use": use if use["after"] else None,
        "training": length,
    }
    run.write(model, tokenizer, metrics, facts | floor_record(run.plan["data"], pairs))


def null_unless_finite(value: float) -> float | None:
    """What is not a number is None."""
    return value if math.isfinite(value) else None


def sample_evenly(rows: TensorDataset) -> Encoded:
    """Every k-th text."""
    places = np.linspace(0, len(rows) - 1, min(DEV_TEXTS, len(rows))).round().astype(int)
    return rows.encoded.some(places)


def measure_use(model: PreTrainedModel, texts: Encoded) -> list[LayerUse] | None:
    """`glasshead.trace.attention_use`; None where no attention can be read."""
    try:
        return attention_use(model, texts)
    except InputError:
        return None
