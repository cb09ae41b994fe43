"""The tool works in a copy without the wing; `make test-without-papers` runs all its tests there."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import glasshead

SOURCE = Path(glasshead.__file__).parent
TESTS = Path(__file__).parents[1]
SAMPLE = (
    "contracts/test_borders.py", "test_import_effects.py", "test_listing.py", "test_registry.py",
    "cli/test_explain_options.py", "cli/test_plot.py", "serve/test_api.py", "opening/test_open_subject.py",
    "audits/test_agreement.py",
)  # fmt: skip
"""Imports, every kind of registry, commands, the server, opening, an audit."""


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A checkout without the wing and its tests; what is installed still names them."""
    root = tmp_path_factory.mktemp("without papers")
    for part in ("src", "tests", "docs", "benchmarks"):
        unread = shutil.ignore_patterns("papers", "__pycache__", "_build")
        shutil.copytree(SOURCE.parents[1] / part, root / part, ignore=unread)
    for file in ("pyproject.toml", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "Makefile"):
        shutil.copy(SOURCE.parents[1] / file, root / file)
    return root


def run(copy, *arguments, **options):
    environment = os.environ | {"PYTHONPATH": str(copy / "src")} | options
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, timeout=500)


@pytest.mark.slow
def test_commands_of_the_wing_are_gone_without_a_word(copy):
    starts = "from glasshead.cli import main; main()"
    done = run(copy, "-c", starts, "--help")
    assert done.returncode == 0
    assert done.stderr == ""
    assert "Your models" in done.stdout
    assert "The papers" not in done.stdout
    assert "reproduce" not in done.stdout


@pytest.mark.slow
def test_training_says_what_is_missing(copy):
    starts = "from glasshead.cli import main; main()"
    typed = ("train", "synthetic", "--attention", "frozen:runs/other", "--out", "runs/new")
    done = run(copy, "-c", starts, *typed)
    assert done.returncode == 2
    assert "no installed extension adds 'frozen'" in " ".join(done.stderr.split())


@pytest.mark.slow
def test_the_tools_tests_pass(copy):
    tests = [str(Path("tests") / name) for name in SAMPLE]
    done = run(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *tests)
    assert done.returncode == 0, done.stdout[-4000:]
