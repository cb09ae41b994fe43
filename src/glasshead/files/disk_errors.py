"""A full disk, a file that may not grow or be read: everybody says so in another way, here all in one."""

import contextlib
import errno
import os
import re
from collections.abc import Iterator
from pathlib import Path

from glasshead.errors import InputError

SYSTEM = re.compile(r"\(os error (\d+)\)")
"""How what is written in Rust (safetensors, tokenizers) names an error of the system."""
UNNUMBERED = re.compile(r"inline_container|PytorchStreamWriter|iostream error|requested and \d+ written")
"""How torch and numpy do, which keep the number to themselves."""


@contextlib.contextmanager
def storage_errors(out: Path) -> Iterator[None]:
    """Raise OSError about ``out`` where a writer of it has no room, whatever it raises itself."""
    try:
        yield
    except Exception as error:
        failure = storage_error(error)
        if failure is None:
            raise
        failure.filename = str(out)  # not the hidden file within, which is gone when this is read
        if failure is error:
            raise
        raise failure from error


def storage_error(error: BaseException) -> OSError | None:
    """The error of the system that an exception tells of, or one of those it comes from."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, OSError) and seen.errno in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT):
            return seen
        if match := SYSTEM.search(str(seen)):
            return OSError(int(match[1]), os.strerror(int(match[1])))
        unnumbered = isinstance(seen, RuntimeError) or (isinstance(seen, OSError) and seen.errno is None)
        if unnumbered and UNNUMBERED.search(str(seen)):
            return OSError(
                errno.ENOSPC, "not all of a file was written: the disk is full, or it is too large"
            )
        seen = seen.__cause__ or seen.__context__
    return None


def check_readable(path: Path) -> None:
    """Raise InputError for a file, or a folder with a file, that exists and may not be read.

    Whoever reads it would call it damaged.
    """
    folder = path.is_dir()
    if path.exists() and not os.access(path, os.R_OK | os.X_OK if folder else os.R_OK):
        raise InputError(f"cannot read {path}: permission denied")
    for each in sorted(path.iterdir()) if folder else ():
        if each.is_file() and not os.access(each, os.R_OK):
            raise InputError(f"cannot read {each}: permission denied")
