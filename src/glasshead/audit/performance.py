"""How good is the model at its task? An explanation of a bad prediction is a poor bargain."""

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from glasshead.audit.audit import AUDITS, Audit, Outcome
from glasshead.audit.subject import Subject
from glasshead.audit.summary import Interval, Summary, summarise
from glasshead.results import Finding


class Performance(Audit):
    """Accuracy, overall and per true class (recall), beside that of always guessing the commonest class; of
    ratings the root mean squared and the mean absolute error, beside those of always guessing the mean.
    """

    question = "how good is the model at its task?"
    citation = "–"

    def __call__(self, subject: Subject, *, seed: int) -> Outcome:
        return Outcome(list(self.findings(subject, seed)))

    def findings(self, subject: Subject, seed: int) -> Iterator[Finding]:
        """The overall one first."""
        rng = np.random.default_rng([seed, 0])
        return self._errors(subject, rng) if subject.rates else self._accuracies(subject, rng)

    def _accuracies(self, subject: Subject, rng: np.random.Generator) -> Iterator[Finding]:
        right = (subject.predicted == subject.labels).astype(float)
        commonest = np.bincount(subject.labels).argmax()
        majority = (subject.labels == commonest).astype(float)
        for group, members in subject.groups.items():
            null = {"majority": majority} if group == "all" else {}
            (summary,) = summarise([right[members]], [null], rng=rng)
            words = verdict(summary.judged, summary.null["majority"]) if group == "all" else ""
            yield self._finding("accuracy", group, summary, words)

    def _errors(self, subject: Subject, rng: np.random.Generator) -> Iterator[Finding]:
        error, spread = subject.predicted - subject.labels, subject.labels.mean() - subject.labels
        absolute, squared = summarise(
            [np.abs(error), error**2], [{"mean": np.abs(spread)}, {"mean": spread**2}], rng=rng
        )
        yield self._finding("rmse", "all", rooted(squared), rating_verdict(squared))
        yield self._finding("mae", "all", absolute, rating_verdict(absolute))

    def _finding(self, statistic: str, group: str, summary: Summary, words: str) -> Finding:
        return Finding(
            audit="performance",
            statistic=statistic,
            against="",
            group=group,
            **summary.numbers,
            undefined={},
            significant_fraction=None,
            citation=self.citation,
            verdict=words,
        )


AUDITS.register("performance")(Performance())


def at_chance(subject: Subject, seed: int) -> bool:
    """Whether the model is not better than always guessing, whichever audits are asked."""
    return next(Performance().findings(subject, seed)).verdict.startswith("not better")


def verdict(interval: Interval | None, majority: float | None) -> str:
    """In words, from the interval of the accuracy."""
    if interval is None or majority is None:
        return "undecided: too few examples"
    if interval[0] > majority:
        return "better than always guessing the commonest class"
    return "not better than always guessing the commonest class"


def rooted(squares: Summary) -> Summary:
    """The summary of a mean of squares as one of its root, which has no deviation over examples."""

    def root(value: float | None) -> float | None:
        return None if value is None else math.sqrt(value)

    bounds = squares.interval
    return replace(
        squares,
        estimate=root(squares.estimate),
        std=None,
        interval=None if bounds is None else (math.sqrt(bounds[0]), math.sqrt(bounds[1])),
        null={name: root(value) for name, value in squares.null.items()},
    )


def rating_verdict(errors: Summary) -> str:
    """In words, from the interval of the difference from the errors of the mean rating."""
    over = errors.over["mean"]
    if errors.judged is None or over is None:
        return "undecided: too few examples"
    if over[1] < 0:
        return "better than always guessing the mean rating"
    return "not better than always guessing the mean rating"
