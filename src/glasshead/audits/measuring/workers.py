"""Workers that measure shards in processes of their own: on this computer, or on those of a Ray cluster.

A worker holds the model and gets a shard of inputs at a time. It gives their rows back to this process, which
alone writes them down, so no disk has to be shared.
"""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import cloudpickle
import numpy as np
import torch
from numpy.typing import NDArray

from glasshead.audits.judge import Wanted
from glasshead.audits.judging.measurements import Measurements
from glasshead.audits.measuring.data_view import Sample
from glasshead.audits.measuring.measure import (
    Answer,
    Executor,
    InThisProcess,
    Measurer,
    Part,
    Shard,
    answers,
    union,
)
from glasshead.audits.measuring.progress import StageProgress
from glasshead.audits.measuring.reference import Reference
from glasshead.audits.measuring.sent_model import Holding
from glasshead.audits.measuring.view import ModelView, share_copy
from glasshead.cluster import RETRIES, Cluster, check_nodes, connect, free_slots
from glasshead.errors import InputError, one_line
from glasshead.huggingface import isolated_copy
from glasshead.parent_process import end_with_parent
from glasshead.requests import MeasuringRequest
from glasshead.spelling import spell
from glasshead.trace import KnownStates

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")


MOST_REASON = 80
"""Letters of the end of what a library says of a dead worker."""


class Task(NamedTuple):
    """A shard as a worker gets it: its inputs without the model, what they lack, and what is known of all."""

    sample: Sample
    parts: Sequence[Part]
    reference: Reference
    of_parts: Mapping[str, Reference]


class WorkerDied(Exception):
    """A worker ended before it had an answer."""


class Pool(Protocol):
    """Where workers are: so many places for one, each with one shard at a time."""

    count: int

    def send(self, place: int, task: bytes) -> Any:
        """Let the worker at a place, a new one if there is none, measure a pickled task; by what is given
        back its answers can be waited for."""

    def drop(self, place: int) -> None:
        """Forget a worker that died."""

    def wait(self, sent: Sequence[Any]) -> Any:
        """One of the tasks sent that has ended."""

    def answers(self, ended: Any) -> list[Answer]:
        """What a worker measured.

        Raises:
            WorkerDied: if it did not come to an end.
        """


class InWorkers:
    """The executor that gives each worker of a pool the next shard when it has done its last.

    The shard of a worker that dies is begun again by a new one, a few times.
    """

    def __init__(
        self, pool: Pool, sample: Sample, reference: Reference, of_parts: Mapping[str, Reference]
    ) -> None:
        self.pool, self.sample = pool, sample
        self.reference, self.of_parts = reference, of_parts

    def __call__(self, shards: Iterator[Shard]) -> Iterator[tuple[Shard, Iterable[Answer]]]:
        pool, free = self.pool, list(range(self.pool.count))
        running: dict[Any, tuple[int, Shard, bytes, int]] = {}
        while True:
            while free and (shard := next(shards, None)) is not None:
                place, task = free.pop(0), self.task(shard)
                running[pool.send(place, task)] = place, shard, task, 0
            if not running:
                return
            ended = pool.wait(list(running))
            place, shard, task, deaths = running.pop(ended)
            try:
                measured = pool.answers(ended)
            except WorkerDied as error:
                if deaths == RETRIES:
                    raise InputError(
                        f"A worker died {deaths + 1} times while it measured the same {len(union(shard))} "
                        f"inputs, perhaps for lack of memory ({error}). Use fewer workers or shorter inputs."
                    ) from None
                pool.drop(place)
                running[pool.send(place, task)] = place, shard, task, deaths + 1
                continue
            yield shard, measured
            free.append(place)

    def task(self, shard: Shard) -> bytes:
        """A shard, pickled; places are those in its own part of the sample."""
        places = union(shard)
        some = self.sample.some(places).without_model()
        parts = [part._replace(places=np.searchsorted(places, part.places)) for part in shard]
        return bytes(cloudpickle.dumps(Task(some, parts, self.reference, self.of_parts)))


def executor_of(pool: Pool | None, here: InThisProcess) -> Executor:
    """The workers of a pool; None: this process."""
    if pool is None:
        return here
    return InWorkers(pool, here.sample, here.known_view.known, here.of_parts)


class Worker:
    """A process that holds a model."""

    def __init__(self, held: Holding) -> None:
        torch.set_num_threads(1)
        self.held, self.known = held, KnownStates()
        share_copy(held.model, held.subject.model)

    def answers(self, pickled: bytes) -> list[Answer]:
        """Measure a task."""
        task: Task = cloudpickle.loads(pickled)
        sample = replace(task.sample, subject=self.held.subject, model=self.held.model, known=self.known)
        return list(
            answers(
                task.parts,
                lambda places: sample.view(places).but(reference=task.reference),
                task.of_parts,
            )
        )


class LocalPool:
    """Processes on this computer. All of them map the same file of weights, so these are in memory once."""

    def __init__(self, count: int, folder: Path, held: Holding) -> None:
        self.count, self.folder, self.held, self.is_written = count, folder, held, False
        self.workers: dict[int, Any] = {}

    def send(self, place: int, task: bytes) -> Any:
        if place not in self.workers:
            self.start(place)
        try:
            return self.workers[place].submit(answers_of, str(self.folder), task)
        except BrokenProcessPool:  # while it had nothing to do
            self.drop(place)
            return self.send(place, task)

    def start(self, place: int) -> None:
        """Begin a process, which has no pool but its own: when it dies, the others go on."""
        from joblib.externals.loky import ProcessPoolExecutor

        if not self.is_written:
            self.held.to_files(self.folder)
            self.is_written = True
        self.workers[place] = ProcessPoolExecutor(
            max_workers=1, initializer=begin_process, initargs=(os.getpid(),), env=ONE_THREAD
        )

    def drop(self, place: int) -> None:
        self.workers.pop(place).shutdown(wait=True, kill_workers=True)

    def wait(self, sent: Sequence[Any]) -> Any:
        return next(iter(wait(sent, return_when=FIRST_COMPLETED).done))

    def answers(self, ended: Any) -> list[Answer]:
        try:
            measured: list[Answer] = ended.result()
        except BrokenProcessPool as error:
            raise WorkerDied(one_line(error)[-MOST_REASON:]) from None
        return measured

    def close(self) -> None:
        """End all processes, whatever they do."""
        for place in list(self.workers):
            self.drop(place)


def begin_process(parent: int) -> None:
    """Prepare a local process: Ctrl-C is for the ``parent`` alone, and without that it ends."""
    from joblib.externals.loky import process_executor

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    process_executor._USE_PSUTIL = False  # else it ends after a shard that needed 300 MB more than the first
    end_with_parent(parent)


@cache
def worker_of(folder: str) -> Worker:
    """The worker of this process, with the model that a folder of its parent holds."""
    return Worker(Holding.of_files(Path(folder)))


def answers_of(folder: str, task: bytes) -> list[Answer]:
    """Measure a task in a local process."""
    return worker_of(folder).answers(task)


class RayPool:
    """Actors on a Ray cluster, each with a CPU, or a GPU too. Models are sent, so nobody else needs their
    folder."""

    def __init__(self, ray: Any, cluster: Cluster, held: Holding, inputs: int) -> None:
        self.ray, self.cluster = ray, cluster
        cpu = torch.device("cpu")
        subject = replace(held.subject, model=isolated_copy(held.subject.model, device=cpu))
        self.held = ray.put(Holding(subject, isolated_copy(held.model, device=cpu)).to_bytes())
        self.count = min(free_slots(ray, cluster), max(inputs, 1))
        self.workers: dict[int, Any] = {}

    def send(self, place: int, task: bytes) -> Any:
        if place not in self.workers:
            gpus = self.cluster.gpus_per_task
            actor = self.ray.remote(RayWorker).options(num_cpus=1, num_gpus=gpus)
            self.workers[place] = actor.remote(self.held, gpus > 0)
        return self.workers[place].answers.remote(task)

    def drop(self, place: int) -> None:
        del self.workers[place]

    def wait(self, sent: Sequence[Any]) -> Any:
        (ended, *_), _ = self.ray.wait(list(sent))
        return ended

    def answers(self, ended: Any) -> list[Answer]:
        try:
            measured: list[Answer] = self.ray.get(ended)
        except self.ray.exceptions.RayTaskError as error:
            raise error.cause from None
        except self.ray.exceptions.RayError as error:
            raise WorkerDied(one_line(error)[-MOST_REASON:]) from None
        return measured


class RayWorker(Worker):
    """An actor of a cluster, which may have a GPU."""

    def __init__(self, held: tuple[bytes, bytes], with_gpu: bool) -> None:
        if with_gpu and not torch.cuda.is_available():
            raise InputError("you asked for GPUs, but a worker sees none")
        device = torch.device("cuda" if with_gpu else "cpu")
        own = Holding.of_bytes(*held)
        subject = replace(own.subject, model=isolated_copy(own.subject.model, device=device))
        super().__init__(Holding(subject, isolated_copy(own.model, device=device)))


def check_workers(request: MeasuringRequest) -> None:
    """Refuse workers that cannot be meant.

    Raises:
        InputError: as `Cluster`, and if local workers and a cluster are both asked for.
    """
    Cluster.at(request.ray, request.gpus_per_task)
    if request.ray is not None and request.workers is not None:
        raise InputError(f"{spell('workers')} are local and {spell('ray')} is a cluster: choose one of them")


@contextmanager
def pool_of(request: MeasuringRequest, sample: Sample) -> Iterator[Pool | None]:
    """The workers that a request asks for; None: this process.

    Raises:
        InputError: as `connect` and `check_nodes`, and if the model cannot be sent.
    """
    cluster = Cluster.at(request.ray, request.gpus_per_task)
    held = Holding(sample.subject, sample.model)
    if cluster is not None:
        with connect(cluster) as ray:
            check_nodes(ray)
            yield RayPool(ray, cluster, held, len(sample.texts))
    elif request.workers is None or request.workers == 1:
        yield None
    else:
        with tempfile.TemporaryDirectory() as folder:
            pool = LocalPool(request.workers, Path(folder), held)
            try:
                yield pool
            finally:
                pool.close()


def measure_missing(
    request: MeasuringRequest,
    sample: Sample,
    wanted: Mapping[Wanted, int | None],
    kept: Measurements,
    stages: StageProgress,
    view: ModelView,
    known: NDArray[np.int64],
) -> None:
    """Measure what inputs lack, each audit for so many at most, where a request says; of the inputs ``known``
    the first pass is behind, in a ``view`` with its reference.

    Raises:
        InputError: as `pool_of`, and if what is measured cannot be kept.
    """
    with pool_of(request, sample) as pool:
        measurer = Measurer(
            sample,
            list(wanted),
            kept,
            {one.key: most for one, most in wanted.items()},
            workers=1 if pool is None else pool.count,
        )
        here = InThisProcess(sample, view.watched(stages.on_texts), known, {}, stages.measure)
        measurer.measure(executor_of(pool, here), stages)
