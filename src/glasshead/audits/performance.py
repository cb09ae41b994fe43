"""How good is the model at its task? An explanation of a bad prediction is a poor bargain."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

import numpy as np

from glasshead.audits.base import AUDITS, Audit, AuditResult
from glasshead.audits.context import AuditContext
from glasshead.audits.summary import StatSummary, reliable_interval, summarise
from glasshead.results import TOO_FEW_EXAMPLES, Finding, PairedDifference, Verdict
from glasshead.statistics import METRICS, Predictions, difference_intervals, metric_values

Standing = Literal["better", "not better", "undecided"]


class Performance(Audit):
    """Accuracy, overall and per true class (recall), beside that of always guessing the commonest class; of
    ratings the root mean squared and the mean absolute error, beside those of always guessing the mean.

    The difference from the guess on the same examples decides which is better.
    """

    question = "how good is the model at its task?"
    citation = "–"

    def __call__(self, context: AuditContext, *, seed: int) -> AuditResult:
        return AuditResult(list(self.findings(context, seed)))

    def findings(self, context: AuditContext, seed: int) -> Iterator[Finding]:
        """The overall one first."""
        rng = np.random.default_rng([seed, 0])
        return self._errors(context, rng) if context.is_regression else self._accuracies(context, rng)

    def _accuracies(self, context: AuditContext, rng: np.random.Generator) -> Iterator[Finding]:
        right = (context.predicted == context.labels).astype(float)
        commonest = np.bincount(context.labels).argmax()
        majority = (context.labels == commonest).astype(float)
        for group, members in context.groups.items():
            null = {"majority": majority} if group == "all" else {}
            (summary,) = summarise([right[members]], [null], rng=rng)
            verdict = Verdict("")
            if null:
                verdict = performance_verdict(summary.over_null["majority"], "commonest class")
            yield summary.finding("performance", "accuracy", verdict, group=group, citation=self.citation)

    def _errors(self, context: AuditContext, rng: np.random.Generator) -> Iterator[Finding]:
        error, spread = context.predicted - context.labels, context.labels.mean() - context.labels
        absolute, squared = summarise(
            [np.abs(error), error**2], [{"mean": np.abs(spread)}, {"mean": spread**2}], rng=rng
        )
        for name, summary in (("rmse", take_root(squared, rmse_difference(context, rng))), ("mae", absolute)):
            verdict = performance_verdict(summary.over_null["mean"], "mean rating", errors=True)
            yield summary.finding("performance", name, verdict, group="all", citation=self.citation)


AUDITS.register("performance")(Performance())


def compare_with_guess(context: AuditContext, seed: int) -> Standing:
    """How the model stands beside always guessing, whichever audits are asked."""
    overall = next(Performance().findings(context, seed))
    (difference,) = overall.over_null.values()
    return standing(difference, errors=context.is_regression)


def standing(difference: PairedDifference, *, errors: bool = False) -> Standing:
    """What the paired interval shows of a score minus that of the guess; of ``errors`` less is better.

    A difference of exactly 0 in every resample is the guess itself, and so not better.
    """
    interval = reliable_interval(difference)
    if interval is None:
        return "undecided"
    low, high = (-interval[1], -interval[0]) if errors else interval
    if low > 0:
        return "better"
    return "not better" if high < 0 or low == high == 0 else "undecided"


def performance_verdict(difference: PairedDifference, guess: str, *, errors: bool = False) -> Verdict:
    """In words, from the paired interval alone."""
    if reliable_interval(difference) is None:
        return TOO_FEW_EXAMPLES
    compared = standing(difference, errors=errors)
    if compared == "undecided":
        return Verdict(
            f"these {difference.n:,} texts do not show whether it is better than always guessing the {guess}"
        )
    not_better = "as good as" if difference.interval == (0, 0) else "worse than"
    return Verdict(f"{'better than' if compared == 'better' else not_better} always guessing the {guess}")


def take_root(squares: StatSummary, difference: PairedDifference) -> StatSummary:
    """The summary of a mean of squares as one of its root, which has no deviation over examples, with its own
    ``difference`` from the root mean square of the mean rating."""

    def root(value: float | None) -> float | None:
        return None if value is None else math.sqrt(value)

    bounds = squares.interval
    return replace(
        squares,
        estimate=root(squares.estimate),
        std=None,
        interval=None if bounds is None else (math.sqrt(bounds[0]), math.sqrt(bounds[1])),
        null={name: root(value) for name, value in squares.null.items()},
        over_null={"mean": difference},
    )


def rmse_difference(context: AuditContext, rng: np.random.Generator) -> PairedDifference:
    """RMSE of the model minus that of the mean rating, which is no mean over examples."""
    labels, metric = context.labels, METRICS["rmse"]
    model, guess = (
        Predictions((0,), labels, predicted[None], None)
        for predicted in (context.predicted, np.full(len(labels), labels.mean()))
    )
    estimate = float(metric_values(metric, model)[0] - metric_values(metric, guess)[0])
    (interval,) = difference_intervals(model, guess, [metric], rng=rng)
    return PairedDifference(estimate, interval if len(labels) > 1 else None, len(labels))
