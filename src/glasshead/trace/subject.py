"""What is explained or audited: a model before a tokenizer, and what is known of how it was made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from transformers import PreTrainedModel

from glasshead.huggingface import class_name, target_names


@dataclass(frozen=True, eq=False)
class Subject:
    """A model whose attention can be read, in evaluation mode, and its tokenizer; for other inputs a
    `glasshead.data.UnitReader`.

    Both are copies: changing them does not change the caller's.
    ``name`` is what pages and messages call it. ``counts`` [K, V] are the train occurrences of every
    vocabulary id in every class, ``gauge`` is the canonical sign of its heads: both are None if unknown.
    ``record`` says how it was trained; it is empty if Glasshead did not train it. ``notes`` say what was
    done to make it readable.
    """

    model: PreTrainedModel
    tokenizer: Any
    name: str
    counts: NDArray[np.int64] | None = None
    gauge: Mapping[str, Any] | None = None
    record: Mapping[str, Any] = field(default_factory=dict)
    folder: Path | None = None
    notes: tuple[str, ...] = ()

    @property
    def labels(self) -> list[str]:
        """The possible predictions of the model: its classes, in order, or its labels."""
        return target_names(self.model)

    def __repr__(self) -> str:
        return f"Subject({self.name!r}, {class_name(self.model)}, {', '.join(self.labels)})"
