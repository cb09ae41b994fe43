"""A copy to work with, kept for the next who asks: to copy the modules of a small model takes longer than it
runs."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from torch import nn

from glasshead.huggingface.isolated_copy import isolated_copy
from glasshead.huggingface.model_state import ModelState, shares_tensors

Model = TypeVar("Model", bound=nn.Module)


@dataclass(frozen=True)
class Spare:
    """A copy that nobody uses, its own state, and that of its model when it was made; whether every change of
    a weight reaches it."""

    model: Any
    own: ModelState
    source: ModelState
    shares: bool


SPARES: WeakKeyDictionary[nn.Module, list[Spare]] = WeakKeyDictionary()
LOCK = threading.Lock()


@contextmanager
def lend_copy(model: Model) -> Iterator[Model]:
    """An `isolated_copy` for exclusive use in the block. The next caller gets it again, unless the model or
    the copy has changed."""
    now = ModelState.of(model)
    with LOCK:
        spares = SPARES.get(model)
        spare = spares.pop() if spares else None
    if spare is None or not spare.source.equals(now):
        copied = isolated_copy(model)
        own = ModelState.of(copied).snapshot()
        spare = Spare(copied, own, now.snapshot(), shares_tensors(model, copied))
    yield spare.model
    if spare.shares and spare.own.equals(ModelState.of(spare.model)):
        with LOCK:
            SPARES.setdefault(model, []).append(spare)
