"""A Ray cluster: connect to it, and ask its computers what they see and have."""

from __future__ import annotations

import contextlib
import logging
import socket
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from glasshead.errors import InputError, MissingExtra, ParameterError, one_line
from glasshead.files import write_text
from glasshead.spelling import spell
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
                "gpus_per_task", f"must be a fraction below 1 or a whole number, not {self.gpus_per_task:g}"
            )

    @classmethod
    def at(cls, ray: str | None, gpus_per_task: float) -> Cluster | None:
        """The cluster at an address, if there is one.

        Raises:
            InputError: on GPUs of no cluster.
        """
        if ray is not None:
            return cls(ray, gpus_per_task)
        if gpus_per_task:
            raise InputError(
                f"{spell('gpus_per_task')} is for a cluster: use it with {spell('ray')}, or leave it out"
            )
        return None


class NodeReport(NamedTuple):
    """What a computer of the cluster says of itself."""

    name: str
    missing: list[str]
    versions: dict[str, str]


@contextlib.contextmanager
def connect(cluster: Cluster) -> Iterator[Any]:
    """The module `ray`, connected to the cluster.

    Raises:
        InputError: if Ray is not installed, or there is no such cluster.
    """
    try:
        import ray
    except ImportError:
        raise MissingExtra("work on a cluster", "ray", " on all computers") from None
    if ray.is_initialized():  # by the caller, whose session goes on afterwards
        joined = ray.get_runtime_context().gcs_address
        if cluster.address not in ("auto", joined):
            raise InputError(
                f"this process has joined the Ray cluster at {joined!r} already: pass Cluster('auto') to use "
                "it, or call ray.shutdown() first"
            )
        yield ray
        return
    try:
        knock(cluster.address)
        ray.init(cluster.address, log_to_driver=False, logging_level=logging.ERROR)
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        reason = one_line(error)
        raise InputError(
            f"no Ray cluster answers at {cluster.address!r}: start one, or name its address ({reason[:200]})"
        ) from None
    try:
        yield ray
    finally:
        ray.shutdown()


def knock(address: str) -> None:
    """Raise OSError or ValueError at once where no one listens at HOST:PORT; Ray would wait for minutes."""
    host, colon, port = address.rpartition(":")
    if colon and "://" not in address:
        socket.create_connection((host, int(port)), timeout=PATIENCE).close()


def check_nodes(ray: Any, *, shared: Path | None = None, data_folder: Path | None = None) -> None:
    """Ask every computer whether it has the same versions, and sees what this one writes to ``shared``, and
    the data.

    Raises:
        InputError: naming the first computer that does not.
    """
    if shared is None:
        return ask_nodes(ray, None, data_folder)
    token = shared / f".token-{uuid.uuid4().hex}"
    write_text(token, "seen\n", overwrite=True)
    try:
        ask_nodes(ray, token, data_folder)
    finally:
        token.unlink()


def ask_nodes(ray: Any, token: Path | None, data_folder: Path | None) -> None:
    """Ask every node about a file that was written already."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    paths = [str(path) for path in (token, data_folder) if path is not None]
    ask = ray.remote(node_facts)
    try:
        nodes = [node["NodeID"] for node in ray.nodes() if node["Alive"]]
        placed = [NodeAffinitySchedulingStrategy(node, soft=False) for node in nodes]
        answers = [ask.options(num_cpus=0, scheduling_strategy=place).remote(paths) for place in placed]
        own = versions()
        for answer in answers:
            facts: NodeReport = ray.get(answer)
            if token is not None and str(token) in facts.missing:
                raise InputError(
                    f"{facts.name} does not see {token.parent}: use a folder that all computers share"
                )
            if facts.missing:
                raise InputError(f"{facts.name} does not see {facts.missing[0]}, which holds the data")
            for name in COMPARED:
                if facts.versions.get(name) != own.get(name):
                    raise InputError(
                        f"{facts.name} has {name} {facts.versions.get(name)}, and {own.get(name)} is here: "
                        "install the same versions everywhere"
                    )
    except ray.exceptions.RayError as error:
        reason = one_line(error)
        raise InputError(f"a computer of the cluster cannot run Glasshead: {reason[-200:]}") from None


def node_facts(paths: Sequence[str]) -> NodeReport:
    """What a computer sees and has."""
    missing = [path for path in paths if not Path(path).exists()]
    return NodeReport(socket.gethostname(), missing, versions())


def free_slots(ray: Any, cluster: Cluster) -> int:
    """How many tasks the cluster, as it is now, can run at a time; one at least, so that somebody waits."""
    resources = ray.cluster_resources()
    rooms = [resources.get("CPU", 0)]
    if cluster.gpus_per_task:
        rooms.append(resources.get("GPU", 0) / cluster.gpus_per_task)
    return max(int(min(rooms)), 1)
