"""Trainer presets, metrics, and the run folder."""

from glasshead.training.recipe import OPTIMIZERS, PRESETS, Recipe
from glasshead.training.run import Run, load_run, read_record
from glasshead.training.train import train

__all__ = ["OPTIMIZERS", "PRESETS", "Recipe", "Run", "load_run", "read_record", "train"]
