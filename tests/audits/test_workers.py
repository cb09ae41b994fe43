"""Shards are measured by workers as they are in this process, and a worker that dies loses nothing."""

import copy
import os
import signal
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import psutil
import pytest
import torch
from datasets import concatenate_datasets

from glasshead.audits import AUDITS, audit_subject, run_audit
from glasshead.audits.judging.measurements import FOLDER, Measurements
from glasshead.audits.judging.settings import INPUT_COLUMNS
from glasshead.audits.measuring import measure
from glasshead.audits.measuring.sent_model import Holding
from glasshead.audits.measuring.workers import LocalPool, Worker, WorkerDied, pool_of
from glasshead.cluster import RETRIES
from glasshead.errors import InputError
from glasshead.requests import AuditRequest
from image_families import image_model, processor, rows
from readable import as_run, bert, data, family, gpt
from same_cards import assert_same_cards
from short_search import shorten_search
from tolerances import ALL_LAYERS

LABELS = (1, 0, 0, 1, 1, 0)
FEW = ("performance", "agreement")


def somebodys(kind, **options):
    return {"model": kind.model, "tokenizer": kind.tokenizer, "data": data(kind, LABELS), **options}


SUBJECTS = {
    "passes": lambda: somebodys(bert(), by=("length",)),
    "causal": lambda: somebodys(gpt()),
    "pooled, counted": lambda: {
        "model": as_run(family("pooled"), LABELS), "data": data(family("pooled"), LABELS)
    },
    "images": lambda: {"model": image_model(), "data": rows(6), "tokenizer": processor(), "blocks": 2},
}  # fmt: skip


class PickledPool:
    """Two workers in this process; what is sent to them and back is pickled."""

    def __init__(self, held):
        self.count, self.held, self.deadly = 2, held.to_bytes(), lambda task: False
        self.workers, self.sent = {}, []

    def send(self, place, task):
        if place not in self.workers:
            self.workers[place] = Worker(Holding.of_bytes(*self.held))
        self.sent.append((place, task))
        return len(self.sent) - 1

    def drop(self, place):
        del self.workers[place]

    def wait(self, sent):
        return sent[-1]  # not the first: shards end in any order

    def answers(self, ended):
        place, task = self.sent[ended]
        if self.deadly(task):
            raise WorkerDied("killed")
        return self.workers[place].answers(task)


@pytest.fixture
def pools(monkeypatch):
    """The pools of the audits that follow; each has two workers in this process."""
    made, deadly = [], []

    @contextmanager
    def pickled(request, sample):
        made.append(PickledPool(Holding(sample.subject, sample.model)))
        made[-1].deadly = deadly[0] if deadly else made[-1].deadly
        yield made[-1]

    threads = torch.get_num_threads()
    monkeypatch.setattr(measure, "SHARD", 2)
    yield monkeypatch, pickled, made, deadly
    torch.set_num_threads(threads)


def rows_in(folder):
    """All rows that an audit has kept, by audit."""
    kept = Measurements(folder / FOLDER)
    ids = np.sort(np.concatenate([shard["id"] for shard, _ in kept.shards("inputs", ["id"])]))
    tables = {}
    for name in kept.names():
        columns = AUDITS[name].columns if name in AUDITS else INPUT_COLUMNS
        tables[name] = kept.read(name, ids, columns).columns
    return tables


def assert_same_rows(one, other):
    assert one.keys() == other.keys()
    for name, table in one.items():
        assert table.keys() == other[name].keys()
        for column, values in table.items():
            pairs = zip(values, other[name][column], strict=True)
            for own, theirs in pairs if values.dtype == object else [(values, other[name][column])]:
                own, theirs = np.asarray(own), np.asarray(theirs)
                if own.dtype.kind == "f":
                    np.testing.assert_allclose(own, theirs, **ALL_LAYERS, err_msg=f"{name}.{column}")
                else:
                    np.testing.assert_array_equal(own, theirs, err_msg=f"{name}.{column}")


@pytest.mark.parametrize(
    "subject", [name if name == "passes" else pytest.param(name, marks=pytest.mark.slow) for name in SUBJECTS]
)
def test_rows_do_not_depend_on_who_measures_them(subject, pools, tmp_path):
    """Of all audits that are asked by default."""
    monkeypatch, pickled, made, _ = pools
    shorten_search(monkeypatch)
    request = AuditRequest(**SUBJECTS[subject](), draws=2)
    here = run_audit(request.replace(store=tmp_path / "here"))
    monkeypatch.setattr(audit_subject, "pool_of", pickled)
    there = run_audit(request.replace(store=tmp_path / "there"))
    assert len(made[0].sent) == 3
    assert_same_rows(rows_in(tmp_path / "here"), rows_in(tmp_path / "there"))
    assert_same_cards(here, there)


@pytest.mark.slow
def test_the_shard_of_a_worker_that_died_is_measured_again(pools, tmp_path):
    monkeypatch, pickled, made, deadly = pools
    request = AuditRequest(**somebodys(bert()), audits=FEW)
    here = run_audit(request)
    monkeypatch.setattr(audit_subject, "pool_of", pickled)
    deaths = []

    def dies(task):
        """Of every shard once, and once more."""
        deaths.append(task)
        return deaths.count(task) < RETRIES

    deadly.append(dies)
    assert_same_cards(here, run_audit(request))
    assert len(made[0].sent) == 3 * RETRIES


@pytest.mark.slow
def test_a_shard_that_kills_every_worker_is_an_error_that_keeps_the_others(pools, tmp_path):
    monkeypatch, pickled, made, deadly = pools
    request = AuditRequest(**somebodys(bert()), audits=FEW, store=tmp_path)
    here = run_audit(request.replace(store=None))
    monkeypatch.setattr(audit_subject, "pool_of", pickled)
    deadly.append(lambda task: task == made[0].sent[2][1] if len(made[0].sent) > 2 else False)
    with pytest.raises(InputError, match="died 4 times while it measured the same 2 inputs") as refused:
        run_audit(request)
    assert len(str(refused.value)) <= 300
    deadly.clear()
    assert_same_cards(here, run_audit(request))
    assert 1 <= len(made[1].sent) <= 2  # that one, and what was measured at the same time


class Unsendable(torch.nn.Identity):
    """A part that nobody can pickle."""

    def __reduce_ex__(self, protocol):
        raise TypeError("holds a lock")

    def __deepcopy__(self, memo):
        return self


def test_a_model_that_cannot_be_pickled_is_refused_in_one_sentence():
    kind = bert()
    model = copy.deepcopy(kind.model)
    model.lock = Unsendable()
    with pytest.raises(InputError, match=r"cannot be pickled \(holds a lock\)") as refused:
        run_audit(AuditRequest(**somebodys(replace(kind, model=model)), audits=FEW, workers=2))
    assert "\n" not in str(refused.value)


@pytest.mark.slow
def test_no_process_begins_where_nothing_is_missing(tmp_path, monkeypatch):
    request = AuditRequest(**somebodys(bert()), audits=FEW, store=tmp_path)
    here = run_audit(request)
    monkeypatch.setattr(LocalPool, "start", None)
    assert_same_cards(here, run_audit(request.replace(workers=2)))


def test_one_worker_is_this_process():
    with pool_of(AuditRequest("m", "d", workers=1), measure_nothing()) as pool:
        assert pool is None


def measure_nothing():
    """A sample that nobody reads."""

    class Nothing:
        subject = model = None

    return Nothing()


@pytest.mark.slow
def test_a_worker_that_is_killed_in_the_middle_changes_nothing(tmp_path, monkeypatch):
    """Two processes, one of which gets SIGKILL; none of them is left at the end."""
    monkeypatch.setattr(measure, "SHARD", 3)
    given = somebodys(bert())
    given["data"] = concatenate_datasets([given["data"]] * 4)
    request = AuditRequest(**given, audits=(*FEW, "faithfulness", "identifiability"))
    here = run_audit(request)
    before, killed = set(psutil.Process().children()), []

    def kill_one(stage, share=None):
        """When the first answer is there."""
        workers = [one for one in psutil.Process().children() if one not in before and is_worker(one)]
        if not killed and workers and stage.startswith("measuring: "):
            killed.append(workers[0].pid)
            os.kill(workers[0].pid, signal.SIGKILL)

    there = run_audit(request.replace(workers=2, progress=kill_one))
    assert killed
    assert_same_cards(here, there)
    assert [one for one in psutil.Process().children() if one not in before and is_worker(one)] == []


def is_worker(process):
    """Whether a process measures; another one counts what loky has in use, and a dead one does nothing."""
    try:
        return "process-name" in " ".join(process.cmdline())
    except (psutil.ZombieProcess, psutil.NoSuchProcess):
        return False
