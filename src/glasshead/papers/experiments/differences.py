"""How far two cells are apart, seed by seed: a description with its interval, which tests nothing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from glasshead.arrays import Floats
from glasshead.papers.experiments.metric_ranges import within_difference
from glasshead.papers.experiments.numbers import ENOUGH_SEEDS, number_of, seed_intervals
from glasshead.papers.experiments.row import Row
from glasshead.papers.experiments.table import Claim, PaperTable
from glasshead.results import Interval
from glasshead.statistics import METRICS, Predictions, difference_intervals

NORMAL_95 = 1.959964
"""Standard errors from the mean of a normal distribution to the end of its 95 % interval."""


@dataclass(frozen=True)
class DifferenceSummary:
    """What the trainings of two cells say of a claim: ``gaps`` are the differences of pairs of trainings with
    the same seed on the same data, each the mean over the metrics of the claim. The ``interval`` and the
    standard ``error`` of the mean count seeds and, where the hits are kept, the ``texts``, too; of fewer than
    five pairs there is none."""

    claim: Claim
    gaps: Floats
    texts: int
    interval: Interval | None
    error: float | None

    @property
    def difference(self) -> float | None:
        """The mean of the gaps."""
        return float(self.gaps.mean()) if len(self.gaps) else None


def summarise_differences(
    table: PaperTable, claims: Sequence[Claim], rows: Mapping[str, Sequence[Row]]
) -> list[DifferenceSummary]:
    """The difference of every claim about cells of a table."""
    seedless = {cell.name for cell in table.cells if cell.seedless}
    return [
        summarise_difference(
            claim,
            rows.get(claim.better, []),
            rows.get(claim.worse, []),
            stands_for_all=claim.worse in seedless,
        )
        for claim in claims
    ]


def summarise_difference(
    claim: Claim, better: Sequence[Row], worse: Sequence[Row], *, stands_for_all: bool = False
) -> DifferenceSummary:
    """How far the rows of two cells are apart; the worse one ``stands_for_all`` seeds if it knows none."""
    pairs = pair_by_seed(better, worse, claim.metrics, stands_for_all)
    gaps = np.array(
        [np.mean([number_of(first, name) - number_of(second, name) for name in claim.metrics])  # type: ignore[operator]
         for first, second in pairs]
    )  # fmt: skip
    if len(pairs) < ENOUGH_SEEDS:
        return DifferenceSummary(claim, gaps, 0, None, None)
    interval, texts = seed_intervals(gaps.tolist())[0], 0
    error = float(gaps.std(ddof=1)) / math.sqrt(len(gaps))
    if claim.metrics == ("accuracy",) and all(row.hits is not None for pair in pairs for row in pair):
        first, second = (correctness([pair[side] for pair in pairs]) for side in (0, 1))
        texts, rng = len(first.labels), np.random.default_rng(0)
        interval = difference_intervals(first, second, [METRICS["accuracy"]], rng=rng)[0]
        error = max(error, (interval[1] - interval[0]) / 2 / NORMAL_95)
    return DifferenceSummary(claim, gaps, texts, within_difference(interval, claim.metrics), error)


def pair_by_seed(
    better: Sequence[Row], worse: Sequence[Row], metrics: Sequence[str], stands_for_all: bool = False
) -> list[tuple[Row, Row]]:
    """The rows of two cells with the same seed on the same data that have all ``metrics``."""
    by_seed = {row.seed: row for row in worse}
    if stands_for_all and worse:
        by_seed = {row.seed: worse[0] for row in better}
    pairs = [(row, by_seed[row.seed]) for row in better if row.seed in by_seed]
    return [
        pair
        for pair in pairs
        if pair[0].data == pair[1].data
        and all(number_of(row, name) is not None for row in pair for name in metrics)
    ]


def correctness(rows: Sequence[Row]) -> Predictions:
    """The hits of rows as predictions of two classes; the label of every text is the second."""
    hits = np.stack([row.hits for row in rows if row.hits is not None]).astype(np.int64)
    return Predictions(tuple(range(len(hits))), np.ones(hits.shape[1], dtype=np.int64), hits, 2)
