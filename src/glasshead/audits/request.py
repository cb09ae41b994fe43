"""What an audit is asked to do."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from glasshead.audits.identifiability import Identifiability
from glasshead.trace import AttentionSelector

IDENTIFIABILITY = "identifiability"
"""The one audit that needs no prediction."""


class OnProgress(Protocol):
    """Called with what is being done and, where that is known, which share of it is behind."""

    def __call__(self, stage: str, share: float | None = None) -> None: ...


@dataclass(frozen=True)
class AuditRequest:
    """What is audited, on which data, by which audits (None: all that have a meaning).

    ``load_options`` are fields of `LoadOptions` that differ from those of the run; ``limit`` is the size of a
    random part of the texts; ``draws`` of None are as many as a perturbation test takes by itself.
    """

    folder: Path
    data: str
    split: str = "test"
    load_options: Mapping[str, Any] = field(default_factory=dict)
    audits: tuple[str, ...] | None = None
    limit: int | None = None
    seed: int = 0
    max_length: int | None = None
    attention_selector: AttentionSelector = field(default_factory=AttentionSelector)
    draws: int | None = None
    identifiability: Identifiability = field(default_factory=Identifiability)
