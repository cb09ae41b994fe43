"""What an audit takes as inputs and workers grow: seconds, memory, and what shards cost.

A small random BERT before random texts whose lengths are those of reviews (log-normal, median 60 words, at
most 126). Every case is a process of its own. Peak memory is that of the process that asks, the model and
libraries included. Seconds of processors count all processes, so that they mean something on a machine that
does other work too; seconds on the wall mean something on idle cores only.

    python -m benchmarks.audit_scale                 (some ten minutes)
    python -m benchmarks.audit_scale --texts 100 400 --audits performance,agreement
"""

import argparse
import json
import os
import resource
import sys
import threading
import time
from dataclasses import asdict, dataclass

import numpy as np
import psutil

from benchmarks.measuring import format_number, print_table, run_apart

LONGEST, MEDIAN, SPREAD = 126, 60, 0.5
"""Words of a text: log-normal, with this standard deviation of the logarithm."""
WHOLE = 10**9
SMALL, LARGE = (2, 64, 2, 1000), (6, 384, 12, 30_000)
"""Layers, hidden size, heads and words of the models: the second has the size of a MiniLM."""


@dataclass(frozen=True)
class Case:
    """An audit: how many texts, by how many workers, in shards or at once, of the small or large model."""

    texts: int
    workers: int = 1
    shards: bool = True
    large: bool = False
    audits: str = ""


@dataclass(frozen=True)
class Cost:
    """Seconds on the wall and of processors for the audit alone, and of workers until they have begun; peak
    memory of the process that asks and, of workers, of what is theirs alone and of the file of weights."""

    wall: float
    cpu: float
    peak: float
    private: float
    mapped: float
    shared: float


def run_case(case: Case) -> Cost:
    """Audit, in this process."""
    import torch

    from benchmarks.random_bert import random_classifier, random_texts, word_tokenizer
    from glasshead.audits import audit
    from glasshead.audits.measuring import measure

    torch.set_num_threads(1)
    layers, hidden, heads, words = LARGE if case.large else SMALL
    if not case.shards:
        measure.SHARD = measure.SHARD_TOKENS = measure.FIRST_SHARD = WHOLE
    rng = np.random.default_rng(0)
    lengths = np.minimum(np.exp(np.log(MEDIAN) + SPREAD * rng.standard_normal(case.texts)), LONGEST)
    data = random_texts((max(int(length), 3) for length in lengths), words, rng)
    model, tokenizer = random_classifier(layers, hidden, heads, words), word_tokenizer(words)
    tokenizer.model_max_length = LONGEST + 2
    options = {"audits": case.audits.split(",")} if case.audits else {}
    watch = Watch()
    started, processors = time.perf_counter(), time.process_time()
    audit(model, data, tokenizer=tokenizer, workers=case.workers, **options)
    wall, cpu = time.perf_counter() - started, time.process_time() - processors
    watch.stop()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Cost(wall, cpu + children.ru_utime + children.ru_stime, peak, *watch.largest)


class Watch:
    """The largest sums over workers, looked at now and then: memory that is theirs alone, of the file of
    weights what they map, and what of that counts once if all share it."""

    def __init__(self) -> None:
        self.largest, self.ended = (0.0, 0.0, 0.0), threading.Event()
        self.thread = threading.Thread(target=self.look, daemon=True)
        self.thread.start()

    def look(self) -> None:
        while not self.ended.wait(0.5):
            sums = np.zeros(3)
            for child in psutil.Process(os.getpid()).children():
                try:
                    own = [part for part in child.memory_maps() if part.path.endswith("model.safetensors")]
                    unique = child.memory_full_info().uss
                except (psutil.Error, OSError):
                    continue
                sums += (unique, sum(part.rss for part in own), sum(part.pss for part in own))
            self.largest = tuple(np.maximum(self.largest, sums / 2**20).tolist())

    def stop(self) -> None:
        self.ended.set()
        self.thread.join()


def in_process(case: Case) -> Cost:
    """The cost of a case in a process of its own."""
    return Cost(**run_apart("benchmarks.audit_scale", case))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--texts", type=int, nargs=2, default=(200, 2000))
    options.add_argument("--audits", default="performance,agreement,perturbation")
    options.add_argument("--rounds", type=int, default=1)
    options.add_argument("--case", help=argparse.SUPPRESS)
    arguments = options.parse_args()
    if arguments.case:
        print(json.dumps(asdict(run_case(Case(**json.loads(arguments.case))))))
        return
    few, many = arguments.texts
    asked = {"audits": arguments.audits}
    cases = {
        f"{few:,} texts, one shard": Case(few, shards=False, **asked),
        f"{few:,} texts": Case(few, **asked),
        f"{few:,} texts, 2 workers": Case(few, 2, **asked),
        f"{many:,} texts": Case(many, **asked),
        f"{many:,} texts, 2 workers": Case(many, 2, **asked),
        "16 texts, large model, 1 worker": Case(16, 1, large=True, audits="performance,agreement"),
        "16 texts, large model, 2 workers": Case(16, 2, large=True, audits="performance,agreement"),
        "16 texts, large model, 4 workers": Case(16, 4, large=True, audits="performance,agreement"),
    }
    costs: dict[str, Cost] = {}
    for _ in range(arguments.rounds):
        for name, case in cases.items():
            cost = in_process(case)
            costs[name] = min(costs.get(name, cost), cost, key=lambda one: one.cpu)
            print(f"{name}: {cost.wall:.1f} s, {cost.cpu:.1f} s of processors", file=sys.stderr)

    def shown(field: str) -> object:
        return lambda name: format_number(getattr(costs[name], field))

    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    print_table(
        arguments.audits,
        list(cases),
        {
            "case": str, "wall, s": shown("wall"), "processors, s": shown("cpu"), "peak, MiB": shown("peak"),
            "workers' own, MiB": shown("private"), "weights, mapped": shown("mapped"),
            "weights, in memory": shown("shared"),
        },
    )  # fmt: skip
    base, scaled = costs[f"{few:,} texts"], costs[f"{many:,} texts"]
    two = costs[f"{many:,} texts, 2 workers"]
    print(f"peak memory, {many:,} texts to {few:,}: {scaled.peak / base.peak:.2f} (goal: at most 1.2)")
    print(f"wall, 1 worker to 2, {many:,} texts: {scaled.wall / two.wall:.2f} (goal on idle cores: 1.8)")
    print(f"processors, 2 workers to 1, {many:,} texts: {two.cpu / scaled.cpu:.2f}")
    one = costs[f"{few:,} texts, one shard"]
    print(f"processors, shards to one shard, {few:,} texts: {base.cpu / one.cpu:.2f} (goal: at most 1.05)")


if __name__ == "__main__":
    main()
