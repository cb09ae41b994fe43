"""A full disk and a file that may not grow, at the command line: one line, exit code 1, nothing left."""

import subprocess
import sys
from pathlib import Path

import pytest

from limits import largest_file
from typed import TINY, glasshead, one_line, tree

FULL = Path("/dev/full")
PROGRAM = [sys.executable, "-c", "from glasshead.cli import main; main()"]


@pytest.fixture
def small_files():
    with largest_file(5_000):
        yield


def test_a_training(tmp_path, small_files):
    result = glasshead("train", *TINY, "--out", tmp_path / "new" / "run", code=1)
    assert one_line(result.stderr).endswith(f"too large: {tmp_path / 'new' / 'run'}")
    assert tree(tmp_path) == {}


def test_repeats(tmp_path, small_files):
    result = glasshead("train", *TINY, "--repeats", 2, "--out", tmp_path / "new" / "runs", code=1)
    assert "too large" in one_line(result.stderr)
    assert tree(tmp_path) == {}


def test_logs_and_a_picture(tmp_path, small_files):
    for command in (
        ("recommend", "generate", tmp_path / "logs"),
        ("plot", "distance-aware", "--out", tmp_path / "a.png"),
    ):
        assert "too large" in one_line(glasshead(*command, code=1).stderr)
    assert tree(tmp_path) == {}


@pytest.mark.skipif(not FULL.is_char_device(), reason="there is no /dev/full here")
@pytest.mark.parametrize("command", [("list", "activations"), ("--version",)])
def test_standard_output(command):
    with FULL.open("w") as full:
        ended = subprocess.run(
            [*PROGRAM, *command], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert ended.returncode == 1
    assert one_line(ended.stderr) == "No space left on device"


@pytest.mark.skipif(not FULL.is_char_device(), reason="there is no /dev/full here")
def test_standard_error():
    with FULL.open("w") as full:
        ended = subprocess.run([*PROGRAM, "list", "nothing"], stdout=full, stderr=full, check=False)
    assert ended.returncode == 2
