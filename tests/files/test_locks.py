"""One process at a time."""

import errno
import fcntl
import json
import os
import re
import signal
import socket
import subprocess
import sys

import pytest

from glasshead.errors import InputError
from glasshead.files.locks import hold_lock, write_as


@pytest.fixture
def path(tmp_path):
    return tmp_path / ".out.lock"


def test_says_whose_it_is_and_goes_with_the_block(path):
    with hold_lock(path, path) as still_held:
        assert json.loads(path.read_text()) == {"host": socket.gethostname(), "pid": os.getpid()}
        still_held()
    assert not path.exists()


def test_a_second_one_is_told_who_has_it(path):
    says = f"the run is being written by process {os.getpid()} on {re.escape(socket.gethostname())}: wait"
    with hold_lock(path, path), pytest.raises(InputError, match=says), hold_lock(path, "the run"):
        pytest.fail("entered")
    with hold_lock(path, path):
        pass


def test_it_has_not_said_yet_whose_it_is(path):
    with hold_lock(path, path):
        os.truncate(path, 0)
        with pytest.raises(InputError, match="another process is writing"), hold_lock(path, path):
            pytest.fail("entered")


def test_of_a_process_that_died_here(path):
    """However it died: the kernel has let go of the file."""
    program = (
        "import os, signal, sys; from pathlib import Path; from glasshead.files.locks import hold_lock\n"
        "with hold_lock(Path(sys.argv[1]), ''): os.kill(os.getpid(), signal.SIGKILL)"
    )
    ended = subprocess.run([sys.executable, "-c", program, str(path)], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert path.exists()
    with hold_lock(path, path):
        assert json.loads(path.read_text())["pid"] == os.getpid()


def test_of_another_host(path):
    """Which may be alive: not every file system shares its locks."""
    path.write_text('{"host": "elsewhere", "pid": 7}')
    says = f"run is being written by process 7 on elsewhere: .* delete {re.escape(str(path))}$"
    with pytest.raises(InputError, match=says), hold_lock(path, "run"):
        pytest.fail("entered")
    assert path.exists()
    path.unlink()
    with hold_lock(path, path):
        pass


def test_of_another_host_by_the_same_writer(path):
    """Who was lost with its host, and begins again on this one."""
    with write_as("me"), hold_lock(path, path):
        record = json.loads(path.read_text())
    path.write_text(json.dumps(record | {"host": "elsewhere"}))
    for writer in (None, "another"):
        with write_as(writer), pytest.raises(InputError, match="on elsewhere"), hold_lock(path, path):
            pytest.fail("entered")
    with write_as("me"), hold_lock(path, path) as still_held:
        still_held()
    assert not path.exists()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"pid": 7}', '"x"', "\xff\x00"])
def test_a_damaged_one(path, content):
    path.write_text(content, encoding="latin-1")
    with hold_lock(path, path):
        assert json.loads(path.read_text())["pid"] == os.getpid()


def test_somebody_removed_it(path):
    def lost():
        with hold_lock(path, "run") as still_held:
            path.unlink()
            path.write_text("theirs")
            still_held()

    with pytest.raises(InputError, match="another process has taken over run"):
        lost()
    assert path.read_text() == "theirs"


def test_its_owner_lets_go_while_it_is_opened(path, monkeypatch):
    """The file that was locked has lost its name, so that a third process would lock another one."""
    real, calls = fcntl.flock, []

    def flock(descriptor, how):
        if how & fcntl.LOCK_EX:
            calls.append(descriptor)
            if len(calls) == 1:
                path.unlink()
        real(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", flock)
    with hold_lock(path, path) as still_held:
        still_held()
    assert len(calls) == 2


def test_a_file_system_without_locks(path, monkeypatch):
    def flock(*given):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", flock)
    with pytest.raises(OSError, match="locks"), hold_lock(path, path):
        pytest.fail("entered")
