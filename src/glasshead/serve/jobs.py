"""Questions that wait for a thread, and the threads that answer them."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from glasshead.serve.cancellation import CancelledError, CancelToken, cancellable

T = TypeVar("T")
MOST_READING, READERS = 200, 4
"""Questions that may wait for audits and recorded trainings, and how many are answered at once."""


class QueueFullError(Exception):
    """Too many questions wait already; ``seconds`` is when to ask again."""

    def __init__(self, most: int, seconds: int = 2) -> None:
        super().__init__(f"{most} requests are waiting already: try again in {seconds} s")
        self.seconds = seconds


@dataclass(frozen=True, eq=False)
class QueuedJob(Generic[T]):
    """A question, and the place for its answer."""

    work: Callable[[], T]
    future: Future[T] = field(default_factory=Future)
    token: CancelToken = field(default_factory=CancelToken)

    def cancel(self) -> None:
        """Nobody waits any more: what runs ends at the next module, what waits is not begun."""
        self.token.cancel()

    def run_nothing(self) -> None:
        """It will not be answered."""
        if self.future.set_running_or_notify_cancel():
            self.future.set_exception(CancelledError())

    def run(self) -> None:
        """Answer, or say why not."""
        if not self.future.set_running_or_notify_cancel():
            return
        try:
            with cancellable(self.token):
                self.future.set_result(self.work())
        except BaseException as error:  # it is raised where the answer is awaited
            self.future.set_exception(error)


class JobQueue:
    """Jobs in the order in which they came; at most so many wait, not counting those that were cancelled."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.stopped = False
        self._waiting: deque[QueuedJob[Any]] = deque()
        self._running: list[QueuedJob[Any]] = []
        self._changed = threading.Condition()

    def submit(self, work: Callable[[], T]) -> QueuedJob[T]:
        """Let a question wait for its turn.

        Raises:
            BusyError: if too many wait already.
            CancelledError: if no more are answered.
        """
        job = QueuedJob(work)
        with self._changed:
            if self.stopped:
                raise CancelledError
            gone = [job for job in self._waiting if job.token.cancelled]
            for lost in gone:
                self._waiting.remove(lost)
                lost.run_nothing()
            if len(self._waiting) >= self.most:
                raise QueueFullError(self.most)
            self._waiting.append(job)
            self._changed.notify()
        return job

    def answer(self) -> None:
        """Run the jobs, one after the other, until no more are answered."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self.stopped or self._waiting)
                if self.stopped:
                    return
                job = self._waiting.popleft()
                self._running.append(job)
            job.run()
            with self._changed:
                self._running.remove(job)

    def stop(self) -> None:
        """End what runs and refuse what waits."""
        with self._changed:
            self.stopped = True
            waiting = list(self._waiting)
            self._waiting.clear()
            for job in (*self._running, *waiting):
                job.cancel()
            self._changed.notify_all()
        for job in waiting:
            job.run_nothing()


class Readers:
    """Threads that read audits and recorded trainings; they keep nobody from ending the process."""

    def __init__(self) -> None:
        self._jobs = JobQueue(MOST_READING)

    def start(self) -> None:
        """Begin to answer."""
        for number in range(READERS):
            threading.Thread(target=self._jobs.answer, name=f"reader {number}", daemon=True).start()

    def submit(self, work: Callable[[], T]) -> QueuedJob[T]:
        """Submit a question, as `JobQueue.submit` does."""
        return self._jobs.submit(work)

    def stop(self) -> None:
        """End what they do, and answer no more."""
        self._jobs.stop()
