"""Folders and files that appear whole or not at all, written by one process at a time.

OUT.partial             a training that can be resumed
.OUT.glasshead-lock     held by the process that writes OUT
.OUT.glasshead-new      what becomes OUT when it is whole
.OUT.glasshead-old      what was OUT until the new one stood
.OUT.glasshead-scaffold what a training is resumed by, until the new one stood
"""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from glasshead.errors import InputError
from glasshead.files.disk_errors import storage_errors
from glasshead.files.locks import hold_lock, make_folder
from glasshead.files.manifest import foreign_files, write_manifest
from glasshead.spelling import current_spelling, spell, use_spelling

MOST_NAMES = 3
"""So many files are named where there are more."""


def partial_path(out: Path) -> Path:
    """The folder of a resumable training until it is complete."""
    return out.parent / f"{out.name}.partial"


RUN_FILES = ("run.json", "repeats.json")


def check_writable(
    out: Path, *, overwrite: bool = False, resume: bool = False, reads: Iterable[Path] = ()
) -> None:
    """Make sure that ``out`` may be written before any work is done; nothing is created.

    Raises:
        InputError: if it exists and ``overwrite`` is false, if it contains foreign files or what the work
        ``reads``, if it is a finished training to ``resume``, or if it cannot be written.
    """
    if out.name in ("", ".."):
        raise InputError(f"{out} is not a valid name for a new folder or file: choose another {spell('out')}")
    try:
        if resume and not overwrite and any((out / name).exists() for name in RUN_FILES):
            raise InputError(
                f"nothing to resume: {out} is finished; {spell('overwrite', True)} trains it again"
            )
        for path in reads if overwrite else ():
            if path.exists() and path.resolve().is_relative_to(out.resolve()):
                raise InputError(f"{out} contains {path}, which is an input: choose another {spell('out')}")
        check_replaceable(out, overwrite=overwrite)
        above = next(path for path in out.absolute().parents if path.exists())
        if not above.is_dir():
            raise InputError(f"cannot write {out}: {above} is not a folder")
        if not os.access(above, os.W_OK | os.X_OK):
            raise InputError(f"cannot write into the folder {above}: permission denied")
        temp_sibling(out, "lock").exists()  # raises if the name is too long
        # Some folders, such as /proc, take no files whatever their permissions are: one without a name tells.
        with tempfile.TemporaryFile(dir=above):
            pass
    except OSError as error:
        raise InputError(f"cannot write {out}: {error.strerror}") from error


def check_replaceable(out: Path, *, overwrite: bool) -> None:
    """Raise InputError if ``out`` exists and may not be replaced, or holds what nobody wants to lose."""
    if not os.path.lexists(out):
        return
    if out.is_symlink():
        raise InputError(
            f"{out} is a symbolic link and would be replaced: give its "
            "target, or choose another "
            f"{spell('out')}"
        )
    if out.exists() and not (out.is_file() or out.is_dir()):
        raise InputError(f"{out} is a device and would be replaced by a file: choose another {spell('out')}")
    if not overwrite:
        raise InputError(
            f"{out} exists already: pass {spell('overwrite', True)} to replace it, or choose another "
            f"{spell('out')}"
        )
    if out.is_dir() and any(out.iterdir()):
        check_foreign(out, foreign_files(out))


def check_foreign(folder: Path, foreign: list[str] | None) -> None:
    """Raise InputError for a folder that is to be removed, if files in it were not written here."""
    if foreign is None:
        raise InputError(f"{folder} is a folder that Glasshead did not create: choose another {spell('out')}")
    if foreign:
        more = f" and {len(foreign) - MOST_NAMES:,} more" if foreign[MOST_NAMES:] else ""
        names = ", ".join(foreign[:MOST_NAMES]) + more
        raise InputError(
            f"{folder} contains files that Glasshead did not write ({names}): move them, or choose another "
            f"{spell('out')}"
        )


def check_not_directory(out: Path) -> None:
    """Raise InputError for the name of a folder where a file is to be written."""
    if out.is_dir():
        raise InputError(f"{out} is a folder: give {spell('out')} the name of a file")


def format_from_suffix(out: Path, *kinds: str) -> str:
    """The format that the suffix of a file names, one of ``kinds``.

    Raises:
        InputError: if it is another, or none, or if it is a folder.
    """
    check_not_directory(out)
    kind = out.suffix.removeprefix(".").lower()
    if kind not in kinds:
        first = f"{', '.join('.' + name for name in kinds[:-1])} or " if kinds[1:] else ""
        raise InputError(f"{out} must end in {first}.{kinds[-1]}")
    return kind


@contextlib.contextmanager
def make_parents(out: Path) -> Iterator[None]:
    """The folders above ``out``; new ones go again if the block fails and leaves them empty."""
    missing = [path for path in out.absolute().parents if not path.exists()]
    make_folder(out.parent)
    try:
        yield
    except BaseException:
        for path in missing:
            with contextlib.suppress(OSError):
                path.rmdir()
        raise


def temp_sibling(out: Path, what: str) -> Path:
    """The hidden "lock", "new", "old" or "scaffold" next to ``out``; no user file has such a name."""
    return out.with_name(f".{out.name}.glasshead-{what}")


@dataclass(frozen=True)
class Reserved:
    """The exclusive right to write ``out``."""

    out: Path
    overwrite: bool
    still_held: Callable[[], None]

    def check(self) -> None:
        """Raise InputError if ``out`` may not be replaced, or if this process has lost the right to it."""
        self.still_held()
        check_replaceable(self.out, overwrite=self.overwrite)

    def publish(self, work: Path) -> None:
        """Rename a finished ``work`` to ``out``; what was there is deleted only once the new one is complete.

        Raises:
            InputError: as `check`.
        """
        if work.is_dir():
            write_manifest(work)
        self.check()
        previous = temp_sibling(self.out, "old")
        try:
            if os.path.lexists(self.out):
                self.out.rename(previous)
            work.rename(self.out)
        except BaseException:
            restore(self.out)
            raise
        remove(previous)


@contextlib.contextmanager
def reserve_folder(out: Path, *, overwrite: bool = False) -> Iterator[Reserved]:
    """Keep other processes from writing ``out`` while the block runs; what killed processes left next to it
    is removed.

    Raises:
        InputError: if another process writes it, or if it may not be replaced.
        OSError: if a writer fails because the disk is full, for any exception of that writer.
    """
    with storage_errors(out), make_parents(out), hold_lock(temp_sibling(out, "lock"), out) as still_held:
        restore(out)
        remove(temp_sibling(out, "new"))
        reserved = Reserved(out, overwrite, still_held)
        reserved.check()
        yield reserved


def restore(out: Path) -> None:
    """Bring back what was ``out`` if nothing has replaced it, else remove it."""
    previous = temp_sibling(out, "old")
    if os.path.lexists(previous) and not os.path.lexists(out):
        previous.rename(out)
    remove(previous)


def remove(path: Path) -> None:
    """Remove a file or folder, if there is one."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@contextlib.contextmanager
def atomic_folder(out: Path, *, overwrite: bool = False, reads: Iterable[Path] = ()) -> Iterator[Path]:
    """A folder to write into; it becomes ``out`` if the block succeeds, and is deleted if it does not.

    Raises:
        InputError: as `check_writable`.
    """
    check_writable(out, overwrite=overwrite, reads=reads)
    with reserve_folder(out, overwrite=overwrite) as reserved:
        work = temp_sibling(out, "new")
        try:
            work.mkdir()
            yield work
            reserved.publish(work)
        finally:
            remove(work)


@contextlib.contextmanager
def parameter_named(name: str) -> Iterator[None]:
    """In the block, errors name ``out`` as the caller's parameter does."""
    outer = current_spelling()
    with use_spelling(lambda parameter, *value: outer(name if parameter == "out" else parameter, *value)):
        yield


def write_bytes(out: Path, content: bytes, *, overwrite: bool = False) -> None:
    """Write a file aside and rename it into place.

    Raises:
        InputError: as `check_writable`, or if it is a folder.
    """
    check_writable(out, overwrite=overwrite)
    check_not_directory(out)
    with reserve_folder(out, overwrite=overwrite) as reserved:
        work = temp_sibling(out, "new")
        try:
            work.write_bytes(content)
            reserved.publish(work)
        finally:
            remove(work)


def write_text(out: Path, text: str, *, overwrite: bool = False) -> None:
    """Write a text file in UTF-8, as `write_bytes`."""
    write_bytes(out, text.encode(), overwrite=overwrite)
