"""Folders and files that appear whole or not at all."""

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from glasshead.errors import InputError


def partial(out: Path) -> Path:
    """Where the work towards ``out`` lives until it is whole."""
    return out.with_name(out.name + ".partial")


def claim(out: Path, *, overwrite: bool = False) -> None:
    """Make sure that ``out`` may be written before any work is done.

    Raises:
        InputError: if it exists and ``overwrite`` is false, or its parent cannot be written.
    """
    if out.exists() and not overwrite:
        raise InputError(f"{out} exists already: pass --overwrite to replace it, or choose another --out")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot create the folder {out.parent}: {error.strerror}") from error
    if not os.access(out.parent, os.W_OK | os.X_OK):
        raise InputError(f"cannot write into the folder {out.parent}: permission denied")


def publish(work: Path, out: Path) -> None:
    """Rename a finished ``work`` to ``out``; what was there before goes only once the new one stands."""
    previous = out.with_name(out.name + ".previous")
    if out.exists():
        discard(previous)
        out.rename(previous)
    work.rename(out)
    discard(previous)


def discard(path: Path) -> None:
    """Remove a file or folder, if there is one."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@contextlib.contextmanager
def whole(out: Path, *, overwrite: bool = False) -> Iterator[Path]:
    """A folder to write into that becomes ``out`` when the block ends well, and vanishes when it does not.

    Raises:
        InputError: as `claim`.
    """
    claim(out, overwrite=overwrite)
    work = partial(out)
    discard(work)
    work.mkdir()
    try:
        yield work
        publish(work, out)
    finally:
        discard(work)


def write_text(out: Path, text: str, *, overwrite: bool = False) -> None:
    """Write a text file aside and rename it into place.

    Raises:
        InputError: as `claim`.
    """
    claim(out, overwrite=overwrite)
    work = partial(out)
    try:
        work.write_text(text, encoding="utf-8")
        work.replace(out)
    finally:
        discard(work)
