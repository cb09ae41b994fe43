"""Processes that solve programs end with the one that asked them."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

ASK = """
import time
import numpy as np
from joblib.externals.loky import get_reusable_executor
from joblib import Parallel, delayed
from glasshead.identifiability import parallel_intervals

for _ in Parallel(n_jobs=2, return_as="generator")(
    delayed(parallel_intervals.solve_part)([], __import__("os").getpid()) for _ in range(4)
):
    pass
print(*get_reusable_executor(max_workers=2, reuse=True)._processes, flush=True)
time.sleep(300)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks at processes in /proc")
def test_workers_end_when_the_asking_process_is_killed():
    with subprocess.Popen([sys.executable, "-c", ASK], stdout=subprocess.PIPE, text=True) as asking:
        workers = [Path("/proc") / number for number in asking.stdout.readline().split()]
        assert len(workers) == 2
        assert all(worker.exists() for worker in workers)
        asking.kill()
    end = time.monotonic() + 60
    while any(is_running(worker) for worker in workers) and time.monotonic() < end:
        time.sleep(0.1)
    assert not any(is_running(worker) for worker in workers)


def is_running(process):
    """Whether a process is there, and not only its remains that nobody has collected."""
    try:
        return (process / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
