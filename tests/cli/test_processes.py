"""Processes that are killed at any moment, and two that write the same folder at once."""

import json
import random
import re
import signal
import time

import pytest

from alike import assert_same_weights
from typed import glasshead, held, shell, tree, wait_for

pytestmark = pytest.mark.slow

# A dozen epochs of about a tenth of a second each, of which the best is not the last.
TRAIN = ("train", "synthetic", "--option", "instances=1000", "--epochs", "12", "--learning-rate", "0.05")


def names(folder):
    return {path.name for path in folder.iterdir()}


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    run = tmp_path_factory.mktemp("unbroken") / "run"
    glasshead(*TRAIN, "--out", run)
    return run


@pytest.mark.parametrize(
    "numbers", [(signal.SIGKILL, signal.SIGKILL), (signal.SIGTERM, signal.SIGINT)], ids=["killed", "told"]
)
def test_killed_at_any_moment_and_on(unbroken, tmp_path, numbers):
    """There is a whole run or none, and in the end it is that of a training which was never killed."""
    moments = random.Random(sum(numbers))
    partly = tmp_path / "run.partial"
    for number in (*numbers, None):
        going_on = ["--resume"] if any(partly.glob("checkpoints/*/trainer_state.json")) else []
        process = shell(*TRAIN, "--out", "run", *going_on, cwd=tmp_path)
        if number is not None:
            wait_for(".run.glasshead-lock", tmp_path, process)
            time.sleep(moments.uniform(0, 2))
            process.send_signal(number)
        _, errors = process.communicate(timeout=120)
        if process.returncode == 0:
            break
        assert process.returncode == (-number if number == signal.SIGKILL else 128 + number), errors
        left = {"run.partial", ".run.glasshead-lock", ".run.glasshead-scaffold"}
        assert names(tmp_path) <= (left if number == signal.SIGKILL else {"run.partial"})
    assert names(tmp_path) == {"run"}
    assert_same_weights(tmp_path / "run", unbroken)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_after_the_work_changes_nothing(number):
    program = f"import atexit, os; atexit.register(lambda: os.kill(os.getpid(), {int(number)}))"
    process = shell("--version", program=f"{program}; from glasshead.cli import main; main()")
    output, errors = process.communicate(timeout=120)
    assert (process.returncode, errors) == (0, "")
    assert output.startswith("glasshead ")


def test_two_trainings_of_one_name(tmp_path):
    """The one that ends well has its own weights there; the other is told, and leaves nothing."""
    processes = {}
    for seed in (1, 2):
        processes[seed] = shell(*TRAIN, "--seed", seed, "--out", "run", cwd=tmp_path)
        time.sleep(0.3)
    ended = {seed: (each.communicate(timeout=240)[1], each.returncode) for seed, each in processes.items()}
    (winner,) = (seed for seed, (_, code) in ended.items() if code == 0)
    errors, code = ended[3 - winner]
    assert code == 2
    assert "is being written by process" in errors or "exists already" in errors
    assert json.loads((tmp_path / "run" / "run.json").read_text())["seed"] == winner
    assert names(tmp_path) == {"run"}


def test_a_training_that_goes_on_is_not_overwritten(tmp_path):
    program = held("glasshead.cli.training_bar:ProgressBar.on_step_end", "run.partial/checkpoints")
    first = shell(*TRAIN, "--seed", 1, "--out", "run", cwd=tmp_path, program=program)
    wait_for("run.partial/checkpoints", tmp_path, first)
    result = glasshead(*TRAIN, "--seed", 2, "--out", tmp_path / "run", "--overwrite", code=2)
    assert f"is being written by process {first.pid} on" in result.stderr
    (tmp_path / "go").touch()
    said = first.communicate(timeout=240)[1].splitlines()
    # Signs of life, every ten seconds; near the end they do not say what is left.
    assert all(re.fullmatch(r"run \(softmax\): step .* \(.*s\)", line) for line in said), said
    assert json.loads((tmp_path / "run" / "run.json").read_text())["seed"] == 1
    assert names(tmp_path) == {"run", "go"}


def test_an_audit_is_not_written_twice(unbroken, tmp_path):
    """The second one does not begin; where the first is killed, a third one takes over."""
    audit = "audit", unbroken, "synthetic", "--audits", "performance", "--out", "audit"
    first = shell(*audit, cwd=tmp_path, program=held("glasshead.audits:run_audit"))
    wait_for(".audit.glasshead-new", tmp_path, first)
    result = glasshead(*audit[:-1], tmp_path / "audit", code=2)
    assert f"is being written by process {first.pid} on" in result.stderr
    first.kill()
    first.communicate(timeout=120)
    assert names(tmp_path) == {".audit.glasshead-lock", ".audit.glasshead-new"}
    glasshead(*audit[:-1], tmp_path / "audit", "--overwrite")
    assert names(tmp_path) == {"audit"}
    assert tree(tmp_path / "audit").keys() >= {"card.json", "report.html"}
