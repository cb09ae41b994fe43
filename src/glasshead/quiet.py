"""Calls of other libraries without their warnings, in any thread."""

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

_FILTERS = threading.RLock()
"""Filters of warnings are those of the whole process: two threads that put them back must not overlap."""


@contextmanager
def without_warnings(message: str = "", category: type[Warning] = Warning) -> Iterator[None]:
    """In the block nothing warns that begins with ``message`` and is of a ``category``."""
    with _FILTERS, warnings.catch_warnings():
        warnings.filterwarnings("ignore", message, category)
        yield
