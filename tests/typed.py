"""The command line as a person types it, in this process or in one of its own."""

import hashlib
import os
import re
import subprocess
import sys
import time
from pathlib import Path

from typer.testing import CliRunner

from glasshead.cli.app import app

TINY = ("synthetic", "--option", "instances=300", "--epochs", "2")


def glasshead(*arguments, code=0):
    """Run a command in this process and check its exit code, unless that is None; anything but an orderly
    exit is raised."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert code in (None, result.exit_code), result.output
    return result


def shell(*arguments, env=None, program="from glasshead.cli import main; main()", **options):
    """Start a command in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", program, *(str(argument) for argument in arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"COLUMNS": "80"} | (env or {}),
        **options,
    )


def held(place: str, pattern: str = "*") -> str:
    """A program for `shell` whose calls of ``place`` (module:name) wait while a file of the pattern is in its
    working directory and none is named ``go``: however slow this process is, that one does not run on."""
    module, _, name = place.partition(":")
    owner, _, attribute = name.rpartition(".")
    return f"""
import time
from pathlib import Path
import {module} as owner
owner = owner{"." + owner if owner else ""}
before = owner.{attribute}
def wait(*arguments, **options):
    while any(Path().glob({pattern!r})) and not Path("go").exists():
        time.sleep(0.01)
    return before(*arguments, **options)
owner.{attribute} = wait
from glasshead.cli import main; main()
"""


def tree(folder: Path) -> dict[str, str]:
    """Everything below a folder, with the content of the files."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        for path in sorted(folder.rglob("*"))
    }


def refusal(folder: Path, *arguments) -> str:
    """What a command says that must refuse its input: one line, exit code 2, nothing changed on disk."""
    before = tree(folder)
    result = glasshead(*arguments, code=2)
    assert tree(folder) == before
    assert result.stdout == ""
    return one_line(result.stderr)


def one_line(errors: str) -> str:
    """The one line of standard error, but for those that a slow machine shows every ten seconds."""
    errors = re.sub(r"^(?!error).*\([\w :.]+\)\n", "", errors, flags=re.MULTILINE)
    assert errors.startswith("error: ")
    assert errors.count("\n") == 1, errors
    assert errors.endswith("\n")
    return errors.removeprefix("error: ").strip()


def wait_for(pattern, folder, process, timeout=120):
    """Until a file appears that a process writes."""
    end = time.monotonic() + timeout
    while not any(folder.glob(pattern)):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end, f"no {pattern} after {timeout} s"
        time.sleep(0.01)
