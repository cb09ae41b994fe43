"""Does the prediction depend on the tokens that the explanation puts first?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from glasshead.arrays import Flags, Floats
from glasshead.audits.judging.base import AUDITS, Audit, AuditResult, Measured
from glasshead.audits.judging.border import at
from glasshead.audits.judging.curve_statistics import MOST_SEARCHED, MOST_SUBSETS, STATISTICS
from glasshead.audits.judging.question import (
    OVER_RANDOM,
    Outcome,
    Question,
    decisive,
    log_change,
    log_prediction,
    over_chance,
    over_random,
    prediction_range,
    usable,
)
from glasshead.audits.judging.slices import Group
from glasshead.audits.judging.summary import Interval, few_tokens, null_column, nulls_of
from glasshead.audits.judging.table import Column, Table, lists
from glasshead.nouns import Nouns
from glasshead.results import NEGLIGIBLE, TOO_FEW_EXAMPLES, AuditCard, Finding, Verdict, curve_column
from glasshead.spelling import spell

if TYPE_CHECKING:
    from glasshead.audits.judging.settings import Settings
    from glasshead.audits.measuring.view import ModelView

FAITHFULNESS = "faithfulness"
ORDERS = 2
"""Random sets of tokens of each size in every text, whose mean is the null: one from each end of an order."""
EXACT_TEXTS, TEXTS = 200, 50
"""How many texts are asked where the outputs are linear in the weights, and where a pass is a whole model."""
REFERENCE_TEXTS = 50
"""How many of them have a greedy order."""
GAIN_RESOLUTION = 1e-6
"""Models run in float32: a smaller difference between two orders is rounding."""
OWN, GREEDY, BEST = "", "greedy", "best"
"""What a statistic is compared with, by a finding's `against`: nothing, or another order."""
CALLED = {OWN: "random {tokens}", GREEDY: "a greedy order", BEST: "the best order"}
NOT_DRAWN, UNANSWERED = "not drawn", "no prediction for the rest of it"
LIMITS = {GREEDY: MOST_SEARCHED, BEST: MOST_SUBSETS}


DIFFERENCE = "a difference from another order"


class Faithfulness(Audit):
    """Comprehensiveness, sufficiency, and the areas under the deletion and the insertion curve, per text.

    ŷ is the probability of the predicted class or, of a rating, how far it lies on its side of the mean
    label, and tokens go, or are kept alone, from the largest score towards it down: 1, 5, 10, 20 and 50 % of
    them. The areas are those of the straight lines between these points and the two ends. ``removal`` says
    what it means that a token goes: of cutting it out comprehensiveness and sufficiency are those of ferret,
    and of ERASER but for texts of fewer than 20 tokens, in which no number of tokens counts twice here. The
    null is the mean over random sets of as many tokens of the same text. It also has the differences from a
    greedy order and, of short texts, from the best of all orders, where the outputs are linear in the
    weights, or ``references`` asks for them. Without ``removal`` it is the usual one of the
    inputs: words are cut out, patches of images painted over. Models run in float32.
    """

    question = "does the prediction depend on the tokens that it ranks first?"
    citation = "DeYoung et al. 2020; Samek et al. 2017; Petsiuk, Das and Saenko 2018"
    of_tokens = True
    title = "Faithfulness"
    about = (
        "Does the prediction depend on the {tokens} that the explanation ranks first? Means over the "
        "examples of how ŷ, the probability of the predicted class or the rating, changes "
        "as {tokens} are removed in that order, and as only they are kept. "
        "Comprehensiveness and insertion are faithful if large, "
        "sufficiency and deletion if small. The null has as many random {tokens}."
    )
    place = 70
    words: ClassVar = {
        "comprehensiveness": "comprehensiveness: fall of ŷ without the top-ranked {tokens}",
        "sufficiency": "sufficiency: fall of ŷ with the top-ranked {tokens} alone",
        "deletion": "area under the deletion curve",
        "insertion": "area under the insertion curve",
        "greedy": "minus that of a greedy order",
        "best": "minus that of the best order",
    }
    questions = (
        Question(
            "comprehensiveness",
            title="Does removing the top-ranked {tokens} lower {prediction}?",
            unit="fall of {log}ŷ",
            within=log_change,
            borders=OVER_RANDOM,
            claim="removing the {tokens} that {method} ranks first lowers the prediction more than removing "
            "others",
            holds=over_chance,
            claim_at=(NEGLIGIBLE,),
        ),
        Question(
            "sufficiency",
            title="Do the top-ranked {tokens} alone keep {prediction}?",
            unit="fall of {log}ŷ",
            within=log_change,
            low_is_good=True,
            borders=OVER_RANDOM,
        ),
        Question(
            "deletion",
            unit="mean {log}ŷ",
            within=log_prediction,
            low_is_good=True,
            borders=OVER_RANDOM,
        ),
        Question("insertion", unit="mean {log}ŷ", within=log_prediction, borders=OVER_RANDOM),
        Question(
            "deletion",
            "*",
            unit="mean {log}ŷ",
            within=log_change,
            low_is_good=True,
            no_null=DIFFERENCE,
            borders=(at(0.0),),
        ),
        Question(
            "sufficiency",
            "*",
            unit="fall of {log}ŷ",
            within=log_change,
            low_is_good=True,
            no_null=DIFFERENCE,
            borders=(at(0.0),),
        ),
        Question("*", "*", unit="{log}ŷ", within=log_change, no_null=DIFFERENCE, borders=(at(0.0),)),
    )

    def outcome(self, card: AuditCard) -> Outcome | None:
        """Whether it is more faithful than random tokens, which is the least that it must be."""
        finding = usable(card, f"{FAITHFULNESS}.comprehensiveness.all")
        if finding is None:
            return None
        random = card.nouns.fill(CALLED[OWN])
        if decisive(finding) is None:
            return Outcome("", (f"faithfulness against {random}",), (finding,))
        low, high = over_random(finding)
        if max(-low, high) < NEGLIGIBLE * (prediction_range(card) or 0.0):
            return Outcome(f"it is about as faithful as {random}")
        if low > 0:
            return Outcome(f"it is more faithful than {random}")
        if high < 0:
            return Outcome(f"it is less faithful than {random}")
        return Outcome(f"it is not shown to be more faithful than {random}")

    def __init__(self, references: bool = False, removal: str | None = None) -> None:
        self.references, self.removal = references, removal

    def unsupported_reason(self, view: ModelView) -> str | None:
        if view.sentence_of_token is not None:
            return f"this audit removes {view.nouns.tokens}: leave {spell('level')} out"
        return None

    columns = (
        Column(
            "*.curve*",
            "floats",
            "ŷ",
            ("ŷ as shares 0, 0.1, …, 1 of the tokens are removed, or are the only ones kept"),
        ),
        Column("faithfulness.*", "float", "ŷ", "a statistic along an order of the tokens, or its null"),
        Column("removable", "int", "tokens", "how many tokens can be taken out", shown=False),
        Column("drawn.*", "bool", "", "whether the text was measured along such an order", shown=False),
    )

    def most(self, settings: Settings) -> int | None:
        return EXACT_TEXTS if settings.exact else TEXTS

    def measure(self, view: ModelView) -> Measured:
        from glasshead.audits.measuring.class_scores import choose_prediction_side, token_order
        from glasshead.audits.measuring.reference_orders import best_statistics, greedy_ranks
        from glasshead.audits.measuring.removal_curves import (
            Orders,
            ValueDrops,
            curve_statistics,
            curves_along,
            in_float32,
            lengths_asked,
            random_sets,
            statistic_weights,
            statistics_along,
            values_at_shares,
        )

        order = token_order(view)
        removal = self.removal or view.explanation.encoded.removals[0]
        drops = ValueDrops(in_float32(view), removal, choose_prediction_side(view))
        drops.words = view.words
        counts = drops.words.sum(axis=1)
        weights = statistic_weights(counts, drops.words.shape[1])
        drawn, own = counts >= 2, Orders.of(order.ranks[None])
        nulls_of_texts = random_sets(drops.words, weights, ORDERS, partial(view.rng, FAITHFULNESS))
        lengths = lengths_asked(weights, drawn)
        curves = curves_along(drops, own.beside(nulls_of_texts), lengths)
        along = curve_statistics(curves, weights, drops.prediction)
        values, drawn_texts = {OWN: {name: table[0] for name, table in along.items()}}, {OWN: drawn}
        nulls = {name: table[1:].mean(axis=0) for name, table in along.items()}
        if self.references or view.settings.exact:
            referred = view.asked(REFERENCE_TEXTS)
            some = drawn & (counts <= MOST_SEARCHED) & referred
            greedy = statistics_along(
                drops, Orders.of(greedy_ranks(drops, some, view.resolution)[None]), some, weights
            )
            short = (counts >= 2) & (counts <= MOST_SUBSETS) & referred
            of_short = statistics_along(drops, own, short, weights)
            best = best_statistics(drops, short, weights)
            values[GREEDY] = {
                name: difference(values[OWN][name], table[0], view.resolution)
                for name, table in greedy.items()
            }
            values[BEST] = {
                name: difference(of_short[name][0], table, view.resolution) for name, table in best.items()
            }
            drawn_texts |= {GREEDY: some, BEST: short}
        columns: dict[str, NDArray[Any]] = {"removable": counts}
        for against, table in values.items():
            columns |= {column_name(name, against): column for name, column in table.items()}
            columns[drawn_column(against)] = drawn_texts[against]
        columns |= {null_column(column_name(name), "random"): null for name, null in nulls.items()}
        for name, along_shares in values_at_shares(curves, lengths, counts, drops.prediction).items():
            column = curve_column(name)
            columns[column] = lists(along_shares[0])
            columns[null_column(column, "random")] = lists(along_shares[1:].mean(axis=0))
        return Measured(columns, {"removal": drops.removal.name})

    def judge(self, table: Table, settings: Settings) -> AuditResult:
        rng = settings.rng(FAITHFULNESS)
        findings = [
            finding
            for group in settings.groups
            for against in (OWN, GREEDY, BEST)
            if drawn_column(against) in table
            for finding in self.findings(table, settings, against, group, rng)
        ]
        return AuditResult(findings, facts={"faithfulness_texts": int(table[drawn_column(OWN)].sum())})

    def findings(
        self,
        table: Table,
        settings: Settings,
        against: str,
        group: Group,
        rng: np.random.Generator,
    ) -> Iterator[Finding]:
        """One finding for each statistic: itself next to its null, or its difference from another order."""
        columns = {name: column_name(name, against) for name in STATISTICS}
        summaries = self.summarise(
            [(name, against) for name in columns],
            [table[column][group.members] for column in columns.values()],
            [{} if against else nulls_of(table, column, group.members) for column in columns.values()],
            rng=rng,
            level=group.level,
            settings=settings,
        )
        undefined = count_texts_without_order(
            [table[column] for column in columns.values()], table, group.members, against, settings.nouns
        )
        for name, summary in zip(columns, summaries, strict=True):
            over = summary.reliable_interval if against else summary.reliable_differences.get("random")
            yield summary.finding(
                FAITHFULNESS,
                name,
                settings.order_no_evidence_reason
                or faithfulness_verdict(over, name, settings.nouns, against, settings.prediction_range),
                group=group,
                citation=self.citation,
                against=against,
                undefined=undefined,
            )


AUDITS.register(FAITHFULNESS)(Faithfulness())


def column_name(statistic: str, against: str = OWN) -> str:
    """The column of a statistic, or of its difference from another order."""
    return ".".join(part for part in (FAITHFULNESS, statistic, against) if part)


def drawn_column(against: str) -> str:
    """The column that says which texts were asked along an order."""
    return f"drawn.{against or 'own'}"


def difference(values: Floats, others: Floats, resolution: float = GAIN_RESOLUTION) -> Floats:
    """One order minus another, text by text; 0 where that is rounding."""
    gaps = values - others
    return np.where(np.abs(gaps) < resolution * np.maximum(np.abs(values), 1), 0.0, gaps)


def count_texts_without_order(
    values: Sequence[Floats], table: Table, members: Flags, against: str, nouns: Nouns
) -> dict[str, int]:
    """How many texts of a group have no number, by reason."""
    missing = members & np.isnan(values).any(axis=0)
    counts, drawn = table["removable"], table[drawn_column(against)]
    reasons = {few_tokens(nouns): (counts < 2) & table["asked"]}
    if against:
        reasons[f"more than {LIMITS[against]} {nouns.tokens}"] = counts > LIMITS[against]
    reasons |= {NOT_DRAWN: ~drawn, UNANSWERED: drawn}
    result = {}
    for reason, flags in reasons.items():
        result[reason] = int((missing & flags).sum())
        missing = missing & ~flags
    return {reason: count for reason, count in result.items() if count}


def faithfulness_verdict(
    difference: Interval | None,
    statistic: str,
    nouns: Nouns,
    against: str = OWN,
    unit: float = 1.0,
) -> Verdict:
    """Judge the interval of the paired difference from random tokens, or from another order, alone; ``unit``
    is a change from one end of the predictions to the other."""
    if difference is None:
        return TOO_FEW_EXAMPLES
    low, high = difference if STATISTICS[statistic].larger_is_better else (-difference[1], -difference[0])
    hardly = "hardly " if max(-low, high) < NEGLIGIBLE * unit else ""
    other = nouns.fill(CALLED[against])
    if low > 0:
        return Verdict(f"{hardly}more faithful than {other}")
    if high < 0:
        return Verdict(f"{hardly}less faithful than {other}")
    return Verdict(f"not distinguishable from {other} on these {nouns.texts}")
