"""How often the intervals of a mean hold it, and how wide they are, beside Student's t.

    python -m benchmarks.coverage

Every cell is from 2,000 samples: the share of those with an interval that holds the mean, and the mean width
over that of Student's t on the same samples. ``within`` says whether the range of the numbers was known;
without it, samples that are all alike have no interval and are left out. A third table has the paired
differences of two such numbers of the same texts. The last row has what no sample of 20 can show: a tenth of
the texts has 0.6, the others vary a little, and one sample in eight holds none of that tenth.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from benchmarks.measuring import print_table
from glasshead.arrays import Floats
from glasshead.statistics import UNKNOWN, Estimate, intervals_beside_nulls, mean_intervals, resamples_for
from glasshead.statistics.bootstrap_t import student_ends

SAMPLES = 2_000
SIZES = (8, 10, 20, 50, 200)
LEVELS = (0.95, 0.99)

Draw = Callable[[np.random.Generator, tuple[int, int]], Floats]


class Law(NamedTuple):
    """Numbers of one distribution, their mean and their range."""

    name: str
    draw: Draw
    mean: float
    within: tuple[float, float] = UNKNOWN


def rare(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """A tenth of the texts matter, each by its own amount."""
    return (rng.random(shape) < 0.1) * rng.uniform(0.2, 1.0, shape)


def hidden(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """A tenth of the texts matter, and the others vary a little."""
    return np.where(rng.random(shape) < 0.1, 0.6, np.abs(rng.normal(0.02, 0.005, shape)))


def bounded(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Like τ: between −1 and 1, two decimals, skewed to the left."""
    return np.round(2 * rng.beta(4.0, 2.0, shape) - 1, 2)


LAWS = (
    Law("normal", lambda rng, shape: rng.normal(size=shape), 0.0),
    Law("uniform", lambda rng, shape: rng.random(shape), 0.5, (0, 1)),
    Law("exponential", lambda rng, shape: rng.exponential(size=shape), 1.0, (0, np.inf)),
    Law("log-normal", lambda rng, shape: rng.lognormal(size=shape), float(np.exp(0.5)), (0, np.inf)),
    Law("Student's t of 3", lambda rng, shape: rng.standard_t(3, size=shape), 0.0),
    Law("1 in a tenth, else 0", lambda rng, shape: (rng.random(shape) < 0.1) * 1.0, 0.1, (0, 1)),
    Law("1 in a half, else 0", lambda rng, shape: (rng.random(shape) < 0.5) * 1.0, 0.5, (0, 1)),
    Law("0.2 to 1 in a tenth, else 0", rare, 0.06, (0, 1)),
    Law("like τ", bounded, 1 / 3, (-1, 1)),
    Law("0.6 in a tenth, else about 0.02", hidden, 0.078, (0, 1)),
)


class Cell(NamedTuple):
    """Coverage and width over Student's."""

    covered: float
    width: float

    def __str__(self) -> str:
        return f"{self.covered:.3f} ({self.width:.2f} ×)"


def measure(values: Floats, estimates: list[Estimate], mean: float, level: float) -> Cell:
    """The cell of estimates of the rows of ``values`` [samples, n]."""
    known = [row for row, estimate in enumerate(estimates) if estimate.interval is not None]
    ends = np.array([estimates[row].interval for row in known])
    inside = (ends[:, 0] <= mean + 1e-12) & (mean - 1e-12 <= ends[:, 1])
    low, high = student_ends(values[known] - values[known].mean(axis=1, keepdims=True), level)
    return Cell(float(inside.mean()), float(np.ptp(ends, axis=1).mean() / (high - low).mean()))


def of_means(law: Law, n: int, level: float, within: tuple[float, float]) -> Cell:
    """Intervals of a mean."""
    rng = np.random.default_rng([n, LAWS.index(law)])
    values = law.draw(rng, (SAMPLES, n))
    parts = np.split(values, 4)  # each with resamples of its own
    estimates = [
        estimate
        for part in parts
        for estimate in mean_intervals(
            part, rng=rng, level=level, resamples=resamples_for(level), within=within
        )
    ]
    return measure(values, estimates, law.mean, level)


def of_differences(law: Law, n: int, level: float) -> Cell:
    """Intervals of the paired difference of two numbers, which share their first part."""
    rng = np.random.default_rng([n, LAWS.index(law), 1])
    ours, theirs, shared = (law.draw(rng, (SAMPLES, n)) for _ in range(3))
    nulls = np.where(rng.random(ours.shape) < 0.5, shared, theirs)
    values = np.where(rng.random(ours.shape) < 0.5, shared, ours)
    pairs = intervals_beside_nulls(
        [*values], [{"null": null} for null in nulls], rng=rng, level=level, within=law.within
    )
    estimates = [differences["null"] for _, differences in pairs]
    return measure(values - nulls, estimates, 0.0, level)


def main() -> None:
    """Print the tables."""
    for level in LEVELS:
        for title, measured in (
            ("range known", lambda law, n, level=level: of_means(law, n, level, law.within)),
            ("range not known", lambda law, n, level=level: of_means(law, n, level, UNKNOWN)),
            ("paired differences", lambda law, n, level=level: of_differences(law, n, level)),
        ):
            print_table(
                f"{level:.0%}, {title}: coverage (width over Student's)",
                LAWS,
                {"numbers": lambda law: law.name}
                | {f"n = {n}": lambda law, n=n, m=measured: str(m(law, n)) for n in SIZES},
            )


if __name__ == "__main__":
    main()
