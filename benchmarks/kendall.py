"""Kendall's τ-b with p-values: ours against a loop over SciPy, as a ratio of times from one run.

    python -m benchmarks.kendall

Ours and SciPy's alternate; a ratio is the median over repeats, with the least and the largest. Where
the loop would take a quarter of a minute, it runs on a share of the rows and its time is scaled.
"""

from typing import NamedTuple

import numpy as np
from scipy.stats import kendalltau

from benchmarks.measuring import Spread, print_table, ratios, time_interleaved
from glasshead.statistics.kendall import kendall_tau_b


class Case(NamedTuple):
    """Pairs of vectors; the loop takes a share of them."""

    name: str
    rows: int
    length: int
    rounds: int
    share: float


CASES = (
    Case("without ties", 2_000, 30, 7, 1.0),
    Case("with ties", 2_000, 30, 7, 1.0),
    Case("without ties, ragged", 2_000, 30, 7, 1.0),
    Case("without ties", 25_000, 100, 3, 0.08),
    Case("with ties", 25_000, 100, 3, 0.08),
)


def measure(case: Case, rng: np.random.Generator) -> tuple[list[float], list[float]]:
    """Seconds of the loop and of ours, round by round; both give the same numbers."""
    x, y = rng.normal(size=(2, case.rows, case.length))
    if case.name.startswith("with ties"):
        x, y = np.round(x, 1), np.round(y, 0)
    shortest = 5 if "ragged" in case.name else case.length
    mask = np.arange(case.length) < rng.integers(shortest, case.length + 1, size=case.rows)[:, None]
    looped = range(int(case.rows * case.share))

    def loop() -> list:
        return [kendalltau(x[row, mask[row]], y[row, mask[row]]) for row in looped]

    ours, theirs = kendall_tau_b(x, y, mask), loop()
    np.testing.assert_array_equal(ours.tau[: len(looped)], [result.statistic for result in theirs])
    pvalues = [result.pvalue for result in theirs]
    np.testing.assert_allclose(ours.pvalue[: len(looped)], pvalues, rtol=1e-12, atol=0)
    seconds = time_interleaved({"ours": lambda: kendall_tau_b(x, y, mask), "loop": loop}, rounds=case.rounds)
    return [one * case.rows / len(looped) for one in seconds["loop"]], seconds["ours"]


def main() -> None:
    """Print a row for each case."""
    rng = np.random.default_rng(0)
    seconds = {case: measure(case, rng) for case in CASES}
    print_table(
        "τ-b with p-values",
        CASES,
        {
            "vectors": lambda case: f"{case.rows:,} × {case.length} {case.name}",
            "SciPy loop, ms": lambda case: f"{Spread.of(seconds[case][0]).median * 1e3:.1f}",
            "ours, ms": lambda case: f"{Spread.of(seconds[case][1]).median * 1e3:.1f}",
            "loop ÷ ours": lambda case: ratios(*seconds[case]),
        },
    )


if __name__ == "__main__":
    main()
