"""How long a person waits: `glasshead explain` of one sentence, beside the bare import of torch and one model
class, and `glasshead list`.

    python benchmarks/startup.py

Goals: explain at most 1.3 × the bare import, list under 1 s. All run in turns, each in its own process. Wall
time is what a person feels on an idle machine; CPU time says the same on one that does other things.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROUNDS = 7
BARE = "import torch; from transformers import BertForSequenceClassification"
GLASSHEAD = "from glasshead.cli import main; main()"


def seconds(script: str, *arguments: str) -> tuple[float, float]:
    """Wall and CPU seconds of one process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", script, *arguments], check=True, capture_output=True)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    with tempfile.TemporaryDirectory() as folder:
        run = str(Path(folder) / "run")
        seconds(GLASSHEAD, "train", "synthetic", "--epochs", "1", "--out", run)
        explain = ("explain", run, "a superb film")
        turns = np.array(
            [
                (seconds(BARE), seconds(GLASSHEAD, *explain), seconds(GLASSHEAD, "list", "activations"))
                for _ in range(ROUNDS + 1)
            ][1:]  # the first finds nothing in the cache
        )
    for number, clock in enumerate(("wall", "CPU")):
        bare, explained, listed = turns[..., number].T
        ratios = explained / bare
        print(
            f"{clock:4} bare import {np.median(bare):5.2f} s   explain {np.median(explained):5.2f} s   "
            f"ratio {np.median(ratios):.2f} [{ratios.min():.2f}, {ratios.max():.2f}]   "
            f"list {np.median(listed):.2f} s [{listed.min():.2f}, {listed.max():.2f}]"
        )


if __name__ == "__main__":
    main()
