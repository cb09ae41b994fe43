"""Hugging Face's Trainer with our settings: dev after every epoch, the best epoch kept, a constant rate."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import torch
from transformers import PreTrainedModel, PrinterCallback, Trainer, TrainerCallback, TrainingArguments

from glasshead.errors import InputError
from glasshead.models import is_regression
from glasshead.training.classifier_trainer import ClassifierTrainer
from glasshead.training.config import OPTIMIZERS, TrainingConfig
from glasshead.training.losses import LOSSES, USUAL_LOSS
from glasshead.training.metrics import classification_metrics, regression_metrics
from glasshead.training.other_run import Objective
from glasshead.training.patience import Patience
from glasshead.training.penalties import PenaltyGradient
from glasshead.training.tensor_dataset import TensorDataset, whole_batch


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
    """What all our trainings share but for ``more``; the epoch is kept whose metric ``best`` is greatest, or
    least.
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
        compute_loss_func=scaled_loss(config.loss_scale, rated, config.loss),
        optimizer_cls_and_kwargs=(OPTIMIZERS[config.optimizer], {"lr": config.learning_rate}),
        callbacks=[*own, *callbacks],
    )
    trainer.by_length = config.by_length
    trainer.objective, trainer.loss_scale = objective, config.loss_scale
    trainer.remove_callback(PrinterCallback)
    return trainer


def scaled_loss(scale: float, rated: bool, name: str | None = None) -> Callable[..., torch.Tensor]:
    """A loss of the batch times a constant (100 in Huang et al.'s code): of ratings the squared error.

    Raises:
        InputError: if ratings are to have another loss.
    """
    if rated and name is not None:
        raise InputError(f"ratings are trained by squared error, not by the loss {name!r}: leave `loss` out")
    classify = LOSSES[name or USUAL_LOSS]

    def loss(outputs: Any, labels: torch.Tensor, num_items_in_batch: Any = None) -> torch.Tensor:
        if rated:
            return scale * torch.nn.functional.mse_loss(outputs["logits"][:, 0].float(), labels)
        return scale * classify(outputs["logits"], labels)

    return loss
