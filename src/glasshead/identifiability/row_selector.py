"""Which rows of which heads are read."""

from __future__ import annotations

from dataclasses import dataclass

from glasshead.errors import InputError

MOST_ROWS = 4
"""Rows of a text that say what its maps are like where the prediction reads a mean of them all: each is a
linear program for every weight."""
ROW_NAMES = {"cls": "first"} | {name: name for name in ("first", "last", "pooled", "asked", "all", "read")}


@dataclass(frozen=True)
class RowSelector:
    """The selected heads and rows; None: all layers, all heads.

    ``rows`` is "first" (or "cls"), "last", "pooled" (the one row of a learned query), "asked" (that of the
    token in question, for a token classifier), "all", or numbers; or "read", those that the prediction reads
    in the last of the layers that it uses (`glasshead.trace.find_read_attention`). At most ``most`` of them
    are chosen for a text (None: all), spread in proportion to how much the prediction depends on each.
    """

    layers: tuple[int, ...] | None = None
    heads: tuple[int, ...] | None = None
    rows: str | tuple[int, ...] = "first"
    most: int | None = None

    def __post_init__(self) -> None:
        if isinstance(self.rows, str) and self.rows not in ROW_NAMES:
            raise InputError(
                f"unknown rows {self.rows!r}: choose from {', '.join(ROW_NAMES)}, or give numbers"
            )

    @property
    def row_name(self) -> str | None:
        """The single row that a name stands for."""
        return ROW_NAMES[self.rows] if isinstance(self.rows, str) else None
