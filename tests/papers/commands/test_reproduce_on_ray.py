"""A cluster of two nodes on this computer: the same numbers, and a killed worker loses nothing."""

import json
import sys

import pytest

from glasshead import cluster
from glasshead.cluster import Cluster
from glasshead.errors import InputError, ParameterError
from glasshead.papers.experiments import ReproduceRequest
from ray_nodes import free_port, kill_worker
from typed import glasshead, refusal, shell, wait_for

QUICK = ("reproduce", "s2", "--quick", "--only", "figure3", "--seeds", 1)


def numbers(folder):
    """What is measured of every cell and seed."""
    rows = map(json.loads, (path.read_text() for path in (folder / "rows").rglob("*.json")))
    return {(row["cell"], row["seed"]): row["numbers"]["rmse"] for row in rows}


@pytest.mark.slow
def test_a_killed_worker_loses_nothing(ray_address, ray_folder, tmp_path):
    process = shell(*QUICK, "--ray", ray_address, "--out", "tables", cwd=tmp_path)
    wait_for("tables/rows/s2/figure3/*.json", tmp_path, process)
    killed = kill_worker("ray::run_on_worker", ray_folder, process)
    _, errors = process.communicate(timeout=300)
    assert killed, errors
    assert process.returncode == 0, errors
    glasshead(*QUICK, "--out", tmp_path / "here")
    there, here = numbers(tmp_path / "tables"), numbers(tmp_path / "here")
    assert there == pytest.approx(here, rel=1e-4)
    assert not (tmp_path / "tables" / "runs").exists()
    assert not list((tmp_path / "tables").glob(".token*"))
    assert "| Transformer | 1 |" in (tmp_path / "tables" / "s2" / "figure3-quick.md").read_text()


@pytest.mark.slow
def test_nodes_that_differ_are_named(ray_address, tmp_path, monkeypatch):
    with cluster.connect(Cluster(ray_address)) as ray:
        cluster.check_nodes(ray, shared=tmp_path, data_folder=tmp_path)
        with pytest.raises(InputError, match=r"does not see .*none, which holds the data"):
            cluster.check_nodes(ray, shared=tmp_path, data_folder=tmp_path / "none")
        here = cluster.versions() | {"torch": "1.0"}
        monkeypatch.setattr(cluster, "versions", lambda: here)
        with pytest.raises(InputError, match=r"has torch .*, and 1\.0 is here"):
            cluster.check_nodes(ray, shared=tmp_path)
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
    assert "glasshead[ray]" in refusal(tmp_path, *QUICK, "--ray", "auto")


def test_how_many_tasks_have_room():
    class Ray:
        @staticmethod
        def cluster_resources():
            return {"CPU": 8.0, "GPU": 2.0}

    assert cluster.free_slots(Ray, Cluster("auto")) == 8
    assert cluster.free_slots(Ray, Cluster("auto", 0.5)) == 4
    assert cluster.free_slots(Ray, Cluster("auto", 2)) == 1
    assert cluster.free_slots(Ray, Cluster("auto", 4)) == 1  # waits until there is a node that has them
