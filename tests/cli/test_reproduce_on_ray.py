"""A cluster of two nodes on this computer: the same numbers, and a killed worker loses nothing."""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

import psutil
import pytest
from typed import glasshead, refusal, shell, wait_for

from glasshead.errors import InputError, ParameterError
from glasshead.experiments import Cluster, ReproduceRequest, cluster

QUICK = ("reproduce", "s2", "--quick", "--only", "figure3")


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@pytest.fixture(scope="module")
def folder():
    """Of the cluster, where all its processes write their logs."""
    path = tempfile.mkdtemp(prefix="ray")  # a short one: sockets lie below it
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture(scope="module")
def address(folder):
    """Two nodes of one CPU each."""
    os.environ["RAY_AUTH_MODE"] = "disabled"  # whatever whoever tests has made of it
    where = f"127.0.0.1:{free_port()}"
    head = ["--head", f"--port={where.rpartition(':')[2]}", f"--temp-dir={folder}"]
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
            if process.pid != os.getpid() and belongs(process, folder):
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
    with contextlib.suppress(InputError), cluster.connected(Cluster(where)) as ray:
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


def numbers(folder):
    """What is measured of every cell and seed."""
    rows = map(json.loads, (path.read_text() for path in (folder / "rows").rglob("*.json")))
    return {(row["cell"], row["seed"]): row["numbers"]["rmse"] for row in rows}


@pytest.mark.slow
def test_a_killed_worker_loses_nothing(address, folder, tmp_path):
    process = shell(*QUICK, "--ray", address, "--out", "tables", cwd=tmp_path)
    wait_for("tables/rows/s2/figure3/*.json", tmp_path, process)
    killed = None
    while killed is None and process.poll() is None:
        for worker in psutil.process_iter(["cmdline"]):
            title = " ".join(worker.info["cmdline"] or [])
            if "ray::run_on_worker" in title and belongs(worker, folder):
                killed = worker
                worker.kill()
                break
    _, errors = process.communicate(timeout=300)
    assert killed is not None, errors
    assert process.returncode == 0, errors
    glasshead(*QUICK, "--out", tmp_path / "here")
    there, here = numbers(tmp_path / "tables"), numbers(tmp_path / "here")
    assert there == pytest.approx(here, rel=1e-4)
    assert not (tmp_path / "tables" / "runs").exists()
    assert not list((tmp_path / "tables").glob(".token*"))
    assert "| Transformer | 2 |" in (tmp_path / "tables" / "s2" / "figure3-quick.md").read_text()


@pytest.mark.slow
def test_nodes_that_differ_are_named(address, tmp_path, monkeypatch):
    with cluster.connected(Cluster(address)) as ray:
        cluster.check_nodes(ray, tmp_path, tmp_path)
        with pytest.raises(InputError, match=r"does not see .*none, where the data are"):
            cluster.check_nodes(ray, tmp_path, tmp_path / "none")
        here = cluster.versions() | {"torch": "1.0"}
        monkeypatch.setattr(cluster, "versions", lambda: here)
        with pytest.raises(InputError, match=r"has torch .*, and 1\.0 is here"):
            cluster.check_nodes(ray, tmp_path, None)
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_meant_is_refused(tmp_path):
    nobody = f"127.0.0.1:{free_port()}"
    assert "no Ray cluster answers" in refusal(tmp_path, *QUICK, "--ray", nobody)
    assert "--ray" in refusal(tmp_path, *QUICK, "--gpus-per-task", 1)
    assert "--workers" in refusal(tmp_path, *QUICK, "--ray", nobody, "--workers", 2)
    for share in (-1, 1.5, float("nan")):
        with pytest.raises(ParameterError, match="gpus_per_task"):
            Cluster("auto", share)
    with pytest.raises(InputError, match="workers"):
        ReproduceRequest(workers=2, cluster=Cluster("auto"))


def test_without_ray_its_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    assert "extra 'ray'" in refusal(tmp_path, *QUICK, "--ray", "auto")


def test_how_many_tasks_have_room():
    class Ray:
        @staticmethod
        def cluster_resources():
            return {"CPU": 8.0, "GPU": 2.0}

    assert cluster.room(Ray, Cluster("auto")) == 8
    assert cluster.room(Ray, Cluster("auto", 0.5)) == 4
    assert cluster.room(Ray, Cluster("auto", 2)) == 1
    assert cluster.room(Ray, Cluster("auto", 4)) == 1  # waits until there is a node that has them
