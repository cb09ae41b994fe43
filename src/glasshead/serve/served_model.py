"""A model that answers one question at a time, in a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

from glasshead.errors import InputError
from glasshead.serve.cancellation import check_current
from glasshead.serve.jobs import JobQueue, QueuedJob
from glasshead.serve.opened_model import OpenedModel
from glasshead.spelling import current_spelling, use_spelling

T = TypeVar("T")
State = Literal["loading", "ready", "failed"]
ONE_OPENS = threading.Lock()
"""Transformers holds in global state how weights are made while it loads a model."""
MOST_WAITING = 16
"""Questions that may wait for a model; more are refused."""


@dataclass(frozen=True)
class Progress:
    """How far a question is: the ``stage``, and the share of it that is behind, where that is known."""

    stage: str = ""
    share: float | None = None


class NotReadyError(Exception):
    """The model cannot answer, or not yet."""


class ServedModel:
    """Opens a model and answers questions about it, one after the other.

    ``open_model`` may take its time: until it has ended, the state is loading. If it fails, ``on_failure`` is
    told why, and what it returns is the message of the model, which names its ``source`` as it was typed.
    """

    def __init__(
        self,
        name: str,
        open_model: Callable[[], OpenedModel],
        opening: str = "loading",
        *,
        source: str = "",
        on_failure: Callable[[str], str] = str,
    ) -> None:
        self.name, self.source = name, source
        self.state: State = "loading"
        self.message = opening
        self.opened: OpenedModel | None = None
        self.progress = Progress()
        self._open_model = open_model
        self._on_failure = on_failure
        self._spelling = current_spelling()
        self._jobs = JobQueue(MOST_WAITING)
        self._thread = threading.Thread(target=self._work, name=f"model {name}", daemon=True)

    def start(self) -> None:
        """Begin to open the model."""
        self._thread.start()

    def submit(self, work: Callable[[OpenedModel], T]) -> QueuedJob[T]:
        """Let a question wait for its turn.

        Raises:
            NotReadyError: if the model is not open.
            BusyError: if too many wait already.
        """
        opened = self.opened
        if opened is None or self.state != "ready" or self._jobs.stopped:
            raise NotReadyError(f"{self.name} is not ready: {self.message}")

        def answer() -> T:
            self.progress = Progress()
            try:
                return work(opened)
            finally:
                self.progress = Progress()

        return self._jobs.submit(answer)

    def report_progress(self, stage: str, share: float | None = None) -> None:
        """Keep how far the question is that is being answered.

        Raises:
            CancelledError: if nobody waits for the answer any more.
        """
        check_current()
        self.progress = Progress(stage, share)

    def stop(self) -> None:
        """End what runs and refuse what waits."""
        self._jobs.stop()

    def _work(self) -> None:
        try:
            with ONE_OPENS, use_spelling(self._spelling):
                self.opened = self._open_model()
        except InputError as error:
            self._fail(str(error))
            return
        except Exception as error:  # a damaged folder, a missing package: one model is no reason to stop all
            self._fail(f"{type(error).__name__}: {str(error)[:300]}")
            return
        self.state, self.message = "ready", ""
        self._jobs.answer()

    def _fail(self, reason: str) -> None:
        is_named = self.source in reason or str(Path(self.source)) in reason
        self.message = reason if is_named else f"{self.source}: {reason}"
        try:
            self.message = self._on_failure(self.message)
        except (OSError, ValueError):  # nobody reads the terminal any more: the page still says why
            pass
        finally:
            self.state = "failed"
