"""What distances to other maps say, text by text and in words: numbers and facts alone, no model."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from glasshead.arrays import AnyFloats, Integers
from glasshead.audits.judging.question import QuestionSet
from glasshead.audits.judging.slices import Group
from glasshead.audits.judging.summary import Interval, StatSummary, null_column
from glasshead.nouns import Nouns
from glasshead.results import HARDLY_ANY, TOO_FEW_EXAMPLES, Finding, Verdict

ADVERSARIAL = "adversarial"
CITATION = "Jain and Wallace 2019, section 4.2.2; Wiegreffe and Pinter 2019"
MOST, FEW = 0.9, 0.1
FOUND, FLAT, BOUND, ONE = "found", "flat", "bound", "one"
CONVERGED, STARTS = "converged", "starts"
FAR, NEAR = 0.5, 0.1
"""Shares of the largest distance: from the first on a map is another one, below the second the same."""
FREE, SAME_OUTPUT, PRODUCIBLE = "free", "same-output", "producible"
KINDS = (FREE, SAME_OUTPUT, PRODUCIBLE)
NULLS = ("random", "uniform")
WHICH = {
    FREE: "maps",
    SAME_OUTPUT: "maps with the same head output",
    PRODUCIBLE: "maps that another query produces from the same keys",
}
FROM = {FREE: "", SAME_OUTPUT: " with the same head output", PRODUCIBLE: " of another query"}
EXACT = "exact"


def column(statistic: str, kind: str = "") -> str:
    """The column of a number of each text."""
    return f"{ADVERSARIAL}.{statistic}.{kind}" if kind else f"{ADVERSARIAL}.{statistic}"


@dataclass(frozen=True)
class Judgement:
    """Findings about the ``columns`` that the audit measured: a number per text, NaN where it was not asked.

    `ONE` marks texts with a single token, `FLAT` those whose prediction no weights change: neither has a
    distance, but for the same output, which a flat text has. ``facts`` are those of the measurement:
    ``epsilon``, the name of the ``distance``, its ``largest`` value, and the ``exact`` kinds.
    """

    columns: Mapping[str, AnyFloats]
    facts: Mapping[str, Any]
    groups: Sequence[Group]
    nouns: Nouns
    rng: np.random.Generator
    questions: QuestionSet

    @property
    def statistic(self) -> str:
        """The name of the distance."""
        return str(self.facts["distance"])

    @property
    def largest(self) -> float:
        """What no distance exceeds."""
        return float(self.facts["largest"])

    def is_exact(self, kind: str) -> bool:
        """Whether no map of a kind is farther than the one that was found."""
        return kind in self.facts[EXACT]

    @property
    def kinds(self) -> list[str]:
        """The kinds of maps that were measured."""
        return [kind for kind in KINDS if column(self.statistic, kind) in self.columns]

    def findings(self) -> list[Finding]:
        """All of them."""
        findings = [finding for kind in self.kinds for finding in self.find_distances(kind)]
        if SAME_OUTPUT in self.kinds:
            findings += self.find_upper_bounds()
        return [*findings, *self.find_flat()]

    def numbers(self, kind: str) -> dict[str, dict[str, AnyFloats]]:
        """The distance, and whether it is far, of every text, by statistic and base."""
        name = column(self.statistic, kind)
        bases = {"own": name} | {base: null_column(name, base) for base in NULLS}
        distances = {base: self.columns[name] for base, name in bases.items() if name in self.columns}
        far = {base: is_far(values, self.largest) for base, values in distances.items()}
        return {self.statistic: distances, FOUND: far}

    def asked(self, group: Group) -> Integers:
        """The places of a group's texts that were asked."""
        return np.flatnonzero(group.members & ~np.isnan(self.columns[column(ONE)]))

    def over_groups(self) -> Iterator[tuple[Group, Integers]]:
        """The groups with texts that were asked, and these."""
        for group in self.groups:
            rows = self.asked(group)
            if len(rows):
                yield group, rows

    def find_distances(self, kind: str) -> Iterator[Finding]:
        """The mean distance, and the share of texts with a map that is far."""
        judged, exact = self.numbers(kind), self.is_exact(kind)
        for group, rows in self.over_groups():
            members = [
                {base: values[rows] for base, values in numbers.items()} for numbers in judged.values()
            ]
            own = [numbers.pop("own") for numbers in members]
            names = [(statistic, kind) for statistic in judged]
            summaries = self.questions.summarise(names, own, members, rng=self.rng, level=group.level)
            ends = [summary.reliable_interval for summary in summaries]
            if exact:
                over = summaries[0].reliable_differences.get("random")
                verdicts = (
                    judge_distance(ends[0], over, self.largest, kind),
                    judge_far_share(ends[1], kind, self.nouns),
                )
            else:
                verdicts = (
                    bound_distance(ends[0], self.largest, kind),
                    bound_share(ends[1], kind, self.nouns),
                )
                summaries = [as_bound(summary, "lower") for summary in summaries]
            undefined = self.count_undefined(rows, flat=kind != SAME_OUTPUT)
            for statistic, summary, verdict in zip(judged, summaries, verdicts, strict=True):
                yield summary.finding(
                    ADVERSARIAL, statistic, verdict, group=group, citation=CITATION, against=kind,
                    undefined=undefined,
                )  # fmt: skip

    def find_upper_bounds(self) -> Iterator[Finding]:
        """What no map with the same output exceeds."""
        bound = self.columns[column(BOUND, SAME_OUTPUT)]
        for group, rows in self.over_groups():
            (summary,) = self.questions.summarise(
                [(BOUND, SAME_OUTPUT)], [bound[rows]], [{}], rng=self.rng, level=group.level
            )
            interval = summary.reliable_interval
            verdict = TOO_FEW_EXAMPLES if interval is None else judge_bound(interval, self.largest)
            summary = as_bound(summary, "upper")
            yield summary.finding(
                ADVERSARIAL, BOUND, verdict, group=group, citation=CITATION, against=SAME_OUTPUT,
                undefined=self.count_undefined(rows, flat=False),
            )  # fmt: skip

    def find_flat(self) -> Iterator[Finding]:
        """The share of texts whose prediction no weights change by more than ε."""
        values, exact = self.columns[column(FLAT)], self.is_exact(FREE)
        for group, rows in self.over_groups():
            (summary,) = self.questions.summarise(
                [(FLAT, "")], [values[rows]], [{}], rng=self.rng, level=group.level
            )
            interval = summary.reliable_interval
            verdict = (
                TOO_FEW_EXAMPLES
                if interval is None
                else flat_verdict(interval, float(self.facts["epsilon"]), exact=exact)
            )
            summary = summary if exact else as_bound(summary, "upper")
            yield summary.finding(
                ADVERSARIAL, FLAT, verdict, group=group, citation=CITATION,
                undefined=self.count_undefined(rows, flat=False),
            )  # fmt: skip

    def count_undefined(self, rows: Integers, *, flat: bool) -> dict[str, int]:
        """How many of some texts have no distance, by reason."""
        one = self.columns[column(ONE)][rows] == 1
        counts = {f"one {self.nouns.token}": int(one.sum())}
        if flat:
            counts["flat prediction"] = int((self.columns[column(FLAT)][rows] == 1).sum())
        return {reason: count for reason, count in counts.items() if count}

    def examples(self) -> dict[str, AnyFloats]:
        """The columns of the examples: those that were measured, and whether each map is far."""
        far = {}
        for kind in self.kinds:
            name = column(FOUND, kind)
            for base, values in self.numbers(kind)[FOUND].items():
                far[name if base == "own" else null_column(name, base)] = values
        return {name: values for name, values in self.columns.items() if name != column(ONE)} | far

    def summary(self) -> dict[str, Any]:
        """The facts, and how each kind of maps was looked for: for how many texts the search converged."""
        texts = int((~np.isnan(self.columns[column(ONE)])).sum())
        facts = {name: value for name, value in self.facts.items() if name != EXACT}
        return {"texts": texts} | facts | {kind: self.effort(kind) for kind in self.kinds}

    def effort(self, kind: str) -> str:
        """The same of one kind."""
        if self.is_exact(kind):
            return EXACT
        converged = self.columns[column(CONVERGED, kind)]
        known, starts = ~np.isnan(converged), self.columns[column(STARTS, kind)]
        if not known.any():
            return f"search: no {self.nouns.text} has another map"
        return (
            f"search; it converged for {int(converged[known].sum())} of "
            f"{int(known.sum())} {self.nouns.texts}, "
            f"from {int(starts[known].min())} to {int(starts[known].max())} starts each"
        )


def is_far(distances: AnyFloats, largest: float) -> AnyFloats:
    """1 where a map is at half of the largest distance or more, 0 where it is nearer; NaN stays."""
    return np.where(np.isnan(distances), np.nan, (distances >= FAR * largest).astype(float))


def judge_distance(
    interval: Interval | None, over_random: Interval | None, largest: float, kind: str
) -> Verdict:
    """Judge the mean distance from intervals alone."""
    if interval is None:
        return TOO_FEW_EXAMPLES
    low, high = (end / largest for end in interval)
    maps = WHICH[kind]
    if low >= FAR:
        words = f"on average, very different {maps} give the same prediction"
    elif high < NEAR:
        words = f"on average, {maps} with the same prediction are close"
    else:
        words = f"on average, somewhat different {maps} give the same prediction"
    if over_random is None:
        return Verdict(words)
    if over_random[0] <= 0 <= over_random[1]:
        return Verdict(f"{words}; these texts do not settle whether farther than for random weights")
    return Verdict(f"{words}, {'farther' if over_random[0] > 0 else 'closer'} than for random weights")


def bound_distance(interval: Interval | None, largest: float, kind: str) -> Verdict:
    """Judge the distance that a search found: a lower bound, which says nothing of other maps."""
    if interval is None:
        return TOO_FEW_EXAMPLES
    low = interval[0] / largest
    if low >= FAR:
        return Verdict(f"on average, very different {WHICH[kind]} give the same prediction")
    return Verdict(
        f"a lower bound: {WHICH[kind]} with the same prediction are at least this far on average; "
        "there may be farther ones"
    )


def judge_far_share(interval: Interval | None, kind: str, nouns: Nouns) -> Verdict:
    """Judge the share of texts with a map that is far."""
    if interval is None:
        return TOO_FEW_EXAMPLES
    low, high = interval
    if low >= MOST:
        return Verdict(f"a very different map{FROM[kind]} exists for nearly every {nouns.text}")
    if high <= FEW:
        return Verdict(f"a very different map{FROM[kind]} exists for hardly any {nouns.text}")
    share = f"at most {high:.0%}" if low < HARDLY_ANY else f"{low:.0%} to {high:.0%}"
    return Verdict(f"a very different map{FROM[kind]} exists for {share} of the {nouns.texts}")


def bound_share(interval: Interval | None, kind: str, nouns: Nouns) -> Verdict:
    """Judge the share of texts with a far map where a search found the maps."""
    if interval is None:
        return TOO_FEW_EXAMPLES
    low = interval[0]
    if low >= MOST:
        return Verdict(f"a very different map{FROM[kind]} exists for nearly every {nouns.text}")
    if low < HARDLY_ANY:
        return Verdict(
            f"a lower bound: the search found a very different map for few {nouns.texts} or none; there may "
            "be more"
        )
    return Verdict(f"a very different map{FROM[kind]} exists for at least {low:.0%} of the {nouns.texts}")


def as_bound(summary: StatSummary, bound: Literal["lower", "upper"]) -> StatSummary:
    """A summary of numbers that a search reached, or that none exceeds: without intervals, and without
    differences from nulls that are bounds too."""
    ends = summary.reliable_interval
    limit = None if ends is None else ends[0 if bound == "lower" else 1]
    return replace(summary, interval=None, over_null={}, bound=bound, limit=limit)


def judge_bound(interval: Interval, largest: float) -> Verdict:
    """What no map with the same output exceeds, in words."""
    if interval[1] < NEAR * largest:
        return Verdict("all maps with the same head output are close")
    return Verdict("upper bound: no map with the same head output is farther")


def flat_verdict(interval: Interval, epsilon: float, *, exact: bool) -> Verdict:
    """How many predictions no weights change, in words."""
    low, high = interval
    within = f"within {epsilon:g} under all weights"
    if high <= FEW:
        return Verdict(f"hardly any prediction stays {within}")
    if not exact:
        return Verdict(f"an upper bound: at most {high:.0%} of the predictions stay {within}")
    if low >= MOST:
        return Verdict(f"nearly every prediction stays {within}")
    return Verdict(f"{low:.0%} to {high:.0%} of the predictions stay {within}")
