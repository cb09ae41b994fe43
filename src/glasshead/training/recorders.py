"""What can be recorded while a model trains: `train --watch NAME`. Extensions add recorders."""

from collections.abc import Callable, Mapping
from typing import Any

from transformers import TrainerCallback

from glasshead.registry import Registry

Recorder = Callable[[Mapping[str, Any] | None, int | None], TrainerCallback]
"""Where the data came from, and every how many steps (None of each: not known, not asked for) → callback."""
RECORDERS: Registry[Recorder] = Registry("recorder", "recorders")
