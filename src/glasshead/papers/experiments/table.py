"""The tables of a paper: cells, what the paper claims of them, and how our protocol differs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from glasshead.errors import InputError
from glasshead.papers.experiments.cell import Cell
from glasshead.papers.experiments.source import DataSource
from glasshead.registry import Registry, did_you_mean

SEEDS, QUICK_SEEDS = 5, 2
"""Of every cell that is random, where nobody says otherwise."""


@dataclass(frozen=True)
class Claim:
    """The paper says that ``metric`` of the cell ``better`` exceeds that of ``worse``, by ``effect`` if it
    prints both."""

    text: str
    better: str
    worse: str
    metric: str = "accuracy"
    effect: float | None = None


@dataclass(frozen=True)
class PooledClaim(Claim):
    """The paper says it of several ``pairs`` of cells (better, worse), and of several ``metrics`` alike: one
    test of all trainings together, each pair of trainings having the mean of its differences. ``effect`` is
    the mean of those that the paper prints."""

    pairs: tuple[tuple[str, str], ...] = ()
    metrics: tuple[str, ...] = ()


@dataclass(frozen=True)
class PaperTable:
    """Cells, the claims about them, and what differs from the paper.

    ``words`` are numbers of the rows that are words, or lists of them; ``labels`` are how metrics and words
    are called where that is not their name. ``differences`` hold for all cells, ``data_differences`` (by the
    name of a data set) for some; ``not_at_hand`` are lines about what the paper has and this table has not.
    """

    name: str
    title: str
    cells: Sequence[Cell]
    metrics: Sequence[str] = ("accuracy", "macro_f1")
    words: Sequence[str] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    claims: Sequence[Claim] = ()
    floor_claims: Sequence[Claim] = ()
    """Ours: whether a model is better than what needs no attention; corrected apart from the paper's."""
    differences: Sequence[str] = ()
    data_differences: Mapping[str, Sequence[str]] = field(default_factory=dict)
    not_at_hand: Sequence[str] = ()
    picture: Callable[[Any], Any] | None = None
    """Draws its summary (`glasshead.papers.experiments.figures`), or gives None where nothing is known."""
    smoke: bool = False
    """Whether its data are made up or cut short, so that its numbers say nothing about the paper."""

    def __post_init__(self) -> None:
        names = [cell.name for cell in self.cells]
        if len(set(names)) < len(names):
            raise ValueError(f"{self.name}: two cells have one name")
        for claim in self.every_claim:
            if not {name for pair in pairs_of(claim) for name in pair} <= set(names):
                raise ValueError(f"{self.name}: the claim {claim.text!r} is about no cell")

    @property
    def every_claim(self) -> list[Claim]:
        """The paper's, then those about floors."""
        return [*self.claims, *self.floor_claims]

    @property
    def sources(self) -> list[DataSource]:
        """Its data sets, in order."""
        by_name = {(cell.data.name, cell.data.title): cell.data for cell in self.cells}
        return list(by_name.values())

    def differences_of(self, cell: Cell) -> list[str]:
        """How the protocol of a cell differs from that of the paper."""
        return [*self.differences, *self.data_differences.get(cell.data.name, ())]

    def with_cells(self, cells: Sequence[Cell]) -> PaperTable:
        """The table with some of the cells; claims about others go."""
        names = {cell.name for cell in cells}
        claims, floor_claims = (
            [claim for claim in several if {name for pair in pairs_of(claim) for name in pair} <= names]
            for several in (self.claims, self.floor_claims)
        )
        return replace(self, cells=cells, claims=claims, floor_claims=floor_claims)


def pairs_of(claim: Claim) -> tuple[tuple[str, str], ...]:
    """The pairs of cells (better, worse) that a claim is about."""
    return claim.pairs if isinstance(claim, PooledClaim) else ((claim.better, claim.worse),)


def table_metrics(claim: Claim) -> tuple[str, ...]:
    """The metrics that it is about."""
    return claim.metrics if isinstance(claim, PooledClaim) else (claim.metric,)


@dataclass(frozen=True)
class Paper:
    """A paper whose tables are repeated: its word on the command line, who wrote it, and its tables."""

    name: str
    citation: str
    tables: Sequence[PaperTable]

    def choose(self, words: Sequence[str]) -> list[PaperTable]:
        """The tables of these names, all without a name; TABLE/SET takes the cells of one data set.

        Raises:
            InputError: if there is no such table, or no such set in it.
        """
        if not words:
            return list(self.tables)
        by_name = {table.name: table for table in self.tables}
        chosen: dict[str, list[Cell]] = {}
        for word in words:
            name, _, part = word.partition("/")
            if name not in by_name:
                raise InputError(f"{self.name} has no table {name!r}: {did_you_mean(name, by_name)}")
            cells = [cell for cell in by_name[name].cells if not part or cell.data.name == part]
            if not cells:
                known = [source.name for source in by_name[name].sources]
                raise InputError(f"{name} has no data set {part!r}: {did_you_mean(part, known)}")
            chosen.setdefault(name, []).extend(cell for cell in cells if cell not in chosen.get(name, []))
        return [by_name[name].with_cells(cells) for name, cells in chosen.items()]


PAPERS: Registry[Paper] = Registry("paper")
