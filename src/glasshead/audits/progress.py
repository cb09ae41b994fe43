"""How far an audit is: its stage, and how many inputs it has read."""

from __future__ import annotations

from typing import Protocol

from glasshead.nouns import TEXTS


class OnProgress(Protocol):
    """Called with what is being done and, where that is known, which share of it is behind."""

    def __call__(self, stage: str, share: float | None = None) -> None: ...


def no_progress(stage: str, share: float | None = None) -> None:
    """Nobody watches."""


class StageProgress:
    """Tells ``progress`` which stage runs, and how many texts, or other inputs by their ``nouns``, it has
    read."""

    def __init__(self, progress: OnProgress) -> None:
        self.progress, self.stage, self.nouns = progress, "", TEXTS
        self.behind, self.total = 0, 0

    def begin(self, stage: str) -> None:
        """Begin another stage."""
        self.stage, self.behind, self.total = stage, 0, 0
        self.progress(stage)

    def at(self, stage: str, behind: int, total: int) -> None:
        """Go on with some texts of a stage, of which so many of all are behind."""
        self.stage, self.behind, self.total = stage, behind, total
        if behind:
            self.on_texts(0, total)
        else:
            self.progress(stage)

    def on_texts(self, done: int, total: int) -> None:
        """So many of the texts are done, or of those of a part."""
        done, total = self.behind + done, self.total or total
        self.progress(f"{self.stage}: {done:,} of {total:,} {self.nouns.texts}", done / total)

    def on_share(self, done: int, total: int) -> None:
        """Such a share of the stage is done."""
        self.progress(f"{self.stage}: {done / total:.0%}", done / total)
