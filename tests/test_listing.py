"""What is listed needs no torch; what is explained imports nothing that it does not use."""

import json
import subprocess
import sys
from importlib.util import find_spec

import pytest
from typer.testing import CliRunner

from glasshead.cli.app import app
from glasshead.cli.catalogue import TABLES, catalogue
from glasshead.cli.listing import (
    ENTRY_FOLDERS,
    LISTED_KINDS,
    PACKAGE,
    entry_files,
    list_table,
    read_stored,
    store,
)
from glasshead.cli.plot import plots
from glasshead.errors import InputError
from glasshead.report import PLOTS

whole = pytest.mark.skipif(
    find_spec("glasshead.papers") is None, reason="what is written down is that of the whole library"
)


def modules_after(command: list[str], suspects: set[str]) -> set[str]:
    """Which of the suspects a command has imported, in a process of its own."""
    script = (
        "import sys\n"
        "from glasshead.cli import app\n"
        f"app({command!r}, standalone_mode=False)\n"
        f"print('imported:', *sorted({suspects!r} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].removeprefix("imported:").split())


@whole
@pytest.mark.parametrize("kind", LISTED_KINDS)
def test_the_stored_tables_are_those_of_the_registries(kind):
    assert read_stored(kind) == catalogue(kind), "run `make catalogue`"


def test_every_table_has_a_kind_and_every_file_a_place():
    assert set(TABLES) == set(LISTED_KINDS)
    files = entry_files()
    for folder in ENTRY_FOLDERS:
        if (PACKAGE / folder).is_dir() or not folder.startswith("papers/"):  # the wing may be gone
            assert sum(file.startswith(f"{folder}/") for file in files) >= 3


@whole
def test_every_plot_is_listed_with_the_command_that_draws_it():
    columns, rows = list_table("plots")
    assert columns == ["name", "what", "drawn by"]
    by = {name: command for name, _, command in rows}
    assert set(by) == set(PLOTS)
    assert by["heads"] == "plot heads"
    assert by["scores"] == "plot dynamics --what scores"
    assert by["token-weights"] == "the page of 'audit'"
    assert all(what for _, what, _ in rows)
    commands = {command.name for command in plots.registered_commands}
    assert {command.split()[1] for command in by.values() if command.startswith("plot ")} <= commands


def test_a_new_file_is_listed_without_storing_it(tmp_path, monkeypatch):
    stored = tmp_path / "catalogue.json"
    store(["penalties"], stored)
    assert read_stored("penalties", stored) == catalogue("penalties")
    now = entry_files()
    monkeypatch.setattr("glasshead.cli.listing.entry_files", lambda: [*now, "explain/new.py"])
    assert read_stored("penalties", stored) is None
    assert read_stored("penalties", tmp_path / "none.json") is None
    assert list_table("penalties", stored) == catalogue("penalties")


def listed(*arguments):
    ended = CliRunner().invoke(app, ["list", *arguments])
    assert ended.exit_code == 0, ended.output
    return ended.stdout


def test_kinds_are_counted():
    counts = {row["what"]: row["entries"] for row in json.loads(listed("--format", "json"))}
    assert counts == {kind: len(catalogue(kind)[1]) for kind in LISTED_KINDS}
    words = listed().split()
    assert words[words.index("audits") + 2] == str(counts["audits"])


def test_a_list_as_json_has_whole_names_and_truth_values():
    rows = json.loads(listed("activations", "--format", "json"), parse_constant=pytest.fail)
    tanhmax = next(row for row in rows if row["name"] == "tanhmax")
    assert tanhmax["signed"] is True
    assert tanhmax["rows sum to 1"] is False
    assert {"monotone", "log-nonlinear", "normalised", "origin-symmetric"} <= set(tanhmax)
    assert not any(set("\n.") & set(name) for name in tanhmax)


def test_an_unknown_kind_is_refused():
    with pytest.raises(InputError, match="did you mean 'activations'"):
        list_table("activation")


@whole
def test_listing_imports_nothing_heavy():
    assert modules_after(["list", "activations"], {"torch", "transformers", "numpy", "scipy"}) == set()


@pytest.mark.slow
def test_explaining_a_sentence_imports_no_more_than_a_model_needs(tmp_path):
    run = tmp_path / "run"
    script = "from glasshead.cli import main; main()"
    options = ["train", "synthetic", "--epochs", "1", "--rows", "60", "--out", str(run)]
    subprocess.run([sys.executable, "-c", script, *options], capture_output=True, check=True)
    unused = {
        "datasets",
        "pandas",
        "sklearn",
        "scipy.stats",
        "matplotlib",
        "highspy",
        "joblib",
        "captum",
        "peft",
    }
    assert modules_after(["explain", str(run), "a superb film"], unused) == set()
