"""The tables of a paper: cells, what the paper claims of them, and how our protocol differs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
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
    """The paper says that the cell ``better`` has higher ``metrics`` (the mean of several) than ``worse``,
    by ``effect`` if it prints both.

    If a number replaces one of the cells, the metrics of the other are compared with it, training by
    training: 0 for a change, ½ for an AUC. A claim about numbers outside the cells (`summarise_numbers`)
    names their ``unit``: a seed, a relation.
    """

    text: str
    better: str | float
    worse: str | float
    metrics: tuple[str, ...] = ("accuracy",)
    effect: float | None = None
    unit: str = ""

    @property
    def cells(self) -> list[str]:
        """The names of its cells."""
        return [side for side in (self.better, self.worse) if isinstance(side, str)]


@dataclass(frozen=True)
class PaperClaim:
    """A claim of a paper, with the place ``where`` it is made, tested once over all ``parts``: claims of
    its tables, by name, one for each setting."""

    text: str
    where: str
    parts: tuple[tuple[str, Claim], ...]


@dataclass(frozen=True)
class PaperTable:
    """Cells, the claims about them, and what differs from the paper.

    ``words`` are entries of the rows that are words, or lists of them; ``labels`` are the displayed names
    of metrics and words that have another one. ``differences`` hold for all cells, ``data_differences`` (by
    the name of a data set) for some; ``not_at_hand`` are lines about what the paper has and this table lacks.
    """

    name: str
    title: str
    cells: Sequence[Cell]
    metrics: Sequence[str] = ("accuracy", "macro_f1")
    words: Sequence[str] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    claims: Sequence[Claim] = ()
    floor_claims: Sequence[Claim] = ()
    """Ours: whether a model is better than what needs no attention."""
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
            if not claim.cells or not set(claim.cells) <= set(names):
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
        """The table with some of the cells, without claims about the others."""
        names = {cell.name for cell in cells}
        claims, floor_claims = (
            [claim for claim in several if set(claim.cells) <= names]
            for several in (self.claims, self.floor_claims)
        )
        return replace(self, cells=cells, claims=claims, floor_claims=floor_claims)


def claim_of_tables(text: str, where: str, tables: Iterable[PaperTable], *says: str) -> PaperClaim:
    """What a paper says ``where``, over the claims of some tables whose words end in one of ``says``; all,
    where there is none."""
    parts = tuple(
        (table.name, claim)
        for table in tables
        for claim in table.claims
        if not says or claim.text.endswith(says)
    )
    return PaperClaim(text, where, parts)


@dataclass(frozen=True)
class Paper:
    """A paper whose tables are repeated: its name on the command line, its authors, its tables, and its
    claims about them; without tables, its claims about numbers that come from elsewhere."""

    name: str
    citation: str
    tables: Sequence[PaperTable] = ()
    claims: Sequence[PaperClaim] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)
    """TABLE/SET that are not worth their hours, and why."""

    def __post_init__(self) -> None:
        self.choose([*self.left_out])
        known = {(table.name, claim) for table in self.tables for claim in table.claims}
        for claim in self.claims if self.tables else ():
            if not set(claim.parts) <= known:
                raise ValueError(f"{self.name}: {claim.text!r} is about what no table claims")

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
