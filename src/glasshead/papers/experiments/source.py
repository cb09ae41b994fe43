"""Where the examples of a cell come from: a folder of research data, or made-up texts."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glasshead.data import DATASETS, LoadOptions, load
from glasshead.papers.experiments.made_up import (
    MADE_UP_PAIRS,
    MADE_UP_RATINGS,
    generate_pairs,
    generate_ratings,
)
from glasshead.registry import Registry

if TYPE_CHECKING:
    from datasets import DatasetDict

GENERATORS: Registry[Callable[[LoadOptions], DatasetDict]] = Registry("made-up data set")
GENERATORS.register(MADE_UP_PAIRS)(generate_pairs)
GENERATORS.register(MADE_UP_RATINGS)(generate_ratings)


@dataclass(frozen=True)
class DataSource:
    """A data set as a table reads it: a folder below the data folder or the name of a made-up set, with the
    options of `glasshead.data.load`, and its title in tables."""

    name: str
    title: str
    options: LoadOptions = field(default_factory=LoadOptions)

    @property
    def made_up(self) -> bool:
        """Whether it needs no data folder."""
        return self.name in DATASETS or self.name in GENERATORS

    def is_missing(self, folder: Path | None) -> bool:
        """Whether the data folder lacks it."""
        return not self.made_up and (folder is None or not (folder / self.name).is_dir())

    def read(self, folder: Path | None) -> DatasetDict:
        """The splits train, dev and test.

        Raises:
            InputError: as `glasshead.data.load`.
        """
        if self.name in GENERATORS:
            return GENERATORS[self.name](self.options)
        if self.made_up:
            return load(self.name, self.options)
        return load((folder or Path()) / self.name, self.options)

    @property
    def label(self) -> str:
        """Its name and options in one word: sources with the same label have the same examples."""
        return f"{self.name} {json.dumps(asdict(self.options), sort_keys=True, default=str)}"

    def record(self) -> dict[str, Any]:
        """What a run records of its data."""
        return {"source": self.name, "options": asdict(self.options)}
