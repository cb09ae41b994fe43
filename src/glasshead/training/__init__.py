"""Training of classifiers: presets, metrics, penalties, repeats, and what a run predicted."""

from typing import TYPE_CHECKING

from glasshead.lazy import lazy_exports
from glasshead.training.adversary_sweep import adversaries_by_weight, train_adversaries
from glasshead.training.bag_of_words import bag_of_words
from glasshead.training.baselines import guess_in_words
from glasshead.training.build_model import (
    BuiltModel,
    check_texts,
    encoded_split,
    label_tensor,
    load_embeddings,
)
from glasshead.training.checkpointing import CHECKPOINTS, WATCHED, valid_checkpoints, workspace
from glasshead.training.config import OPTIMIZERS, TrainingConfig, option_fields
from glasshead.training.field_types import validate_type
from glasshead.training.load_predictions import (
    AUDIT,
    RunGroupPredictions,
    align_classes,
    folder_kind,
    load_predictions,
)
from glasshead.training.loss_landscape import curvature, losses_between, match_hidden_units, polish
from glasshead.training.losses import LOSSES, USUAL_LOSS
from glasshead.training.metrics import class_metrics, rating_metrics
from glasshead.training.minima import compare_minima, curvatures
from glasshead.training.multi_seed import train_repeats
from glasshead.training.old_names import OLD_NAMES, with_current_names
from glasshead.training.other_run import OTHER_RUN_SETTINGS
from glasshead.training.penalties import PENALTIES, penalty_descent, penalty_of
from glasshead.training.presets import TRAINING_PRESETS, preset_config
from glasshead.training.tensor_dataset import Batch, TensorDataset, whole_batch
from glasshead.training.train import RunAwareCallback, train
from glasshead.training.train_data import labels_for, with_train_data
from glasshead.training.write_run import versions, write_json

if TYPE_CHECKING:
    from glasshead.training.own_names_trainer import OwnNamesTrainer
    from glasshead.training.trainer import half_precision, training_arguments

# Importing the trainer takes as long as explaining a text, which needs none.
TRAINER = {
    "OwnNamesTrainer": "glasshead.training.own_names_trainer",
    **dict.fromkeys(("half_precision", "training_arguments"), "glasshead.training.trainer"),
}
__getattr__, __dir__, _ = lazy_exports(globals(), TRAINER)

__all__ = [
    "AUDIT",
    "CHECKPOINTS",
    "LOSSES",
    "OLD_NAMES",
    "OPTIMIZERS",
    "OTHER_RUN_SETTINGS",
    "PENALTIES",
    "TRAINING_PRESETS",
    "USUAL_LOSS",
    "WATCHED",
    "Batch",
    "BuiltModel",
    "OwnNamesTrainer",
    "RunAwareCallback",
    "RunGroupPredictions",
    "TensorDataset",
    "TrainingConfig",
    "adversaries_by_weight",
    "align_classes",
    "bag_of_words",
    "check_texts",
    "class_metrics",
    "compare_minima",
    "curvature",
    "curvatures",
    "encoded_split",
    "folder_kind",
    "guess_in_words",
    "half_precision",
    "label_tensor",
    "labels_for",
    "load_embeddings",
    "load_predictions",
    "losses_between",
    "match_hidden_units",
    "option_fields",
    "penalty_descent",
    "penalty_of",
    "polish",
    "preset_config",
    "rating_metrics",
    "train",
    "train_adversaries",
    "train_repeats",
    "training_arguments",
    "valid_checkpoints",
    "validate_type",
    "versions",
    "whole_batch",
    "with_current_names",
    "with_train_data",
    "workspace",
    "write_json",
]
