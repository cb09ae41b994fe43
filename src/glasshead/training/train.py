"""Train a classifier on a data set into a run folder that appears whole or not at all."""

import json
import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from datasets import DatasetDict
from transformers import (
    PreTrainedModel,
    PreTrainedTokenizerFast,
    PrinterCallback,
    Trainer,
    TrainerCallback,
    TrainingArguments,
    set_seed,
)
from transformers.utils import logging as transformers_logging

from glasshead.data import describe, encode, occurrences, train_tokenizer
from glasshead.errors import InputError
from glasshead.folders import claim, discard, parents, partial, publish
from glasshead.models import (
    MODELS,
    Gauge,
    PooledClassifier,
    PooledConfig,
    default_target,
    fix_gauge,
    read_vectors,
    target_polarity,
)
from glasshead.training.metrics import classification_metrics
from glasshead.training.recipe import OPTIMIZERS, Recipe
from glasshead.training.rows import TensorRows, whole_batch
from glasshead.training.run import RECORD, VOCABULARY, versions, write_json, write_vocabulary

STATE = "trainer_state.json"

CHECKPOINTS = "checkpoints"


def train(
    data: DatasetDict,
    recipe: Recipe,
    out: Path,
    *,
    seed: int = 0,
    source: dict[str, Any] | None = None,
    resume: bool = False,
    overwrite: bool = False,
    callbacks: Sequence[TrainerCallback] = (),
) -> Path:
    """Train, keep the best dev epoch, test it, fix the sign gauge, and write the run folder ``out``.

    ``source`` says where the data came from and is recorded. Work in progress lives in ``out.partial`` with a
    checkpoint per epoch; ``resume`` goes on from the last whole one, to the same result as an unbroken run.

    Raises:
        InputError: if ``out`` exists, the data do not fit the model, or there is nothing to resume.
    """
    claim(out, overwrite=overwrite)
    if "text_pair" in data["train"].column_names:
        raise InputError(f"the {recipe.model} model reads one text per example, these data have pairs")
    plan = {"recipe": recipe.as_dict(), "seed": seed, "data": (source or {}) | describe(data)}
    work = partial(out)
    with parents(out):
        checkpoint = _prepare(work, plan, resume=resume, overwrite=overwrite)
        try:
            _fill(work, data, recipe, plan, checkpoint, callbacks)
        except BaseException:
            # Whatever is worth resuming stays; a failure before the first checkpoint leaves nothing behind.
            if not whole_checkpoints(work / CHECKPOINTS):
                discard(work)
            raise
        discard(work / CHECKPOINTS)
        publish(work, out)
    return out


def _fill(
    work: Path,
    data: DatasetDict,
    recipe: Recipe,
    plan: dict[str, Any],
    checkpoint: Path | None,
    callbacks: Sequence[TrainerCallback],
) -> None:
    """Train into the work folder, from a checkpoint or from the start."""
    seed = plan["seed"]
    started = time.perf_counter()
    set_seed(seed)
    transformers_logging.disable_progress_bar()
    transformers_logging.set_verbosity_error()
    labels = data["train"].features["label"].names
    tokenizer = train_tokenizer(
        data["train"]["text"][:],
        vocabulary_size=recipe.vocabulary_size,
        minimum_frequency=recipe.minimum_frequency,
        max_length=recipe.max_length,
    )
    texts = {split: encode(tokenizer, data[split]["text"][:]) for split in data}
    classes = {split: torch.tensor(data[split]["label"][:]) for split in data}
    rows = {split: TensorRows(texts[split].ids, texts[split].mask, classes[split]) for split in data}
    model, notes = build_model(recipe, tokenizer, labels)
    trainer = make_trainer(model, recipe, rows, work / CHECKPOINTS, seed, callbacks)
    trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    if not all(parameter.isfinite().all() for parameter in model.parameters()):
        discard(work / CHECKPOINTS)  # no number to go on from
        raise InputError("the training diverged to weights that are no numbers: lower --learning-rate")
    gauge = gauge_on(model, rows["train"])
    model.config.gauge = gauge.sign
    metrics: dict[str, Any] = {
        split: without_prefix(
            trainer.evaluate(rows[split], metric_key_prefix=split), split, recipe.loss_scale
        )
        for split in ("dev", "test")
        if split in rows
    }
    metrics["epochs"] = [
        without_prefix(entry, "eval", recipe.loss_scale) | {"epoch": entry["epoch"]}
        for entry in trainer.state.log_history
        if "eval_accuracy" in entry
    ]
    model.save_pretrained(work)
    tokenizer.save_pretrained(work)
    tokens = list(tokenizer.convert_ids_to_tokens(list(range(len(tokenizer)))))
    counts = occurrences(texts["train"], classes["train"], classes=len(labels), vocabulary=len(tokenizer))
    write_vocabulary(work / VOCABULARY, tokens, counts)
    write_json(work / "metrics.json", metrics)
    seconds = round(time.perf_counter() - started, 2)
    facts = {"gauge": gauge.__dict__, "seconds": seconds, "resumed": checkpoint is not None, "notes": notes}
    write_json(work / RECORD, plan | facts | {"versions": versions()})


def _prepare(work: Path, plan: dict[str, Any], *, resume: bool, overwrite: bool) -> Path | None:
    """A fresh work folder, or the checkpoint to go on from."""
    plan = json.loads(json.dumps(plan))
    if resume:
        started = work / RECORD
        checkpoints = whole_checkpoints(work / CHECKPOINTS)
        if not started.is_file() or not checkpoints:
            raise InputError(f"nothing to resume: {work} has no checkpoint; train without --resume")
        try:
            before = json.loads(started.read_text(encoding="utf-8"))
        except ValueError as error:
            raise InputError(f"cannot resume: {started} is damaged ({error}); use --overwrite") from error
        different = [key for key in plan if plan[key] != before.get(key)]
        if different:
            what = " and ".join(different)
            raise InputError(f"cannot resume {work}: it was started with another {what}; use --overwrite")
        if not best_found_again(checkpoints[-1]):
            raise InputError(f"cannot resume {work}: its best epoch is missing; use --overwrite")
        return checkpoints[-1]
    if whole_checkpoints(work / CHECKPOINTS) and not overwrite:
        raise InputError(f"{work} holds an interrupted training: pass --resume to go on or --overwrite")
    if work.exists() and any(work.iterdir()) and not (work / RECORD).is_file():
        raise InputError(
            f"{work} is in the way, and glasshead did not make it: move it, or choose another --out"
        )
    discard(work)
    work.mkdir()
    write_json(work / RECORD, plan)
    return None


def whole_checkpoints(folder: Path) -> list[Path]:
    """Checkpoints in order of steps; one that was cut off while being written is removed."""
    whole = []
    for checkpoint in sorted(folder.glob("checkpoint-*"), key=lambda path: int(path.name.split("-")[1])):
        try:
            json.loads((checkpoint / STATE).read_text(encoding="utf-8"))
            whole.append(checkpoint)
        except (OSError, ValueError):
            discard(checkpoint)
    return whole


def best_found_again(checkpoint: Path) -> bool:
    """Whether the best epoch so far is still there; its path is mended if the folder has moved since.

    The Trainer forgets a best epoch that it does not find, and would keep the last one instead.
    """
    path = checkpoint / STATE
    state = json.loads(path.read_text(encoding="utf-8"))
    best = checkpoint.with_name(f"checkpoint-{state['best_global_step']}")
    path.write_text(json.dumps(state | {"best_model_checkpoint": str(best)}), encoding="utf-8")
    return best.is_dir()


def build_model(
    recipe: Recipe, tokenizer: PreTrainedTokenizerFast, labels: list[str]
) -> tuple[PooledClassifier, list[str]]:
    """An untrained model for the recipe, with pretrained word vectors if it names a file."""
    ids, vectors, notes = None, None, []
    size = recipe.embedding_size
    if recipe.vectors is not None:
        ids, vectors = read_vectors(Path(recipe.vectors), tokenizer.get_vocab())
        size = vectors.shape[1]
        notes.append(f"word vectors of {recipe.vectors}: {len(ids)} of {len(tokenizer)} tokens, size {size}")
    config = PooledConfig(
        vocab_size=len(tokenizer),
        pad_token_id=tokenizer.pad_token_id,
        embedding_size=size,
        initializer_range=recipe.initializer_range,
        encoder=recipe.encoder,
        hidden_size=recipe.hidden_size,
        score=recipe.score,
        key_size=recipe.key_size,
        value_size=recipe.value_size,
        scale=recipe.scale,
        activation=recipe.activation,
        dropout=recipe.dropout,
        bias=recipe.bias,
        id2label=dict(enumerate(labels)),
        label2id={label: index for index, label in enumerate(labels)},
    )
    model = MODELS[recipe.model](config)
    if vectors is not None:
        with torch.no_grad():
            model.embedding.weight[torch.from_numpy(ids)] = torch.from_numpy(vectors)
    return model, notes


def make_trainer(
    model: PreTrainedModel,
    recipe: Recipe,
    rows: dict[str, TensorRows],
    folder: Path,
    seed: int,
    callbacks: Sequence[TrainerCallback],
) -> Trainer:
    """Hugging Face's Trainer: dev after every epoch, the best epoch kept, a constant learning rate."""
    arguments = TrainingArguments(
        output_dir=str(folder),
        seed=seed,
        data_seed=seed,
        num_train_epochs=recipe.epochs,
        per_device_train_batch_size=recipe.batch_size,
        per_device_eval_batch_size=512,
        learning_rate=recipe.learning_rate,
        lr_scheduler_type="constant",
        max_grad_norm=0,  # clipping to 1, the default, costs these models five points of accuracy
        eval_strategy="epoch",
        save_strategy="epoch",
        save_total_limit=2,
        load_best_model_at_end=True,
        metric_for_best_model="accuracy",
        greater_is_better=True,
        logging_strategy="no",
        report_to="none",
        disable_tqdm=True,
        dataloader_pin_memory=False,
        remove_unused_columns=False,
    )
    trainer = Trainer(
        model,
        arguments,
        data_collator=whole_batch,
        train_dataset=rows["train"],
        eval_dataset=rows["dev"],
        compute_metrics=classification_metrics,
        compute_loss_func=scaled_loss(recipe.loss_scale),
        optimizer_cls_and_kwargs=(OPTIMIZERS[recipe.optimizer], {"lr": recipe.learning_rate}),
        callbacks=list(callbacks),
    )
    trainer.remove_callback(PrinterCallback)
    return trainer


def scaled_loss(scale: float) -> Callable[..., torch.Tensor]:
    """Mean cross-entropy of the batch times a constant (Huang et al.'s code uses 100)."""

    def loss(outputs: Any, labels: torch.Tensor, num_items_in_batch: Any = None) -> torch.Tensor:
        return scale * torch.nn.functional.cross_entropy(outputs["logits"], labels)

    return loss


@torch.inference_mode()
def gauge_on(model: PooledClassifier, rows: TensorRows, batch_size: int = 1024) -> Gauge:
    """The canonical sign of the trained weights, fixed on the train split."""
    model.eval()
    parts = []
    for start in range(0, len(rows), batch_size):
        batch = rows.__getitems__(range(start, min(start + batch_size, len(rows))))
        mask = batch["attention_mask"]
        inputs = {key: value.to(model.device) for key, value in batch.items() if key != "labels"}
        output = model(**inputs, output_attentions=True)
        polarity = target_polarity(output.polarity, default_target(output.logits))
        parts.append((output.weights.cpu()[mask], polarity.cpu()[mask]))
    weights, polarities = (torch.cat(part)[None] for part in zip(*parts, strict=True))
    mask = torch.ones_like(weights, dtype=torch.bool)
    return fix_gauge(weights, polarities, mask, signed=model.activation.signed)


def without_prefix(metrics: dict[str, float], prefix: str, loss_scale: float) -> dict[str, float | None]:
    """The two metrics and the mean cross-entropy, by their own names; what is not a number is None."""
    values = {name: metrics[f"{prefix}_{name}"] for name in ("accuracy", "macro_f1", "loss")}
    values["loss"] /= loss_scale
    return {name: value if math.isfinite(value) else None for name, value in values.items()}
