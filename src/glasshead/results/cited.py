"""Which passages an answer came from: plain values, no torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from glasshead.drawable import Drawable
from glasshead.escaping import one_line
from glasshead.results.json_text import json_text

if TYPE_CHECKING:
    import pandas as pd

PairKind = Literal["repeat", "together"]
REMOVED = {"delete": "deleted", "replace": "replaced by a neutral text", "mask": "masked"}
"""What becomes of a passage by each removal."""


@dataclass(frozen=True)
class Passage:
    """A text that was given to the model, with its ``title`` and ``link`` (empty: none); ``repeats`` is the
    index of an earlier passage with the same text."""

    text: str
    title: str = ""
    link: str = ""
    repeats: int | None = None


def passage_name(place: int, passage: Passage) -> str:
    """A passage by its number from 1 and its title."""
    return f"{place + 1} ({passage.title})" if passage.title else str(place + 1)


@dataclass(frozen=True)
class SourceEffect:
    """What one passage does for a statement.

    ``effect`` is what it adds according to the method, with its ``interval`` at 95 % for all passages at
    once (None: nothing was drawn, so the number is exact). ``removal`` says by how much log p of the
    statement falls without only this passage, ``by_itself`` by how much it rises with only this passage.
    ``is_source``: it is shown to matter.
    """

    passage: int
    effect: float
    interval: tuple[float, float] | None
    removal: float
    by_itself: float
    is_source: bool


@dataclass(frozen=True)
class SourceSpan:
    """A part of a passage, by its characters, and by how much log p of the statement falls without it."""

    passage: int
    start: int
    stop: int
    kind: Literal["sentence", "word"]
    removal: float


@dataclass(frozen=True)
class PassagePair:
    """Two passages that depend on each other: one is enough (``repeat``), or both are needed (``together``);
    ``removal`` says by how much log p of the statement falls without both."""

    first: int
    second: int
    kind: PairKind
    removal: float


@dataclass(frozen=True)
class Foretelling:
    """How well numbers of passages predict the effect of removing passages: Spearman's ``rho`` between the
    sum over the passages that are there and the measured log-odds of the statement, over ``n`` subsets,
    with its 95 % ``interval``; ``chance`` is what one in twenty shuffles reaches."""

    rho: float
    interval: tuple[float, float]
    chance: float
    n: int


@dataclass(frozen=True)
class Statement:
    """A part of the answer, by its characters, and where it came from.

    ``log_probability`` is Σ log p of its tokens after all passages, ``without_any`` after none,
    ``without_sources`` after all that are not sources. ``effects`` has one entry for each passage;
    ``other`` has, by another removal, by how much log p falls without each. ``maps`` are the shares of
    other methods, by passage; ``foretells`` says how well the method and these predict the effect of
    removing passages. ``says`` is the conclusion; ``remarks`` name passages that count under only one type
    of removal.
    """

    start: int
    stop: int
    log_probability: float
    without_any: float
    without_sources: float
    effects: tuple[SourceEffect, ...]
    pairs: tuple[PassagePair, ...] = ()
    spans: tuple[SourceSpan, ...] = ()
    maps: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    other: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    foretells: Mapping[str, Foretelling] = field(default_factory=dict)
    says: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def sources(self) -> list[SourceEffect]:
        """The passages that are shown to matter, the strongest first."""
        return sorted((one for one in self.effects if one.is_source), key=lambda one: -one.effect)


@dataclass(frozen=True, repr=False)
class Cited(Drawable):
    """The result of `glasshead.cite`: an answer, the passages, and those that it came from.

    ``statements`` are the whole answer, then its sentences if it has several. ``prompt`` is what the model
    read. ``facts`` say how it was measured: method, removal, passes, draws, seed.
    """

    model: str
    question: str
    answer: str
    passages: tuple[Passage, ...]
    statements: tuple[Statement, ...]
    prompt: str
    facts: Mapping[str, Any]
    notes: tuple[str, ...] = ()

    @property
    def whole(self) -> Statement:
        """The whole answer."""
        return self.statements[0]

    @property
    def sentences(self) -> Sequence[Statement]:
        """The sentences of the answer; the answer itself if it is one."""
        return self.statements[1:] or self.statements

    def text_of(self, statement: Statement) -> str:
        """The words of a statement."""
        return self.answer[statement.start : statement.stop]

    def name_of(self, passage: int) -> str:
        """A passage by its number from 1 and its title."""
        return passage_name(passage, self.passages[passage])

    @property
    def unplaced_sources(self) -> list[int]:
        """The sources of the whole answer that are not shown for any of its sentences, in order."""
        placed = {one.passage for statement in self.sentences for one in statement.sources}
        return sorted(one.passage for one in self.whole.sources if one.passage not in placed)

    def rows(self) -> list[dict[str, Any]]:
        """One row for each statement and passage; passages are counted from 1."""
        return [
            {
                "statement": self.text_of(statement),
                "passage": one.passage + 1,
                "title": self.passages[one.passage].title,
                "effect": one.effect,
                "low": None if one.interval is None else one.interval[0],
                "high": None if one.interval is None else one.interval[1],
                "removal": one.removal,
                "by_itself": one.by_itself,
                "source": one.is_source,
                **{name: shares[one.passage] for name, shares in statement.maps.items()},
            }
            for statement in self.statements
            for one in statement.effects
        ]

    def to_pandas(self) -> pd.DataFrame:
        """One row for each statement and passage."""
        import pandas as pd

        return pd.DataFrame(self.rows())

    def to_json(self) -> str:
        """Everything."""
        return json_text(self)

    def __repr__(self) -> str:
        return one_line(f"{self.answer!r}: {self.whole.says[0]}")
