"""Does it matter for the verdicts what deleting a token means?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from glasshead.arrays import AnyFloats
from glasshead.audits.agreement import round_digits
from glasshead.audits.judging.agreement_strength import ORDER_BORDERS, judge_agreement
from glasshead.audits.judging.base import AUDITS, Audit, AuditResult, Measured
from glasshead.audits.judging.question import (
    ANY_SIZE,
    EXPLANATION_WORDS,
    SHARE,
    TAU,
    Outcome,
    Question,
    by_size,
    log_change_size,
    usable,
)
from glasshead.audits.judging.slices import Group
from glasshead.audits.judging.summary import (
    Interval,
    StatSummary,
    added,
    all_same,
    null_column,
    nulls_of,
    summarise,
    wider,
)
from glasshead.audits.judging.table import Column, Table, same_numbers
from glasshead.errors import InputError
from glasshead.nouns import Nouns
from glasshead.results import (
    ABSOLUTE,
    ATTENTION,
    TOO_FEW_EXAMPLES,
    AuditCard,
    Finding,
    Holds,
    Verdict,
    by_construction,
    no_order,
)
from glasshead.spelling import spell
from glasshead.statistics import LEVEL, kendall_tau_b, simultaneous_level

if TYPE_CHECKING:
    from glasshead.audits.judging.settings import Settings
    from glasshead.audits.measuring.view import ModelView

TEXTS_ASKED = 50
"""So many texts are asked unless somebody names another number: each means a pass for every word."""
OPERATORS = "operators"
CHANGE, ORDER, SURVIVAL = "change", "order", "survival"
SAME_EDIT = by_construction("the same", "both are the same edit of this model")


SEVERAL = "several tests decide it together, each with its own number"


def survives(card: AuditCard, finding: Finding) -> Holds:
    """Under every type of deletion, or under some."""
    share = finding.estimate
    return "undecided" if share is None or share == 0 else "yes" if share == 1 else "in part"


class Operators(Audit):
    """One question under every type of deletion that the model allows.

    ``change`` is the mean |ŷ(x) − ŷ(x without i)| over the words of a text; ``order`` the Kendall τ-b between
    the changes under two types of deletion; then τ-b of the audited explanation with the changes under each,
    next to random numbers, and whether what it says of the explanation survives all of them. Intervals of the
    latter are simultaneous (Bonferroni). Special tokens are left out.
    """

    question = "does it matter what deleting means?"
    citation = "Hase, Xie and Bansal 2021; Haug et al. 2021"
    by_default = False
    title = "Types of deletion"
    about = (
        "Does it matter whether {a_word} is cut out, replaced, averaged, or loses its attention weight? The "
        "mean change of ŷ by {a_word} under each type; Kendall τ-b between the changes under two of them; "
        "and τ-b of the explanation with the changes under each, with intervals that hold for all types "
        "together. If conclusions differ, they depend on the type of deletion."
    )
    place = 60
    words: ClassVar = {
        **EXPLANATION_WORDS,
        CHANGE: "mean change of ŷ by {a_word}",
        ORDER: "order of the {words} under two types of deletion",
        "zero-weight": "weight set to zero",
        "renormalise": "weights renormalised",
        "zero-value": "value set to zero",
        "delete": "cut out",
        "mask-token": "replaced by [MASK]",
        "unknown-token": "replaced by [UNK]",
        "mean-embedding": "mean embedding",
        SURVIVAL: "share of types of deletion under which it is better than random",
    }
    questions = (
        Question(
            "{method}" + ABSOLUTE,
            SURVIVAL,
            title="Does {method} agree with erasure under every type of deletion?",
            unit="share of the types under which it is better than random",
            within=SHARE,
            no_null="counts what beats one",
            no_number=SEVERAL,
            claim="{method} ranks {tokens} better than chance under every type of deletion",
            holds=survives,
            claim_at=(0.0, 1.0),
        ),
        Question(
            "*",
            SURVIVAL,
            unit="share of the types of deletion",
            within=SHARE,
            no_null="counts what beats one",
            no_number=SEVERAL,
        ),
        Question(
            CHANGE,
            "*",
            unit="mean |Δŷ|",
            within=log_change_size,
            no_null="no explanation is compared",
            no_number=ANY_SIZE,
        ),
        Question("*", "*", unit="Kendall τ-b", within=TAU, borders=ORDER_BORDERS),
    )

    def outcome(self, card: AuditCard) -> Outcome | None:
        """Whether agreement with erasure is the same whatever deleting means."""
        finding = usable(card, by_size(card, OPERATORS, SURVIVAL))
        if finding is None:
            return None
        if finding.status == "undecided" or finding.estimate is None:
            open_question = "whether it agrees with erasure under every type of deletion"
            return Outcome("", (open_question,), (finding,))
        if finding.estimate == 1:
            return Outcome("it agrees with erasure better than chance under every type of deletion")
        if finding.estimate == 0:
            return Outcome("it is not shown to agree with erasure under any type of deletion")
        return Outcome("whether it agrees with erasure depends on the type of deletion")

    def __init__(self, texts: int | None = TEXTS_ASKED) -> None:
        if texts is not None and texts < 1:
            raise InputError(f"the audit needs at least one text, not {texts}")
        self.texts = texts

    columns = (
        Column("operators.change.*", "float", "ŷ", "the mean |ŷ(x) − ŷ(x without i)| over the words"),
        Column(
            "operators.*",
            "float",
            "τ-b",
            ("agreement of an explanation, or of random numbers, with the changes"),
        ),
        Column(
            "order.*",
            "float",
            "τ-b",
            ("agreement between the changes under two types of deletion, or random numbers"),
            shown=False,
        ),
        Column("same.*", "float", "1 or 0", "whether both are the same", shown=False),
        Column("deletable", "int", "words", "how many words can be taken out", shown=False),
    )

    def unsupported_reason(self, view: ModelView) -> str | None:
        if view.sentence_of_token is None:
            return None
        return f"{view.nouns.words} are deleted: leave {spell('level')} out"

    def most(self, settings: Settings) -> int | None:
        return self.texts

    def measure(self, view: ModelView) -> Measured:
        from glasshead.audits.measuring.operators_passes import removal_changes

        changes, mask, meanings, left_out = removal_changes(view)
        columns: dict[str, NDArray[Any]] = {"deletable": mask.sum(axis=1)}
        columns |= {f"{OPERATORS}.{CHANGE}.{name}": mean_size(own, mask) for name, own in changes.items()}
        columns |= self._orders(changes, view.draw_scores(f"{OPERATORS} {ORDER}", signed=True), mask)
        for statistic, values in explanations(view).items():
            chance = view.draw_scores(f"{OPERATORS} {statistic}", not statistic.endswith(ABSOLUTE))
            columns |= self._agreements(statistic, values, chance, changes, mask)
        return Measured(columns, {OPERATORS: {"meanings": meanings, "left_out": left_out}})

    @staticmethod
    def _orders(
        changes: Mapping[str, AnyFloats], chance: AnyFloats, mask: NDArray[np.bool_]
    ) -> dict[str, AnyFloats]:
        """How two meanings order the words of each text, and a random order."""
        stacked = np.stack([*changes.values(), chance])
        rounded = round_digits(stacked, mask)
        tau = kendall_tau_b(rounded, rounded, mask).tau
        columns = {}
        for (one, first), (other, second) in combinations(enumerate(changes), 2):
            column = f"{ORDER}.{first}+{second}"
            columns[column], columns[null_column(column, "random")] = tau[one, other], tau[-1, other]
            both = (np.where(mask, stacked[place], 0.0) for place in (one, other))
            columns[f"same.{first}+{second}"] = same_numbers(*both)
        return columns

    @staticmethod
    def _agreements(
        statistic: str,
        values: AnyFloats,
        chance: AnyFloats,
        changes: Mapping[str, AnyFloats],
        mask: NDArray[np.bool_],
    ) -> dict[str, AnyFloats]:
        """An explanation next to the changes under each type of deletion, and random numbers next to them."""
        columns = {}
        variants = round_digits(np.stack([values, chance]), mask)
        for name, change in changes.items():
            compared = np.abs(change) if statistic.endswith(ABSOLUTE) else change
            result = kendall_tau_b(variants, round_digits(compared[None], mask), mask)
            column = f"{OPERATORS}.{statistic}.{name}"
            columns[column], columns[null_column(column, "random")] = result.tau[0, 0], result.tau[1, 0]
            itself = same_numbers(np.where(mask, values, 0.0), np.where(mask, compared, 0.0))
            columns[f"same.{statistic}.{name}"] = itself
        return columns

    def judge(self, table: Table, settings: Settings) -> AuditResult:
        rng = settings.rng(OPERATORS)
        asked = table["asked"]
        names = list(settings.facts[OPERATORS]["meanings"])
        group = Group("all", asked, level=settings.level)
        findings = [
            *self._change_findings(table, settings, names, group, rng),
            *self._order_findings(table, settings, names, group, rng),
            *(
                finding
                for statistic in explanation_names(settings)
                for finding in self._agreement_findings(table, settings, statistic, names, group, rng)
            ),
        ]
        return AuditResult(
            findings, facts={OPERATORS: {"texts": int(asked.sum()), **settings.facts[OPERATORS]}}
        )

    def _change_findings(
        self, table: Table, settings: Settings, names: Sequence[str], group: Group, rng: np.random.Generator
    ) -> Iterator[Finding]:
        sizes = [table[f"{OPERATORS}.{CHANGE}.{name}"][group.members] for name in names]
        summaries = self.summarise(
            [(CHANGE, name) for name in names], sizes, [{}] * len(sizes), rng=rng, level=group.level,
            settings=settings,
        )  # fmt: skip
        for name, summary in zip(names, summaries, strict=True):
            verdict = Verdict("") if summary.reliable_interval is not None else TOO_FEW_EXAMPLES
            yield summary.finding(
                OPERATORS, CHANGE, verdict, group=group, citation=self.citation, against=name
            )

    def _order_findings(
        self, table: Table, settings: Settings, names: Sequence[str], group: Group, rng: np.random.Generator
    ) -> Iterator[Finding]:
        """How two meanings order the words, next to a random order."""
        nouns = settings.nouns
        pairs = [f"{one}+{other}" for one, other in combinations(names, 2)]
        columns = [f"{ORDER}.{pair}" for pair in pairs]
        summaries = self.summarise(
            [(ORDER, pair) for pair in pairs],
            [table[column][group.members] for column in columns],
            [nulls_of(table, column, group.members) for column in columns],
            rng=rng,
            level=group.level,
            settings=settings,
        )
        for pair, column, summary in zip(pairs, columns, summaries, strict=True):
            verdict = judge_agreement(
                summary.reliable_interval, summary.reliable_differences, "numbers", nouns
            )
            yield summary.finding(
                OPERATORS,
                ORDER,
                SAME_EDIT if all_same(table[f"same.{pair}"]) else verdict,
                group=group,
                citation=self.citation,
                against=pair,
                undefined=count_texts_without_tau(
                    table[column][group.members], table["deletable"][group.members], nouns
                ),
            )

    def _agreement_findings(
        self,
        table: Table,
        settings: Settings,
        statistic: str,
        names: Sequence[str],
        group: Group,
        rng: np.random.Generator,
    ) -> Iterator[Finding]:
        """The agreement under each type of deletion, and whether it survives all."""
        level = simultaneous_level(len(names), settings.level)
        group = group._replace(level=level)
        columns = {name: f"{OPERATORS}.{statistic}.{name}" for name in names}
        taus = {name: table[column][group.members] for name, column in columns.items()}
        nulls = [nulls_of(table, column, group.members) for column in columns.values()]
        summaries = self.summarise(
            [(statistic, name) for name in names], [*taus.values()], nulls, rng=rng, level=level,
            settings=settings,
        )  # fmt: skip
        gauge = None
        if statistic == ATTENTION + ABSOLUTE:
            gauge = settings.sign_no_evidence_reason(size=True)
        judged: dict[str, tuple[AnyFloats, StatSummary]] = {}
        unordered = True
        for (name, tau), null, summary in zip(taus.items(), nulls, summaries, strict=True):
            itself = all_same(table[f"same.{statistic}.{name}"])
            reason = by_construction("the same", "this erasure is the audited method") if itself else gauge
            verdict = reason or judge_agreement(
                summary.reliable_interval, summary.reliable_differences, "numbers", settings.nouns
            )
            yield summary.finding(
                OPERATORS, statistic, verdict, group=group, citation=self.citation, against=name
            )
            if reason is None:
                judged[name] = (tau, summary)
                unordered &= orders_nothing(tau, null["random"])
        yield self._survival(statistic, judged, group, rng, settings, unordered)

    def _survival(
        self,
        statistic: str,
        judged: Mapping[str, tuple[AnyFloats, StatSummary]],
        group: Group,
        rng: np.random.Generator,
        settings: Settings,
        unordered: bool,
    ) -> Finding:
        """Whether the explanation is better than random numbers under all types of deletion, or under some
        alone."""
        sides = {
            name: side(summary.reliable_differences.get("random")) for name, (_, summary) in judged.items()
        }
        taus = {name: tau for name, (tau, _) in judged.items()}
        floors = None
        if settings.shifts is not None:
            floors = {name: summary.floor for name, (_, summary) in judged.items()}
        differing = differing_pairs(taus, rng, settings.level, floors)
        verdict = survival_verdict(sides, differing, settings.nouns)
        if verdict == TOO_FEW_EXAMPLES and unordered:
            verdict = no_order(settings.nouns)
        return Finding(
            audit=OPERATORS,
            statistic=statistic,
            against=SURVIVAL,
            group=group.name,
            estimate=sum(value == 1 for value in sides.values()) / len(sides) if sides else None,
            std=None,
            interval=None,
            null={},
            n=min((summary.n for name, (_, summary) in judged.items() if sides[name] is not None), default=0),
            undefined={},
            significant_fraction=None,
            citation=self.citation,
            level=group.level,
            **verdict.fields,
        )


AUDITS.register(OPERATORS)(Operators())


def explanations(view: ModelView) -> dict[str, AnyFloats]:
    """What is compared with erasure [N, n]: of attention its size and what it contributes, of another method
    the size of its scores, and the scores themselves if they have signs."""
    if view.explainer.reads_weights:
        return {ATTENTION + ABSOLUTE: np.abs(view.canonical), "contribution": view.contributions}
    sizes = {view.method + ABSOLUTE: np.abs(view.scores)}
    return sizes | ({view.method: view.scores} if view.scores_signed else {})


def explanation_names(settings: Settings) -> list[str]:
    """Their names."""
    if settings.reads_weights:
        return [ATTENTION + ABSOLUTE, "contribution"]
    return [settings.method + ABSOLUTE, *[settings.method] * settings.scores_signed]


def orders_nothing(tau: AnyFloats, chance: AnyFloats) -> bool:
    """Whether the numbers of an explanation are all equal in most texts, where random ones have an order."""
    return bool((np.isnan(tau) & ~np.isnan(chance)).sum() > len(tau) / 2)


def mean_size(changes: AnyFloats, mask: NDArray[np.bool_]) -> AnyFloats:
    """The mean |change| over the words of each text; NaN of a text without words."""
    count = mask.sum(axis=1)
    total = np.where(mask, np.abs(changes), 0.0).sum(axis=1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def count_texts_without_tau(tau: AnyFloats, words: NDArray[np.int64], nouns: Nouns) -> dict[str, int]:
    """Why an order does not exist, of how many texts."""
    missing, short = np.isnan(tau), words < 2
    counts = {
        f"fewer than two {nouns.words}": int((missing & short).sum()),
        f"all {nouns.words} tied": int((missing & ~short).sum()),
    }
    return {reason: count for reason, count in counts.items() if count}


def side(over_chance: Interval | None) -> int | None:
    """1 where it is better than random numbers, −1 where it is worse, 0 where these texts do not show which;
    None of too few texts."""
    if over_chance is None:
        return None
    return 1 if over_chance[0] > 0 else -1 if over_chance[1] < 0 else 0


def differing_pairs(
    taus: Mapping[str, AnyFloats],
    rng: np.random.Generator,
    level: float = LEVEL,
    floors: Mapping[str, float | None] | None = None,
) -> set[frozenset[str]]:
    """The meanings under which the agreement differs, from paired intervals corrected for their number, and
    wider by the noise ``floors`` of both where there are some; an unknown floor shows no difference."""
    pairs = list(combinations(taus, 2))
    if not pairs:
        return set()
    changes = [taus[one] - taus[other] for one, other in pairs]
    level = simultaneous_level(len(pairs), level)
    summaries = summarise(changes, [{}] * len(pairs), rng=rng, level=level, within=(-2.0, 2.0))
    differing = set()
    for pair, summary in zip(pairs, summaries, strict=True):
        widths = [0.0 if floors is None else floors[name] for name in pair]
        interval = wider(summary.reliable_interval, added(*widths), (-2.0, 2.0))
        if interval is not None and not interval[0] <= 0 <= interval[1]:
            differing.add(frozenset(pair))
    return differing


def survival_verdict(
    sides: Mapping[str, int | None], differing: set[frozenset[str]], nouns: Nouns
) -> Verdict:
    """Survives, flips, or undecided. A verdict flips where two meanings say opposite things, or one
    shows what another does not and the two differ by a paired interval."""
    known = {name: value for name, value in sides.items() if value is not None}
    if not sides:
        return by_construction("nothing to ask", "every type of deletion is the audited method")
    if not known:
        return TOO_FEW_EXAMPLES
    by_side = {value: [name for name, own in sides.items() if own == value] for value in (1, -1, 0, None)}
    for value, word in ((1, "better"), (-1, "worse")):
        if len(by_side[value]) == len(sides) > 1:
            return Verdict(f"holds: {word} than random numbers under all {len(sides)} types of deletion")
    if len(by_side[0]) == len(sides):
        return Verdict(f"not distinguishable from random numbers under all {len(sides)} types of deletion")
    sided = (*by_side[1], *by_side[-1])
    flips = any(frozenset((name, other)) in differing for name in by_side[0] for other in sided)
    words = "; ".join(
        f"{what} under {', '.join(by_side[value])}"
        for value, what in (
            (1, "better than random numbers"),
            (-1, "worse"),
            (0, "not distinguishable"),
            (None, f"too few {nouns.texts} in which it changes anything"),
        )
        if by_side[value]
    )
    if flips or (by_side[1] and by_side[-1]):
        return Verdict(f"depends on the type of deletion: {words}")
    return Verdict(f"undecided whether it holds: {words}", "undecided")
