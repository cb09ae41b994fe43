"""Training of classifiers: presets, metrics, penalties, repeats, and what a run predicted."""

from typing import TYPE_CHECKING

from glasshead.lazy import lazy_exports
from glasshead.training.baselines import describe_guess
from glasshead.training.build_model import (
    BuiltModel,
    check_kind,
    encoded_split,
    label_tensor,
    load_embeddings,
)
from glasshead.training.checkpointing import CHECKPOINTS, check_same, valid_checkpoints
from glasshead.training.config import OPTIMIZERS, TrainingConfig, option_fields
from glasshead.training.field_types import validate_type
from glasshead.training.load_predictions import (
    RunGroupPredictions,
    align_classes,
    folder_kind,
    load_predictions,
)
from glasshead.training.losses import LOSSES, USUAL_LOSS
from glasshead.training.metrics import class_metrics, rating_metrics
from glasshead.training.multi_seed import train_repeats
from glasshead.training.other_run import (
    OTHER_RUNS,
    Objective,
    OtherRunTraining,
    attention_run_name,
    fingerprint_of,
)
from glasshead.training.penalties import PENALTIES, penalty_descent, penalty_of
from glasshead.training.presets import TRAINING_PRESETS, preset_config
from glasshead.training.recorders import RECORDERS
from glasshead.training.tensor_dataset import Batch, TensorDataset
from glasshead.training.train import OTHER_RUN, train, training_fingerprint
from glasshead.training.train_data import labels_for, with_train_data
from glasshead.training.training_run import RunAwareCallback, TrainingRun, training_run
from glasshead.training.write_run import versions

if TYPE_CHECKING:
    from glasshead.training.trainer import MeasuredTrainer, half_precision, training_arguments

# Importing the trainer takes as long as explaining a text, which needs none.
__getattr__, __dir__ = lazy_exports(globals())

__all__ = [
    "CHECKPOINTS",
    "LOSSES",
    "OPTIMIZERS",
    "OTHER_RUN",
    "OTHER_RUNS",
    "PENALTIES",
    "RECORDERS",
    "TRAINING_PRESETS",
    "USUAL_LOSS",
    "Batch",
    "BuiltModel",
    "MeasuredTrainer",
    "Objective",
    "OtherRunTraining",
    "RunAwareCallback",
    "RunGroupPredictions",
    "TensorDataset",
    "TrainingConfig",
    "TrainingRun",
    "align_classes",
    "attention_run_name",
    "check_kind",
    "check_same",
    "class_metrics",
    "describe_guess",
    "encoded_split",
    "fingerprint_of",
    "folder_kind",
    "half_precision",
    "label_tensor",
    "labels_for",
    "load_embeddings",
    "load_predictions",
    "option_fields",
    "penalty_descent",
    "penalty_of",
    "preset_config",
    "rating_metrics",
    "train",
    "train_repeats",
    "training_arguments",
    "training_fingerprint",
    "training_run",
    "valid_checkpoints",
    "validate_type",
    "versions",
    "with_train_data",
]
