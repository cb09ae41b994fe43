"""Work that can be told to stop: every module of a model that is called asks whether anybody still waits."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch.nn.modules.module import register_module_forward_pre_hook

from glasshead.checkpoints import check_at_checkpoints, checkpoint


class CancelledError(Exception):
    """Nobody waits for the answer any more, or the server ends."""

    def __init__(self) -> None:
        super().__init__("the server is shutting down")


class CancelToken:
    """Set once, when an answer is not wanted any more."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def cancel(self) -> None:
        self._event.set()

    @property
    def cancelled(self) -> bool:
        return self._event.is_set()

    def check(self) -> None:
        """Raise CancelledError if nobody waits."""
        if self.cancelled:
            raise CancelledError


@contextmanager
def cancellable(token: CancelToken) -> Iterator[None]:
    """Let what this thread does in the block stop, between two modules or at a checkpoint, when the token is
    cancelled.

    Raises:
        CancelledError: where that happened.
    """
    token.check()
    with check_at_checkpoints(token.check):
        yield


def check_current(*_: Any) -> None:
    """Raise CancelledError if nobody waits for what this thread does."""
    checkpoint()


@contextmanager
def stoppable_models() -> Iterator[None]:
    """Let every module ask, for the time of the block; no module is changed."""
    handle = register_module_forward_pre_hook(check_current)
    try:
        yield
    finally:
        handle.remove()
