"""Long work says now and then what it does, also where there is no terminal and it says nothing itself."""

import time
from types import SimpleNamespace

import pytest

from glasshead.cli import progress
from glasshead.cli.progress import duration, progress_stages
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


def test_times_in_words():
    assert [duration(seconds) for seconds in (4.2, 75)] == ["4 s", "1 min 15 s"]
