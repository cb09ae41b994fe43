"""How alike the heads of a model are: means of the divergences of texts, shard by shard."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from glasshead.arrays import Floats
from glasshead.audits.head_report.text_statistics import ratio
from glasshead.audits.judging.measurements import ID
from glasshead.audits.judging.table import Table
from glasshead.results import MIN_UNITS, HeadAgreement
from glasshead.statistics import simultaneous_level, student_interval

DIVERGENCE, UNRELATED = "divergence", "unrelated"
COUNT, SUM, SQUARES, NULL, OVER_NULL, OVER_NULL_SQUARES = range(6)


def agree(tables: Iterable[Table], ids: NDArray[np.int64], heads: int) -> tuple[HeadAgreement, Floats]:
    """How alike every two heads are in these texts, and by text [2, texts] the mean over pairs and that of
    unrelated maps. One shard is in memory at a time: pairs are many."""
    upper = np.triu_indices(heads)
    sums, means = np.zeros((6, len(upper[0]))), np.full((2, len(ids)), np.nan)
    between = upper[0] < upper[1]
    place = {number: row for row, number in enumerate(ids.tolist())}
    for table in tables:
        rows = np.flatnonzero(np.isin(table[ID], ids))
        if not len(rows):
            continue
        own, null = (np.stack(list(table[name][rows])) for name in (DIVERGENCE, UNRELATED))
        over = own - null
        parts = [np.ones_like(own), own, own**2, null, over, over**2]
        sums += np.nansum(np.where(np.isnan(own), np.nan, parts), axis=1)
        at = [place[number] for number in table[ID][rows].tolist()]
        pairs = np.stack([own, null])[:, :, between]
        means[:, at] = ratio(np.nansum(pairs, axis=2), (~np.isnan(pairs)).sum(axis=2))
    return agreement_of(sums, upper, heads), means[:, ~np.isnan(means[0])]


def agreement_of(sums: Floats, upper: tuple[NDArray[np.intp], ...], heads: int) -> HeadAgreement:
    """Means over texts and their intervals, as matrices."""
    counts = np.where(sums[COUNT] > 0, sums[COUNT], np.nan)
    level = simultaneous_level(heads * (heads - 1) // 2)
    enough = sums[COUNT] >= MIN_UNITS
    interval, over_null = (
        np.where(enough, student_interval(sums[total], sums[squares], sums[COUNT], level), np.nan)
        for total, squares in ((SUM, SQUARES), (OVER_NULL, OVER_NULL_SQUARES))
    )

    def matrices(values: Floats) -> Floats:
        full = np.full((*values.shape[:-1], heads, heads), np.nan)
        full[..., upper[0], upper[1]] = full[..., upper[1], upper[0]] = values.round(6)
        return full

    return HeadAgreement(
        matrices(sums[SUM] / counts), matrices(interval), matrices(sums[NULL] / counts), matrices(over_null)
    )
