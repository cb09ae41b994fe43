"""Folders and files that appear whole or not at all."""

import contextlib
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from glasshead.errors import InputError


def partial(out: Path) -> Path:
    """Where a training that can be resumed lives until it is whole."""
    return out.with_name(out.name + ".partial")


# A folder that holds one of these was made here; --overwrite replaces no other.
TRAINED = ("run.json", "repeats.json")
OURS = (*TRAINED, "card.json", "report.html", "logs.json")


def claim(out: Path, *, overwrite: bool = False, resume: bool = False, reads: Iterable[Path] = ()) -> None:
    """Make sure that ``out`` may be written before any work is done; nothing is created.

    Raises:
        InputError: if it exists and ``overwrite`` is false, if it is a folder of somebody else's or holds
            what the work ``reads``, if it is a finished training to ``resume``, or if it cannot be written.
    """
    if out.name in ("", ".."):
        raise InputError(f"{out} is no name that could be given to something new: choose another --out")
    try:
        if resume and not overwrite and any((out / name).exists() for name in TRAINED):
            raise InputError(f"nothing to resume: {out} is finished; --overwrite trains it again")
        if out.exists() and not overwrite:
            raise InputError(f"{out} exists already: pass --overwrite to replace it, or choose another --out")
        if out.is_dir() and any(out.iterdir()) and not any((out / name).exists() for name in OURS):
            raise InputError(f"{out} is a folder that glasshead did not make: choose another --out")
        for path in reads:
            if path.exists() and path.resolve().is_relative_to(out.resolve()):
                raise InputError(f"{out} holds {path}, which is read: choose another --out")
        above = next(path for path in out.absolute().parents if path.exists())
        if not above.is_dir():
            raise InputError(f"cannot write {out}: {above} is not a folder")
        if not os.access(above, os.W_OK | os.X_OK):
            raise InputError(f"cannot write into the folder {above}: permission denied")
        # Some folders, such as /proc, take no files whatever their permissions are: one without a name tells.
        with tempfile.TemporaryFile(dir=above):
            pass
    except OSError as error:
        raise InputError(f"cannot write {out}: {error.strerror}") from error


def no_folder(out: Path) -> None:
    """Raise InputError for the name of a folder where a file is to be written."""
    if out.is_dir():
        raise InputError(f"{out} is a folder: give --out the name of a file")


def ending(out: Path, *kinds: str) -> str:
    """The format that a file's name asks for, one of ``kinds``.

    Raises:
        InputError: if it is another, or none, or if it is a folder.
    """
    no_folder(out)
    kind = out.suffix.removeprefix(".").lower()
    if kind not in kinds:
        first = f"{', '.join('.' + each for each in kinds[:-1])} or " if kinds[1:] else ""
        raise InputError(f"{out} is to end in {first}.{kinds[-1]}")
    return kind


@contextlib.contextmanager
def parents(out: Path) -> Iterator[None]:
    """The folders above ``out``; new ones go again if the block fails and leaves them empty."""
    missing = [path for path in out.absolute().parents if not path.exists()]
    out.parent.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        for path in missing:
            with contextlib.suppress(OSError):
                path.rmdir()
        raise


def aside(out: Path) -> Path:
    """A name beside ``out`` that nothing has: hidden, and never one that a person gave."""
    return out.with_name(f".{out.name}.{secrets.token_hex(4)}")


def publish(work: Path, out: Path) -> None:
    """Rename a finished ``work`` to ``out``; what was there before goes only once the new one stands."""
    previous = aside(out)
    if out.exists():
        out.rename(previous)
    try:
        work.rename(out)
    except BaseException:
        if previous.exists():
            previous.rename(out)
        raise
    discard(previous)


def discard(path: Path) -> None:
    """Remove a file or folder, if there is one."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@contextlib.contextmanager
def whole(out: Path, *, overwrite: bool = False, reads: Iterable[Path] = ()) -> Iterator[Path]:
    """A folder to write into that becomes ``out`` when the block ends well, and vanishes when it does not.

    Raises:
        InputError: as `claim`.
    """
    claim(out, overwrite=overwrite, reads=reads)
    work = aside(out)
    with parents(out):
        work.mkdir()
        try:
            yield work
            publish(work, out)
        finally:
            discard(work)


def write_bytes(out: Path, content: bytes, *, overwrite: bool = False) -> None:
    """Write a file aside and rename it into place.

    Raises:
        InputError: as `claim`, or if it is a folder.
    """
    claim(out, overwrite=overwrite)
    no_folder(out)
    work = aside(out)
    with parents(out):
        try:
            work.write_bytes(content)
            work.replace(out)
        finally:
            discard(work)


def write_text(out: Path, text: str, *, overwrite: bool = False) -> None:
    """Write a text file in UTF-8, as `write_bytes`."""
    write_bytes(out, text.encode(), overwrite=overwrite)
