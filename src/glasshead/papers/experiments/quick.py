"""A table small enough for a smoke run: all its cells, on tiny data, in models that train in a second."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from glasshead.data import LoadOptions
from glasshead.language import LanguageModelConfig
from glasshead.papers.experiments.cell import Cell, Recipe
from glasshead.papers.experiments.made_up import MADE_UP_PAIRS, MADE_UP_RATINGS
from glasshead.papers.experiments.source import DataSource
from glasshead.papers.experiments.table import PaperTable

QUICK_EXAMPLES = 200
"""Of each split."""
GENERATOR = {"instances": 400, "neutral_words": 100, "polar_words": 10}
TINY_MODEL: dict[str, Any] = {"hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 16}
SMALL_LANGUAGE_MODEL = {
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "hidden_size": 16,
    "block_size": 32,
    "batch_size": 64,
    "vocab_size": 300,
    "epochs": 1,
}
MOST_LENGTH = 48
PAIR_MODELS = ("pair-encoder", "cross-encoder")


def quick_table(table: PaperTable, folder: Path | None) -> PaperTable:
    """The cells with small recipes, on a part of the data in the folder, or on made-up texts."""
    cells = [quick_cell(cell, folder) for cell in table.cells]
    return replace(table, cells=cells, data_differences={}, differences=(), not_at_hand=(), smoke=True)


def quick_cell(cell: Cell, folder: Path | None) -> Cell:
    """A cell that runs in a second or so."""
    first = {name: values[:1] for name, values in cell.grid.items()}
    return replace(cell, data=quick_source(cell, folder), recipe=quick_recipe(cell.recipe), grid=first)


def quick_source(cell: Cell, folder: Path | None) -> DataSource:
    """A part of the data, or made-up texts in their place."""
    if cell.data.made_up or cell.data.is_missing(folder):
        ratings = MADE_UP_RATINGS if cell.data.options.task == "regression" else "synthetic"
        name = MADE_UP_PAIRS if cell.recipe.model in PAIR_MODELS else ratings
        made_up = LoadOptions(generator=GENERATOR)
        return DataSource(name, f"made-up texts instead of {cell.data.title}", made_up)
    part = replace(cell.data.options, max_examples=QUICK_EXAMPLES)
    return DataSource(cell.data.name, f"{cell.data.title}, {QUICK_EXAMPLES} texts", part)


def quick_recipe(recipe: Recipe) -> Recipe:
    """One epoch of a small model, whatever it is."""
    if isinstance(recipe, LanguageModelConfig):
        return recipe.with_changes(**SMALL_LANGUAGE_MODEL)
    changes: dict[str, Any] = {"epochs": 1, "max_length": min(recipe.max_length, MOST_LENGTH)}
    if recipe.model != "pooled":
        changes |= TINY_MODEL
        head_dim = recipe.architecture.get("head_dim")
        changes["head_dim"] = min(head_dim or 8, 8)
        if recipe.architecture.get("value_dim") is not None:
            changes["value_dim"] = 8
    return replace(recipe, word_vectors=None).with_changes(**changes)
