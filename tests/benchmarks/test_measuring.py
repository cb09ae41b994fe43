"""What the benchmark measures is what it says it measures."""

import re
import sys
import time
from pathlib import Path

import pytest
import torch

from benchmarks.measuring import Spread, peak_bytes, print_table, ratios, time_interleaved, time_once

MIB = 2**20


def mebibytes(n):
    return torch.zeros(n * MIB // 4)


def test_the_peak_counts_what_lives_at_one_time():
    def one_after_another():
        for _ in range(3):
            mebibytes(2)

    assert peak_bytes(one_after_another) == 2 * MIB
    assert peak_bytes(lambda: [mebibytes(2) for _ in range(3)]) == 6 * MIB


def test_the_peak_counts_no_views_and_no_inputs():
    given = mebibytes(8)
    assert peak_bytes(lambda: given.view(2, -1).T[1:].mul_(2)) == 0
    assert peak_bytes(lambda: (given + 1).view(2, -1)) == 8 * MIB


def test_the_peak_counts_what_the_backward_pass_needs():
    x = torch.ones(MIB // 4, requires_grad=True)
    # exp keeps its result; its gradient and the gradient of the sum come on top
    assert 2 * MIB <= peak_bytes(lambda: torch.autograd.grad(x.exp().sum(), x)) <= 4 * MIB


@pytest.mark.parametrize(("budget", "rounds"), [(3.9, 0), (4.0, 3), (12.0, 3), (42.0, 10), (4000.0, 30)])
def test_rounds_are_interleaved(monkeypatch, budget, rounds):
    """Of works of one second and of three; a first round that takes too long is the only one."""
    order = []

    def timed(work, device, clock):
        order.append(work)
        return {"one": 1.0, "other": 3.0}[work]

    monkeypatch.setattr(sys.modules[time_interleaved.__module__], "time_once", timed)
    seconds = time_interleaved({"a": "one", "b": "other"}, budget)
    assert order == ["one", "other"] * (1 + rounds)
    assert seconds == {"a": [1.0] * max(1, rounds), "b": [3.0] * max(1, rounds)}


def test_what_is_timed_is_run():
    ran = []
    assert 0.005 < time_once(lambda: ran.append(time.sleep(0.005))) < 60
    assert len(ran) == 1


def test_ratios_are_of_the_same_round():
    assert ratios([2.0, 8.0, 3.0], [1.0, 2.0, 3.0]) == Spread(2.0, 1.0, 4.0)


def test_a_table_leaves_out_columns_without_values(capsys):
    print_table(
        "A table", [1.5, 2.5], {"way": str, "×": lambda row: Spread(row, 1, 3), "error": lambda row: None}
    )
    printed = capsys.readouterr().out
    for said in ("A table", "2.50 (1.00–3.00)"):
        assert said in printed
    assert "error" not in printed


def test_make_bench_runs_every_benchmark():
    root = Path(__file__).parents[2]
    scripts = {path.stem for path in (root / "benchmarks").glob("*.py") if "__main__" in path.read_text()}
    makefile = (root / "Makefile").read_text().replace("\\\n", " ")
    listed = re.search(r"^BENCHMARKS := (.*)$", makefile, re.MULTILINE)[1].split()
    assert {*listed} == scripts
