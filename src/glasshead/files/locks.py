"""One process at a time: a locked file, which the kernel lets go when its process ends, however it ends."""

import contextlib
import json
import os
import socket
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from glasshead.errors import InputError
from glasshead.spelling import spell

TRIES = 100
WRITER: ContextVar[str | None] = ContextVar("writer", default=None)
"""Who writes, where the same work may be begun again on another host."""


class BusyError(InputError):
    """Another process writes this file or folder."""


@contextlib.contextmanager
def write_as(writer: str | None) -> Iterator[None]:
    """Hold files in the name of ``writer``, which takes over what it left on another host. Its name must be
    unique, and a piece of work may be started again only after the last attempt has ended."""
    before = WRITER.set(writer)
    try:
        yield
    finally:
        WRITER.reset(before)


@contextlib.contextmanager
def hold_lock(path: Path, out: Path) -> Iterator[Callable[[], None]]:
    """Hold the file ``path``, which guards ``out``; what is yielded makes sure that it is still held.

    The file names its host and process. A process that died on this host has let go, and its file is taken
    over. For another host nobody here can tell, and not every network file system shares locks: its file is
    respected until somebody removes it, or the same writer (`write_as`) comes back.

    Raises:
        BusyError: if another process holds it, or one of another host has left it.
    """
    lock = _acquire(path, out)
    held = path.stat()

    def still_held() -> bool:
        try:
            return os.path.samestat(held, path.lstat())
        except FileNotFoundError:
            return False

    def check() -> None:
        if not still_held():
            raise InputError(
                f"another process has taken over {out}, because {path} was deleted: nothing is replaced"
            )

    try:
        named = {} if WRITER.get() is None else {"writer": WRITER.get()}
        path.write_text(json.dumps({"host": socket.gethostname(), "pid": os.getpid(), **named}))
        yield check
    finally:
        if still_held():
            path.unlink()
        lock.release()


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, also while others remove empty ones."""
    for _ in range(TRIES):
        with contextlib.suppress(FileNotFoundError):
            return folder.mkdir(parents=True, exist_ok=True)
    folder.mkdir(parents=True, exist_ok=True)
    return None


def _acquire(path: Path, out: Path) -> FileLock:
    """The lock on the file, held."""
    lock = FileLock(path, thread_local=False, fallback_to_soft=False)
    while True:
        try:
            lock.acquire(blocking=False)
            break
        except FileNotFoundError:  # somebody has removed the folder, which was empty
            make_folder(path.parent)
        except Timeout:
            if path.exists():  # else its owner removed it while it was opened here
                raise BusyError(busy_message(out, path, _owner(path))) from None
    owner = _owner(path)
    is_local = owner.get("host") in (None, socket.gethostname())
    if not is_local and (WRITER.get() is None or owner.get("writer") != WRITER.get()):
        lock.release()
        raise BusyError(busy_message(out, path, owner))
    return lock


def _owner(path: Path) -> dict[str, Any]:
    """What the file says of its process; nothing if it has not been said yet."""
    try:
        owner = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return owner if isinstance(owner, dict) else {}


def busy_message(out: Path, path: Path, owner: dict[str, Any]) -> str:
    """Who is writing, and what to do."""
    if "pid" not in owner:
        return f"another process is writing {out}: wait for it, or choose another {spell('out')}"
    who = f"process {owner['pid']} on {owner.get('host')}"
    if owner.get("host") == socket.gethostname():
        return f"{out} is being written by {who}: wait for it, or choose another {spell('out')}"
    return f"{out} is being written by {who}: wait for it; if that process is gone, delete {path}"
