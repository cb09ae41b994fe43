"""What is being done, how far it is and how long the rest will take, on standard error."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Protocol

from glasshead.cli.console import errors, print_remark
from glasshead.durations import duration, rough_duration
from glasshead.progress import OnProgress, work_of


class WithRemarks(OnProgress, Protocol):
    """It says remarks, too."""

    def remark(self, words: str) -> None:
        """Say something at once that stays on the screen."""


LINE_SECONDS = 10.0
"""Seconds between two lines where there is no terminal."""


class LineProgress:
    """Where nobody looks at a terminal: a line now and then, also while a stage says nothing, and none of
    what is quickly done. The rest takes as long as what is behind since the first share that was known."""

    def __init__(self, title: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.title, self.clock = title, clock
        self.stage, self.share = "", None  # type: tuple[str, float | None]
        self.begun, self.first = clock(), None  # type: float, tuple[float, float] | None
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def __call__(self, stage: str, share: float | None = None) -> None:
        if work_of(stage) != work_of(self.stage):
            self.first = None
        if share is not None and self.first is None:  # what came before, as starting workers, is no measure
            self.first = self.clock(), share
        self.stage, self.share = stage, share

    def remark(self, words: str) -> None:
        with suppress(OSError):
            print_remark(f"{self.title}: {words}")

    def line(self) -> str:
        """What is being done, and how far it is."""
        now, words = self.clock(), [self.title]
        if self.stage:
            words.append(f": {self.stage}")
        if self.share is not None:
            words.append(f", {self.share:.0%}")
        if self.share is not None and self.first is not None and self.share > self.first[1]:
            begun, behind = self.first
            left = (now - begun) * (1 - self.share) / (self.share - behind)
            words.append(f", about {rough_duration(left)} left" if left >= 1 else "")
        return f"{''.join(words)} ({duration(now - self.begun)})"

    def start(self) -> None:
        """Write from now on; after `stop` too."""
        self.stop()
        self.begun = self.clock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Write no more."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()

    def _write(self) -> None:
        while not self._ended.wait(LINE_SECONDS):
            with suppress(OSError):  # nobody reads any more
                print_remark(self.line())


class BarProgress:
    """On a terminal: a task of a Rich ``display``."""

    def __init__(self, title: str, display: Any) -> None:
        self.title, self.display, self.running = title, display, ""
        self.task = display.add_task(title, total=None)

    def __call__(self, stage: str, share: float | None = None) -> None:
        if work_of(stage) != self.running:
            self.running = work_of(stage)
            self.display.reset(self.task)
        self.display.update(
            self.task,
            description=f"{self.title}: {stage}",
            total=None if share is None else 1.0,
            completed=share or 0.0,
        )

    def remark(self, words: str) -> None:
        print_remark(words)


@contextmanager
def progress_stages(title: str) -> Iterator[WithRemarks]:
    """A line on standard error that says what is being done and for how long, with a bar where it can."""
    from rich.progress import (
        BarColumn,
        Progress,
        SpinnerColumn,
        Task,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class TimeLeft(TimeRemainingColumn):
        """How long the rest will take, where it is known how much there is."""

        def render(self, task: Task) -> Text:
            return Text("") if task.total is None else Text.assemble(super().render(task), " left")

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TimeElapsedColumn(),
        TimeLeft(),
    )
    if not errors.is_terminal:
        lines = LineProgress(title)
        lines.start()
        try:
            yield lines
        finally:
            lines.stop()
        return
    with Progress(*columns, console=errors, transient=True) as display:
        yield BarProgress(title, display)
