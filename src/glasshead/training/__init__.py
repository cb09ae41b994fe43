"""Trainer presets, metrics, and the run folder."""

from glasshead.training.baselines import guess_in_words
from glasshead.training.build_model import Built, check_texts, encoded_split, label_tensor, place_vectors
from glasshead.training.checkpointing import CHECKPOINTS, workspace
from glasshead.training.config import OPTIMIZERS, Recipe, chosen_fields
from glasshead.training.field_types import fitting
from glasshead.training.load_predictions import AUDIT, Told, kind_of, together, told
from glasshead.training.multi_seed import train_repeats
from glasshead.training.open_model import is_run, open_model, shows_attention
from glasshead.training.penalties import PENALTIES, penalty_descent, penalty_of
from glasshead.training.presets import PRESETS, recipe_for
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
from glasshead.training.run_record import RecommenderRecord, checked
from glasshead.training.tensor_dataset import Batch, TensorRows, whole_batch
from glasshead.training.train import train
from glasshead.training.trainer import arguments, half_precision

__all__ = [
    "AUDIT",
    "CHECKPOINTS",
    "MEASURED",
    "OPTIMIZERS",
    "PENALTIES",
    "PRESETS",
    "RECORD",
    "REPEATS",
    "Batch",
    "Built",
    "Recipe",
    "RecommenderRecord",
    "Run",
    "TensorRows",
    "Told",
    "arguments",
    "check_texts",
    "checked",
    "chosen_fields",
    "encoded_split",
    "fitting",
    "guess_in_words",
    "half_precision",
    "is_run",
    "kind_of",
    "label_tensor",
    "load_run",
    "open_model",
    "open_record",
    "penalty_descent",
    "penalty_of",
    "place_vectors",
    "read_object",
    "read_record",
    "recipe_for",
    "run_folders",
    "shows_attention",
    "together",
    "told",
    "train",
    "train_repeats",
    "versions",
    "whole_batch",
    "workspace",
    "write_json",
]
