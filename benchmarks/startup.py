"""How long a person waits: `glasshead explain` of one sentence, beside the bare import of torch and one model
class, `glasshead list`, and `glasshead judge` of an audit of 1,000 texts.

    python -m benchmarks.startup

Goals: explain at most 1.3 × the bare import, list under 1 s, judge under 2 s. All run in turns, each in its
own process. Wall time is what a person feels on an idle machine; CPU time says the same on one that does
other things.
"""

import resource
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

from benchmarks.measuring import Spread, print_table, ratios, time_once

ROUNDS = 7
TEXTS = 1000
BARE = "import torch; from transformers import BertForSequenceClassification"
GLASSHEAD = "from glasshead.cli import main; main()"


def run(script: str, *arguments: str) -> None:
    """One process."""
    subprocess.run([sys.executable, "-c", script, *arguments], check=True, capture_output=True)


def cpu_clock() -> float:
    """CPU seconds of all processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Print a row for each command."""
    with tempfile.TemporaryDirectory() as folder:
        saved, audited = str(Path(folder) / "run"), str(Path(folder) / "audit")
        run(GLASSHEAD, "train", "synthetic", "--epochs", "1", "--out", saved)
        sample = ("--split", "train", "--limit", str(TEXTS), "--out", audited)
        run(GLASSHEAD, "audit", saved, "synthetic", *sample)
        works = {
            "bare import": partial(run, BARE),
            "explain": partial(run, GLASSHEAD, "explain", saved, "a superb film"),
            "list": partial(run, GLASSHEAD, "list", "activations"),
            "judge": partial(run, GLASSHEAD, "judge", audited),
        }
        wall: dict[str, list[float]] = {name: [] for name in works}
        cpu: dict[str, list[float]] = {name: [] for name in works}
        for _ in range(ROUNDS + 1):
            for name, work in works.items():
                before = cpu_clock()
                wall[name].append(time_once(work))
                cpu[name].append(cpu_clock() - before)
    columns = {}
    for clock, seconds in (("wall", wall), ("CPU", cpu)):
        kept = {name: times[1:] for name, times in seconds.items()}  # the first finds nothing in the cache
        columns[f"{clock}, s"] = lambda name, kept=kept: Spread.of(kept[name])
        columns[f"{clock}, ×"] = lambda name, kept=kept: ratios(kept[name], kept["bare import"])
    print_table("One process each", list(works), {"command": str, **columns})


if __name__ == "__main__":
    main()
