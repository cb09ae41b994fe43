"""Ctrl-C and worse, at the command line."""

import json
import os
import signal
from contextlib import contextmanager

import pytest

from alike import assert_same_weights
from glasshead.cli.training_bar import ProgressBar
from glasshead.files import atomic_folder
from glasshead.files.manifest import MANIFEST
from typed import TINY, glasshead, held, one_line, shell, tree, wait_for

STEPS = 7  # per epoch of the tiny set
LONG = ("synthetic", "--option", "instances=2000", "--epochs", "10", "--seed", "5", "--learning-rate", "0.05")


@pytest.fixture
def stop_at(monkeypatch):
    """Sends this process a real signal after so many steps of training."""

    @contextmanager
    def stop_at(step, number=signal.SIGINT):
        def on_step_end(self, args, state, control, **kwargs):
            if state.global_step == step:
                os.kill(os.getpid(), number)

        with monkeypatch.context() as patch:
            patch.setattr(ProgressBar, "on_step_end", on_step_end)
            yield

    return stop_at


def names(folder):
    return {path.name for path in folder.iterdir()}


class TestTrain:
    def test_in_the_first_epoch(self, tmp_path, stop_at):
        with stop_at(STEPS - 2):
            result = glasshead("train", *TINY, "--out", tmp_path / "new" / "run", code=130)
        assert "nothing was written" in one_line(result.stderr)
        assert tree(tmp_path) == {}

    @pytest.mark.parametrize("repeats", [(), ("--repeats", 2)])
    def test_while_its_folder_is_made(self, tmp_path, monkeypatch, repeats):
        def stop(path, plan):
            assert path.parent.exists()
            raise KeyboardInterrupt

        monkeypatch.setattr("glasshead.training.checkpointing.write_json", stop)
        result = glasshead("train", *TINY, *repeats, "--out", tmp_path / "new" / "run", code=130)
        assert "nothing was written" in one_line(result.stderr)
        assert tree(tmp_path) == {}

    def test_later_and_on(self, tiny, tmp_path, stop_at):
        train = ("train", *TINY, "--attention", "tanhmax", "--out", tmp_path / "run")
        with stop_at(STEPS + 2):
            result = glasshead(*train, code=130)
        assert "--resume" in one_line(result.stderr)
        assert names(tmp_path) == {"run.partial"}
        again = glasshead(*train, code=2)
        assert "--resume" in one_line(again.stderr)
        other = glasshead(*train, "--resume", "--seed", 1, code=2)
        assert "started with another seed" in one_line(other.stderr)
        unfinished = glasshead("audit", tmp_path / "run", "synthetic", "--out", tmp_path / "audit", code=2)
        assert "--resume" in one_line(unfinished.stderr)
        glasshead(*train, "--resume")
        assert names(tmp_path) == {"run"}
        assert_same_weights(tmp_path / "run", tiny.tanhmax)

    @pytest.mark.slow
    def test_repeats(self, tmp_path, stop_at):
        train = ("train", *TINY, "--repeats", 2, "--out", tmp_path / "new" / "runs")
        with stop_at(STEPS - 2):
            assert "nothing was written" in one_line(glasshead(*train, code=130).stderr)
        assert tree(tmp_path) == {}
        with stop_at(STEPS + 2):
            assert "--resume" in one_line(glasshead(*train, code=130).stderr)
        glasshead(*train, "--resume")
        assert names(tmp_path / "new") == {"runs"}
        assert names(tmp_path / "new" / "runs") == {"seed-0", "seed-1", "repeats.json", MANIFEST}

    def test_terminated(self, tmp_path, stop_at):
        """As a cluster or `timeout` does it."""
        train = ("train", *TINY, "--out", tmp_path / "run")
        with stop_at(STEPS - 2, signal.SIGTERM):
            result = glasshead(*train, code=143)
        assert "nothing was written" in one_line(result.stderr)
        assert tree(tmp_path) == {}
        with stop_at(STEPS + 2, signal.SIGTERM):
            result = glasshead(*train, code=143)
        assert "the finished epochs are kept: repeat the command with --resume" in one_line(result.stderr)
        assert names(tmp_path) == {"run.partial"}
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL

    @pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
    def test_before_anything_is_read(self, tmp_path, monkeypatch, number, code):
        monkeypatch.setattr("glasshead.data.load", lambda *args: os.kill(os.getpid(), number))
        result = glasshead("train", *TINY, "--out", tmp_path / "new" / "run", code=code)
        assert one_line(result.stderr) == "interrupted"
        assert tree(tmp_path) == {}

    def test_resuming_what_was_never_begun(self, tmp_path):
        result = glasshead("train", *TINY, "--out", tmp_path / "run", "--resume", code=2)
        assert "nothing to resume" in one_line(result.stderr)
        assert tree(tmp_path) == {}

    @pytest.mark.slow
    def test_the_old_run_survives(self, tmp_path, stop_at):
        with atomic_folder(tmp_path / "run") as old:
            (old / "old").write_text("old", encoding="utf-8")
        before = tree(tmp_path)
        with stop_at(STEPS - 2):
            glasshead("train", *TINY, "--out", tmp_path / "run", "--overwrite", code=130)
        assert tree(tmp_path) == before
        with stop_at(STEPS + 2):
            glasshead("train", *TINY, "--out", tmp_path / "run", "--overwrite", code=130)
        assert names(tmp_path) == {"run", "run.partial"}
        glasshead("train", *TINY, "--out", tmp_path / "run", "--overwrite", "--resume")
        assert names(tmp_path) == {"run"}
        assert json.loads((tmp_path / "run" / "run.json").read_text())["resumed"] is True


class TestOthers:
    @pytest.mark.parametrize("stage", ["card", "writing"])
    def test_audit(self, tiny, tmp_path, monkeypatch, stage):
        def stop(*arguments, **options):
            os.kill(os.getpid(), signal.SIGINT)

        step = {"card": "glasshead.audits.run_audit", "writing": "glasshead.cli.audit.write_audit"}[stage]
        monkeypatch.setattr(step, stop)
        result = glasshead("audit", tiny.softmax, "synthetic", "--out", tmp_path / "new" / "a", code=130)
        said = one_line(result.stderr)
        if stage == "card":
            assert said == "interrupted before any parts were finished; nothing was written"
            assert tree(tmp_path) == {}
        else:  # all audits have ended by then
            assert said == "interrupted; the finished parts are kept: repeat the command with --resume"
            assert [path.name for path in (tmp_path / "new").iterdir()] == ["a.parts"]

    @pytest.mark.parametrize("step", [STEPS, pytest.param(700, marks=pytest.mark.slow)])
    def test_demo_promises_nothing(self, tmp_path, stop_at, step):
        # 88 steps per epoch: the second signal comes in the last one.
        with stop_at(step):
            result = glasshead("demo", "--out", tmp_path / "demo", code=130)
        assert one_line(result.stderr) == "interrupted"
        assert tree(tmp_path) == {}


class TestNobodyReadsOn:
    """``glasshead … | head``: the end of the pipe is closed before everything is written."""

    def ended(self, process):
        with process:
            process.stdout.close()
            errors = process.stderr.read()
        return process.returncode, errors

    @pytest.mark.slow
    def test_a_help_page(self):
        assert self.ended(shell("--help")) == (141, "")

    @pytest.mark.slow
    def test_an_explanation(self, tiny):
        arguments = "explain", tiny.softmax, "a wonderful film", "--format"
        assert self.ended(shell(*arguments, "html")) == (141, "")
        assert self.ended(shell(*arguments, "text")) == (141, "")


@pytest.mark.slow
class TestRealProcesses:
    def test_interrupted_in_the_first_epoch(self, tmp_path):
        program = held("glasshead.cli.training_bar:ProgressBar.on_step_end")
        process = shell("train", *LONG, "--out", "new/run", cwd=tmp_path, program=program)
        wait_for("new/run.partial", tmp_path, process)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=120)
        assert process.returncode == 130, errors
        assert output == ""
        assert "nothing was written" in one_line(errors)
        assert tree(tmp_path) == {}

    def test_interrupted_later_and_on(self, tmp_path):
        epoch = "run.partial/checkpoints/checkpoint-*/trainer_state.json"
        program = held("glasshead.cli.training_bar:ProgressBar.on_step_end", epoch)
        process = shell("train", *LONG, "--out", "run", cwd=tmp_path, program=program)
        wait_for(epoch, tmp_path, process)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=120)
        assert process.returncode == 130, errors
        assert "--resume" in one_line(errors)
        assert "Run in" not in output
        assert names(tmp_path) == {"run.partial"}
        glasshead("train", *LONG, "--out", tmp_path / "run", "--resume")
        glasshead("train", *LONG, "--out", tmp_path / "unbroken")
        assert names(tmp_path) == {"run", "unbroken"}
        assert_same_weights(tmp_path / "run", tmp_path / "unbroken")

    def test_an_audit_interrupted_while_it_loads(self, tiny, tmp_path):
        program = held("glasshead.audits:run_audit")
        process = shell(
            "audit", tiny.softmax, "synthetic", "--out", "new/audit", cwd=tmp_path, program=program
        )
        wait_for("new/.audit.glasshead-new", tmp_path, process)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 130, errors
        assert one_line(errors) == "interrupted before any parts were finished; nothing was written"
        assert tree(tmp_path) == {}
