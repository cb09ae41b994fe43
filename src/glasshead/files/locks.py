"""One process at a time: a locked file, which the kernel lets go when its process ends, however it ends."""

import contextlib
import errno
import json
import os
import socket
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from glasshead.errors import InputError

try:
    import fcntl
except ImportError:  # Windows, where two processes are not kept apart
    fcntl = None  # type: ignore[assignment]

ELSEWHERE = (errno.EAGAIN, errno.EACCES)
"""How `flock` says that another process holds the file."""


TRIES = 100
WRITER: ContextVar[str | None] = ContextVar("writer", default=None)
"""Who writes, where the same work may be begun again on another host."""


class BusyError(InputError):
    """Another process writes this file or folder."""


@contextlib.contextmanager
def write_as(writer: str | None) -> Iterator[None]:
    """Hold files in the name of ``writer``, who takes over what it left on another host; its name must be
    unique, and whoever uses it begins a piece of work again only when the last attempt has ended."""
    before = WRITER.set(writer)
    try:
        yield
    finally:
        WRITER.reset(before)


@contextlib.contextmanager
def hold_lock(path: Path, out: Path) -> Iterator[Callable[[], None]]:
    """Hold the file ``path``, which guards ``out``; what is yielded makes sure that it is still held.

    The file names its host and process. A process that died on this host has let go, and its file is taken
    over. Of another host nobody here can tell, and not every network file system shares locks: its file is
    respected until somebody removes it, or the same writer (`write_as`) comes back.

    Raises:
        BusyError: if another process holds it, or one of another host has left it.
    """
    descriptor = _acquire(path, out)

    def check() -> None:
        if not _same(descriptor, path):
            raise InputError(
                f"another process has taken over {out}, for {path} was removed: nothing is replaced"
            )

    try:
        os.truncate(descriptor, 0)
        os.lseek(descriptor, 0, os.SEEK_SET)
        named = {} if WRITER.get() is None else {"writer": WRITER.get()}
        owner = {"host": socket.gethostname(), "pid": os.getpid(), **named}
        os.write(descriptor, json.dumps(owner).encode())
        yield check
    finally:
        if _same(descriptor, path):
            path.unlink()
        os.close(descriptor)


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, also while others remove empty ones."""
    for _ in range(TRIES):
        with contextlib.suppress(FileNotFoundError):
            return folder.mkdir(parents=True, exist_ok=True)
    folder.mkdir(parents=True, exist_ok=True)
    return None


def _acquire(path: Path, out: Path) -> int:
    """The descriptor of the locked file."""
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
    while True:
        try:
            descriptor = os.open(path, flags, 0o666)
        except FileNotFoundError:  # somebody has removed the folder, which was empty
            make_folder(path.parent)
            descriptor = os.open(path, flags, 0o666)
        try:
            owner = _owner(descriptor)
            if not _free(descriptor, owner):
                raise BusyError(busy_message(out, path, owner))
            if _same(descriptor, path):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # its owner removed it while it was opened here


def _free(descriptor: int, owner: dict[str, Any]) -> bool:
    """Whether nobody holds the file; it is held here then."""
    if fcntl is not None:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in ELSEWHERE:
                return False
            raise
    here = owner.get("host") in (None, socket.gethostname())
    return here or (WRITER.get() is not None and owner.get("writer") == WRITER.get())


def _same(descriptor: int, path: Path) -> bool:
    """Whether the open file is the one that has this name."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False


def _owner(descriptor: int) -> dict[str, Any]:
    """What the file says of its process; nothing if it has not been said yet."""
    try:
        owner = json.loads(os.read(descriptor, 1000))
    except ValueError:
        return {}
    return owner if isinstance(owner, dict) else {}


def busy_message(out: Path, path: Path, owner: dict[str, Any]) -> str:
    """Who is writing, and what to do."""
    if "pid" not in owner:
        return f"another process is writing {out}: wait for it, or choose another `out`"
    who = f"process {owner['pid']} on {owner.get('host')}"
    if owner.get("host") == socket.gethostname():
        return f"{out} is being written by {who}: wait for it, or choose another `out`"
    return f"{out} is being written by {who}: wait for it; if it runs no longer, delete {path}"
