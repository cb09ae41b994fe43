"""Trainer presets, metrics, and the run folder."""

from typing import TYPE_CHECKING

from glasshead.lazy import lazy_exports
from glasshead.training.baselines import guess_in_words
from glasshead.training.build_model import (
    BuiltModel,
    check_texts,
    encoded_split,
    label_tensor,
    load_embeddings,
)
from glasshead.training.check_model import NoClassError
from glasshead.training.checkpointing import CHECKPOINTS, WATCHED, check_same, valid_checkpoints, workspace
from glasshead.training.config import OPTIMIZERS, TrainingConfig, option_fields
from glasshead.training.field_types import validate_type
from glasshead.training.load_predictions import (
    AUDIT,
    RunGroupPredictions,
    align_classes,
    folder_kind,
    load_predictions,
)
from glasshead.training.load_run_model import load_run_model
from glasshead.training.losses import LOSSES, USUAL_LOSS
from glasshead.training.metrics import class_metrics, rating_metrics
from glasshead.training.multi_seed import train_repeats
from glasshead.training.open_subject import OpenOptions, is_run, open, open_model, open_subject
from glasshead.training.other_run import OTHER_RUN_SETTINGS, fingerprint_of
from glasshead.training.penalties import PENALTIES, penalty_descent, penalty_of
from glasshead.training.presets import TRAINING_PRESETS, preset_config
from glasshead.training.pretrained import read_tokenizer
from glasshead.training.recorders import RECORDERS
from glasshead.training.run import (
    MEASURED,
    RECORD,
    REPEATS,
    Run,
    load_run,
    open_record,
    read_object,
    read_record,
    run_folders,
    versions,
    write_json,
)
from glasshead.training.run_record import RecommenderRecord, validate_record
from glasshead.training.tensor_dataset import Batch, TensorDataset, whole_batch
from glasshead.training.train import OTHER, RunAwareCallback, train, training_fingerprint
from glasshead.training.train_data import labels_for, with_train_data

if TYPE_CHECKING:
    from glasshead.training.own_names_trainer import OwnNamesTrainer
    from glasshead.training.trainer import half_precision, training_arguments

# Importing the trainer takes as long as explaining a text, which needs none.
__getattr__, __dir__, _ = lazy_exports(globals())

__all__ = [
    "AUDIT",
    "CHECKPOINTS",
    "LOSSES",
    "MEASURED",
    "OPTIMIZERS",
    "OTHER",
    "OTHER_RUN_SETTINGS",
    "PENALTIES",
    "RECORD",
    "RECORDERS",
    "REPEATS",
    "TRAINING_PRESETS",
    "USUAL_LOSS",
    "WATCHED",
    "Batch",
    "BuiltModel",
    "NoClassError",
    "OpenOptions",
    "OwnNamesTrainer",
    "RecommenderRecord",
    "Run",
    "RunAwareCallback",
    "RunGroupPredictions",
    "TensorDataset",
    "TrainingConfig",
    "align_classes",
    "check_same",
    "check_texts",
    "class_metrics",
    "encoded_split",
    "fingerprint_of",
    "folder_kind",
    "guess_in_words",
    "half_precision",
    "is_run",
    "label_tensor",
    "labels_for",
    "load_embeddings",
    "load_predictions",
    "load_run",
    "load_run_model",
    "open",
    "open_model",
    "open_record",
    "open_subject",
    "option_fields",
    "penalty_descent",
    "penalty_of",
    "preset_config",
    "rating_metrics",
    "read_object",
    "read_record",
    "read_tokenizer",
    "run_folders",
    "train",
    "train_repeats",
    "training_arguments",
    "training_fingerprint",
    "valid_checkpoints",
    "validate_record",
    "validate_type",
    "versions",
    "whole_batch",
    "with_train_data",
    "workspace",
    "write_json",
]
