"""Bootstrap intervals, Kendall's τ, AUC, divergences, paired and permutation tests; numpy and SciPy alone."""

from glasshead.statistics.attention_sinks import can_have_sinks, find_sinks, much_attended
from glasshead.statistics.auc import auc, auc_difference_interval, auc_interval
from glasshead.statistics.bootstrap import (
    UNKNOWN,
    Estimate,
    Range,
    are_alike,
    intervals_beside_nulls,
    largest_mean,
    mean_difference_interval,
    mean_interval,
    mean_intervals,
    nan_mean,
    root_difference,
    share_interval,
    tau_interval,
)
from glasshead.statistics.bounded_mean import interval_of_equals, share_ends
from glasshead.statistics.divergence import jensen_shannon, kl_divergence, total_variation
from glasshead.statistics.exchange import exchange_tails
from glasshead.statistics.group_tests import GroupTest, group_tests, holm, simultaneous_level
from glasshead.statistics.interval_kinds import COVERAGE, INTERVALS, IntervalKind
from glasshead.statistics.kendall import KendallResult, kendall_tau_b
from glasshead.statistics.paired_tests import (
    METRICS,
    Metric,
    Predictions,
    TTest,
    difference_intervals,
    exchange_test,
    is_correct,
    metric_values,
    metrics_of,
    same_seeds,
    seed_test,
)
from glasshead.statistics.rationale_overlap import (
    intersection_over_union,
    pointing_hits,
    precision_recall_area,
    token_f1,
    top_tokens,
)
from glasshead.statistics.resampling import LEVEL, RESAMPLES, draw_counts, interval_ends, resamples_for
from glasshead.statistics.shares import cluster_interval, share_difference_interval
from glasshead.statistics.spread import typical_range
from glasshead.statistics.student import (
    detectable_difference,
    interval_of_mean,
    prediction_interval,
    student_interval,
)

__all__ = [
    "COVERAGE",
    "INTERVALS",
    "LEVEL",
    "METRICS",
    "RESAMPLES",
    "UNKNOWN",
    "Estimate",
    "GroupTest",
    "IntervalKind",
    "KendallResult",
    "Metric",
    "Predictions",
    "Range",
    "TTest",
    "are_alike",
    "auc",
    "auc_difference_interval",
    "auc_interval",
    "can_have_sinks",
    "cluster_interval",
    "detectable_difference",
    "difference_intervals",
    "draw_counts",
    "exchange_tails",
    "exchange_test",
    "find_sinks",
    "group_tests",
    "holm",
    "intersection_over_union",
    "interval_ends",
    "interval_of_equals",
    "interval_of_mean",
    "intervals_beside_nulls",
    "is_correct",
    "jensen_shannon",
    "kendall_tau_b",
    "kl_divergence",
    "largest_mean",
    "mean_difference_interval",
    "mean_interval",
    "mean_intervals",
    "metric_values",
    "metrics_of",
    "much_attended",
    "nan_mean",
    "pointing_hits",
    "precision_recall_area",
    "prediction_interval",
    "resamples_for",
    "root_difference",
    "same_seeds",
    "seed_test",
    "share_difference_interval",
    "share_ends",
    "share_interval",
    "simultaneous_level",
    "student_interval",
    "tau_interval",
    "token_f1",
    "top_tokens",
    "total_variation",
    "typical_range",
]
