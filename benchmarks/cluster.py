"""What a cluster costs: Ray and the schedule for each empty task, and simulated grids of up to 10⁵ tasks.

python -m benchmarks.cluster
"""

import argparse
import heapq
import logging
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import ray
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "experiments"))

from small_tables import cell, row, table

from glasshead.papers.experiments import Outcome, RowStore, Schedule, Task

EMPTY_TASKS, IN_FLIGHT = 2000, 16
SEEDS = 5
SPREAD = 0.5
"""Standard deviation of the logarithm of how long a task takes."""


@ray.remote(num_cpus=1)
def empty() -> None:
    """Nothing."""


def ray_seconds(tasks: int) -> float:
    """Of an empty task, where the next one is sent when one has ended, as `reproduce` does."""
    ray.get([empty.remote() for _ in range(IN_FLIGHT)])  # the workers have started
    started, sent = time.perf_counter(), 0
    running = set()
    while sent < tasks or running:
        while len(running) < IN_FLIGHT and sent < tasks:
            running.add(empty.remote())
            sent += 1
        (ended, *_), _ = ray.wait(list(running))
        running.remove(ended)
        ray.get(ended)
    return (time.perf_counter() - started) / tasks


def schedule_seconds(tasks: int) -> float:
    """Of what the driver does itself for each task of such a grid: choose it, and note its end."""
    cells = [cell(f"cell-{number}", learning_rate=1e-6 * (1 + number)) for number in range(tasks // SEEDS)]
    with TemporaryDirectory() as folder:
        store = RowStore([Path(folder)], "paper")
        schedule = Schedule([table(cells)], store, SEEDS)
        started = time.perf_counter()
        for chosen, of, seed in schedule:
            task = Task(chosen.name, of, seed, store, Path(folder))
            schedule.finish(Outcome(task, row(of, seed, 0.5 + seed / 10)))
        return (time.perf_counter() - started) / tasks


def makespan(lengths: NDArray[np.float64], workers: int, overhead: float) -> float:
    """How long tasks of ``lengths`` [n] seconds take: one driver sends them to workers that are free."""
    free = [0.0] * min(workers, len(lengths))
    sent = end = 0.0
    for length in lengths.tolist():
        sent = max(sent, heapq.heappop(free)) + overhead
        heapq.heappush(free, sent + length)
        end = max(end, sent + length)
    return end


def main() -> None:
    """Print what was measured, and the table of what it makes of grids."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--ray", metavar="ADDRESS", help="a cluster; else one of two CPUs is started here")
    options.add_argument("--tasks", type=int, default=EMPTY_TASKS)
    options.add_argument("--repeats", type=int, default=5)
    arguments = options.parse_args()
    here = {} if arguments.ray else {"num_cpus": 2, "include_dashboard": False}
    ray.init(arguments.ray, logging_level=logging.ERROR, log_to_driver=False, **here)
    times = [1e3 * ray_seconds(arguments.tasks) for _ in range(arguments.repeats)]
    ray.shutdown()
    median = float(np.median(times))
    print(f"Ray, per empty task ({len(times)} x {arguments.tasks:,}): median {median:.2f} ms, ", end="")
    print(f"{min(times):.2f} to {max(times):.2f}")
    print("\n| tasks | schedule, ms per task |\n|--:|--:|")
    sizes = (1_000, 10_000, 100_000)
    schedule = {tasks: 1e3 * schedule_seconds(tasks) for tasks in sizes}
    for tasks in sizes:
        print(f"| {tasks:,} | {schedule[tasks]:.2f} |")
    print("\n| tasks | seconds each | workers | time | of the ideal |\n|--:|--:|--:|--:|--:|")
    rng = np.random.default_rng(0)
    for tasks in sizes:
        overhead = (median + schedule[tasks]) / 1e3
        for seconds in (1, 60, 600):
            lengths = rng.lognormal(-(SPREAD**2) / 2, SPREAD, tasks) * seconds
            for workers in (10, 100, 1000):
                took, ideal = makespan(lengths, workers, overhead), lengths.sum() / workers
                print(f"| {tasks:,} | {seconds} | {workers:,} | {took / 3600:.2f} h | {ideal / took:.0%} |")


if __name__ == "__main__":
    main()
