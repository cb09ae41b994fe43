"""Bootstrap intervals, Kendall's τ, AUC, paired and permutation tests; numpy alone."""

from glasshead.statistics.bootstrap import Estimate, auc_interval, mean_interval, mean_intervals
from glasshead.statistics.kendall import KendallResult, kendall_tau_b
from glasshead.statistics.paired_tests import (
    METRICS,
    Metric,
    Predictions,
    difference_intervals,
    exchange_test,
    metrics_of,
    paired_by_seed,
    seed_test,
    values,
)
from glasshead.statistics.resampling import CHUNK_DRAWS, LEVEL, RESAMPLES, interval_ends, resampled_counts

__all__ = [
    "CHUNK_DRAWS",
    "LEVEL",
    "METRICS",
    "RESAMPLES",
    "Estimate",
    "KendallResult",
    "Metric",
    "Predictions",
    "auc_interval",
    "difference_intervals",
    "exchange_test",
    "interval_ends",
    "kendall_tau_b",
    "mean_interval",
    "mean_intervals",
    "metrics_of",
    "paired_by_seed",
    "resampled_counts",
    "seed_test",
    "values",
]
