"""Whether two methods put the tokens of a text in the same order."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from glasshead.audits.judging.agreement_strength import judge_agreement
from glasshead.audits.judging.summary import all_same, null_column, summarise
from glasshead.audits.judging.table import Table
from glasshead.audits.ranking.rows import SAME, column_name, pair_name
from glasshead.audits.ranking.standings import all_texts, bonferroni
from glasshead.nouns import Nouns
from glasshead.results import RANK, TAU, MethodAgreement, by_construction

CITATION = "Kendall 1945; Jain and Wallace 2019"
SAME_METHOD = by_construction("the same", "the two methods give this model the same scores")


def method_agreement(
    names: Sequence[str], table: Table, nouns: Nouns, rng: np.random.Generator
) -> list[MethodAgreement]:
    """The mean τ-b of the scores of each pair over the texts. The null has random numbers instead of the
    first."""
    pairs = list(combinations(range(len(names)), 2))
    if not pairs:
        return []
    keys = [pair_name(names[one], names[other]) for one, other in pairs]
    taus = [table[column_name(TAU, key)] for key in keys]
    nulls = [{"random": table[null_column(column_name(TAU, key), "random")]} for key in keys]
    level = bonferroni(len(pairs))
    agreements = []
    summaries = summarise(taus, nulls, rng=rng, level=level, within=(-1.0, 1.0))
    for (one, other), key, tau, summary in zip(pairs, keys, taus, summaries, strict=True):
        same = all_same(table[column_name(SAME, key)])
        verdict = judge_agreement(summary.reliable_interval, summary.reliable_differences, "numbers", nouns)
        missing = len(tau) - summary.n
        finding = summary.finding(
            RANK,
            TAU,
            SAME_METHOD if same else verdict,
            group=all_texts(len(tau), level),
            citation=CITATION,
            against=key,
            undefined={f"fewer than two {nouns.words}, or all tied": missing} if missing else {},
        )
        agreements.append(MethodAgreement(one, other, finding))
    return agreements
