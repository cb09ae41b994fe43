"""The verdicts on the statements of the lecture, and how each setting came out."""

from collections.abc import Iterator

from glasshead.papers.experiments import setting_tables, verdict_table
from reproduction.s1.claims import verdicts


def claims() -> Iterator[str]:
    """A part of is-attention-explanation.md."""
    yield verdict_table(verdicts())


def settings() -> Iterator[str]:
    """Every setting of every claim."""
    yield setting_tables(verdicts())
