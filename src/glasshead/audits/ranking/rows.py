"""What rankings measure of every input: faithfulness and cost of every method, and where methods agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from glasshead.arrays import AnyFloats
from glasshead.audits.agreement import round_digits
from glasshead.audits.faithfulness import FAITHFULNESS, ORDERS
from glasshead.audits.judging.base import Measure, Measured
from glasshead.audits.judging.summary import null_column
from glasshead.audits.judging.table import Column, Table, lists, same_numbers
from glasshead.audits.measuring.class_scores import choose_prediction_side
from glasshead.audits.measuring.removal_curves import (
    Orders,
    ValueDrops,
    in_float32,
    random_orders,
    statistic_weights,
    statistics_along,
)
from glasshead.audits.measuring.view import ModelView
from glasshead.audits.plausibility import Plausibility
from glasshead.audits.ranking.methods import ScoredMethod, prediction_seconds, score_methods
from glasshead.explainers import removable
from glasshead.results import TAU
from glasshead.statistics import kendall_tau_b

RANKING = "ranking"
DRAWS, GAP, SAME, SECONDS = "draws", "gap", "same", "seconds"


def column_name(*parts: str) -> str:
    """The name of a column: its parts but for those that are empty."""
    return ".".join(part for part in parts if part)


def pair_name(one: str, other: str) -> str:
    """Two methods in the name of a column."""
    return f"{one}+{other}"


@dataclass(frozen=True)
class RankingRows(Measure):
    """Every method before each input, under every type of deletion. One call serves all methods and the
    random orders of an input, and asks about each set of tokens once."""

    methods: tuple[str, ...]
    removals: tuple[str, ...]

    columns: ClassVar[tuple[Column, ...]] = (
        Column(f"{DRAWS}.*", "floats", "ŷ", "the same statistic along random orders"),
        Column(f"{GAP}.*", "float", "ŷ", "how far the numbers of a method miss the sum they should have"),
        Column(f"{SAME}.*", "float", "", "whether two methods give the same scores"),
        Column(f"{SECONDS}*", "float", "seconds", "the time of a method, or of the plain prediction"),
        Column(f"{TAU}.*", "float", "τ-b", "how alike two methods order the tokens"),
        *(column._replace(pattern=column_name(column.pattern, "*")) for column in Plausibility.columns),
        Column("*", "float", "ŷ", "a statistic of faithfulness: method, statistic, type of deletion"),
    )

    def measure(self, view: ModelView) -> Measured:
        methods = list(score_methods(view, self.methods))
        columns: dict[str, NDArray[Any]] = {
            SECONDS: np.full(len(view.texts), prediction_seconds(view.explanation))
        }
        for method in methods:
            columns[column_name(SECONDS, method.name)] = np.full(len(view.texts), method.seconds)
            gaps = method.context.explainer.completeness_gaps(method.context.explanation)
            if gaps is not None:
                columns[column_name(GAP, method.name)] = gaps.double().numpy()
        columns |= faithfulness_columns(view, methods, self.removals)
        columns |= agreement_columns(view, methods)
        if view.marks is not None and not view.is_regression:
            for method in methods:
                marks = Plausibility().measure(method.context).columns
                columns |= {column_name(name, method.name): values for name, values in marks.items()}
        return Measured(columns)


def faithfulness_columns(
    view: ModelView, methods: Sequence[ScoredMethod], removals: Sequence[str]
) -> Mapping[str, NDArray[Any]]:
    """Every statistic of faithfulness under every type of deletion, of the methods and of random orders; NaN
    of texts of fewer than two tokens."""
    explanation, side = in_float32(view), choose_prediction_side(view)
    words = removable(explanation).numpy()
    counts = words.sum(axis=1)
    weights = statistic_weights(counts, words.shape[1])
    nulls = random_orders(words, ORDERS, partial(view.rng, FAITHFULNESS))
    orders = Orders.of(np.stack([method.order.ranks for method in methods])).beside(nulls)
    columns: dict[str, NDArray[Any]] = {}
    for removal in removals:
        drops = ValueDrops(explanation, removal, side)
        for statistic, values in statistics_along(drops, orders, counts >= 2, weights).items():
            for method, own in zip(methods, values, strict=False):
                columns[column_name(method.name, statistic, removal)] = own
            columns[column_name(DRAWS, statistic, removal)] = lists([*values[len(methods) :].T])
    return columns


def agreement_columns(view: ModelView, methods: Sequence[ScoredMethod]) -> Mapping[str, AnyFloats]:
    """Kendall τ-b of the scores of each pair, text by text: of the scores where both have signs, else of
    their sizes; with random numbers instead of the first; and whether the scores are the same."""
    pairs = list(combinations(range(len(methods)), 2))
    if not pairs:
        return {}
    mask = removable(view.explanation).numpy()
    scores = np.stack([method.order.scores for method in methods])
    signed = [method.context.settings.has_sides for method in methods]
    tables = {}
    for with_signs in (True, False):
        chance = view.draw_scores(f"{TAU} {with_signs}", with_signs)
        values = round_digits(np.stack([*(scores if with_signs else np.abs(scores)), chance]), mask)
        tables[with_signs] = kendall_tau_b(values, values, mask).tau
    columns = {}
    for one, other in pairs:
        name = pair_name(methods[one].name, methods[other].name)
        table = tables[signed[one] and signed[other]]
        columns[column_name(TAU, name)] = table[one, other]
        columns[null_column(column_name(TAU, name), "random")] = table[-1, other]
        columns[column_name(SAME, name)] = same_numbers(scores[one], scores[other])
    return columns


def rows_of_marks(table: Table, method: str) -> Table:
    """What was measured of a method next to human marks, by the names that its audit knows."""
    return {column.pattern: table[column_name(column.pattern, method)] for column in Plausibility.columns}
