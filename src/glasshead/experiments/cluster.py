"""The same tasks on the computers of a Ray cluster that share a file system."""

from __future__ import annotations

import contextlib
import logging
import socket
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from glasshead.errors import InputError, ParameterError
from glasshead.experiments.job import Outcome, Task, run_task
from glasshead.files import write_as, write_text
from glasshead.training import versions

RETRIES = 3
"""How often a task is begun again whose worker died."""
PATIENCE = 5.0
"""Seconds until a computer that does not answer is not there."""
COMPARED = ("glasshead", "torch", "transformers", "python")
"""What has to be of one version everywhere."""


@dataclass(frozen=True)
class Cluster:
    """A Ray cluster: its ``address``, "auto" for the one that runs here, and the GPUs of each task (0.5: two
    tasks share one).

    Raises:
        InputError: if the share of a GPU cannot be meant.
    """

    address: str
    gpus_per_task: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.gpus_per_task <= 64 or (self.gpus_per_task > 1 and self.gpus_per_task % 1):
            raise ParameterError(
                "gpus_per_task", f"must be a part of 1 or a whole number, not {self.gpus_per_task:g}"
            )


class NodeReport(NamedTuple):
    """What a computer of the cluster says of itself."""

    name: str
    missing: list[str]
    versions: dict[str, str]


@contextlib.contextmanager
def connected(cluster: Cluster) -> Iterator[Any]:
    """The module `ray`, connected to the cluster.

    Raises:
        InputError: if Ray is not installed, or there is no such cluster.
    """
    try:
        import ray
    except ImportError:
        raise InputError(
            "Ray is not installed: install Glasshead with its extra 'ray' on all computers"
        ) from None
    try:
        knock(cluster.address)
        ray.init(cluster.address, log_to_driver=False, logging_level=logging.ERROR)
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        reason = " ".join(str(error).split())
        raise InputError(
            f"no Ray cluster answers at {cluster.address!r}: start one, or name its address ({reason[:200]})"
        ) from None
    try:
        yield ray
    finally:
        ray.shutdown()


def knock(address: str) -> None:
    """Raise OSError or ValueError at once where nobody listens at HOST:PORT; Ray would wait for minutes."""
    host, colon, port = address.rpartition(":")
    if colon and "://" not in address:
        socket.create_connection((host, int(port)), timeout=PATIENCE).close()


def check_nodes(ray: Any, shared: Path, data_folder: Path | None) -> None:
    """Ask every computer whether it sees what this one wrote, and has the same versions.

    Raises:
        InputError: naming the first computer that does not.
    """
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    token = shared / f".token-{uuid.uuid4().hex}"
    write_text(token, "seen\n", overwrite=True)
    paths = [str(path) for path in (token, data_folder) if path is not None]
    ask = ray.remote(report)
    try:
        nodes = [node["NodeID"] for node in ray.nodes() if node["Alive"]]
        placed = [NodeAffinitySchedulingStrategy(node, soft=False) for node in nodes]
        answers = [ask.options(num_cpus=0, scheduling_strategy=place).remote(paths) for place in placed]
        here = versions()
        for answer in answers:
            found: NodeReport = ray.get(answer)
            if str(token) in found.missing:
                raise InputError(
                    f"{found.name} does not see {shared}: take a folder that all computers share"
                )
            if found.missing:
                raise InputError(f"{found.name} does not see {found.missing[0]}, where the data are")
            for name in COMPARED:
                if found.versions.get(name) != here.get(name):
                    raise InputError(
                        f"{found.name} has {name} {found.versions.get(name)}, and {here.get(name)} is here: "
                        "install the same versions everywhere"
                    )
    except ray.exceptions.RayError as error:
        reason = " ".join(str(error).split())
        raise InputError(f"a computer of the cluster cannot run Glasshead: {reason[-200:]}") from None
    finally:
        token.unlink()


def report(paths: Sequence[str]) -> NodeReport:
    """What a computer sees and has."""
    missing = [path for path in paths if not Path(path).exists()]
    return NodeReport(socket.gethostname(), missing, versions())


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


def room(ray: Any, cluster: Cluster) -> int:
    """How many tasks the cluster, as it is now, can run at a time; one at least, so that somebody waits."""
    resources = ray.cluster_resources()
    rooms = [resources.get("CPU", 0)]
    if cluster.gpus_per_task:
        rooms.append(resources.get("GPU", 0) / cluster.gpus_per_task)
    return max(int(min(rooms)), 1)


def run_on_worker(task: Task, writer: str) -> Outcome:
    """`run_task` with one thread, in the name of the ``writer`` that sends it."""
    import torch

    torch.set_num_threads(1)
    with write_as(writer):
        return run_task(task)
