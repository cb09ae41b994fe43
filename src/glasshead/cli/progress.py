"""What is being done, how far it is and how long the rest will take, on standard error."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from glasshead.cli.console import errors


class OnProgress(Protocol):
    """Called with what is being done and, where that is known, which share of it is behind."""

    def __call__(self, stage: str, share: float | None = None) -> None: ...


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
    with Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal) as progress:
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
