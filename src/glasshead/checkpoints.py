"""Where long work that runs no module of a model may be told to stop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_CHECK: ContextVar[Callable[[], None] | None] = ContextVar("check", default=None)


def checkpoint() -> None:
    """Called in every round of a long loop: raises what the check of this thread raises, if it has one."""
    check = _CHECK.get()
    if check is not None:
        check()


@contextmanager
def check_at_checkpoints(check: Callable[[], None]) -> Iterator[None]:
    """Let every checkpoint that this thread reaches in the block ask ``check``, which may raise."""
    token = _CHECK.set(check)
    try:
        yield
    finally:
        _CHECK.reset(token)
