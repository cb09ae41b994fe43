"""What else the weights of an answer could be, with the same output of every head."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from glasshead.data import as_encoded
from glasshead.errors import InputError
from glasshead.generation.text import ReadText
from glasshead.identifiability import RowSelector, attention_rows
from glasshead.results import WrittenMap
from glasshead.spelling import spell

MEAN = "mean"
Ends = list[NDArray[np.float64]]
"""The ends [2, tokens before] of every row of a head."""


class RowIntervals:
    """[min, max] of each weight over all a′ that the head can produce with a′ T = a T, row by row; of the
    mean of all heads the mean of the ends, since heads are independent once the output of each is given.

    Raises:
        InputError: on an encoder–decoder, whose rows are read from two texts.
    """

    def __init__(self, text: ReadText) -> None:
        if text.source:
            raise InputError(
                "intervals are not available for encoder–decoders, whose rows cover two texts: leave "
                f"{spell('intervals')} out"
            )
        self.text = text
        self.known: dict[tuple[int, int | None], dict[int, Ends]] = {}
        self.conditioning = 0.0

    def beside(self, one: WrittenMap) -> WrittenMap:
        """An explanation by attention with the interval of each weight.

        Raises:
            InputError: if heads are combined other than by their mean, if the model is in half
                precision, or its mechanism changes weights after their activation.
        """
        if isinstance(one.head, str) and one.head != MEAN:
            raise InputError(f"intervals are for one head or the mean of all heads, not for their {one.head}")
        assert one.layer is not None
        head = one.head if isinstance(one.head, int) else None
        heads = self.of_layer(one.layer, head)
        chosen = heads.values() if head is None else [heads[head]]
        means = [np.mean(rows, axis=0) for rows in zip(*chosen, strict=True)]
        intervals = []
        for (low, high), scores in zip(means, one.scores, strict=True):
            # Rounding must not push a weight out of its own interval.
            ends = np.minimum(low, scores), np.maximum(high, scores)
            intervals.append(tuple(map(interval, *ends)))
        return replace(one, intervals=tuple(intervals), conditioning=self.conditioning)

    def of_layer(self, layer: int, head: int | None) -> dict[int, Ends]:
        """The ends of the rows of one head of a layer, or of all."""
        if (layer, None) in self.known:
            return self.known[layer, None]
        if (layer, head) not in self.known:
            heads = None if head is None else (head,)
            where = RowSelector((layer,), heads, tuple(self.text.rows))
            ends_by_row: dict[int, Ends] = {}
            (batch,) = attention_rows(self.text.classifier, as_encoded(self.text.before), where)
            for row in sorted(batch, key=lambda row: row.row):
                ends = np.zeros((2, row.row + 1))  # what a window leaves out has no weight
                known = row.intervals()
                self.conditioning = max(self.conditioning, known.conditioning)
                ends[:, row.keys] = known.low, known.high
                ends_by_row.setdefault(row.head, []).append(ends)
            self.known[layer, head] = ends_by_row
        return self.known[layer, head]


def interval(low: float, high: float) -> tuple[float | None, float | None] | None:
    """The interval as an explanation has it: None where it is not known, and for an end without bounds."""
    if np.isnan(low) or np.isnan(high):
        return None
    return (float(low) if np.isfinite(low) else None, float(high) if np.isfinite(high) else None)
