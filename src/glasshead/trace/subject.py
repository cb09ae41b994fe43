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
    """A model whose attention can be read, in evaluation mode, and its tokenizer; where no
    texts are read a `glasshead.data.UnitReader`.

    Both are Glasshead's own: whatever happens to them, the caller's model and tokenizer are as they were.
    ``name`` is what pages and messages call it. ``counts`` [K, V] are the train occurrences of every
    vocabulary id in every class, ``gauge`` is the canonical sign of its heads: both are None where nobody
    knows them. ``record`` says how it was trained, empty where Glasshead did not train it. ``notes`` are
    sentences about what had to be done to read it.
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
        """What the model can say: its classes, in order, or its labels."""
        return target_names(self.model)

    def __repr__(self) -> str:
        return f"Subject({self.name!r}, {class_name(self.model)}, {', '.join(self.labels)})"
