"""What is being done, how far it is and how long the rest will take, on standard error."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Protocol

from glasshead.cli.console import errors, print_remark


class OnProgress(Protocol):
    """Called with what is being done and, where that is known, which share of it is behind."""

    def __call__(self, stage: str, share: float | None = None) -> None: ...


LINE_SECONDS = 15.0
"""Seconds between two lines where there is no terminal."""


class LineProgress:
    """Where nobody looks at a terminal: a line now and then, also while a stage says nothing, and none of
    what is quickly done."""

    def __init__(self, title: str) -> None:
        self.title, self.doing = title, ""
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def __call__(self, stage: str, share: float | None = None) -> None:
        self.doing = f": {stage}" + ("" if share is None else f", {share:.0%}")

    def start(self) -> None:
        """Write from now on; after `stop` too."""
        self.stop()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._write, args=(time.monotonic(),), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Write no more."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()

    def _write(self, begun: float) -> None:
        while not self._ended.wait(LINE_SECONDS):
            with suppress(OSError):  # nobody reads any more
                print_remark(f"{self.title}{self.doing} ({duration(time.monotonic() - begun)})")


def duration(seconds: float) -> str:
    """How long that is."""
    minutes, seconds = divmod(round(seconds), 60)
    return f"{minutes} min {seconds} s" if minutes else f"{seconds} s"


@contextmanager
def progress_stages(title: str) -> Iterator[OnProgress]:
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
    with Progress(*columns, console=errors, transient=True) as progress:
        task = progress.add_task(title, total=None)
        running = ""

        def on_progress(stage: str, share: float | None = None) -> None:
            nonlocal running
            if stage.partition(":")[0] != running:  # the time that is left is that of the stage
                running = stage.partition(":")[0]
                progress.reset(task)
            progress.update(
                task,
                description=f"{title}: {stage}",
                total=None if share is None else 1.0,
                completed=share or 0.0,
            )

        yield on_progress
