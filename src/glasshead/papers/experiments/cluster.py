"""The same tasks on the computers of a Ray cluster that share a file system."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from typing import Any

from glasshead.cluster import RETRIES, Cluster, room
from glasshead.files import write_as
from glasshead.papers.experiments.job import Outcome, Task, run_task


def run_on_cluster(ray: Any, cluster: Cluster, take: Callable[[], Task | None]) -> Iterator[Outcome]:
    """Run tasks, as many at a time as the cluster has room for; ``take`` is asked for one whenever one ends.

    Ray begins a task again whose worker was killed, or whose computer was lost; it goes on from the last
    epoch that was finished, and takes over the locks that the last attempt left.
    """
    writer = uuid.uuid4().hex
    run = ray.remote(run_on_worker).options(
        num_cpus=1, num_gpus=cluster.gpus_per_task, max_retries=RETRIES, retry_exceptions=False
    )
    running: dict[Any, Task] = {}
    while True:
        while len(running) < room(ray, cluster) and (task := take()) is not None:
            running[run.remote(task, writer)] = task
        if not running:
            return
        (ended, *_), _ = ray.wait(list(running))
        task = running.pop(ended)
        try:
            yield ray.get(ended)
        except ray.exceptions.RayError as error:
            reason = " ".join(str(error).split())
            yield Outcome(task, None, f"its worker ended {1 + RETRIES} times: {reason[:200]}")


def run_on_worker(task: Task, writer: str) -> Outcome:
    """`run_task` with one thread, in the name of the ``writer`` that sends it."""
    import torch

    torch.set_num_threads(1)
    with write_as(writer):
        return run_task(task)
