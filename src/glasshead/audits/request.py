"""What an audit is asked to do."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import torch
from transformers import PreTrainedTokenizerBase

from glasshead.audits.identifiability import Identifiability
from glasshead.explainers import find_explainer
from glasshead.results import ATTENTION
from glasshead.trace import AttentionSelector
from glasshead.training import OpenOptions

IDENTIFIABILITY = "identifiability"
"""The one audit that needs no prediction."""


class OnProgress(Protocol):
    """Called with what is being done and, where that is known, which share of it is behind."""

    def __call__(self, stage: str, share: float | None = None) -> None: ...


def no_progress(stage: str, share: float | None = None) -> None:
    """Nobody watches."""


class StageProgress:
    """Tells ``progress`` which stage runs, and how many texts it has read."""

    def __init__(self, progress: OnProgress) -> None:
        self.progress, self.stage = progress, ""

    def begin(self, stage: str) -> None:
        """From here on another stage runs."""
        self.stage = stage
        self.progress(stage)

    def on_texts(self, done: int, total: int) -> None:
        """So many of the texts are done."""
        self.progress(f"{self.stage}: {done:,} of {total:,} texts", done / total)


@dataclass(frozen=True)
class SubjectRequest:
    """Which model is asked about which data, and how both are read.

    ``model`` and ``tokenizer`` are what `glasshead.open` takes, ``data`` and ``train`` a source or a data set
    in memory. ``load_options`` are fields of `LoadOptions` that differ from those of a run; ``limit`` is the
    size of a random part of the texts; in ``dtype`` scores, weights and gradients are computed.
    """

    model: object
    data: object
    split: str | None = None
    load_options: Mapping[str, Any] = field(default_factory=dict)
    limit: int | None = None
    seed: int = 0
    max_length: int | None = None
    attention_selector: AttentionSelector = field(default_factory=AttentionSelector)
    train: object = None
    tokenizer: PreTrainedTokenizerBase | None = None
    opening: OpenOptions = field(default_factory=OpenOptions)
    dtype: str | torch.dtype = torch.float64

    @property
    def name(self) -> str:
        """What the model is called."""
        if isinstance(self.model, str | Path):
            return Path(self.model).resolve().name
        return getattr(self.model, "name", None) or type(self.model).__name__


@dataclass(frozen=True)
class AuditRequest(SubjectRequest):
    """The same, by which audits (None: all that have a meaning), and of which explanation.

    ``method`` is the explanation that is audited, the name of an explainer; ``by`` is what findings are
    sliced by (class, length, correct, or a column of the data); ``draws`` of None are as many as a
    perturbation test takes by itself.

    Raises:
        InputError: on an unknown method, and on one whose package is missing.
    """

    audits: tuple[str, ...] | None = None
    draws: int | None = None
    identifiability: Identifiability | None = None
    by: tuple[str, ...] = ()
    method: str = ATTENTION

    def __post_init__(self) -> None:
        find_explainer(self.method)
