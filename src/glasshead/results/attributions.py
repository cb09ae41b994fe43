"""The explanations of several texts, in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

from glasshead.drawable import Drawable
from glasshead.escaping import one_line
from glasshead.nouns import common_nouns
from glasshead.results.attribution import Attribution
from glasshead.results.json_text import json_text

if TYPE_CHECKING:
    import pandas as pd

BOX_SIDES = ("left", "top", "right", "bottom")
INPUTS_SHOWN = 5
"""Texts of a ``repr``."""


@dataclass(frozen=True, repr=False)
class Attributions(Drawable, Sequence[Attribution]):
    """One `Attribution` for each text that could be read.

    ``skipped`` says why the others could not be read, by number; ``notes`` are remarks on what was read.
    """

    attributions: tuple[Attribution, ...]
    skipped: tuple[tuple[int, str], ...] = ()
    notes: tuple[str, ...] = ()

    @overload
    def __getitem__(self, index: int) -> Attribution: ...
    @overload
    def __getitem__(self, index: slice) -> Attributions: ...
    def __getitem__(self, index: int | slice) -> Attribution | Attributions:
        if isinstance(index, slice):
            return Attributions(self.attributions[index], (), self.notes)
        return self.attributions[index]

    def __len__(self) -> int:
        return len(self.attributions)

    @property
    def remarks(self) -> list[str]:
        """Which texts are left out and why, and the notes."""
        return [f"text {number + 1} is left out: {reason}" for number, reason in self.skipped] + [*self.notes]

    def __repr__(self) -> str:
        lines = [f"  {attribution!r}" for attribution in self.attributions[:INPUTS_SHOWN]]
        lines += [f"  … and {len(self) - INPUTS_SHOWN} more"] if len(self) > INPUTS_SHOWN else []
        lines += [f"  {one_line(remark)}" for remark in self.remarks]
        nouns = common_nouns(one.nouns for one in self.attributions)
        return "\n".join([f"Attributions of {nouns.count(len(self))}:", *lines])

    def to_json(self) -> str:
        """A list of objects, one for each text."""
        return json_text(self.attributions)

    def to_pandas(self) -> pd.DataFrame:
        """One row for each token (or word) of each text."""
        import pandas as pd

        table = pd.DataFrame([row for number, one in enumerate(self) for row in token_rows(one, number)])
        return table.astype({"image": "Int64"}) if "image" in table else table


def token_rows(attribution: Attribution, text: int) -> list[dict[str, Any]]:
    """The numbers of every token of one text."""
    rows = []
    for index, token in enumerate(attribution.tokens):
        start, end = attribution.offsets[index]
        row: dict[str, Any] = {
            "text": text,
            "token": token,
            "start": start,
            "end": end,
            "score": attribution.scores[index],
            "target": attribution.target,
            "method": attribution.method,
        }
        if attribution.boxes is not None:
            if len(attribution.images) > 1 and attribution.image_numbers is not None:
                row["image"] = attribution.image_numbers[index]
            row |= dict(zip(BOX_SIDES, attribution.boxes[index] or [None] * len(BOX_SIDES), strict=True))
        if attribution.contributions is not None:
            row["contribution"] = attribution.contributions[index]
        if attribution.rest is not None:
            row["without_first"] = attribution.rest[index]
        if attribution.intervals is not None:
            row["low"], row["high"] = attribution.interval(index) or (None, None)
        rows.append(row)
    return rows
