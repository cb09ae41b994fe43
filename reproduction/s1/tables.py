"""The verdicts on the statements of the lecture, and how each setting came out."""

from collections.abc import Iterator

from glasshead.papers.experiments import setting_tables, verdict_table
from reproduction.s1.claims import verdicts


def claims() -> Iterator[str]:
    """A part of is-attention-explanation.md."""
    yield verdict_table(verdicts())


def settings() -> Iterator[str]:
    """Every setting of every claim."""
    yield "# The claims of the lecture, by setting"
    yield (
        "Positive numbers agree with the claim. Settings are described, not tested: each with the interval "
        "of its mean over units. `docs/reproduction/is-attention-explanation.md` says how claims are chosen "
        "and tested."
    )
    yield setting_tables(verdicts())
