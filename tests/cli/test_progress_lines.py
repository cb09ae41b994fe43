"""Long work says now and then what it does, also where there is no terminal and it says nothing itself."""

import time
from types import SimpleNamespace

import pytest

from glasshead.cli import progress
from glasshead.cli.progress import LineProgress, progress_stages
from glasshead.cli.training_bar import ProgressBar


@pytest.fixture
def lines(monkeypatch):
    written = []
    monkeypatch.setattr(progress, "print_remark", written.append)
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.02)
    return written


def wait_for(lines, word):
    for _ in range(500):
        if any(word in line for line in lines):
            return
        time.sleep(0.01)
    raise AssertionError(lines)


def test_a_stage_that_says_nothing_is_named(lines):
    with progress_stages("native kernel") as on_progress:
        on_progress("compiling for AVX2")
        wait_for(lines, "native kernel: compiling for AVX2 (0 s)")
        on_progress("reading", 0.5)
        wait_for(lines, "native kernel: reading, 50%")
    count = len(lines)
    time.sleep(0.1)
    assert len(lines) == count


def test_a_training_says_its_steps_and_what_it_measured(lines):
    bar, state = ProgressBar("run"), SimpleNamespace(max_steps=40, global_step=0)
    bar.on_train_begin(None, state, None)
    try:
        state.global_step = 10
        bar.on_evaluate(None, state, None, {"eval_accuracy": 0.75})
        bar.on_step_end(None, state, None)
        wait_for(lines, "run: step 10 of 40, dev accuracy 0.750, 25%")
    finally:
        bar.stop()


def test_what_is_quickly_done_says_nothing(monkeypatch):
    written = []
    monkeypatch.setattr(progress, "print_remark", written.append)
    with progress_stages("short") as on_progress:
        on_progress("reading")
    assert written == []


def test_a_line_says_how_far_it_is_and_how_long_the_rest_takes():
    """The time that is left is that of all work of one kind, whatever it is about."""
    times = iter([0, 10, 60, 70, 100, 130])
    lines = LineProgress("auditing bert", lambda: next(times))
    lines("loading")
    assert lines.line() == "auditing bert: loading (10 s)"
    lines("measuring inputs: 0 of 200 texts")
    lines("measuring agreement: 40 of 200 texts", 0.2)  # at 60 seconds: of those before it nothing is known
    assert lines.line() == "auditing bert: measuring agreement: 40 of 200 texts, 20% (1 min 10 s)"
    lines("measuring faithfulness: 80 of 200 texts", 0.4)
    said = "auditing bert: measuring faithfulness: 80 of 200 texts, 40%, about 2 minutes left (1 min 40 s)"
    assert lines.line() == said
    lines("measuring faithfulness: 200 of 200 texts", 1.0)
    assert lines.line() == "auditing bert: measuring faithfulness: 200 of 200 texts, 100% (2 min 10 s)"


def test_what_stays_worth_reading_is_a_line_at_once(monkeypatch):
    written = []
    monkeypatch.setattr(progress, "print_remark", written.append)
    with progress_stages("auditing bert") as on_progress:
        on_progress.remark("About 4 minutes for 200 texts (measured on 2)")
        assert written == ["auditing bert: About 4 minutes for 200 texts (measured on 2)"]
