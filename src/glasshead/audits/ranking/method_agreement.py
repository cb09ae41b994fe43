"""Whether two methods put the tokens of a text in the same order."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from glasshead.arrays import AnyFloats
from glasshead.audits.agreement import round_digits
from glasshead.audits.agreement_strength import judge_agreement
from glasshead.audits.ranking.methods import ScoredMethod
from glasshead.audits.ranking.standings import all_texts, bonferroni
from glasshead.audits.summary import all_same, summarise
from glasshead.audits.table import same_numbers
from glasshead.explainers import removable
from glasshead.results import RANK, TAU, MethodAgreement, by_construction
from glasshead.statistics import kendall_tau_b

CITATION = "Kendall 1945; Jain and Wallace 2019"
SAME_METHOD = by_construction("the same", "the two methods give this model the same scores")


def method_agreement(
    methods: Sequence[ScoredMethod], rng: np.random.Generator
) -> tuple[list[MethodAgreement], dict[str, AnyFloats]]:
    """Kendall τ-b of the scores of each pair, text by text: of the scores where both have signs, else of
    their sizes. The null has random numbers in the place of the first."""
    pairs = list(combinations(range(len(methods)), 2))
    if not pairs:
        return [], {}
    explanation = methods[0].context.explanation
    mask, nouns = removable(explanation).numpy(), explanation.encoded.nouns
    scores = np.stack([method.order.scores for method in methods])
    signed = [method.context.settings.has_sides for method in methods]
    tables = {}
    for with_signs in (True, False):
        chance = methods[0].context.draw_scores(f"{TAU} {with_signs}", with_signs)
        values = round_digits(np.stack([*(scores if with_signs else np.abs(scores)), chance]), mask)
        tables[with_signs] = kendall_tau_b(values, values, mask).tau
    chosen = [tables[signed[one] and signed[other]] for one, other in pairs]
    taus = [table[one, other] for table, (one, other) in zip(chosen, pairs, strict=True)]
    nulls = [{"random": table[-1, other]} for table, (_, other) in zip(chosen, pairs, strict=True)]
    level = bonferroni(len(pairs))
    agreements = []
    summaries = summarise(taus, nulls, rng=rng, level=level, within=(-1.0, 1.0))
    for (one, other), summary in zip(pairs, summaries, strict=True):
        same = all_same(same_numbers(scores[one], scores[other]))
        verdict = judge_agreement(summary.reliable_interval, summary.reliable_differences, "numbers", nouns)
        missing = len(mask) - summary.n
        finding = summary.finding(
            RANK,
            TAU,
            SAME_METHOD if same else verdict,
            group=all_texts(len(mask), level),
            citation=CITATION,
            against=f"{methods[one].name}+{methods[other].name}",
            undefined={f"fewer than two {nouns.words}, or all tied": missing} if missing else {},
        )
        agreements.append(MethodAgreement(one, other, finding))
    columns = {
        f"{TAU}.{methods[one].name}+{methods[other].name}": tau
        for (one, other), tau in zip(pairs, taus, strict=True)
    }
    return agreements, columns
