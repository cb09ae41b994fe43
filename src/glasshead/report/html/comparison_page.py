"""The pages that compare groups of runs, and audits."""

from glasshead.escaping import visible
from glasshead.report.comparison_rows import (
    compared_settings,
    intro_sentence,
)
from glasshead.report.documents.comparisons import differences_table, metrics_table
from glasshead.report.html.audit_page import audit_page
from glasshead.report.html.environment import environment
from glasshead.results import AuditComparison, Comparison, RunComparison


def comparison_page(comparison: Comparison) -> str:
    """Audits side by side with their paired differences, or groups of runs."""
    if isinstance(comparison, AuditComparison):
        return audit_page(list(comparison.cards), comparison.differences, comparison.remarks)
    assert isinstance(comparison, RunComparison)
    return runs_page(comparison)


def runs_page(comparison: RunComparison) -> str:
    """Groups of runs: their differences with intervals and tests, their metrics and settings."""
    differing, alike = compared_settings(comparison)
    return (
        environment()
        .get_template("comparison.html.j2")
        .render(
            names=[visible(group.name) for group in comparison.groups],
            lead=intro_sentence(comparison),
            differences=differences_table(comparison),
            metrics=metrics_table(comparison),
            guess=visible(comparison.floor.guess),
            repeated=any(len(group.seeds) > 1 for group in comparison.groups),
            differing=differing,
            alike=alike,
            resamples=comparison.resamples,
        )
    )
