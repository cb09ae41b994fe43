"""How good is the model at its task? An explanation of a bad prediction is a poor bargain."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

import numpy as np

from glasshead.audits.base import AUDITS, Audit, AuditResult
from glasshead.audits.context import AuditContext
from glasshead.audits.summary import StatSummary, judged_interval, summarise
from glasshead.results import TOO_FEW_EXAMPLES, Finding, PairedDifference, Verdict
from glasshead.statistics import METRICS, Predictions, difference_intervals, values

Standing = Literal["better", "not better", "undecided"]


class Performance(Audit):
    """Accuracy, overall and per true class (recall), beside that of always guessing the commonest class; of
    ratings the root mean squared and the mean absolute error, beside those of always guessing the mean.

    The difference from the guess on the same examples decides which is better.
    """

    question = "how good is the model at its task?"
    citation = "–"

    def __call__(self, subject: AuditContext, *, seed: int) -> AuditResult:
        return AuditResult(list(self.findings(subject, seed)))

    def findings(self, subject: AuditContext, seed: int) -> Iterator[Finding]:
        """The overall one first."""
        rng = np.random.default_rng([seed, 0])
        return self._errors(subject, rng) if subject.rates else self._accuracies(subject, rng)

    def _accuracies(self, subject: AuditContext, rng: np.random.Generator) -> Iterator[Finding]:
        right = (subject.predicted == subject.labels).astype(float)
        commonest = np.bincount(subject.labels).argmax()
        majority = (subject.labels == commonest).astype(float)
        for group, members in subject.groups.items():
            null = {"majority": majority} if group == "all" else {}
            (summary,) = summarise([right[members]], [null], rng=rng)
            words = verdict(summary.over_null["majority"], "commonest class") if null else Verdict("")
            yield self._finding("accuracy", group, summary, words)

    def _errors(self, subject: AuditContext, rng: np.random.Generator) -> Iterator[Finding]:
        error, spread = subject.predicted - subject.labels, subject.labels.mean() - subject.labels
        absolute, squared = summarise(
            [np.abs(error), error**2], [{"mean": np.abs(spread)}, {"mean": spread**2}], rng=rng
        )
        for name, summary in (("rmse", take_root(squared, root_difference(subject, rng))), ("mae", absolute)):
            words = verdict(summary.over_null["mean"], "mean rating", errors=True)
            yield self._finding(name, "all", summary, words)

    def _finding(self, statistic: str, group: str, summary: StatSummary, words: Verdict) -> Finding:
        return Finding(
            audit="performance",
            statistic=statistic,
            against="",
            group=group,
            **summary.numbers,
            undefined={},
            significant_fraction=None,
            citation=self.citation,
            **words.fields,
        )


AUDITS.register("performance")(Performance())


def against_guessing(subject: AuditContext, seed: int) -> Standing:
    """How the model stands beside always guessing, whichever audits are asked."""
    overall = next(Performance().findings(subject, seed))
    (difference,) = overall.over_null.values()
    return standing(difference, errors=subject.rates)


def standing(difference: PairedDifference, *, errors: bool = False) -> Standing:
    """What the paired interval shows of a score minus that of the guess; of ``errors`` less is better.

    A difference of exactly 0 in every resample is the guess itself, and so not better.
    """
    interval = judged_interval(difference)
    if interval is None:
        return "undecided"
    low, high = (-interval[1], -interval[0]) if errors else interval
    if low > 0:
        return "better"
    return "not better" if high < 0 or low == high == 0 else "undecided"


def verdict(difference: PairedDifference, guess: str, *, errors: bool = False) -> Verdict:
    """In words, from the paired interval alone."""
    if judged_interval(difference) is None:
        return TOO_FEW_EXAMPLES
    stands = standing(difference, errors=errors)
    if stands == "undecided":
        return Verdict(
            f"these {difference.n:,} texts do not show whether it is better than always guessing the {guess}"
        )
    not_better = "as good as" if difference.interval == (0, 0) else "worse than"
    return Verdict(f"{'better than' if stands == 'better' else not_better} always guessing the {guess}")


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


def root_difference(subject: AuditContext, rng: np.random.Generator) -> PairedDifference:
    """RMSE of the model minus that of the mean rating, which is no mean over examples."""
    labels, metric = subject.labels, METRICS["rmse"]
    model, guess = (
        Predictions((0,), labels, each[None], None)
        for each in (subject.predicted, np.full(len(labels), labels.mean()))
    )
    estimate = float(values(metric, model)[0] - values(metric, guess)[0])
    (interval,) = difference_intervals(model, guess, [metric], rng=rng)
    return PairedDifference(estimate, interval if len(labels) > 1 else None, len(labels))
