"""Trainer presets, metrics, and the run folder."""

from glasshead.training.opened import is_run, open_model
from glasshead.training.penalties import PENALTIES, penalty_of
from glasshead.training.presets import PRESETS, recipe_for
from glasshead.training.recipe import OPTIMIZERS, Recipe
from glasshead.training.repeats import REPEATS, train_repeats
from glasshead.training.run import Run, load_run, read_record
from glasshead.training.train import train

__all__ = [
    "OPTIMIZERS",
    "PENALTIES",
    "PRESETS",
    "REPEATS",
    "Recipe",
    "Run",
    "is_run",
    "load_run",
    "open_model",
    "penalty_of",
    "read_record",
    "recipe_for",
    "train",
    "train_repeats",
]
