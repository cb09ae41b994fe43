"""A Ray cluster of two nodes on this computer."""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

import psutil
import pytest

from glasshead import cluster
from glasshead.cluster import Cluster
from glasshead.errors import InputError


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@pytest.fixture(scope="module")
def ray_folder():
    """Of the cluster, where all its processes write their logs."""
    path = tempfile.mkdtemp(prefix="ray")  # a short one: sockets lie below it
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture(scope="module")
def ray_address(ray_folder):
    """Two nodes of one CPU each."""
    os.environ["RAY_AUTH_MODE"] = "disabled"  # whatever whoever tests has made of it
    where = f"127.0.0.1:{free_port()}"
    head = ["--head", f"--port={where.rpartition(':')[2]}", f"--temp-dir={ray_folder}"]
    nodes = []
    try:
        for role in ([*head, "--include-dashboard=false"], [f"--address={where}"]):
            command = [sys.executable, "-m", "ray.scripts.scripts", "start", *role, "--num-cpus=1"]
            node = subprocess.Popen(
                [*command, "--block", "--disable-usage-stats"],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
            nodes.append(node)
            wait_until(lambda: answers(where), node)
        wait_until(lambda: size(where) == 2, nodes[-1])
        yield where
    finally:
        for node in nodes:
            node.kill()
            node.wait()
        for process in psutil.process_iter():  # agents outlive the node that started them
            if process.pid != os.getpid() and belongs(process, ray_folder):
                with contextlib.suppress(psutil.Error):
                    process.kill()


def answers(where):
    try:
        cluster.knock(where)
    except OSError:
        return False
    return True


def size(where):
    """How many nodes are there already."""
    with contextlib.suppress(InputError), cluster.connect(Cluster(where)) as ray:
        return len([node for node in ray.nodes() if node["Alive"]])
    return 0


def wait_until(true, node):
    for _ in range(600):
        if true():
            return
        assert node.poll() is None, "a node of the cluster ended"
        time.sleep(0.1)
    raise AssertionError("the cluster did not start")


def belongs(process, folder):
    """Whether a process is one of this cluster, and of nobody else's."""
    with contextlib.suppress(psutil.Error):
        return any(folder in file.path for file in process.open_files())
    return False


def kill_worker(title, folder, process):
    """Kill the first worker with such a title while the process runs; whether there was one."""
    while process.poll() is None:
        for worker in psutil.process_iter(["cmdline"]):
            if title in " ".join(worker.info["cmdline"] or []) and belongs(worker, folder):
                worker.kill()
                return True
        time.sleep(0.02)  # who looks all the time takes a processor from those who compute
    return False
