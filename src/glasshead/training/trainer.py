"""Hugging Face's Trainer with our settings: dev after every epoch, the best epoch kept, a constant rate."""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import torch
from jaxtyping import Int
from torch import Tensor, nn
from torch.utils.data import Dataset, Sampler
from transformers import PreTrainedModel, PrinterCallback, Trainer, TrainerCallback, TrainingArguments

from glasshead.errors import InputError
from glasshead.files import remove
from glasshead.models import is_regression
from glasshead.spelling import spell
from glasshead.training.config import OPTIMIZERS, TrainingConfig
from glasshead.training.losses import LOSSES, USUAL_LOSS
from glasshead.training.metrics import classification_metrics, regression_metrics
from glasshead.training.other_run import Objective
from glasshead.training.patience import Patience
from glasshead.training.penalties import PenaltyGradient
from glasshead.training.tensor_dataset import TensorDataset, whole_batch

POOL = 50  # batches that are sorted together


class OwnNamesTrainer(Trainer):
    """Hugging Face's Trainer, which prints nothing; what it saves is what it loads.

    `save_pretrained` writes weights by the names of the files that a model came from, which of a ViT are not
    those that it has in memory. `from_pretrained` turns them back, the Trainer does not: it would warn, and
    go on, or end, with the weights that are there.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.remove_callback(PrinterCallback)

    def _save(self, output_dir: str | None = None, state_dict: dict[str, Any] | None = None) -> None:
        model: Any = self.model
        model.save_pretrained = partial(model.save_pretrained, save_original_format=False)
        try:
            super()._save(output_dir, state_dict)
        finally:
            del model.save_pretrained

    def _issue_warnings_after_load(self, load_result: Any) -> None:
        """Stop where a checkpoint lacks weights.

        Raises:
            InputError: if weights are missing that no other ones are tied to.
        """
        model: Any = self.model
        tied = {
            *(getattr(model, "all_tied_weights_keys", None) or {}),
            *(model._keys_to_ignore_on_save or ()),
        }
        if missing := sorted(set(load_result.missing_keys) - tied):
            raise InputError(
                f"the checkpoint lacks {len(missing)} weights of the model, such as {missing[0]}: "
                f"train without {spell('resume')}"
            )
        super()._issue_warnings_after_load(load_result)


class MeasuredTrainer(OwnNamesTrainer):
    """A Trainer that evaluates the model on dev with ``measure`` after each epoch."""

    def __init__(
        self,
        model: PreTrainedModel,
        settings: TrainingArguments,
        rows: Dataset[Any],
        measure: Callable[[Any], dict[str, float]],
        **options: Any,
    ) -> None:
        # The rows to evaluate on are never read.
        super().__init__(
            model, settings, data_collator=whole_batch, train_dataset=rows, eval_dataset=rows, **options
        )
        self.measure = measure

    def evaluate(
        self, eval_dataset: Any = None, ignore_keys: Any = None, metric_key_prefix: str = "eval"
    ) -> dict[str, float]:
        values = self.measure(self.model)
        if not all(map(math.isfinite, values.values())):
            remove(Path(str(self.args.output_dir)))  # no number to go on from
            raise InputError(f"the training diverged to NaN: lower {spell('learning_rate')}")
        metrics = {f"{metric_key_prefix}_{name}": value for name, value in values.items()}
        self.log(metrics)
        self.control = self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
        return metrics


class LengthGroupedSampler(Sampler[int]):
    """The places of all texts; every ``batch_size`` in a row are one batch.

    Texts are drawn in random order and sorted by length within pools of 50 batches, and then the batches are
    shuffled: in the order of their lengths, the short texts of the end would pull the weights their way
    before each evaluation. What fills no batch is drawn at random too, and comes last.
    """

    def __init__(self, lengths: Int[Tensor, " texts"], batch_size: int) -> None:
        self.lengths, self.batch_size = lengths, batch_size

    def __len__(self) -> int:
        return len(self.lengths)

    def __iter__(self) -> Iterator[int]:
        # The global generator is what a checkpoint keeps.
        drawn = torch.randperm(len(self.lengths))
        full = len(drawn) - len(drawn) % self.batch_size
        batches = [
            batch
            for pool in drawn[:full].split(POOL * self.batch_size)
            for batch in pool[self.lengths[pool].argsort()].split(self.batch_size)
            if len(batch)
        ]
        for place in torch.randperm(len(batches)).tolist():
            yield from batches[place].tolist()
        yield from drawn[full:].tolist()


class ClassifierTrainer(OwnNamesTrainer):
    """The Trainer; ``by_length`` makes batches of texts of similar length, in random order. An ``objective``,
    times ``loss_scale``, is minimised in place of the loss of the labels."""

    by_length = False
    objective: Objective | None = None
    loss_scale = 1.0

    def compute_loss(
        self,
        model: nn.Module,
        inputs: dict[str, Tensor | Any],
        return_outputs: bool = False,
        num_items_in_batch: Tensor | int | None = None,
    ) -> Any:
        if self.objective is None:
            return super().compute_loss(model, inputs, return_outputs, num_items_in_batch)
        features = {name: tensor for name, tensor in inputs.items() if name != "labels"}
        losses, logits = self.objective(model, features)
        loss = self.loss_scale * losses.mean()
        return (loss, {"logits": logits}) if return_outputs else loss

    def _get_train_sampler(self, train_dataset: Any = None) -> Sampler | None:
        if not self.by_length:
            return super()._get_train_sampler(train_dataset)
        rows = self.train_dataset if train_dataset is None else train_dataset
        assert isinstance(rows, TensorDataset)
        return LengthGroupedSampler(rows.lengths, self.args.train_batch_size)


class Optimisation(Protocol):
    """The part of a configuration that every training has."""

    @property
    def epochs(self) -> int: ...
    @property
    def batch_size(self) -> int: ...
    @property
    def learning_rate(self) -> float: ...


def training_arguments(
    config: Optimisation, folder: Path, seed: int, *, best: str, greatest: bool, **more: Any
) -> TrainingArguments:
    """The arguments of all our trainings, and ``more``; the epoch with the best value of the metric
    ``best`` is kept.
    """
    settings: dict[str, Any] = {
        "output_dir": str(folder),
        "seed": seed,
        "data_seed": seed,
        "num_train_epochs": config.epochs,
        "per_device_train_batch_size": config.batch_size,
        "per_device_eval_batch_size": 256,
        "learning_rate": config.learning_rate,
        "lr_scheduler_type": "constant",
        "max_grad_norm": 0,  # clipping to 1, the default, costs the pooled models five points of accuracy
        "eval_strategy": "epoch",
        "save_strategy": "epoch",
        "save_total_limit": 2,
        "load_best_model_at_end": True,
        "metric_for_best_model": best,
        "greater_is_better": greatest,
        "logging_strategy": "no",
        "report_to": "none",
        "disable_tqdm": True,
        "dataloader_pin_memory": False,
        "remove_unused_columns": False,
    }
    return TrainingArguments(**(settings | more))


def half_precision() -> bool:
    """Whether the device multiplies in bfloat16, which is faster there."""
    return torch.cuda.is_available() and torch.cuda.is_bf16_supported()


def make_trainer(
    model: PreTrainedModel,
    config: TrainingConfig,
    rows: dict[str, TensorDataset],
    folder: Path,
    seed: int,
    callbacks: Sequence[TrainerCallback],
    objective: Objective | None = None,
) -> Trainer:
    """A trainer for a model, whose checkpoints go into ``folder``.

    With an ``objective`` the epoch is kept whose value on dev is least; labels only reach the metrics.
    """
    rated = is_regression(model.config)
    best, greatest = ("rmse", False) if rated else ("accuracy", True)
    settings = training_arguments(
        config,
        folder,
        seed,
        best=best if objective is None else "loss",
        greatest=greatest and objective is None,
        bf16=half_precision() and config.model != "pooled",  # those are too small to gain from it
        torch_compile=config.compile,
    )
    own: list[TrainerCallback] = [PenaltyGradient(config.penalties)] if config.penalties else []
    if config.patience is not None:
        own.append(Patience(config.patience))
    trainer = ClassifierTrainer(
        model,
        settings,
        data_collator=whole_batch,
        train_dataset=rows["train"],
        eval_dataset=rows["dev"],
        compute_metrics=regression_metrics if rated else classification_metrics,
        compute_loss_func=make_scaled_loss(config.loss_scale, rated, config.loss),
        optimizer_cls_and_kwargs=(OPTIMIZERS[config.optimizer], {"lr": config.learning_rate}),
        callbacks=[*own, *callbacks],
    )
    trainer.by_length = config.by_length
    trainer.objective, trainer.loss_scale = objective, config.loss_scale
    return trainer


def make_scaled_loss(scale: float, rated: bool, name: str | None = None) -> Callable[..., torch.Tensor]:
    """A loss of the batch times a constant (100 in Huang et al.'s code): of ratings the squared error.

    Raises:
        InputError: if ratings are to have another loss.
    """
    if rated and name is not None:
        raise InputError(
            f"ratings are trained by squared error, not by the loss {name!r}: leave {spell('loss')} out"
        )
    classify = LOSSES[name or USUAL_LOSS]

    def loss(outputs: Any, labels: torch.Tensor, num_items_in_batch: Any = None) -> torch.Tensor:
        if rated:
            return scale * torch.nn.functional.mse_loss(outputs["logits"][:, 0].float(), labels)
        return scale * classify(outputs["logits"], labels)

    return loss
