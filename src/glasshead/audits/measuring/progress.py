"""How far an audit is: its stage, and how many inputs it has read."""

from __future__ import annotations

from glasshead.nouns import TEXTS
from glasshead.progress import OnProgress


class StageProgress:
    """Tells ``progress`` which stage runs, and how many texts, or other inputs by their ``nouns``, it has
    read."""

    def __init__(self, progress: OnProgress) -> None:
        self.progress, self.stage, self.nouns = progress, "", TEXTS
        self.behind, self.total = 0, 0
        self.share: float | None = None

    def begin(self, stage: str) -> None:
        """Begin another stage."""
        self.stage, self.behind, self.total = stage, 0, 0
        self.progress(stage)

    def at(self, behind: int, total: int, share: float | None) -> None:
        """So many of all texts are measured, and such a share of the work is done (None: not known)."""
        self.behind, self.total, self.share = behind, total, share

    def measure(self, audit: str) -> None:
        """Measure what an audit asks about the next texts."""
        self.stage = f"measuring {audit}"
        self.on_texts(0, self.total)

    def on_texts(self, done: float, total: int) -> None:
        """So many of the texts are done, or of those of a part."""
        share = self.share if self.total else done / total
        done, total = self.behind + int(done), self.total or total
        self.progress(f"{self.stage}: {done:,} of {total:,} {self.nouns.texts}", share)

    def remark(self, words: str) -> None:
        """What stays worth reading while the work goes on."""
        getattr(self.progress, "remark", self.progress)(words)
