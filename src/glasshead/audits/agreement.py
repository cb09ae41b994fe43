"""Does an explanation rank tokens as gradients do, as removing their attention weights does, and as other
explanations do?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from glasshead.arrays import AnyFloats
from glasshead.audits.judging.agreement_strength import (
    GOOD_AGREEMENT,
    METHODS,
    ORDER_BORDERS,
    agreement_level,
    agreement_words,
    agrees,
    is_large_where_tokens_matter,
    judge_agreement,
)
from glasshead.audits.judging.base import AUDITS, Audit, AuditResult, Measured
from glasshead.audits.judging.border import at
from glasshead.audits.judging.question import (
    EXPLANATION_WORDS,
    HOLDS_OF_ANSWER,
    SHARE,
    TAU,
    Outcome,
    Question,
    by_size,
    decisive,
    usable,
)
from glasshead.audits.judging.slices import Group
from glasshead.audits.judging.summary import Interval, all_same, few_tokens, null_column, nulls_of
from glasshead.audits.judging.table import Column, Table
from glasshead.nouns import Nouns
from glasshead.results import (
    ABSOLUTE,
    ATTENTION,
    CANONICAL_GAUGE,
    ONE_SIGNED,
    RAW_SIGN,
    TOO_FEW_EXAMPLES,
    AuditCard,
    Finding,
    Holds,
    Verdict,
    by_construction,
    no_order,
)
from glasshead.statistics import KendallResult, kendall_tau_b, nan_mean

if TYPE_CHECKING:
    from glasshead.audits.judging.settings import Settings
    from glasshead.audits.measuring.view import ModelView

AGREEMENT = "agreement"
GRADIENT, GRADIENTS = "gradient", ("gradient", "gradient-after-norm")
"""One measure, but before embeddings that are normalised."""
ALPHA = 0.01
# Numbers that agree in so many digits are ties: a repeated word has the same numbers up to rounding.
DIGITS, DIGITS_OF_FLOAT32 = 9, 5
MIN_EXPONENT = -290  # exponent below which digits are lost: the scale of smaller values would overflow
SAME_ATTENTION = (
    1e-9  # effective attention this close to the attention, relative to the largest weight, is the attention
)
TAU_TIE = 1e-12  # a projection leaves rounding of this size, relative to the largest weight
# What is held against the measures, by place.
RAW, CANONICAL, CONTRIBUTION, CHANCE, CHANCE_CONTRIBUTION, UNIFORM, EFFECTIVE = range(7)
SCORES, RANDOM_SCORES = range(2)  # of an explanation that is not attention
WEIGHT_ORDERS = ("attention", "attention-absolute", "effective", "effective-absolute")
CONTRIBUTION_ORDERS = ("contribution", "contribution-absolute")
GAINS = ("effective-gain", "effective-gain-absolute")
SAME_EFFECTIVE, SAME_MEASURE = "same.effective", "same."
FOCUS, CONTRIBUTIONS = "focus", "contribution"
IS_ATTENTION = by_construction("the attention itself", "no part of it lies in the left null space of T")


def round_digits(values: AnyFloats, mask: NDArray[np.bool_]) -> AnyFloats:
    """Values to nine significant digits each, so that rounding noise of float64 breaks no tie; to five where
    they are float32."""
    digits = DIGITS if values.dtype == np.float64 else DIGITS_OF_FLOAT32
    values = np.where(mask, values, 0.0).astype(np.float64)
    with np.errstate(divide="ignore"):
        exponent = np.maximum(np.floor(np.log10(np.abs(values))), MIN_EXPONENT)
    scale = 10.0 ** (digits - 1 - exponent)
    return np.round(values * scale) / scale


def effective_attention(view: ModelView) -> tuple[AnyFloats, NDArray[np.bool_]]:
    """The effective attention of every unit [N, n], and for which texts [N] it is the attention; the
    attention itself where the values are not known that it depends on."""
    site = view.explanation.site
    if site is not None and not site.has_values:
        return view.canonical, np.ones(len(view.mask), dtype=bool)
    values = view.numbers_of("effective-attention")
    size = np.abs(view.canonical).max(axis=1, initial=0.0, keepdims=True)
    same = (np.abs(values - view.canonical) <= SAME_ATTENTION * size).all(axis=1)
    # Rounding noise must not order what is zero.
    scale = np.where(size > 0, size, 1.0) * TAU_TIE
    return np.where(same[:, None], view.canonical, np.round(values / scale) * scale), same


def focus_of(weights: AnyFloats, importance: AnyFloats, mask: NDArray[np.bool_]) -> NDArray[np.float64]:
    """How important the tokens are that hold the weight: Σ |a_i| |m_i| / (Σ |a_i| max |m_i|).

    1 if all weight lies on the most important token. Shapes: [..., N, n], broadcast → [..., N]; NaN for a
    text of fewer than two tokens, and where all weights or all importances are 0.
    """
    size, importance = (
        np.where(mask, np.abs(part), 0.0).astype(np.float64) for part in (weights, importance)
    )
    total, largest = size.sum(axis=-1), importance.max(axis=-1, initial=0.0)
    known = (total > 0) & (largest > 0) & (mask.sum(axis=-1) > 1)
    # Each is divided by itself first: tiny gradients of saturated predictions must not underflow.
    shares = size / np.where(total > 0, total, 1.0)[..., None]
    relative = importance / np.where(largest > 0, largest, 1.0)[..., None]
    return np.where(known, (shares * relative).sum(axis=-1), np.nan)


def large_where(card: AuditCard, finding: Finding) -> Holds:
    """Moderate agreement of sizes, more than random weights have, and more on what is important."""
    return HOLDS_OF_ANSWER[is_large_where_tokens_matter(card, finding.against)]


def says_side(card: AuditCard, finding: Finding) -> Holds | None:
    """For signed weights alone."""
    return HOLDS_OF_ANSWER[agrees(finding)] if card.facts.get("signed") else None


def moderate_note(card: AuditCard) -> str:
    """From which τ on."""
    return f"moderate from {GOOD_AGREEMENT:g}"


class Agreement(Audit):
    """Kendall τ-b of the audited explanation with each importance measure, per example.

    Signed, if it has signs, and absolute; next to it the same τ for random numbers. Of attention that of its
    contribution too, the sign in either gauge, and where it exists the τ for uniform weights. Huang, Yang and
    Wang 2024, section 5.2, with gauge and target fixed.

    ``focus`` says how important the tokens with the weight are, by each measure (`focus_of`) and, of
    attention, by the size of their own contribution; its nulls are random and uniform weights. A rank
    correlation hardly notices one token that holds nearly all weight and does nothing, and to take the weight
    of such a sink away gives it to the others: of its contribution alone it is seen that it has none.

    Further references (``AuditRequest.references``) are other explanations: τ says how alike both order the
    tokens, and not which of them is right. One without signs is compared by size.

    The same for effective attention, the part of the weights that the output of the head can show (Brunner et
    al. 2019), and its gain: its τ minus that of attention, text by text.
    """

    question = "does the explanation rank tokens like gradients, and like removing their weights?"
    citation = "Jain and Wallace 2019; Huang, Yang and Wang 2024, section 5.2"
    effective_citation = "Brunner et al. 2019"
    of_tokens = True
    title = "Agreement"
    about = (
        "Does the explanation rank the {tokens} like gradients, and like removing the "
        "attention weight of {a_token} (the {token} stays in the {text})? Mean "
        "Kendall τ-b over the examples; 1 is the "
        "same order, 0 no relation, −1 the reverse order. And how important the {tokens} are that hold most "
        "of it."
    )
    place = 20
    words: ClassVar = {
        "gradient": "gradient",
        "erasure-zero-weight": "removal of the weight (set to zero)",
        "erasure-renormalise": "removal of the weight (others renormalised)",
        **EXPLANATION_WORDS,
        "effective": f"effective attention{CANONICAL_GAUGE}",
        "effective-absolute": "effective attention, absolute",
        "effective-gain": "effective minus attention",
        "effective-gain-absolute": "effective minus attention, absolute",
        "focus": "importance of the {tokens} that hold it (1: all on the most important)",
    }
    joint = "with"
    questions = (
        Question(
            "{method}" + ABSOLUTE,
            "gradient",
            title="Is {method} large where the gradient is?",
            unit="Kendall τ-b",
            within=TAU,
            ignores_counts=True,
            borders=ORDER_BORDERS,
            claim="where {method} is large, the prediction is sensitive to the {token}",
            holds=large_where,
            claim_at=(GOOD_AGREEMENT,),
            note=moderate_note,
        ),
        Question(
            "{method}" + ABSOLUTE,
            "erasure-renormalise",
            title="Is {method} large where removing {a_token}'s weight matters?",
            unit="Kendall τ-b",
            within=TAU,
            ignores_counts=True,
            borders=ORDER_BORDERS,
            claim="where {method} is large, the prediction changes without the weight of the {token}",
            holds=large_where,
            claim_at=(GOOD_AGREEMENT,),
            note=moderate_note,
        ),
        Question(
            "{method}",
            "erasure-renormalise",
            title="Does the sign of {method} say which class {a_token} supports?",
            unit="Kendall τ-b with removed weights",
            within=TAU,
            ignores_counts=True,
            borders=ORDER_BORDERS,
            signed=True,
            claim="the sign of {method} says which class {a_token} supports",
            holds=says_side,
            claim_at=(GOOD_AGREEMENT,),
            note=moderate_note,
        ),
        Question(
            "contribution",
            "gradient",
            title="Does the contribution agree with the gradient?",
            unit="Kendall τ-b",
            within=TAU,
            borders=ORDER_BORDERS,
        ),
        Question(
            "contribution",
            "erasure-renormalise",
            title="Does the contribution agree with removing {tokens}' weights?",
            unit="Kendall τ-b",
            within=TAU,
            borders=ORDER_BORDERS,
        ),
        Question(
            "effective-gain*",
            "*",
            unit="difference of two τ-b",
            within=(-2.0, 2.0),
            no_null="attention",
            borders=(at(0.0),),
        ),
        Question(
            FOCUS,
            "*",
            unit="share of the largest importance",
            within=SHARE,
            borders=(at(0.0, minus="uniform"),),
        ),
        *(
            Question(
                pattern, "*", unit="Kendall τ-b", within=TAU, ignores_counts=audited, borders=ORDER_BORDERS
            )
            for pattern, audited in (("{method}", True), ("{method}" + ABSOLUTE, True), ("*", False))
        ),
    )

    def outcome(self, card: AuditCard) -> Outcome | None:
        """Whether the sizes of weights, or else contributions, or another explanation, order tokens as
        gradients and erasure do."""
        weights = {method: usable(card, by_size(card, AGREEMENT, method)) for method in METHODS}
        known = {METHODS[method]: finding for method, finding in weights.items() if finding is not None}
        open_findings = {method: finding for method, finding in known.items() if decisive(finding) is None}
        undecided = tuple(f"agreement with {method}" for method in open_findings)
        subject = "it"
        if card.method == ATTENTION and (not known or len(undecided) == len(known)):
            subject = f"what {card.nouns.tokens} contribute"
            contributed = {m: usable(card, f"{AGREEMENT}.contribution.{m}.all") for m in METHODS}
            known = {
                METHODS[method]: finding for method, finding in contributed.items() if finding is not None
            }
        levels = {method: agreement_level(f) for method, f in known.items() if decisive(f) is not None}
        if not levels:
            return Outcome("", undecided, (*open_findings.values(),)) if undecided else None
        numbers = "weights" if card.method == ATTENTION else "scores"
        return Outcome(f"{subject} {agreement_words(levels, numbers)}", undecided, (*open_findings.values(),))

    columns = (
        Column("tau.*.null.*", "float", "τ-b", "the same for random weights or scores"),
        Column("tau.*", "float", "τ-b", "Kendall's rank correlation of an explanation with a measure"),
        Column("p.*", "float", "probability", "its p-value"),
        Column("focus.*", "float", "share", "how important the tokens with the weight are"),
        Column(SAME_EFFECTIVE, "bool", "", "whether effective attention is the attention", shown=False),
        Column(
            "same.*", "float", "1 or 0", "whether a measure has the numbers of the explanation", shown=False
        ),
    )

    def unsupported_reason(self, view: ModelView) -> str | None:
        measures = {GRADIENT if name in GRADIENTS else name for name in view.measures.values()}
        own = GRADIENT if view.method in GRADIENTS else view.method
        if measures | {*view.references} == {own}:
            return f"nothing is left to compare {view.method!r} with: this model's attention cannot be erased"
        return None

    def measure(self, view: ModelView) -> Measured:
        mask, attends = view.mask, view.explainer.reads_weights
        by_sentence = view.sentence_of_token is not None
        chance = (view.draw if by_sentence else view.draw_scores)(AGREEMENT, view.scores_signed)
        columns: dict[str, NDArray[Any]] = {}
        if attends:
            variants, same = self._variants_of_attention(view, chance)
            columns[SAME_EFFECTIVE] = same
        else:
            variants = np.stack([view.scores, chance])
        site = view.explanation.site if view.reads_attention else None
        has_effective = attends and (site is None or site.has_values)
        measures = np.stack(list(view.importance.values()))
        signed = kendall_tau_b(round_digits(variants, mask), round_digits(measures, mask), mask)
        absolute = kendall_tau_b(
            round_digits(np.abs(variants), mask), round_digits(np.abs(measures), mask), mask
        )
        statistics = [
            one for one in self._statistics(view.settings, signed, absolute)
            if has_effective or one[2] != EFFECTIVE
        ]  # fmt: skip
        for m, (against, importance) in enumerate(view.importance.items()):
            if not attends or against in view.references:
                columns[SAME_MEASURE + against] = view.same_as_scores(importance)
            by_size_alone = not view.has_sides(against)
            for statistic, result, row, null in statistics:
                if by_size_alone and not statistic.endswith(ABSOLUTE):
                    continue
                column = column_name(statistic, against)
                columns[column] = result.tau[row, m]
                columns[f"p.{statistic}.{against}"] = result.pvalue[row, m]
                columns[null_column(column, "random")] = result.tau[null, m]
                # Uniform weights order nothing; uniform contributions order the tokens by polarity.
                # With one sign for all, so not where signs mean nothing.
                if attends and row == CONTRIBUTION:
                    tau = result.tau[UNIFORM, m]
                    columns[null_column(column, "uniform")] = (
                        tau if view.has_gauge else np.full_like(tau, np.nan)
                    )
            for statistic, result in zip(GAINS, (signed, absolute), strict=True) if has_effective else ():
                if by_size_alone and not statistic.endswith(ABSOLUTE):
                    continue
                gain = result.tau[EFFECTIVE, m] - result.tau[CANONICAL, m]
                columns[column_name(statistic, against)] = gain
        own = view.canonical if attends else view.scores
        held = view.importance | ({CONTRIBUTIONS: view.contributions} if attends else {})
        for against, importance in held.items():
            focus, random, uniform = (
                focus_of(values, importance, mask) for values in (own, chance, view.uniform)
            )
            column = column_name(FOCUS, against)
            columns |= {column: focus, null_column(column, "random"): random}
            columns[null_column(column, "uniform")] = uniform
        return Measured(columns, {AGREEMENT: {"against": list(view.importance)}})

    def judge(self, table: Table, settings: Settings) -> AuditResult:
        rng = settings.rng(AGREEMENT)
        measures = [
            against for against in settings.facts[AGREEMENT]["against"]
            if not all_same(table.get(SAME_MEASURE + against))
        ]  # fmt: skip
        names = [
            (statistic, against)
            for against in measures
            for statistic in self._names(settings)
            if column_name(statistic, against) in table
        ]
        of_contribution = [(FOCUS, CONTRIBUTIONS)] if settings.reads_weights else []
        names += [(FOCUS, against) for against in measures] + of_contribution
        findings = [
            finding
            for group in settings.groups
            for finding in self._findings(table, settings, names, group, rng)
        ]
        return AuditResult(findings)

    @staticmethod
    def _variants_of_attention(
        view: ModelView, chance: AnyFloats
    ) -> tuple[NDArray[np.floating], NDArray[np.bool_]]:
        """[variant, N, n]: attention and contribution, then their nulls, then the effective part; and for
        which texts [N] that is the attention."""
        o = view.polarity
        effective, same = effective_attention(view)
        weights, canonical, contributions = view.weights, view.canonical, view.contributions
        return np.stack(
            [weights, canonical, contributions, chance, chance * o, view.uniform * o, effective]
        ), same

    def _findings(
        self,
        table: Table,
        settings: Settings,
        names: Sequence[tuple[str, str]],
        group: Group,
        rng: np.random.Generator,
    ) -> Iterator[Finding]:
        """One finding for each statistic and measure, of one group."""
        members = group.members
        # Effective attention is the attention in all of it.
        same = bool(table[SAME_EFFECTIVE][members].all()) if SAME_EFFECTIVE in table else False
        columns = [column_name(*name) for name in names]
        nulls = [nulls_of(table, column, members) for column in columns]
        values = [table[column][members] for column in columns]
        summaries = self.summarise(names, values, nulls, rng=rng, level=group.level, settings=settings)
        for (statistic, against), column, summary in zip(names, columns, summaries, strict=True):
            tau, pvalue = table[column], table.get(f"p.{statistic}.{against}")
            significant = None if pvalue is None else pvalue[members & ~np.isnan(tau)] < ALPHA
            effective = statistic.startswith("effective")
            if effective and same:
                verdict: Verdict | None = IS_ATTENTION
            else:
                verdict = self._no_evidence_reason(settings, statistic, against)
            if verdict is None and statistic in GAINS:
                verdict = judge_gain(summary.reliable_interval, settings.nouns)
            elif verdict is None and statistic == FOCUS:
                verdict = judge_focus(summary.reliable_interval, summary.reliable_differences, settings.nouns)
            elif verdict is None:
                numbers = "weights" if settings.reads_weights else "scores"
                verdict = judge_agreement(
                    summary.reliable_interval, summary.reliable_differences, numbers, settings.nouns
                )
            undefined = self._undefined(table, settings.nouns, tau, members)
            if (
                verdict == TOO_FEW_EXAMPLES
                and statistic != FOCUS
                and undefined.get(all_tied(settings.nouns), 0) > members.sum() / 2
            ):
                verdict = no_order(settings.nouns)
            yield summary.finding(
                "agreement",
                statistic,
                verdict,
                group=group,
                citation=self.effective_citation if effective else self.citation,
                against=against,
                undefined=undefined,
                significant_fraction=None if significant is None else nan_mean(significant.astype(float)),
            )

    @staticmethod
    def _statistics(
        settings: Settings, signed: KendallResult, absolute: KendallResult
    ) -> list[tuple[str, KendallResult, int, int]]:
        """Name, result, variant and its null."""
        if not settings.reads_weights:
            by_size = (settings.method + ABSOLUTE, absolute, SCORES, RANDOM_SCORES)
            return [(settings.method, signed, SCORES, RANDOM_SCORES)] * settings.scores_signed + [by_size]
        statistics = [
            ("attention", signed, CANONICAL, CHANCE),
            ("attention-absolute", absolute, CANONICAL, CHANCE),
            ("contribution", signed, CONTRIBUTION, CHANCE_CONTRIBUTION),
            ("contribution-absolute", absolute, CONTRIBUTION, CHANCE_CONTRIBUTION),
            ("effective", signed, EFFECTIVE, CHANCE),
            ("effective-absolute", absolute, EFFECTIVE, CHANCE),
        ]
        # Unsigned weights have no gauge: raw and canonical are one number.
        return ([("attention-raw", signed, RAW, CHANCE)] if settings.signed else []) + statistics

    @staticmethod
    def _names(settings: Settings) -> list[str]:
        """The statistics that there may be, in order."""
        if not settings.reads_weights:
            return [settings.method, settings.method + ABSOLUTE]
        return [
            "attention-raw",
            "attention",
            "attention-absolute",
            *CONTRIBUTION_ORDERS,
            *WEIGHT_ORDERS[2:],
            *GAINS,
        ]

    @staticmethod
    def _no_evidence_reason(settings: Settings, statistic: str, against: str) -> Verdict | None:
        """What no number can decide: signs without a gauge, and what is true of any model."""
        if statistic == "attention-raw":
            return RAW_SIGN
        of_method = statistic.removesuffix(ABSOLUTE) in (settings.method, FOCUS)
        if (settings.sign_is_gauge and of_method) or statistic in (*WEIGHT_ORDERS, *GAINS):
            size = statistic.endswith(ABSOLUTE) or statistic == FOCUS
            without_side = settings.signed and settings.one_sided and not size
            return ONE_SIGNED if without_side else settings.sign_no_evidence_reason(size)
        # Zero-weight erasure changes z by the contribution.
        linear = settings.exact and (settings.binary or settings.is_regression)
        if not linear or against != "erasure-zero-weight" or statistic not in CONTRIBUTION_ORDERS:
            return None
        # Tokens that share what a sentence does are ordered by parts of it, where σ is curved.
        all_words = settings.of_tokens or settings.by_sentence
        nearly = "" if statistic == "contribution" and all_words else "nearly "
        return by_construction(f"{nearly}true", "z − a·o changes with a·o alone")

    @staticmethod
    def _undefined(table: Table, nouns: Nouns, tau: AnyFloats, members: NDArray[np.bool_]) -> dict[str, int]:
        """Why τ does not exist: fewer than two tokens, or nothing but ties on one side."""
        missing = members & np.isnan(tau)
        short = missing & (table["units"] < 2)
        counts = {few_tokens(nouns): int(short.sum()), all_tied(nouns): int((missing & ~short).sum())}
        return {reason: count for reason, count in counts.items() if count}


AUDITS.register(AGREEMENT)(Agreement())


def all_tied(nouns: Nouns) -> str:
    """Why the numbers of an input have no order."""
    return f"all {nouns.tokens} tied"


def judge_focus(interval: Interval | None, over: Mapping[str, Interval | None], nouns: Nouns) -> Verdict:
    """Judge focus from the interval of the paired difference from uniform weights."""
    uniform = over.get("uniform")
    if interval is None or uniform is None:
        return TOO_FEW_EXAMPLES
    if uniform[0] > 0:
        return Verdict(f"important {nouns.tokens} hold more than if all had the same")
    if uniform[1] < 0:
        return Verdict(f"important {nouns.tokens} hold less than if all had the same")
    return Verdict(f"not distinguishable from the same for all {nouns.tokens}")


def column_name(statistic: str, against: str) -> str:
    """The column of examples.parquet with the values of a statistic."""
    return f"{statistic}.{against}" if statistic == FOCUS else f"tau.{statistic}.{against}"


def judge_gain(interval: Interval | None, nouns: Nouns) -> Verdict:
    """Judge the interval of the mean difference of τ: of effective attention, and of attention."""
    if interval is None:
        return TOO_FEW_EXAMPLES
    if interval[0] > 0:
        return Verdict("the identifiable part agrees better than the attention")
    if interval[1] < 0:
        return Verdict("the identifiable part agrees worse than the attention")
    return Verdict(f"not distinguishable on these {nouns.texts}")
