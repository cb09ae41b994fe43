"""What exchanges of activations change: plain values, no torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from glasshead.drawable import Drawable
from glasshead.escaping import one_line
from glasshead.results.json_text import json_text

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class PatchedSite:
    """How the exchange of one site changes the score m, over ``n`` pairs.

    ``change`` is the mean in log-odds (or log-probability) with its 95 % ``interval``, ``share`` that of the
    difference between both texts, ``null`` the mean change by foreign activations: those of another pair
    where an answer is brought back, else a change of equal size in a random direction. ``pvalue`` is the
    larger of two p-values, of no change and (with a null) of none beyond the null, by exchange of signs,
    corrected for all sites; ``is_shown``: it is at most 0.05, and the interval of the share above 1 % of a
    difference that the model is shown to make.
    """

    layer: int
    column: int
    name: str
    change: float
    interval: tuple[float, float] | None
    share: float | None
    share_interval: tuple[float, float] | None
    null: float | None
    pvalue: float | None
    n: int
    is_shown: bool

    @property
    def share_in_words(self) -> str:
        """The share in percent with its interval, without a negative zero; empty if there is none."""
        if self.share is None:
            return ""
        share, *ends = (
            f"{round(100 * one)}".replace("-", "−") for one in (self.share, *(self.share_interval or ()))
        )
        return f"{share} % [{', '.join(ends)}]" if ends else f"{share} %"

    @property
    def is_against(self) -> bool:
        """Whether it works against the difference between both texts."""
        return self.share is not None and self.share < 0


@dataclass(frozen=True)
class PatchedPair:
    """One pair of texts: their tokens, the answer, and m of the running text and of the other."""

    clean: Sequence[str]
    corrupted: Sequence[str]
    answer: str
    against: str
    score: float
    other: float


@dataclass(frozen=True, repr=False)
class Patching(Drawable):
    """The result of `glasshead.patch`: each site with its interval, every pair, and a conclusion in words.

    ``changes`` [pairs][layers][columns] are the changes of every pair, None where a text has no such place;
    ``first_order`` the same to first order if both were requested. ``columns`` are the names of columns.
    """

    facts: Mapping[str, Any]
    columns: Sequence[str]
    sites: Sequence[PatchedSite]
    total: tuple[float, tuple[float, float] | None]
    conclusion: Sequence[str]
    pairs: Sequence[PatchedPair]
    changes: Sequence[Sequence[Sequence[float | None]]]
    remarks: Sequence[str] = ()
    first_order: Sequence[Sequence[Sequence[float | None]]] | None = field(default=None)

    @property
    def layers(self) -> int:
        """How many layers there are."""
        return len(self.changes[0])

    def site(self, layer: int, column: int) -> PatchedSite | None:
        """One site; None where the model has none."""
        return next((one for one in self.sites if (one.layer, one.column) == (layer, column)), None)

    @property
    def shown(self) -> list[PatchedSite]:
        """The sites that are shown to matter, the largest share first."""
        return sorted((one for one in self.sites if one.is_shown), key=lambda one: -abs(one.change))

    def rows(self) -> list[dict[str, Any]]:
        """One row for each site; ``column`` is a head, or a token counted from the last, which is −1."""
        return [
            {
                "layer": one.layer,
                "column": one.column if self.facts["sites"] == "heads" else -1 - one.column,
                "change": one.change,
                "low": None if one.interval is None else one.interval[0],
                "high": None if one.interval is None else one.interval[1],
                "share": one.share,
                "share_low": None if one.share_interval is None else one.share_interval[0],
                "share_high": None if one.share_interval is None else one.share_interval[1],
                "null": one.null,
                "pvalue": one.pvalue,
                "n": one.n,
                "shown": one.is_shown,
            }
            for one in self.sites
        ]

    def to_pandas(self) -> pd.DataFrame:
        """One row for each site."""
        import pandas as pd

        return pd.DataFrame(self.rows())

    def to_json(self) -> str:
        """Everything."""
        return json_text(self)

    def __repr__(self) -> str:
        return one_line(f"Patching({self.facts['name']}: {' '.join(self.conclusion)})")
