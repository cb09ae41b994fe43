"""Which interval a statistic has, and how often that holds the truth."""

from typing import NamedTuple

from glasshead.statistics.resampling import LEVEL

COVERAGE = 0.93
"""How often a 95 % interval that depends on resampling holds the truth at least: by simulation of 20 and 50
skewed, rare and zero-inflated numbers."""


class IntervalKind(NamedTuple):
    """A kind of interval: for which statistics, how it is computed, and how often one of 95 % ``covers``
    the truth."""

    of: str
    interval: str
    covers: float


INTERVALS = (
    IntervalKind("share of inputs", "exact (Clopper and Pearson 1934), also at 0 and 1", LEVEL),
    IntervalKind(
        "mean of equal numbers, in a known range",
        "exact: as many as may differ although none did, each by the maximum",
        LEVEL,
    ),
    IntervalKind(
        "any other mean, and the mean difference from a null, input by input",
        "the outer ends of the expanded bootstrap-t and of Student's t, within bounds that are valid for "
        "any numbers of this range (Learned-Miller and Thomas 2019)",
        COVERAGE,
    ),
    IntervalKind(
        "difference of two root mean squared errors",
        "that of the mean difference of squares, divided by the sum of both roots",
        COVERAGE,
    ),
    IntervalKind(
        "probability that one of two groups has the larger number (AUC)",
        "the outer ends of the bootstrap of both groups and of DeLong, DeLong and Clarke-Pearson (1988)",
        COVERAGE,
    ),
)
