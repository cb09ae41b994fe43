"""The page that compares groups of runs."""

from glasshead.escaping import visible
from glasshead.report.comparison_rows import (
    compared_settings,
    intro_sentence,
    metric_strips,
    tested_differences,
)
from glasshead.report.difference_rows import difference_limits
from glasshead.report.html.environment import environment
from glasshead.results import Comparison


def comparison_page(comparison: Comparison) -> str:
    """Groups of runs: their differences with intervals and tests, their metrics and settings."""
    differing, alike = compared_settings(comparison)
    return (
        environment()
        .get_template("comparison.html.j2")
        .render(
            names=[visible(group.name) for group in comparison.groups],
            lead=intro_sentence(comparison),
            tested=tested_differences(comparison),
            limits=difference_limits(comparison.differences),
            strips=metric_strips(comparison),
            guess=visible(comparison.floor.guess),
            repeated=any(len(group.seeds) > 1 for group in comparison.groups),
            differing=differing,
            alike=alike,
            resamples=comparison.resamples,
        )
    )
