"""How far long work is: what is told of it, and the bar that shows it to who calls from Python."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

DELAY = 2.0
"""Seconds of work before a bar shows."""


class OnProgress(Protocol):
    """Called with what is being done and, where that is known, which share of it is behind. What stays worth
    reading, such as an estimate, goes to its method ``remark``, where it has one."""

    def __call__(self, stage: str, share: float | None = None) -> None: ...


def no_progress(stage: str, share: float | None = None) -> None:
    """Do nothing."""


def work_of(stage: str) -> str:
    """What a stage does, whatever it is about: the time that is left is that of all that does the same."""
    return stage.partition(": ")[0].partition(" ")[0]


class ProgressBar:
    """A bar of tqdm for each kind of work, after a `DELAY`."""

    def __init__(self, title: str) -> None:
        from tqdm.auto import tqdm  # type: ignore[import-untyped]

        self.title, self.work, self.tqdm = title, "", tqdm
        self.bar: Any = None

    def __call__(self, stage: str, share: float | None = None) -> None:
        words = f"{self.title}: {stage}"
        if self.bar is None or work_of(stage) != self.work:
            self.close()
            self.work = work_of(stage)
            form = "{desc}: {percentage:3.0f}%|{bar}| {elapsed}<{remaining}"
            self.bar = self.tqdm(desc=words, total=1.0, delay=DELAY, leave=False, bar_format=form)
        self.bar.set_description_str(words, refresh=False)
        if share is not None:
            self.bar.update(share - self.bar.n)

    def remark(self, words: str) -> None:
        """Say something at once that stays."""
        self.tqdm.write(f"{self.title}: {words}", file=sys.stderr)

    def close(self) -> None:
        """Leave the screen as it was."""
        if self.bar is not None:
            self.bar.close()


@contextmanager
def watched(progress: Callable[..., None] | bool | None, title: str) -> Iterator[Callable[..., None] | None]:
    """What long work tells how far it is: what a person gave, or (None) a bar where somebody looks on."""
    if callable(progress):
        yield progress
    elif progress is False or (progress is None and not is_looked_at()):
        yield None
    else:
        bar = ProgressBar(title)
        try:
            yield bar
        finally:
            bar.close()


def is_looked_at() -> bool:
    """Whether standard error is a terminal or a cell of a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return "IPKernelApp" in getattr(shell, "config", {}) or (sys.stderr is not None and sys.stderr.isatty())
