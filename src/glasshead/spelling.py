"""How the caller spells a parameter: in Python, or as an option on the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

Spelling = Callable[..., str]
"""From a parameter, and perhaps a value of it, to how these are given."""
GIVEN: Any = object()
"""Stands for whatever value was given."""


def in_python(name: str, value: Any = GIVEN) -> str:
    """``limit``, or ``limit=3``, between backquotes; also what is not a parameter, such as a function."""
    return f"`{name}`" if value is GIVEN else f"`{name}={value!r}`"


_spelling: ContextVar[Spelling] = ContextVar("spelling", default=in_python)


def spell(name: str, value: Any = GIVEN) -> str:
    """A parameter, perhaps with a value, as the caller passes it."""
    return _spelling.get()(name, value)


def current_spelling() -> Spelling:
    """How parameters are spelled here: to be handed to a thread, which knows nothing of it."""
    return _spelling.get()


@contextmanager
def use_spelling(spelling: Spelling) -> Iterator[None]:
    """Sentences that are made inside spell parameters so."""
    token = _spelling.set(spelling)
    try:
        yield
    finally:
        _spelling.reset(token)
