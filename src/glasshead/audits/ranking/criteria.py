"""The numbers of every text by which methods are held against each other."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from glasshead.arrays import Floats
from glasshead.audits.class_scores import choose_prediction_side
from glasshead.audits.curve_statistics import STATISTICS
from glasshead.audits.faithfulness import FAITHFULNESS, GAIN_RESOLUTION, ORDERS, OWN, Faithfulness
from glasshead.audits.plausibility import Plausibility, mark_overlap
from glasshead.audits.progress import StageProgress
from glasshead.audits.ranking.methods import ScoredMethod
from glasshead.audits.removal_curves import (
    Orders,
    ValueDrops,
    in_float32,
    random_orders,
    statistic_weights,
    statistics_along,
)
from glasshead.audits.summary import all_same, few_tokens
from glasshead.audits.table import same_numbers
from glasshead.audits.view import ModelView
from glasshead.explainers import REMOVALS, removable
from glasshead.results import AUPRC, Interval, Verdict
from glasshead.statistics import UNKNOWN

WITHOUT_MARKS = "no {word} marked, every {word} marked, or some method explains another class"


@dataclass(frozen=True)
class Criterion:
    """One statistic of every method [M, N], under one meaning of deleting, and the same of random orders
    [M, D, N]; NaN of texts that have none. Why the numbers of a method are no evidence stands by its name."""

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
    return statistic == AUPRC or STATISTICS[statistic].larger_is_better


def fitting_removals(context: ModelView) -> list[str]:
    """The meanings of deleting that are about inputs of this kind."""
    return [name for name, removal in REMOVALS.items() if removal.fits(context.explanation.encoded)]


def check_removals(context: ModelView, names: Sequence[str]) -> tuple[dict[str, str], dict[str, str]]:
    """What each meaning of deleting does that this model allows, those first that change the text, and why it
    does not allow the others."""
    names = sorted(names, key=lambda name: REMOVALS[name].edits_attention)
    reasons = {name: REMOVALS[name].unsupported_reason(context.explanation) for name in names}
    meanings = {name: REMOVALS[name].description for name, reason in reasons.items() if reason is None}
    return meanings, {name: reason for name, reason in reasons.items() if reason is not None}


def faithfulness_criteria(
    context: ModelView,
    methods: Sequence[ScoredMethod],
    removals: Sequence[str],
    seed: int,
    stages: StageProgress,
) -> Iterator[Criterion]:
    """Every statistic of faithfulness under every meaning of deleting. All methods and the random orders of
    a text are one call, in which a set of tokens is asked once."""
    no_evidence = {method.name: method.order.no_evidence for method in methods}
    explanation, side = in_float32(context), choose_prediction_side(context)
    words = removable(explanation).numpy()
    counts = words.sum(axis=1)
    weights = statistic_weights(counts, words.shape[1])
    nulls = random_orders(words, ORDERS, partial(context.with_seed(seed).rng, FAITHFULNESS))
    orders = Orders.of(np.stack([method.order.ranks for method in methods])).beside(nulls)
    missing = f"{few_tokens(context.nouns)}, or no number for what is left"
    for removal in removals:
        stages.begin(f"without {context.nouns.tokens} ({removal})")
        drops = ValueDrops(explanation, removal, side)
        table = statistics_along(drops, orders, counts >= 2, weights)
        for statistic, values in table.items():
            own, random = values[: len(methods)], values[len(methods) :]
            draws = np.broadcast_to(random, (len(own), *random.shape))
            within = Faithfulness().question_of(statistic, OWN).range(context.settings.task)
            yield Criterion(statistic, removal, own, draws, no_evidence, missing, within)


def plausibility_criterion(methods: Sequence[ScoredMethod], seed: int) -> Criterion | None:
    """How the scores agree with what people have marked, of the texts that every method can be asked about;
    None where nobody has marked any, or labels are ratings."""
    if methods[0].context.marks is None or methods[0].context.is_regression:
        return None
    overlaps = {}
    for method in methods:
        view = method.context.with_seed(seed)
        rows = {**view.inputs, **Plausibility().measure(view).columns}
        overlaps[method.name] = mark_overlap(rows, view.settings)
    values, draws = (
        np.stack([getattr(overlap, table)[AUPRC] for overlap in overlaps.values()])
        for table in ("values", "draws")
    )
    lacking = np.isnan(values).any(axis=0)
    values[:, lacking], draws[:, :, lacking] = np.nan, np.nan
    no_evidence = {name: overlap.no_evidence for name, overlap in overlaps.items()}
    missing = methods[0].context.nouns.fill(WITHOUT_MARKS)
    within = Plausibility().question_of(AUPRC, "").range(None)
    return Criterion(AUPRC, "", values, draws, no_evidence, missing, within)


def distinct_criteria(
    criteria: Sequence[Criterion], own: Collection[str]
) -> tuple[list[Criterion], dict[str, str]]:
    """The criteria without meanings of deleting that do on these texts what another one does, and which is in
    the place of each. Of several that are one edit the first stays that a method uses itself (``own``), else
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


def equal_methods(methods: Sequence[ScoredMethod]) -> list[tuple[str, str]]:
    """The methods whose scores are the same for this model."""
    return [
        (one.name, other.name)
        for place, one in enumerate(methods)
        for other in methods[place + 1 :]
        if all_same(same_numbers(one.order.scores, other.order.scores))
    ]
