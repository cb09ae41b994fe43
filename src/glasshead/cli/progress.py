"""What is being done and how far it is, on standard error."""

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
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal) as progress:
        task = progress.add_task(title, total=None)

        def on_progress(stage: str, share: float | None = None) -> None:
            progress.update(
                task,
                description=f"{title}: {stage}",
                total=None if share is None else 1.0,
                completed=share or 0.0,
            )

        yield on_progress
