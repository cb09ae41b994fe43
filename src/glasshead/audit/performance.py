"""How good is the model at its task? An explanation of a bad prediction is a poor bargain."""

import numpy as np

from glasshead.audit.audit import AUDITS, Audit, Outcome
from glasshead.audit.subject import Subject
from glasshead.audit.summary import Interval, summarise
from glasshead.results import Finding


class Performance(Audit):
    """Accuracy, overall and per true class (recall), beside that of always guessing the commonest class."""

    question = "how often is the model right?"
    citation = "–"

    def __call__(self, subject: Subject, *, seed: int) -> Outcome:
        rng = np.random.default_rng([seed, 0])
        right = (subject.predicted == subject.labels).astype(float)
        commonest = np.bincount(subject.labels).argmax()
        majority = (subject.labels == commonest).astype(float)
        findings = []
        for group, members in subject.groups.items():
            null = {"majority": majority} if group == "all" else {}
            (summary,) = summarise([right[members]], [null], rng=rng)
            findings.append(
                Finding(
                    audit="performance",
                    statistic="accuracy",
                    against="",
                    group=group,
                    **summary.numbers,
                    undefined={},
                    significant_fraction=None,
                    citation=self.citation,
                    verdict=verdict(summary.judged, summary.null["majority"]) if group == "all" else "",
                )
            )
        return Outcome(findings)


AUDITS.register("performance")(Performance())


def verdict(interval: Interval | None, majority: float | None) -> str:
    """In words, from the interval of the accuracy."""
    if interval is None or majority is None:
        return "undecided: too few examples"
    if interval[0] > majority:
        return "better than always guessing the commonest class"
    return "not better than always guessing the commonest class"
