"""What the rows of a table say: means, intervals, the paper's numbers beside them, and its claims."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasshead.papers.experiments.cell import Cell, PaperNumber
from glasshead.papers.experiments.metric_ranges import within, within_difference
from glasshead.papers.experiments.row import Row
from glasshead.papers.experiments.table import Claim, PaperTable, PooledClaim, pairs_of, table_metrics
from glasshead.papers.experiments.tuning import TUNING_SEED, Tuning, grid_points
from glasshead.results import Interval
from glasshead.statistics import (
    METRICS,
    Predictions,
    detectable_difference,
    difference_intervals,
    exchange_test,
    holm,
    interval_of_mean,
    prediction_interval,
    seed_test,
)

ENOUGH_SEEDS = 5
"""With fewer, no interval over seeds is given."""
FIRST_HELD_OUT = TUNING_SEED + 1
"""Seeds from here on are not counted, but held against the interval of a new seed."""
SIGNIFICANT = 0.05
INSIDE, OUTSIDE, OTHER_PROTOCOL, UNCLEAR = "inside", "outside", "protocol differs", "cannot tell"
SHOWN, REVERSED, NOT_SHOWN = "shown", "the opposite is shown", "not shown"


@dataclass(frozen=True)
class MetricSummary:
    """A metric over seeds: its mean, the interval of the mean, and that of one more seed; no intervals of
    fewer than five seeds. The verdict is about the paper's number, where there is one.

    ``half_width`` is that of the interval that the paper's number is held against, ``margin`` the smallest
    effect that is claimed of the metric on these data: a wider interval cannot tell.
    """

    values: list[float]
    mean: float
    interval: Interval | None
    new_seed: Interval | None
    paper: PaperNumber | None
    verdict: str = ""
    half_width: float | None = None
    margin: float | None = None


@dataclass(frozen=True)
class CellSummary:
    """A line of a table: which seeds are wanted, the rows that are there, and what they say.

    ``held_out`` are rows of seeds that the numbers do not count, ``grid`` those of the points of its grid,
    and ``tuning`` is what was chosen of them on dev.
    """

    cell: Cell
    wanted: Sequence[int]
    rows: list[Row]
    metrics: dict[str, MetricSummary]
    differences: list[str]
    one_data_set: bool
    held_out: list[Row]
    tuning: Tuning | None
    grid: Sequence[Row] = ()

    @property
    def missing(self) -> int:
        """How many runs there are still to do, those of the grid included where dev has not chosen yet."""
        points = len(grid_points(self.cell.grid)) - len(self.grid) if self.tuning is None else 0
        known = {row.seed for row in (*self.rows, *self.held_out)}
        return len(set(self.wanted) - known) + points

    @property
    def most(self) -> int:
        """How many seeds will count."""
        return len({row.seed for row in self.rows} | {seed for seed in self.wanted if seed < TUNING_SEED})

    def inside(self) -> dict[int, bool]:
        """Whether the first metric of every held-out seed falls into the interval for a new seed."""
        first = next(iter(self.metrics), None)
        if first is None or (interval := self.metrics[first].new_seed) is None:
            return {}
        values = {row.seed: number_of(row, first) for row in self.held_out}
        return {
            seed: interval[0] <= value <= interval[1] for seed, value in values.items() if value is not None
        }

    def seconds(self) -> float | None:
        """Mean wall time of a run, where it is known."""
        rows = (*self.rows, *self.held_out, *self.grid)
        known = [row.seconds for row in rows if row.seconds is not None]
        return float(np.mean(known)) if known else None


@dataclass(frozen=True)
class ClaimSummary:
    """A claim of the paper, tested on the seeds (and texts) that both cells have.

    ``interval`` counts seeds and texts, ``p`` is the larger one of the t-test over seeds and the exchange
    test over texts, ``corrected`` the same after Holm for all claims of the table. ``detectable`` is the
    difference that such an experiment finds in four of five cases. ``seeds`` counts pairs of trainings, and
    ``positive`` those in which the claim holds.
    """

    claim: Claim
    seeds: int
    texts: int
    difference: float | None
    interval: Interval | None
    p: float | None
    corrected: float | None
    detectable: float | None
    verdict: str
    positive: int | None = None


@dataclass(frozen=True)
class TableSummary:
    """All lines and claims of a table; those against the floor are corrected apart."""

    table: PaperTable
    cells: list[CellSummary]
    claims: list[ClaimSummary]
    floor: list[ClaimSummary] = field(default_factory=list)

    def inside(self) -> dict[tuple[str, int], bool]:
        """Whether every held-out seed, by the key of its cell, is inside the interval for a new one."""
        return {(cell.cell.key, seed): value for cell in self.cells for seed, value in cell.inside().items()}


def summary_of(
    table: PaperTable,
    rows: Mapping[str, Sequence[Row]],
    wanted: Mapping[str, Sequence[int]],
    tunings: Mapping[str, Tuning] | None = None,
    grids: Mapping[str, Sequence[Row]] | None = None,
) -> TableSummary:
    """The table of these rows, by the names of cells; ``grids`` are rows of the points of their grids."""
    counted = {name: [row for row in runs if row.seed < TUNING_SEED] for name, runs in rows.items()}
    held_out = {name: [row for row in runs if row.seed >= FIRST_HELD_OUT] for name, runs in rows.items()}
    cells = [
        CellSummary(
            cell,
            wanted[cell.name],
            counted.get(cell.name, []),
            summarise_metrics(table, cell, counted.get(cell.name, [])),
            table.differences_of(cell),
            one_data_set(rows.get(cell.name, [])),
            held_out.get(cell.name, []),
            (tunings or {}).get(cell.name),
            (grids or {}).get(cell.name, ()),
        )
        for cell in table.cells
    ]
    claims, floor = (
        summarise_claims(table, claims, counted) for claims in (table.claims, table.floor_claims)
    )
    return TableSummary(table, cells, claims, floor)


def one_data_set(rows: Sequence[Row]) -> bool:
    """Whether rows were computed on the same data."""
    return len({row.data for row in rows}) < 2


def summarise_metrics(table: PaperTable, cell: Cell, rows: Sequence[Row]) -> dict[str, MetricSummary]:
    """What the rows of a cell say of each metric of its table."""
    differences = table.differences_of(cell)
    metrics = {}
    for name in table.metrics:
        values = metric_of(rows, name)
        paper = cell.paper.get(name)
        if values:
            interval, new_seed = (within(ends, name) for ends in seed_intervals(values))
            margin = smallest_effect(table, cell, name)
            verdict, half_width = "", None
            if paper is not None:
                verdict, half_width = judge_paper(values, paper, differs=bool(differences), margin=margin)
                if table.smoke or not one_data_set(rows):
                    verdict, half_width = UNCLEAR, None
            mean = float(np.mean(values))
            metrics[name] = MetricSummary(
                values, mean, interval, new_seed, paper, verdict, half_width, margin
            )
    return metrics


def smallest_effect(table: PaperTable, cell: Cell, metric: str) -> float | None:
    """The smallest effect that the paper claims of a metric on the data of a cell, else the smallest
    difference of its own numbers there; None if it has fewer than two."""
    data = {row.name: row.data for row in table.cells}
    effects = [
        abs(claim.effect)
        for claim in table.claims
        if claim.effect
        and metric in table_metrics(claim)
        and any(data[better] == cell.data for better, _ in pairs_of(claim))
    ]
    printed = {
        row.paper[metric].value for row in table.cells if row.data == cell.data and metric in row.paper
    }
    gaps = np.diff(sorted(printed)).tolist()
    return min(effects or gaps, default=None)


def metric_of(rows: Sequence[Row], name: str) -> list[float]:
    """A number of every row that has it."""
    numbers = [number_of(row, name) for row in rows]
    return [number for number in numbers if number is not None]


def number_of(row: Row, name: str) -> float | None:
    """A number of a row, or one of `DERIVED`; None if it has none."""
    value = DERIVED[name](row.numbers) if name in DERIVED else row.numbers.get(name)
    return None if value is None else float(value)


def map_entropy(numbers: Mapping[str, Any]) -> float | None:
    """Entropy of the weights after training, a mean over the layers below the pooling."""
    layers = [after for layer, _, after in numbers.get("entropy", []) if not layer.endswith("summary")]
    return None if not layers or None in layers else float(np.mean(layers))


def over_heads(
    letter: str, number: Callable[[NDArray[np.float64]], Any]
) -> Callable[[Mapping[str, Any]], Any]:
    """A number of the w_h, or v_h, of all heads."""

    def derive(numbers: Mapping[str, Any]) -> Any:
        values = numbers.get(letter) or [None]
        return None if None in values else number(np.array(values))

    return derive


def distance(one: str, other: str | float) -> Callable[[Mapping[str, Any]], Any]:
    """How far two numbers are apart, or one from a constant."""

    def distance(numbers: Mapping[str, Any]) -> float | None:
        ends = [numbers.get(end) if isinstance(end, str) else end for end in (one, other)]
        known = [end for end in ends if end is not None]
        return abs(known[0] - known[1]) if len(known) == len(ends) else None

    return distance


DERIVED: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    "map_entropy": map_entropy,
    "positive_w": over_heads("w", lambda values: (values > 0).mean()),
    "least_w": over_heads("w", np.min),
    "most_w": over_heads("w", np.max),
    "positive_v": over_heads("v", lambda values: (values > 0).mean()),
    "parted": distance("rising_positive", "rising_negative"),
    "separation_size": distance("separation", 0.5),
}
"""Metrics that follow from what the rows keep."""


def seed_intervals(values: Sequence[float]) -> tuple[Interval | None, Interval | None]:
    """The 95 % interval of the mean over seeds, and that of one more seed; None for fewer than five."""
    if len(values) < ENOUGH_SEEDS:
        return None, None
    sample = np.asarray(values)
    return interval_of_mean(sample), prediction_interval(sample)


def judge_paper(
    values: Sequence[float], paper: PaperNumber, *, differs: bool, margin: float | None
) -> tuple[str, float | None]:
    """Whether the paper's number is one that our protocol gives, and how wide the interval was that says so.

    Where the paper has a standard deviation over seeds, by Welch's test of the two means; else by whether its
    number lies inside the interval of a new seed. What is inside an interval of more than ± ``margin`` would
    be inside whatever the paper claims: that cannot be told.
    """
    _, new_seed = seed_intervals(values)
    if new_seed is None:
        return UNCLEAR, None
    if paper.std is not None and paper.seeds is not None and np.std(values) > 0:
        from scipy.stats import t

        errors = np.array([np.var(values, ddof=1) / len(values), paper.std**2 / paper.seeds])
        counts = np.array([len(values), paper.seeds])
        degrees = errors.sum() ** 2 / (errors**2 / (counts - 1)).sum()
        half_width = float(t.ppf(1 - SIGNIFICANT / 2, degrees) * np.sqrt(errors.sum()))
        agrees = abs(float(np.mean(values)) - paper.value) <= half_width
    else:
        half_width = (new_seed[1] - new_seed[0]) / 2
        agrees = new_seed[0] <= paper.value <= new_seed[1]
    if not agrees:
        return (OTHER_PROTOCOL if differs else OUTSIDE), half_width
    return (UNCLEAR if margin is not None and half_width > margin else INSIDE), half_width


def summarise_claims(
    table: PaperTable, claims: Sequence[Claim], rows: Mapping[str, Sequence[Row]]
) -> list[ClaimSummary]:
    """Claims of a table, corrected for their number."""
    by_name = {cell.name: cell for cell in table.cells}
    tests = [
        assess_pooled_claim(claim, rows)
        if isinstance(claim, PooledClaim)
        else assess_claim(
            claim,
            rows.get(claim.better, []),
            rows.get(claim.worse, []),
            stands_for_all=by_name[claim.worse].seedless,
        )
        for claim in claims
    ]
    # What is not tested yet counts too: else a verdict would change because another cell was run.
    corrected = holm([1.0 if test.p is None else test.p for test in tests])
    results = []
    for number, test in enumerate(tests):
        p = None if test.p is None else corrected[number]
        verdict = UNCLEAR
        if p is not None and test.difference is not None and not table.smoke:
            surely = p < SIGNIFICANT
            verdict = NOT_SHOWN if not surely else SHOWN if test.difference > 0 else REVERSED
        size = detectable(test.interval, test.seeds, len(tests))
        if verdict == NOT_SHOWN and test.claim.effect and size is not None and size > abs(test.claim.effect):
            verdict = UNCLEAR  # the paper's own effect would not have been seen
        kept = {name: getattr(test, name) for name in KEPT}
        kept["interval"] = within_difference(test.interval, table_metrics(test.claim))
        results.append(ClaimSummary(**kept, corrected=p, detectable=size, verdict=verdict))
    return results


KEPT = ("claim", "seeds", "texts", "difference", "interval", "p", "positive")


def assess_claim(
    claim: Claim, better: Sequence[Row], worse: Sequence[Row], *, stands_for_all: bool = False
) -> ClaimSummary:
    """The difference between two cells: paired by seed, and by text where the hits are kept; the worse one
    ``stands_for_all`` seeds if it knows none."""
    pairs = pair_by_seed(better, worse, claim.metric, stands_for_all)
    values: NDArray[np.floating] = np.array(
        [[number_of(row, claim.metric) for row in pair] for pair in pairs], dtype=float
    ).reshape(-1, 2)
    difference = float((values[:, 0] - values[:, 1]).mean()) if len(pairs) else None
    nothing: dict[str, Any] = dict.fromkeys(("interval", "p", "corrected", "detectable"))
    if len(pairs) < ENOUGH_SEEDS:
        return ClaimSummary(claim, len(pairs), 0, difference, **nothing, verdict=UNCLEAR)
    test = seed_test(values[:, 0], values[:, 1], paired=True)
    p = 1.0 if test is None else test.p
    gaps = values[:, 0] - values[:, 1]
    interval = seed_intervals(gaps.tolist())[0]
    texts = 0
    if claim.metric == "accuracy" and all(row.hits is not None for pair in pairs for row in pair):
        first, second = (correctness([pair[side] for pair in pairs]) for side in (0, 1))
        texts = len(first.labels)
        metric, rng = [METRICS["accuracy"]], np.random.default_rng(0)
        interval = difference_intervals(first, second, metric, rng=rng)[0]
        exchanged = exchange_test(first, second, metric, rng=rng)[0]
        p = max(p, 0.0 if exchanged is None else exchanged)
    return ClaimSummary(
        claim, len(pairs), texts, difference, interval, p, corrected=None, detectable=None, verdict=UNCLEAR
    )


def assess_pooled_claim(claim: PooledClaim, rows: Mapping[str, Sequence[Row]]) -> ClaimSummary:
    """The mean difference of all pairs of trainings of a claim, paired by seed within each pair of cells that
    has enough of them; a t-test with the trainings as units, each with the mean over its metrics."""
    gaps: list[float] = []
    for better, worse in claim.pairs:
        by_metric = []
        for metric in claim.metrics:
            pairs = pair_by_seed(rows.get(better, []), rows.get(worse, []), metric, stands_for_all=False)
            by_metric.append({first.seed: gap_of(first, second, metric) for first, second in pairs})
        shared = set.intersection(*map(set, by_metric))
        if len(shared) >= ENOUGH_SEEDS:
            gaps += [float(np.mean([own[seed] for own in by_metric])) for seed in sorted(shared)]
    nothing: dict[str, Any] = {"corrected": None, "detectable": None, "verdict": UNCLEAR}
    if not gaps:
        return ClaimSummary(claim, 0, 0, None, None, None, **nothing)
    values = np.array(gaps)
    test = seed_test(values, np.zeros_like(values), paired=True)
    return ClaimSummary(
        claim, len(gaps), 0, float(values.mean()), seed_intervals(gaps)[0], 1.0 if test is None else test.p,
        **nothing, positive=int((values > 0).sum()),
    )  # fmt: skip


def gap_of(better: Row, worse: Row, metric: str) -> float:
    """The difference of two rows that both have a metric."""
    first, second = number_of(better, metric), number_of(worse, metric)
    assert first is not None
    assert second is not None
    return first - second


def pair_by_seed(
    better: Sequence[Row], worse: Sequence[Row], metric: str, stands_for_all: bool
) -> list[tuple[Row, Row]]:
    """The rows of two cells with the same seed on the same data."""
    by_seed = {row.seed: row for row in worse}
    if stands_for_all and worse:
        by_seed = {row.seed: worse[0] for row in better}
    pairs = [(row, by_seed[row.seed]) for row in better if row.seed in by_seed]
    return [
        (first, second)
        for first, second in pairs
        if first.data == second.data and None not in (number_of(first, metric), number_of(second, metric))
    ]


def correctness(rows: Sequence[Row]) -> Predictions:
    """The hits of rows as predictions of two classes, of which all texts have the second."""
    hits = np.stack([row.hits for row in rows if row.hits is not None]).astype(np.int64)
    return Predictions(tuple(range(len(hits))), np.ones(hits.shape[1], dtype=np.int64), hits, 2)


def detectable(interval: Interval | None, seeds: int, claims: int) -> float | None:
    """The difference that is found with probability 0.8 if all ``claims`` are corrected for (Bonferroni, the
    worst case of Holm), from the width of a 95 % interval over seeds."""
    if interval is None:
        return None
    from scipy.stats import t

    error = (interval[1] - interval[0]) / 2 / float(t.ppf(0.975, seeds - 1))
    return detectable_difference(error, seeds - 1, significance=SIGNIFICANT / claims)
