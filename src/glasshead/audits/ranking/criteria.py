"""The numbers of every text by which methods are compared with each other."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from glasshead.arrays import Floats
from glasshead.audits.faithfulness import GAIN_RESOLUTION, OWN, Faithfulness
from glasshead.audits.judging.curve_statistics import STATISTICS
from glasshead.audits.judging.summary import all_same, few_tokens
from glasshead.audits.judging.table import Table
from glasshead.audits.measuring.view import ModelView
from glasshead.audits.plausibility import Plausibility, mark_overlap
from glasshead.audits.ranking.methods import MethodFacts
from glasshead.audits.ranking.rows import DRAWS, SAME, column_name, pair_name, rows_of_marks
from glasshead.explainers import REMOVALS
from glasshead.nouns import Nouns
from glasshead.results import AUPRC, Interval, Verdict
from glasshead.statistics import UNKNOWN

WITHOUT_MARKS = "no {word} marked, every {word} marked, or some method explains another class"


@dataclass(frozen=True)
class Criterion:
    """One statistic of every method [M, N], under one type of deletion, and of random orders [M, D, N]; NaN
    for texts without a number. The reason why numbers are not evidence is next to the name of the method."""

    statistic: str
    against: str
    values: Floats
    draws: Floats
    no_evidence: Mapping[str, Verdict | None]
    missing: str = ""
    """Why some texts have no number."""
    within: Interval = UNKNOWN
    """The least and the most that it can be."""

    @property
    def nulls(self) -> Floats:
        """The mean over the random orders [M, N]."""
        return np.asarray(self.draws.mean(axis=1))

    @property
    def larger_is_better(self) -> bool:
        return larger_is_better(self.statistic)


def larger_is_better(statistic: str) -> bool:
    """Whether a method is the better the larger its statistic."""
    return statistic not in STATISTICS or STATISTICS[statistic].larger_is_better


def fitting_removals(context: ModelView) -> list[str]:
    """The types of deletion that are about inputs of this kind."""
    return [name for name, removal in REMOVALS.items() if removal.fits(context.explanation.encoded)]


def check_removals(context: ModelView, names: Sequence[str]) -> tuple[dict[str, str], dict[str, str]]:
    """What each type of deletion does that this model allows, those first that change the text, and why it
    does not allow the others."""
    names = sorted(names, key=lambda name: REMOVALS[name].edits_attention)
    reasons = {name: REMOVALS[name].no_sets_reason(context.explanation) for name in names}
    meanings = {name: REMOVALS[name].description for name, reason in reasons.items() if reason is None}
    return meanings, {name: reason for name, reason in reasons.items() if reason is not None}


def faithfulness_criteria(
    methods: Sequence[MethodFacts], removals: Sequence[str], table: Table, nouns: Nouns
) -> list[Criterion]:
    """Every statistic of faithfulness under every type of deletion; all methods have the same nulls."""
    no_evidence = {method.name: method.settings.order_no_evidence_reason for method in methods}
    missing = f"{few_tokens(nouns)}, or no number for what is left"
    criteria = []
    for removal, statistic in product(removals, STATISTICS):
        values = np.stack([table[column_name(method.name, statistic, removal)] for method in methods])
        random = np.stack([*table[column_name(DRAWS, statistic, removal)]], axis=1)
        draws = np.broadcast_to(random, (len(values), *random.shape))
        within = Faithfulness().question_of(statistic, OWN).range(methods[0].settings.task)
        criteria.append(Criterion(statistic, removal, values, draws, no_evidence, missing, within))
    return criteria


def plausibility_criterion(methods: Sequence[MethodFacts], table: Table, nouns: Nouns) -> Criterion | None:
    """How the scores agree with what people have marked, of the texts that every method can be asked about;
    None where no one has marked any, or labels are ratings."""
    if column_name(Plausibility.columns[0].pattern, methods[0].name) not in table:
        return None
    overlaps = {
        method.name: mark_overlap({**table, **rows_of_marks(table, method.name)}, method.settings)
        for method in methods
    }
    values, draws = (
        np.stack([getattr(overlap, kind)[AUPRC] for overlap in overlaps.values()])
        for kind in ("values", "draws")
    )
    lacking = np.isnan(values).any(axis=0)
    values[:, lacking], draws[:, :, lacking] = np.nan, np.nan
    no_evidence = {name: overlap.no_evidence for name, overlap in overlaps.items()}
    within = Plausibility().question_of(AUPRC, "").range(None)
    return Criterion(AUPRC, "", values, draws, no_evidence, nouns.fill(WITHOUT_MARKS), within)


def distinct_criteria(
    criteria: Sequence[Criterion], own: Collection[str]
) -> tuple[list[Criterion], dict[str, str]]:
    """The criteria without types of deletion that do on these texts what another one does, and which is
    instead of each. For several that are one edit the first stays that a method uses itself (``own``), else
    the first."""
    tables: dict[str, list[Floats]] = {}
    for criterion in criteria:
        tables.setdefault(criterion.against, []).extend([criterion.values, criterion.draws[0]])
    kept: dict[str, Floats] = {}
    dropped: dict[str, str] = {}
    for name in sorted(tables, key=lambda name: name not in own):
        values = np.concatenate(tables[name])
        same = (other for other, table in kept.items() if same_tables(values, table))
        if (other := next(same, None)) is None:
            kept[name] = values
        else:
            dropped[name] = other
    return [criterion for criterion in criteria if criterion.against in kept], dropped


def same_tables(values: Floats, others: Floats) -> bool:
    """Whether two edits have the same numbers in all texts, and have any."""
    known = not np.isnan(values).all()
    return known and np.allclose(values, others, rtol=0, atol=GAIN_RESOLUTION, equal_nan=True)


def equal_methods(names: Sequence[str], table: Table) -> list[tuple[str, str]]:
    """The methods whose scores are the same for this model."""
    return [
        (one, other)
        for one, other in combinations(names, 2)
        if all_same(table[column_name(SAME, pair_name(one, other))])
    ]
