"""Is there an attention map far from the model's own that gives the same prediction?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from glasshead.arrays import AnyFloats
from glasshead.audits.adversary import (
    Effort,
    Search,
    Setting,
    Texts,
    farthest_same_output,
    free_distances,
    producible_distances,
    unproducible_reason,
)
from glasshead.audits.base import AUDITS, NO_WEIGHTS, Audit, AuditResult
from glasshead.audits.context import AuditContext
from glasshead.audits.map_statistics import mean_per_text, rows_for_site
from glasshead.audits.null_weights import random_weights, same_mass
from glasshead.audits.slices import Group
from glasshead.audits.summary import Interval, StatSummary, null_column, summarise, with_exact_intervals
from glasshead.errors import InputError
from glasshead.explainers import ForwardObservation
from glasshead.identifiability import WEIGHT_DOMAINS, AttentionRow, attention_rows
from glasshead.nouns import Nouns
from glasshead.results import HARDLY_ANY, TOO_FEW_EXAMPLES, Finding, Verdict

ADVERSARIAL = "adversarial"
CITATION = "Jain and Wallace 2019, section 4.2.2; Wiegreffe and Pinter 2019"
EPSILON, TEXTS, PASS_TEXTS, MAPS = 0.01, 200, 40, 600
PASS_SEARCH = Search(steps=80, starts=2, candidates=8, doublings=3)
"""Where each step runs the model again."""
MOST, FEW = 0.9, 0.1
FOUND = "found"
FAR, NEAR = 0.5, 0.1
"""Shares of the largest distance: from the first on a map is another one, below the second the same."""
FREE, SAME_OUTPUT, PRODUCIBLE = "free", "same-output", "producible"
WHICH = {
    FREE: "maps",
    SAME_OUTPUT: "maps with the same head output",
    PRODUCIBLE: "maps that another query produces from the same keys",
}
FROM = {FREE: "", SAME_OUTPUT: " with the same head output", PRODUCIBLE: " of another query"}


class Adversarial(Audit):
    """ε-max: the largest distance from the model's own map of one whose prediction differs by at most ε.

    |Δŷ| is ½ Σ over classes, or a share of the range of ratings; the distance is the Jensen-Shannon
    divergence in nats (at most ln 2) where rows sum to one, total variation elsewhere. ``free`` maps are all
    that the activation can produce; those of ``same-output`` give the same output of the head, those that are
    ``producible`` come from another query and the same keys. ``found`` is the share of texts with such a map
    at half of the largest distance or more. The nulls are the same question about random and uniform weights
    of the same mass. Exact where the outputs are linear in the weights and there are two classes, or ratings;
    elsewhere what a search reaches, which is a lower bound and has no interval: `Search` gives itself twice
    the starts until that gains nothing, or its price is spent, which the facts say. At most ``texts`` texts
    are asked, or ``pass_texts`` where each step of the search is a forward pass.
    """

    question = "is there another map with the same prediction?"
    citation = CITATION
    by_default = False

    def __init__(
        self, epsilon: float = EPSILON, texts: int | None = TEXTS, pass_texts: int | None = PASS_TEXTS
    ) -> None:
        if not 0 < epsilon < 1:
            raise InputError(f"epsilon is a change of a prediction, between 0 and 1, not {epsilon}")
        for limit in (texts, pass_texts):
            if limit is not None and limit < 1:
                raise InputError(f"the audit needs at least one text, not {limit}")
        self.epsilon, self.texts, self.pass_texts = epsilon, texts, pass_texts

    def unsupported_reason(self, context: AuditContext) -> str | None:
        """Why no map is the farthest: no weights, or none that are bounded."""
        if not context.explainer.reads_weights:
            return NO_WEIGHTS.format(context.method)
        try:
            domain = WEIGHT_DOMAINS[Setting(context).domain]
        except InputError as error:
            return str(error)
        if not domain.bounded:
            return f"its weights are {domain.describe}: nothing bounds them, so no map is the farthest"
        return None

    def __call__(self, context: AuditContext, *, seed: int) -> AuditResult:
        rng = np.random.default_rng([seed, 17])
        by_passes = isinstance(context.explanation.observation, ForwardObservation)
        search = replace(PASS_SEARCH if by_passes else Search(), epsilon=self.epsilon)
        setting, efforts = (
            Setting(context, search),
            {kind: Effort(search.steps) for kind in (FREE, PRODUCIBLE)},
        )
        texts = choose_texts(context, self.pass_texts if by_passes else self.texts, rng)
        seeds = rng.integers(2**31, size=2).tolist()
        left_out = reasons_left_out(context)
        free, flat = free_distances(setting, texts, seeds[0], efforts[FREE])
        by_kind, bound = {FREE: free}, None
        if SAME_OUTPUT not in left_out:
            by_kind[SAME_OUTPUT], bound = same_output_distances(setting, texts, rng)
        if PRODUCIBLE not in left_out:
            by_kind[PRODUCIBLE] = producible_distances(setting, texts, seeds[1], efforts[PRODUCIBLE])
        table = DistanceTable(setting, texts, context.mask[texts].sum(axis=1) <= 1, flat)
        judged = {kind: table.number_by_base(kind, columns) for kind, columns in by_kind.items()}
        findings = [
            finding for kind, values in judged.items() for finding in table.findings(kind, values, rng)
        ]
        if bound is not None:
            findings += table.find_upper_bounds(bound, rng)
        findings += table.flat_findings(rng)
        examples = {
            name if base == "own" else null_column(name, base): table.over_all_texts(values)
            for kind, statistics in judged.items()
            for statistic, columns in statistics.items()
            for base, values in columns.items()
            for name in [f"{ADVERSARIAL}.{statistic}.{kind}"]
        }
        return AuditResult(
            findings, examples, facts={ADVERSARIAL: self.facts(setting, len(texts), left_out, efforts)}
        )

    def facts(
        self, setting: Setting, texts: int, left_out: Mapping[str, str], efforts: Mapping[str, Effort]
    ) -> dict[str, Any]:
        """What was asked, and how."""
        return {
            "epsilon": self.epsilon,
            "texts": texts,
            "distance": setting.statistic,
            "largest": setting.largest,
            FREE: "exact" if setting.exact else efforts[FREE].words,
            **({} if PRODUCIBLE in left_out else {PRODUCIBLE: efforts[PRODUCIBLE].words}),
            **({"left_out": dict(left_out)} if left_out else {}),
        }


AUDITS.register(ADVERSARIAL)(Adversarial())


def reasons_left_out(context: AuditContext) -> dict[str, str]:
    """Which kinds of maps cannot be asked for, and why."""
    site = context.explanation.site
    reasons = {
        SAME_OUTPUT: "the model does not show its values" if site and not site.has_values else None,
        PRODUCIBLE: unproducible_reason(context),
    }
    return {kind: reason for kind, reason in reasons.items() if reason is not None}


def choose_texts(context: AuditContext, limit: int | None, rng: np.random.Generator) -> Texts:
    """The numbers of the texts that are asked, in order."""
    count = len(context.labels)
    if limit is None or limit >= count:
        return np.arange(count)
    return np.sort(rng.choice(count, limit, replace=False))


def same_output_distances(
    setting: Setting, texts: Texts, rng: np.random.Generator
) -> tuple[dict[str, AnyFloats], AnyFloats]:
    """The distance of the farthest weights that were found with the same output of their head, from the
    model's own, from random and from uniform ones, and the bound for the first: means over the maps of each
    text, NaN where it has none. Of very many maps a random part is asked."""
    context = setting.context
    selector = rows_for_site(context.explanation.site)
    site = context.explanation.site
    if site is not None:
        heads = None if site.head is None else (site.head,)
        selector = replace(selector, layers=(site.layer,), heads=heads)
    rows = [
        row
        for batch in attention_rows(context.trained_model, context.explanation.encoded.some(texts), selector)
        for row in batch
    ]
    if len(rows) > MAPS:
        rows = [rows[number] for number in np.sort(rng.choice(len(rows), MAPS, replace=False))]
    columns: dict[str, list[float]] = {name: [] for name in ("own", "random", "uniform", "bound")}
    for row in rows:
        farthest, bound, _ = farthest_same_output(row, setting.distance, setting.largest, rng)
        columns["own"].append(farthest)
        columns["bound"].append(bound)
        for base, weights in null_rows(row, rng).items():
            other = replace(row, weights=weights)
            columns[base].append(farthest_same_output(other, setting.distance, setting.largest, rng)[0])
    owner = np.array([row.text for row in rows], dtype=np.int64)
    means = {name: mean_per_text(owner, np.array(values), len(texts)) for name, values in columns.items()}
    return means, means.pop("bound")


def null_rows(row: AttentionRow, rng: np.random.Generator) -> dict[str, NDArray[np.float64]]:
    """Random and uniform weights [n] of the same mass as those of a row."""
    mask, one_part = np.ones((1, len(row.weights)), dtype=bool), np.zeros((1, len(row.weights)), np.int64)
    drawn = random_weights(mask, WEIGHT_DOMAINS[row.kind].signed, rng)[:, None].astype(float)
    nulls = {"random": drawn, "uniform": np.ones_like(drawn)}
    scaled = {base: same_mass(maps, row.weights[None], one_part) for base, maps in nulls.items()}
    return {base: np.asarray(maps[0, 0], dtype=np.float64) for base, maps in scaled.items()}


@dataclass(frozen=True)
class DistanceTable:
    """Findings about distances of ``texts``, of which some have ``one`` token, or ``flat`` predictions."""

    setting: Setting
    texts: Texts
    one: NDArray[np.bool_]
    flat: NDArray[np.bool_]

    @property
    def groups(self) -> list[Group]:
        """The groups of every audit, of the texts that were asked."""
        return [
            group._replace(members=group.members[self.texts])
            for group in self.setting.context.groups
            if group.members[self.texts].any()
        ]

    def over_all_texts(self, values: AnyFloats) -> AnyFloats:
        """A column of the examples; NaN for texts that were not asked."""
        column = np.full(len(self.setting.context.labels), np.nan)
        column[self.texts] = values
        return column

    def number_by_base(self, kind: str, columns: Mapping[str, AnyFloats]) -> dict[str, dict[str, AnyFloats]]:
        """The number, by statistic and base, of every text, NaN where it decides nothing: the distance, and
        whether it is far."""
        left_out = self.one if kind == SAME_OUTPUT else self.one | self.flat
        distances = {base: np.where(left_out, np.nan, values) for base, values in columns.items()}
        far = {base: is_far(values, self.setting.largest) for base, values in distances.items()}
        return {self.setting.statistic: distances, FOUND: far}

    def findings(
        self, kind: str, judged: Mapping[str, Mapping[str, AnyFloats]], rng: np.random.Generator
    ) -> Iterator[Finding]:
        """The mean distance, and the share of texts with a map that is far."""
        largest, exact = self.setting.largest, self.setting.exact and kind == FREE
        nouns = self.setting.context.nouns
        for group in self.groups:
            members = [
                {base: values[group.members] for base, values in columns.items()}
                for columns in judged.values()
            ]
            own = [columns.pop("own") for columns in members]
            summaries = summarise(own, members, rng=rng, level=group.level)
            summaries[1] = with_exact_intervals(summaries[1], own[1], members[1], group.level)
            ends = [summary.reliable_interval for summary in summaries]
            if exact:
                over = summaries[0].reliable_differences.get("random")
                verdicts = judge_distance(ends[0], over, largest, kind), judge_far_share(ends[1], kind, nouns)
            else:
                verdicts = (bound_distance(ends[0], largest, kind), bound_share(ends[1], kind, nouns))
                summaries = [as_bound(summary, "lower") for summary in summaries]
            undefined = self.count_undefined(group, flat=kind != SAME_OUTPUT)
            for statistic, summary, verdict in zip(judged, summaries, verdicts, strict=True):
                yield summary.finding(
                    ADVERSARIAL, statistic, verdict, group=group, citation=CITATION, against=kind,
                    undefined=undefined,
                )  # fmt: skip

    def find_upper_bounds(self, bound: AnyFloats, rng: np.random.Generator) -> Iterator[Finding]:
        """What no map with the same output exceeds."""
        values = np.where(self.one, np.nan, bound)
        for group in self.groups:
            (summary,) = summarise([values[group.members]], [{}], rng=rng, level=group.level)
            interval = summary.reliable_interval
            verdict = TOO_FEW_EXAMPLES if interval is None else judge_bound(interval, self.setting.largest)
            summary = as_bound(summary, "upper")
            yield summary.finding(
                ADVERSARIAL, "bound", verdict, group=group, citation=CITATION, against=SAME_OUTPUT,
                undefined=self.count_undefined(group, flat=False),
            )  # fmt: skip

    def flat_findings(self, rng: np.random.Generator) -> Iterator[Finding]:
        """The share of texts whose prediction no weights change by more than ε."""
        values = np.where(self.one, np.nan, self.flat.astype(float))
        for group in self.groups:
            (summary,) = summarise([values[group.members]], [{}], rng=rng, level=group.level)
            summary = with_exact_intervals(summary, values[group.members], {}, group.level)
            interval = summary.reliable_interval
            verdict = TOO_FEW_EXAMPLES if interval is None else flat_verdict(interval, self.setting)
            summary = summary if self.setting.exact else as_bound(summary, "upper")
            yield summary.finding(
                ADVERSARIAL, "flat", verdict, group=group, citation=CITATION,
                undefined=self.count_undefined(group, flat=False),
            )  # fmt: skip

    def count_undefined(self, group: Group, *, flat: bool) -> dict[str, int]:
        """How many texts of a group have no distance, by reason."""
        counts = {f"one {self.setting.context.nouns.token}": int(self.one[group.members].sum())}
        if flat:
            counts["flat prediction"] = int((self.flat & ~self.one)[group.members].sum())
        return {reason: count for reason, count in counts.items() if count}


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
        return Verdict(f"{words}; not settled whether farther than for random weights")
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


def flat_verdict(interval: Interval, setting: Setting) -> Verdict:
    """How many predictions no weights change, in words."""
    low, high = interval
    within = f"within {setting.search.epsilon:g} under all weights"
    if high <= FEW:
        return Verdict(f"hardly any prediction stays {within}")
    if not setting.exact:
        return Verdict(f"an upper bound: at most {high:.0%} of the predictions stay {within}")
    if low >= MOST:
        return Verdict(f"nearly every prediction stays {within}")
    return Verdict(f"{low:.0%} to {high:.0%} of the predictions stay {within}")
