"""One line of a table, as data: which examples, which recipe, and what is measured."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

from glasshead.data import LoadOptions
from glasshead.language import LanguageModelConfig
from glasshead.papers.experiments.source import DataSource
from glasshead.training import TrainingConfig

Recipe = TrainingConfig | LanguageModelConfig
VERSION = 1
"""Raised when the code changes what a recipe trains or a measure measures: rows of before are then stale."""
SEEDLESS = (
    "bag-of-words", "bag-of-first-words", "hypothesis-only", "mean-rating", "word-groups", "unigram-tokens",
    "bigram-tokens",
)  # fmt: skip
"""Measures that draw nothing."""
SAME_RESULT = ("preset",)
"""Settings that change no number."""


@dataclass(frozen=True)
class PaperNumber:
    """A number as the paper prints it; the standard deviation over ``seeds`` runs, where it is given."""

    value: float
    std: float | None = None
    seeds: int | None = None


@dataclass(frozen=True)
class Cell:
    """A recipe on a data set, to be run with several seeds.

    ``name`` is unique in its table and part of file names; ``title`` is shown in the table.
    ``measure`` is a name in `MEASURES`; each of its metrics may have a number in the ``paper``.
    ``most_seeds`` is 1 for what does not depend on the seed, or costs too much. ``grid`` holds values of
    settings of the recipe; dev chooses among them before any seed that counts is run.
    """

    name: str
    title: str
    data: DataSource
    recipe: Recipe
    measure: str = "classifier"
    paper: Mapping[str, PaperNumber] = field(default_factory=dict)
    most_seeds: int | None = None
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    @property
    def seedless(self) -> bool:
        """Whether its result does not depend on the seed."""
        return self.measure in SEEDLESS

    @cached_property
    def key(self) -> str:
        """The key of a row, from the measure, the recipe and how the data are read; 12 hex digits."""
        parts = {
            "version": VERSION,
            "measure": self.measure,
            "recipe": changes_of(self.recipe.as_dict(), type(self.recipe)().as_dict(), SAME_RESULT),
            "data": self.data.name,
            "options": changes_of(vars(self.data.options), vars(LoadOptions()), ()),
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True, default=dict).encode()).hexdigest()[:12]

    @property
    def slug(self) -> str:
        """Its name in a file."""
        return f"{re.sub(r'[^A-Za-z0-9.]+', '-', self.name)}-{self.key}"

    def with_fields(self, **changes: Any) -> Cell:
        """A copy with other fields."""
        return Cell(**{field.name: getattr(self, field.name) for field in fields(self)} | changes)


def changes_of(
    values: Mapping[str, Any], usual: Mapping[str, Any], left_out: tuple[str, ...]
) -> dict[str, Any]:
    """What differs from the usual: a setting that comes later makes no row stale."""
    return {
        name: value
        for name, value in values.items()
        if name not in left_out and (name not in usual or value != usual[name])
    }
