"""What is measured of every text: what its rows look like to every head, how far apart heads are, what the
prediction loses without each, and which relations of its tree they follow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor
from transformers import PreTrainedModel

from glasshead.arrays import Floats
from glasshead.audits.base import Measure, Measured
from glasshead.audits.head_report.head_agreement import DIVERGENCE, UNRELATED
from glasshead.audits.head_report.pair_divergence import PairDivergences
from glasshead.audits.head_report.removal import ablate_heads
from glasshead.audits.head_report.row_statistics import RowSum, row_sums, text_tokens
from glasshead.audits.head_report.text_statistics import (
    ENTROPY,
    OF_RANDOM,
    RANDOM_ENTROPY,
    RANDOM_MODELS,
    ROWS,
    TOTAL,
    UNIFORM,
    HeadReference,
    Key,
    LayerStatistics,
    column_name,
    layer_statistics,
    names_of_heads,
    places_of_heads,
)
from glasshead.audits.head_report.token_kinds import make_token_table
from glasshead.audits.head_report.views import AttentionView, Score, attention_views
from glasshead.audits.table import Column, lists
from glasshead.audits.view import ModelView
from glasshead.errors import InputError
from glasshead.explainers import TARGETS, ExplanationContext
from glasshead.huggingface import random_twin
from glasshead.identifiability import RowSelector, value_ranks

STATISTICS, PAIRS, REMOVAL = "statistics", "pairs", "removal"
IDENTIFIABLE, RATING, UNREAD = "identifiable", "rating", "unread"
Views = Iterator[Iterator[AttentionView]]


@dataclass(frozen=True)
class HeadRows(Measure):
    """The statistics of the rows of every head, those of random weights beside them, and whether a map is the
    only one; ``predicts`` says whether there is anything to differentiate."""

    reference: HeadReference
    predicts: bool

    columns: ClassVar[tuple[Column, ...]] = (
        Column(f"{TOTAL}.*", "floats", "", "by head a sum over the rows of the text"),
        Column(f"{ROWS}.*", "floats", "", "by head over how many rows, or over what mass"),
        Column(f"{UNIFORM}.*", "floats", "", "the same sum of uniform attention"),
        Column(f"{OF_RANDOM}.*", "floats", "", "by layer the mean over the heads of random models"),
        Column(RANDOM_ENTROPY, "floats", "", "by random model and head"),
        Column(IDENTIFIABLE, "floats", "", "by head 1 where its map is the only one with its output"),
        Column(RATING, "float", "ŷ", "what a regression predicts"),
    )

    def measure(self, view: ModelView) -> Measured:
        context = view.explanation
        columns, _ = read_heads(view, self)
        values: dict[str, NDArray[Any]] = {name: lists(own) for name, own in columns.items()}
        values |= {name: lists(own) for name, own in random_columns(view, self).items()}
        known, reason = identifiable_heads(context, self.reference)
        values[IDENTIFIABLE] = lists(known)
        if self.predicts and context.is_regression:
            values[RATING] = context.logits[:, 0].double().numpy()
        return Measured(values, {UNREAD: reason} if reason else {})


@dataclass(frozen=True)
class PairRows(Measure):
    """How far apart every two heads are, in the passes of ``rows``."""

    rows: HeadRows

    columns: ClassVar[tuple[Column, ...]] = (
        Column(DIVERGENCE, "floats", "bits", "of every two heads, each beside itself and those behind it"),
        Column(UNRELATED, "floats", "bits", "the same of an unrelated map of the same breadth"),
    )

    def measure(self, view: ModelView) -> Measured:
        _, pairs = read_heads(view, self.rows)
        return Measured(dict(zip((DIVERGENCE, UNRELATED), map(lists, pairs), strict=True)))


@dataclass(frozen=True)
class RemovalRows(Measure):
    """What the prediction loses without each head."""

    reference: HeadReference

    columns: ClassVar[tuple[Column, ...]] = (Column(REMOVAL, "floats", "ŷ", "by head ŷ − ŷ without it"),)

    def measure(self, view: ModelView) -> Measured:
        context, texts = view.explanation.towards_predicted(), len(view.texts)
        heads = [(layer, (head,)) for layer, head in names_of_heads(self.reference.layers)]
        drops = ablate_heads(
            context, context.target, heads, lambda done, total: context.progress(done * texts // total, texts)
        )
        return Measured({REMOVAL: lists(drops)})


def read_heads(view: ModelView, rows: HeadRows) -> tuple[Mapping[str, Floats], Floats]:
    """Statistics [texts, heads] and divergences of pairs [2, texts, pairs] of the same passes, which the view
    keeps."""
    cache = view.explanation.cache
    if STATISTICS not in cache:
        pairs = PairDivergences(rows.reference.layers, len(view.texts), view.rng)
        cache[STATISTICS] = gather(view, rows, view.explanation.model, pairs), pairs.values
    kept: tuple[Mapping[str, Floats], Floats] = cache[STATISTICS]
    return kept


def gather(
    view: ModelView, rows: HeadRows, model: PreTrainedModel, pairs: PairDivergences | None = None
) -> dict[str, Floats]:
    """Every statistic of the rows of a model, or of one with random weights, as columns [texts, heads];
    ``pairs`` takes how alike heads are."""
    context, reference = view.explanation, rows.reference
    encoded, facts = context.encoded, {one.layer: one for one in reference.layers}
    places, shape = (
        places_of_heads(reference.layers),
        (len(view.texts), len(names_of_heads(reference.layers))),
    )
    table = make_token_table(context.tokenizer, encoded, view.texts)
    columns: dict[str, Floats] = {}

    def add(text: int, heads: slice, one: RowSum) -> None:
        for kind, values in ((TOTAL, one.total), (ROWS, one.rows), (UNIFORM, one.null)):
            if values is not None:
                name = column_name(kind, (one.statistic, one.against))
                sums = columns.setdefault(name, np.zeros(shape))
                sums[text, heads] += values.detach().cpu().numpy()

    score = target_scores(context) if rows.predicts else None
    for batch in attention_views(model, encoded, score):
        for seen in batch:
            one = seen.of(facts[seen.facts.layer])
            for row_sum in row_sums(one, text_tokens(encoded, table, reference.frequent, one.text)):
                add(one.text, places[one.facts.layer], row_sum)
            if pairs is not None:
                pairs.add(one)
        if pairs is not None:
            pairs.finish_batch()
    return columns


def target_scores(context: ExplanationContext) -> Callable[[Tensor], Score]:
    """What is differentiated of the texts: the log-odds of the predicted class, or the rating."""
    name = "rating" if context.is_regression else "log-odds"
    predicted = context.towards_predicted().target
    return lambda texts: lambda logits: TARGETS[name](logits, predicted[texts].to(logits.device))


def random_columns(view: ModelView, rows: HeadRows) -> dict[str, Floats]:
    """The same of a few models that learned nothing: means over their heads, which are exchangeable, by layer
    [texts, layers], and the entropies of all of them [texts, models × heads]."""
    facts, texts = rows.reference.layers, len(view.texts)
    draws: dict[Key, Floats] = {}
    entropies = []
    for number in range(RANDOM_MODELS):
        twin = random_twin(view.explanation.model, RANDOM_MODELS * view.seed + number)
        layers = list(layer_statistics(facts, gather(view, rows, twin), texts))
        entropies += [layer.by_head(ENTROPY) for layer in layers]
        for place, layer in enumerate(layers):
            for key, values in means_over_heads(layer):
                draws.setdefault(key, np.full((RANDOM_MODELS, texts, len(facts)), np.nan))
                draws[key][number, :, place] = values
        view.explanation.progress(texts * (number + 1) // RANDOM_MODELS, texts)
    columns = {column_name(OF_RANDOM, key): values.mean(axis=0) for key, values in draws.items()}
    return columns | {RANDOM_ENTROPY: np.concatenate(entropies, axis=1)}


def means_over_heads(layer: LayerStatistics) -> Iterator[tuple[Key, Floats]]:
    """The mean over heads of every statistic [texts], of importance that of its size; and the inflation."""
    for key in layer.totals:
        values = layer.by_head(key)
        yield key, (np.abs(values) if key[0] == "gradient-importance" else values).mean(axis=1)
    for against in layer.about("relevance-share"):
        yield ("inflation", against), layer.inflation(against)


def identifiable_heads(context: ExplanationContext, reference: HeadReference) -> tuple[Floats, str]:
    """1 where the null space of the head's values is empty, 0 where it is not [texts, heads], NaN of texts
    that were not read; and a reason where the values cannot be had.

    Weights that sum to one are the only ones if LN([T, 1]) = {0}, others if LN(T) = {0}. A text in several
    parts is identifiable where all of them are. Source: Bhardwaj et al. (2021), section 2.2.
    """
    facts, places = {one.layer: one for one in reference.layers}, places_of_heads(reference.layers)
    result = np.full((len(context.encoded.ids), len(names_of_heads(reference.layers))), np.nan)
    try:
        for ranks in value_ranks(context.model, context.encoded, RowSelector()):
            if ranks.layer not in facts:
                continue
            null = ranks.null_with_ones if facts[ranks.layer].sums_to_one else ranks.null
            np.fmin.at(result[:, places[ranks.layer]], ranks.texts, (null == 0).astype(float))
    except InputError as error:
        return result * np.nan, str(error)
    return result, ""
