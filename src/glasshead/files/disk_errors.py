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
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.errno in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT):
            return cause
        if match := SYSTEM.search(str(cause)):
            return OSError(int(match[1]), os.strerror(int(match[1])))
        unnumbered = isinstance(cause, RuntimeError) or (isinstance(cause, OSError) and cause.errno is None)
        if unnumbered and UNNUMBERED.search(str(cause)):
            return OSError(
                errno.ENOSPC, "a file was not written completely: the disk is full, or the file is too large"
            )
        cause = cause.__cause__ or cause.__context__
    return None


def check_readable(path: Path) -> None:
    """Raise InputError for a file, or a folder with a file, that exists and may not be read.

    Otherwise a reader would report it as damaged.
    """
    folder = path.is_dir()
    if path.exists() and not os.access(path, os.R_OK | os.X_OK if folder else os.R_OK):
        raise InputError(f"cannot read {path}: permission denied")
    for file in sorted(path.iterdir()) if folder else ():
        if file.is_file() and not os.access(file, os.R_OK):
            raise InputError(f"cannot read {file}: permission denied")
