"""How good is the model at its task? An explanation of a bad prediction is a poor bargain."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from glasshead.arrays import Flags
from glasshead.audits.judging.base import AUDITS, Audit, AuditResult, Measured
from glasshead.audits.judging.border import Border, at, is_same
from glasshead.audits.judging.inputs_needed import inputs_needed
from glasshead.audits.judging.question import SHARE, SIZE, Question
from glasshead.audits.judging.slices import CORRECT, Group, slice_by_class
from glasshead.audits.judging.summary import StatSummary, reliable_interval
from glasshead.audits.judging.table import Table
from glasshead.nouns import Nouns
from glasshead.results import (
    REGRESSION,
    SMALL_CHANGE,
    TOKEN,
    TOO_FEW_EXAMPLES,
    Finding,
    PairedDifference,
    Verdict,
    by_construction,
    guess_in_words,
)
from glasshead.statistics import interval_of_equals, root_difference

if TYPE_CHECKING:
    from glasshead.audits.judging.settings import Settings
    from glasshead.audits.measuring.view import ModelView

PERFORMANCE = "performance"
ONE_CLASS = "undecided: all {} are of one class, so always guessing it is never wrong"
COMMONEST, MEAN_RATING, BY_FREQUENCY = (
    guess_in_words(facts) for facts in ({}, {"task": REGRESSION}, {"task": TOKEN})
)


def unigram_surprisal(tokens: NDArray[np.int64], vocabulary: int) -> NDArray[np.float64]:
    """−log of the share of each token among the others [N], with one more of every token of the
    vocabulary."""
    counts = np.bincount(tokens, minlength=vocabulary)
    return np.log(len(tokens) - 1 + vocabulary) - np.log(counts[tokens].astype(float))


GuessStanding = Literal["better", "not better", "undecided"]


def is_the_guess(finding: Finding) -> bool:
    """Whether the model did the same as the guess in every text."""
    pair = finding.over_null.get("majority")
    if pair is None or pair.interval is None:
        return False
    low, high = pair.interval
    return pair.estimate == 0 and is_same((low, high), interval_of_equals(0.0, pair.n, finding.level))


BESIDE_GUESS = (
    at(0.0, minus="majority", applies=lambda finding: not is_the_guess(finding)),
    Border(((-math.inf, SMALL_CHANGE),), minus="majority", applies=is_the_guess),
)
"""A model that is the guess in every text is not better where less than so much is left open."""


class Performance(Audit):
    """Accuracy, overall and per true class (recall), next to that of always guessing the commonest class; of
    ratings the root mean squared and the mean absolute error, next to those of always guessing the mean; of
    next tokens also the cross-entropy −log p(t | x) in nats, whose exponential is the perplexity, next to
    that of how often each token is asked for in the other texts, (count + 1) / (N − 1 + V).

    The difference from the guess on the same examples decides which is better.
    """

    question = "how good is the model at its task?"
    citation = "–"
    title = "Performance"
    about = "How good is the model? The null always guesses the commonest class, or the mean rating."
    place = 10
    nulls_are_exact = True
    words: ClassVar = {
        "accuracy": "accuracy",
        "cross-entropy": "cross-entropy in nats",
        "rmse": "root mean squared error",
        "mae": "mean absolute error",
    }
    questions = (
        Question(
            "accuracy",
            title="Is the model better than guessing?",
            unit="accuracy",
            within=SHARE,
            counts=True,
            no_null="in one class the guess is always right or always wrong",
            borders=BESIDE_GUESS,
        ),
        Question(
            "cross-entropy", unit="nats", within=SIZE, low_is_good=True, borders=(at(0.0, minus="unigram"),)
        ),
        Question(
            "rmse",
            title="Is the model better than guessing?",
            unit="root mean squared error",
            within=SIZE,
            low_is_good=True,
            borders=(at(0.0, minus="mean"),),
            rooted=True,
        ),
        Question(
            "mae",
            unit="mean absolute error",
            within=SIZE,
            low_is_good=True,
            borders=(at(0.0, minus="mean"),),
        ),
    )

    def unsupported_reason(self, view: ModelView) -> str | None:
        if view.rates_answers:
            return "the data have an answer to each prompt, but do not say how likely it should be"
        return None

    def measure(self, view: ModelView) -> Measured:
        """What is predicted is what every row has (`ModelView.inputs`)."""
        return Measured({})

    def judge(self, table: Table, settings: Settings) -> AuditResult:
        return AuditResult(list(self.findings(table, settings)))

    def findings(self, table: Table, settings: Settings) -> Iterator[Finding]:
        """The overall one first."""
        judge = self._errors if settings.is_regression else self._accuracies
        return judge(table, settings, settings.rng(PERFORMANCE))

    def _accuracies(self, table: Table, settings: Settings, rng: np.random.Generator) -> Iterator[Finding]:
        right = table["predicted"] == table["label"]
        majority = is_commonest(table).astype(float)
        classes = slice_by_class(table["label"], settings.label_names).names
        for group in settings.groups:
            # Within a class, or what is right, the guess is right always or never.
            has_null = group.name not in classes and group.by != CORRECT
            null = {"majority": majority[group.members]} if has_null else {}
            values = [right[group.members].astype(float)]
            (summary,) = self.summarise(
                [("accuracy", "")], values, [null], rng=rng, level=group.level, settings=settings
            )
            verdict = Verdict("")
            if null and has_one_class(table, settings):
                verdict = Verdict(ONE_CLASS.format(settings.nouns.texts), "undecided", "one class")
            elif null:
                difference, same = summary.over_null.get("majority"), guesses(table, group.members)
                verdict = performance_verdict(difference, COMMONEST, settings.nouns, same=same)
            elif group.by == CORRECT:
                verdict = by_construction(group.name, f"so these {settings.nouns.texts} were chosen")
            yield summary.finding("performance", "accuracy", verdict, group=group, citation=self.citation)
        if settings.predicts_tokens:
            yield from self._cross_entropies(table, settings, rng)

    def _cross_entropies(
        self, table: Table, settings: Settings, rng: np.random.Generator
    ) -> Iterator[Finding]:
        """−log p(t | x) of the token that is asked for, next to that of its frequency in the other texts."""
        unigram = unigram_surprisal(table["label"], len(settings.label_names))
        for group in settings.groups:
            values, null = table["surprisal"][group.members], {"unigram": unigram[group.members]}
            (summary,) = self.summarise(
                [("cross-entropy", "")], [values], [null], rng=rng, level=group.level, settings=settings
            )
            verdict = performance_verdict(
                summary.over_null.get("unigram"), BY_FREQUENCY, settings.nouns, errors=True
            )
            yield summary.finding(
                "performance", "cross-entropy", verdict, group=group, citation=self.citation
            )

    def _errors(self, table: Table, settings: Settings, rng: np.random.Generator) -> Iterator[Finding]:
        errors, spreads = table["predicted"] - table["label"], table["label"].mean() - table["label"]
        for group in settings.groups:
            error, spread = errors[group.members], spreads[group.members]
            nulls = [{"mean": np.abs(spread)}, {"mean": spread**2}]
            sizes = [np.abs(error), error**2]
            names = [("mae", ""), ("rmse", "")]
            absolute, squared = self.summarise(names, sizes, nulls, rng=rng, level=group.level)
            rooted = take_root(squared, rmse_difference(table, group, rng))
            for name, one in (("rmse", rooted), ("mae", absolute)):
                summary = self.above_floor(one, (name, ""), group.level, settings)
                verdict = performance_verdict(
                    summary.over_null.get("mean"), MEAN_RATING, settings.nouns, errors=True
                )
                yield summary.finding("performance", name, verdict, group=group, citation=self.citation)


AUDITS.register(PERFORMANCE)(Performance())


def guess_facts(table: Table, settings: Settings) -> dict[str, Any]:
    """How the model is next to always guessing, whichever audits are asked, and by how much; nothing where no
    one knows what should be predicted."""
    if settings.rates_answers:
        return {}
    every = Group("all", np.ones(len(table["label"]), dtype=bool), level=settings.level)
    findings = Performance().findings(table, replace(settings, groups=[every], audit=PERFORMANCE))
    score = "cross-entropy" if settings.predicts_tokens else None
    overall = next(finding for finding in findings if score in (None, finding.statistic))
    (difference,), (of_the_guess,) = overall.over_null.values(), overall.null.values()
    question = Performance().question_of(overall.statistic, overall.against)
    errors = settings.is_regression or settings.predicts_tokens
    same = not errors and guesses(table, every.members)
    standing = beside_guess(difference, errors=errors, same=same)
    return {
        # Of a single class the guess is always right: no model could be better.
        "against_guessing": "undecided" if has_one_class(table, settings) else standing,
        "guessing": {
            "score": overall.statistic,
            "of_the_model": overall.estimate,
            "of_the_guess": of_the_guess,
            "difference": difference.estimate,
            "interval": difference.interval,
            "n": difference.n,
            "inputs_needed": inputs_needed(overall, question, None),
        },
    }


def is_commonest(table: Table) -> Flags:
    """Which texts are of the commonest class [N]."""
    return np.asarray(table["label"] == np.bincount(table["label"]).argmax())


def guesses(table: Table, members: Flags) -> bool:
    """Whether the model is right in just those texts in which the commonest class is."""
    right = table["predicted"] == table["label"]
    return bool((right == is_commonest(table))[members].all())


def has_one_class(table: Table, settings: Settings) -> bool:
    """Whether all labels are one class, so that always guessing it is never wrong."""
    return not settings.is_regression and len(np.unique(table["label"])) == 1


def beside_guess(difference: PairedDifference, *, errors: bool = False, same: bool = False) -> GuessStanding:
    """What the paired interval shows of a score minus that of the guess; of ``errors`` less is better.

    A model that does the ``same`` as the guess in every text is not better where the exact interval leaves
    open less than `SMALL_CHANGE`; one whose difference is 0 in every resample is the guess itself.
    """
    interval = reliable_interval(difference)
    if interval is None:
        return "undecided"
    low, high = (-interval[1], -interval[0]) if errors else interval
    if low > 0:
        return "better"
    return "not better" if high < 0 or low == high == 0 or (same and high < SMALL_CHANGE) else "undecided"


def performance_verdict(
    difference: PairedDifference | None,
    guess: str,
    nouns: Nouns,
    *,
    errors: bool = False,
    same: bool = False,
) -> Verdict:
    """Judge performance from the paired interval alone."""
    if difference is None or reliable_interval(difference) is None:
        return TOO_FEW_EXAMPLES
    compared = beside_guess(difference, errors=errors, same=same)
    if compared == "undecided":
        if same:
            return Verdict(f"as good as {guess} on these {difference.n:,} {nouns.texts}, which are too few")
        settled = f"not settled on these {difference.n:,} {nouns.texts}"
        return Verdict(f"{settled} whether it is better than {guess}")
    not_better = "as good as" if same or difference.interval == (0, 0) else "worse than"
    return Verdict(f"{'better than' if compared == 'better' else not_better} {guess}")


def take_root(squares: StatSummary, difference: PairedDifference | None) -> StatSummary:
    """The summary of a mean of squares as one of its root, which has no deviation over examples, with its own
    ``difference`` from the root mean square of the mean rating."""

    def root(value: float | None) -> float | None:
        return None if value is None else math.sqrt(value)

    bounds = squares.interval
    return replace(
        squares,
        estimate=root(squares.estimate),
        std=None,
        interval=None if bounds is None else (math.sqrt(max(bounds[0], 0.0)), math.sqrt(bounds[1])),
        null={name: root(value) for name, value in squares.null.items()},
        over_null={} if difference is None else {"mean": difference},
    )


def rmse_difference(table: Table, group: Group, rng: np.random.Generator) -> PairedDifference | None:
    """RMSE of the model minus that of the mean rating, which is not a mean over examples; None of no text."""
    labels = table["label"][group.members]
    if not len(labels):
        return None
    errors = [guess - labels for guess in (table["predicted"][group.members], table["label"].mean())]
    return PairedDifference(*root_difference(*errors, rng=rng, level=group.level), len(labels))
