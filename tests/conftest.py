"""Fixtures that several rooms share."""

import os

# Before torch is imported: two test workers with two threads each would wait for one another.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
# What somebody has compiled on this machine must not change which kernel serves.
os.environ["GLASSHEAD_CACHE"] = os.devnull

import gc
import hashlib
import shutil
import signal
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import jaxtyping
import pytest
import torch
import typer.testing
from hypothesis import HealthCheck, settings
from transformers.utils import logging

from short_search import shorten_search

# The same cases everywhere and every time, however slow the machine; `--hypothesis-profile=default` looks for
# others.
settings.register_profile(
    "repeatable",
    derandomize=True,
    deadline=None,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("repeatable")

# Started in the background of a shell, a process ignores Ctrl-C, and so would those that it starts.
signal.signal(signal.SIGINT, signal.default_int_handler)

if not torch.cuda.is_available():
    # Else each call writes down three times where it was made, for devices that never open: 1 ms of a test.
    torch.manual_seed = torch.default_generator.manual_seed


# A program builds its commands once; called from a test, it would build all of them for each call.
typer.testing._get_command = cache(typer.testing._get_command)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--whole-grids", action="store_true", help="every case of tests marked `grid`")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of the slow cases of a grid an even sample is run, all of them by `make test-grids`."""
    grids: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("grid") and item.get_closest_marker("slow"):
            grids.setdefault(item.nodeid.partition("[")[0], []).append(item)
    left_out: set[pytest.Item] = set()
    for cases in grids.values() if not config.getoption("--whole-grids") else ():
        size = next(cases[0].iter_markers("grid")).args[0]
        left_out |= set(cases) - set(cases[:: -(-len(cases) // size)])
    items[:] = [item for item in items if item not in left_out]
    config.hook.pytest_deselected(items=list(left_out))


def pytest_collection() -> None:
    """Nothing that is collected becomes garbage: looking for it was a third of the collecting."""
    gc.disable()


def pytest_collection_finish() -> None:
    """What was imported stays; the trainer collects no garbage, as it would before and after all training."""
    from accelerate.utils import memory

    memory.gc = SimpleNamespace(collect=lambda: 0)
    gc.enable()
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def pytest_report_teststatus(report: pytest.TestReport, config: pytest.Config) -> None:
    """A run that is cut off has named its failures; the summary comes at the end only."""
    if report.failed:
        config.get_terminal_writer().write(f"\n{report.nodeid} ({report.when}) ")


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real data sets: GLASSHEAD_DATA, or `shared/data` beside the checkout."""
    default = Path(__file__).parents[2] / "shared" / "data"
    folder = Path(os.environ.get("GLASSHEAD_DATA", default))
    assert (folder / "README.md").is_file(), f"no data in {folder}: set GLASSHEAD_DATA"
    return folder


@pytest.fixture(scope="session")
def native_cache(request: pytest.FixtureRequest) -> Path:
    """A cache with the native kernel compiled for what torch uses here: once for all workers and all runs,
    until its sources change."""
    from filelock import FileLock

    from glasshead.attention.kernels.native_programs import build

    flags = hashlib.sha256(Path(build.__file__).read_bytes()).hexdigest()[:8]
    folder = Path(request.config.cache.mkdir(f"compiled-{flags}"))
    if shutil.which(os.environ.get("CXX", "c++")) is None:
        pytest.skip("there is no C++ compiler to build the native kernel with")
    with FileLock(folder / "lock"), pytest.MonkeyPatch.context() as patch:
        patch.setenv("GLASSHEAD_CACHE", str(folder))
        build.build_libraries((torch.backends.cpu.get_cpu_capability(),))
    return folder


@pytest.fixture
def native_kernel(native_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The native kernel is there, for this test."""
    monkeypatch.setenv("GLASSHEAD_CACHE", str(native_cache))


@pytest.fixture
def native_compiler(native_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """This test alone compiles, so that no two workers compile the same library."""
    from filelock import FileLock

    monkeypatch.setenv("GLASSHEAD_CACHE", str(native_cache))
    with FileLock(native_cache / "lock"):
        yield


@pytest.fixture(autouse=True)
def same_random_numbers() -> None:
    """What a test draws does not depend on the tests before it."""
    torch.manual_seed(1)


@pytest.fixture(autouse=True)
def unchecked_types(request: pytest.FixtureRequest) -> Iterator[None]:
    """Tests marked `wrong_types` reach the refusals of the library itself, not those of the type checker."""
    unchecked = request.node.get_closest_marker("wrong_types") is not None
    jaxtyping.config.update("jaxtyping_disable", unchecked)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


@pytest.fixture
def quiet() -> Iterator[None]:
    """Loading says nothing, as `train` has it."""
    before = logging.get_verbosity()
    logging.set_verbosity_error()
    yield
    logging.set_verbosity(before)


@pytest.fixture
def short_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search of other maps that is not long, for one test."""
    shorten_search(monkeypatch)


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages without their plots, whose drawing is most of the work; pages made once for a file are drawn."""
    monkeypatch.setattr("glasshead.report.html.figure_page.panel_drawings", lambda figure, key: [])
