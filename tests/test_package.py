"""What is released: a wheel that works in an environment of its own, without any extra."""

import os
import re
import shlex
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
OURS = {"PYTHONPATH", "VIRTUAL_ENV", "COVERAGE_PROCESS_START"}
"""What would let the new environment see this one."""

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("_in_a_new_environment")]


def run(*command: str | Path, cwd: Path, rc: int = 0) -> str:
    environment = {name: value for name, value in os.environ.items() if name not in OURS}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)
    assert done.returncode == rc, (command, done.stdout, done.stderr)
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the source distribution and of the wheel that is built from it."""
    folder = tmp_path_factory.mktemp("built")
    run(sys.executable, "-m", "build", "--outdir", folder, ROOT, cwd=folder)
    return folder


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of a new environment that holds the wheel and what it depends on."""
    folder = tmp_path_factory.mktemp("installed") / "venv"
    venv.create(folder, with_pip=True)
    (wheel,) = built.glob("*.whl")
    constraints = ROOT / "constraints.txt"
    run(folder / "bin" / "pip", "install", "--quiet", "--constraint", constraints, wheel, cwd=folder)
    return folder / "bin"


@pytest.fixture(scope="module")
def _in_a_new_environment(installed: Path) -> None:
    where = run(installed / "python", "-c", "import glasshead; print(glasshead.__file__)", cwd=installed)
    assert Path(where.strip()).is_relative_to(installed.parent)


@pytest.fixture(scope="module")
def work(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which README's commands have run, with the wheel alone."""
    folder = tmp_path_factory.mktemp("work")
    run(installed / "python", ROOT / "docs" / "examples" / "make_reviews.py", cwd=folder)
    (block,) = re.findall(r"<!-- run -->\n```sh\n(.*?)```", README, re.DOTALL)
    for line in filter(None, block.splitlines()):
        program, *arguments = shlex.split(line)
        run(installed / program, *arguments, cwd=folder)
    return folder


def test_an_index_takes_both_files(built: Path) -> None:
    assert "PASSED" in run(sys.executable, "-m", "twine", "check", "--strict", *built.iterdir(), cwd=built)


def test_the_wheel_holds_every_file_of_the_package(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    (source,) = built.glob("*.tar.gz")
    tracked = subprocess.check_output(["git", "ls-files", "src"], cwd=ROOT, text=True).split()
    with zipfile.ZipFile(wheel) as archive:
        assert {name.removeprefix("src/") for name in tracked} <= set(archive.namelist())
    with tarfile.open(source) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    assert {*tracked, "constraints.txt", "Makefile", "README.md", "tests/conftest.py"} <= names


def test_readme_runs_with_the_wheel_alone(installed: Path, work: Path) -> None:
    assert "<svg" in (work / "compare.html").read_text(encoding="utf-8")
    (lines,) = re.findall(r"<!-- run -->\n```python\n(.*?)```", README, re.DOTALL)
    assert "torch.Size([1, 4, 5, 16])" in run(installed / "python", "-c", lines, cwd=work)


@pytest.mark.parametrize(
    ("command", "extra"),
    [
        ("serve runs/softmax", "serve"),
        ("audit runs/softmax my_reviews.csv --ray local --out far", "ray"),
        ("explain runs/softmax good --method captum:integrated-gradients", "captum"),
        ("audit runs/softmax reviews.xlsx --out sheet", "xlsx"),
    ],
)
def test_a_missing_extra_is_one_sentence(installed: Path, work: Path, command: str, extra: str) -> None:
    (work / "reviews.xlsx").write_bytes(b"no sheet")
    said = run(installed / "glasshead", *command.split(), cwd=work, rc=2)
    (line,) = filter(None, said.splitlines())
    assert line.startswith("error: ")
    assert f"glasshead[{extra}]" in line
