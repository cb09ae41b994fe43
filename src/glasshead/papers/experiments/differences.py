"""How far two cells are apart, seed by seed: a description with its interval, which tests nothing."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from glasshead.arrays import Floats
from glasshead.papers.experiments.cell import Cell
from glasshead.papers.experiments.metric_ranges import cut, possible_range
from glasshead.papers.experiments.numbers import ENOUGH_SEEDS, number_of, seed_intervals
from glasshead.papers.experiments.row import Row
from glasshead.papers.experiments.table import Claim, PaperTable
from glasshead.results import Interval
from glasshead.statistics import METRICS, Predictions, difference_intervals

NORMAL_95 = 1.959964
"""Standard errors from the mean of a normal distribution to the end of its 95 % interval."""


@dataclass(frozen=True)
class DifferenceSummary:
    """The evidence of one cell or two for a claim: ``gaps`` are the differences of pairs of
    trainings with the same seed on the same data, or of every training from a number, each the mean over
    the metrics of the claim, by ``seeds`` (or by another unit of the claim).

    The ``interval`` and the standard ``error`` of the mean include seeds and, where the hits of pairs are
    kept, ``texts``; with fewer than five gaps there is none. ``cells`` are those that it is about, with
    their tables.
    """

    claim: Claim
    gaps: Floats
    seeds: Sequence[Hashable]
    texts: int
    interval: Interval | None
    error: float | None
    cells: frozenset[tuple[str, str]] = frozenset()

    @property
    def difference(self) -> float | None:
        """The mean of the gaps."""
        return float(self.gaps.mean()) if len(self.gaps) else None


def summarise_differences(
    table: PaperTable, claims: Sequence[Claim], rows: Mapping[str, Sequence[Row]]
) -> list[DifferenceSummary]:
    """The difference of every claim about cells of a table."""
    cells = {cell.name: cell for cell in table.cells}
    return [
        replace(
            summarise_claim(claim, cells, rows), cells=frozenset((table.name, name) for name in claim.cells)
        )
        for claim in claims
    ]


def summarise_claim(
    claim: Claim, cells: Mapping[str, Cell], rows: Mapping[str, Sequence[Row]]
) -> DifferenceSummary:
    """How far the two cells of a claim are apart, or its only one from a number."""
    if isinstance(claim.better, str) and isinstance(claim.worse, str):
        better, worse = cells[claim.better], cells[claim.worse]
        return summarise_difference(
            claim,
            rows.get(better.name, []),
            rows.get(worse.name, []),
            stands_for_all=worse.seedless,
            same_data=better.data == worse.data,
        )
    values = {
        row.seed: [number_of(row, name) for name in claim.metrics] for row in rows.get(claim.cells[0], [])
    }
    means = {seed: np.mean(each) for seed, each in values.items() if None not in each}  # type: ignore[arg-type]
    of_cell = np.array([*means.values()])
    first, second = (of_cell if isinstance(side, str) else side for side in (claim.better, claim.worse))
    return summarise_gaps(claim, np.asarray(first - second), [*means])


def summarise_difference(
    claim: Claim,
    better: Sequence[Row],
    worse: Sequence[Row],
    *,
    stands_for_all: bool = False,
    same_data: bool = True,
) -> DifferenceSummary:
    """How far the rows of two cells are apart; the worse one ``stands_for_all`` seeds if it knows none, and
    pairs have the ``same_data`` unless the claim is about sets that differ."""
    pairs = pair_by_seed(better, worse, claim.metrics, stands_for_all, same_data)
    gaps = np.array(
        [np.mean([number_of(first, name) - number_of(second, name) for name in claim.metrics])  # type: ignore[operator]
         for first, second in pairs]
    )  # fmt: skip
    found = summarise_gaps(claim, gaps, [first.seed for first, _ in pairs])
    if found.error is None or claim.metrics != ("accuracy",) or not same_data:
        return found
    if any(row.hits is None for pair in pairs for row in pair):
        return found
    first, second = (correctness([pair[side] for pair in pairs]) for side in (0, 1))
    interval = difference_intervals(first, second, [METRICS["accuracy"]], rng=np.random.default_rng(0))[0]
    return replace(
        found,
        texts=len(first.labels),
        interval=cut(interval, possible_gap(claim)),
        error=max(found.error, (interval[1] - interval[0]) / 2 / NORMAL_95),
    )


def summarise_numbers(claim: Claim, numbers: Mapping[str, float]) -> DifferenceSummary:
    """The evidence of plain numbers for a claim: the gap of each unit, by its name.

    Settings with the same kind of unit share units, so their errors are correlated (`judge_claims`).
    """
    found = summarise_gaps(claim, np.array([*numbers.values()], dtype=float), [*numbers])
    return replace(found, cells=frozenset({("", claim.unit)}))


def summarise_gaps(claim: Claim, gaps: Floats, seeds: Sequence[Hashable]) -> DifferenceSummary:
    """The mean of gaps with the interval and the error that seeds alone give it."""
    if len(gaps) < ENOUGH_SEEDS:
        return DifferenceSummary(claim, gaps, seeds, 0, None, None)
    error = float(gaps.std(ddof=1)) / math.sqrt(len(gaps))
    interval = cut(seed_intervals(gaps.tolist())[0], possible_gap(claim))
    return DifferenceSummary(claim, gaps, seeds, 0, interval, error)


def possible_gap(claim: Claim) -> Interval:
    """The smallest and the largest gap that there can be."""
    low, high = np.mean([possible_range(name) for name in claim.metrics], axis=0).tolist()
    (least, most), (floor, ceiling) = (
        (low, high) if isinstance(side, str) else (side, side) for side in (claim.better, claim.worse)
    )
    return least - ceiling, most - floor


def pair_by_seed(
    better: Sequence[Row],
    worse: Sequence[Row],
    metrics: Sequence[str],
    stands_for_all: bool = False,
    same_data: bool = True,
) -> list[tuple[Row, Row]]:
    """The rows of two cells with the same seed, on the same data where that is meant, that have all
    ``metrics``."""
    by_seed = {row.seed: row for row in worse}
    if stands_for_all and worse:
        by_seed = {row.seed: worse[0] for row in better}
    pairs = [(row, by_seed[row.seed]) for row in better if row.seed in by_seed]
    return [
        pair
        for pair in pairs
        if (pair[0].data == pair[1].data or not same_data)
        and all(number_of(row, name) is not None for row in pair for name in metrics)
    ]


def correctness(rows: Sequence[Row]) -> Predictions:
    """The hits of rows as predictions of two classes; the label of every text is the second."""
    hits = np.stack([row.hits for row in rows if row.hits is not None]).astype(np.int64)
    return Predictions(tuple(range(len(hits))), np.ones(hits.shape[1], dtype=np.int64), hits, 2)
