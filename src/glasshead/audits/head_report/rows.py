"""What is measured of every text: what its rows look like to every head, how far apart heads are, what the
prediction loses without each, and which relations of its tree they follow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor
from transformers import PreTrainedModel

from glasshead.arrays import Floats
from glasshead.audits.head_report.head_agreement import DIVERGENCE, UNRELATED
from glasshead.audits.head_report.pair_divergence import PairDivergences
from glasshead.audits.head_report.removal import ablate_heads
from glasshead.audits.head_report.row_statistics import RowSum, UnitMeans, row_sums, text_tokens
from glasshead.audits.head_report.text_statistics import (
    ENTROPY,
    OF_RANDOM,
    PARTS,
    RANDOM_DIRECT,
    RANDOM_ENTROPY,
    RANDOM_MODELS,
    RECEIVED,
    RECEIVED_EVEN,
    ROWS,
    TOTAL,
    UNIFORM,
    Key,
    LayerFacts,
    LayerStatistics,
    column_name,
    layer_statistics,
    names_of_heads,
    places_of_heads,
)
from glasshead.audits.head_report.token_kinds import make_token_table
from glasshead.audits.head_report.views import AttentionView, Score, attention_views
from glasshead.audits.judging.base import Measure, Measured
from glasshead.audits.judging.table import Column, lists
from glasshead.audits.measuring.view import ModelView
from glasshead.data import Encoded, batches, heads_of, layers_of
from glasshead.errors import InputError
from glasshead.explainers import TARGETS, ExplanationContext
from glasshead.huggingface import random_twin
from glasshead.identifiability import RowSelector, value_ranks
from glasshead.inside import head_effects

STATISTICS, PAIRS, REMOVAL, DIRECT = "statistics", "pairs", "removal", "direct-effect"
IDENTIFIABLE, RATING, UNREAD = "identifiable", "rating", "unread"


@dataclass(frozen=True)
class HeadRows(Measure):
    """The statistics of the rows of every head, those of random weights next to them, and whether a map is
    the only one; ``predicts`` says whether there is anything to differentiate."""

    layers: tuple[LayerFacts, ...]
    predicts: bool

    columns: ClassVar[tuple[Column, ...]] = (
        Column(f"{TOTAL}.*", "floats", "", "by head: the sum over the rows of the text"),
        Column(f"{ROWS}.*", "floats", "", "by head: the number of rows, or their total weight"),
        Column(f"{UNIFORM}.*", "floats", "", "the same sum for uniform attention"),
        Column(f"{OF_RANDOM}.*", "floats", "", "by layer: the mean over the heads of random models"),
        Column(RANDOM_ENTROPY, "floats", "", "by random model and head"),
        Column(
            f"{RECEIVED}*",
            "floats",
            "",
            "by layer and place: the attention it gets, or would get from uniform rows",
        ),
        Column(PARTS, "ints", "", "the start of the part that a place is in"),
        Column(IDENTIFIABLE, "floats", "", "by head: 1 if its map is the only one with its output"),
        Column(RATING, "float", "ŷ", "what a regression predicts"),
    )

    def measure(self, view: ModelView) -> Measured:
        context = view.explanation
        sums, _ = read_heads(view, self)
        values = sums.columns()
        values |= {name: lists(own) for name, own in random_columns(view, self).items()}
        known, reason = identifiable_heads(context, self.layers)
        values[IDENTIFIABLE] = lists(known)
        if self.predicts and context.is_regression:
            values[RATING] = context.logits[:, 0].double().numpy()
        return Measured(values, {UNREAD: reason} if reason else {})


@dataclass(frozen=True)
class PairRows(Measure):
    """How far apart every two heads are, in the passes of ``rows``."""

    rows: HeadRows

    columns: ClassVar[tuple[Column, ...]] = (
        Column(DIVERGENCE, "floats", "bits", "for every pair of heads, including a head with itself"),
        Column(UNRELATED, "floats", "bits", "the same for an unrelated map of the same breadth"),
    )

    def measure(self, view: ModelView) -> Measured:
        _, pairs = read_heads(view, self.rows)
        return Measured(dict(zip((DIVERGENCE, UNRELATED), map(lists, pairs.values), strict=True)))


@dataclass(frozen=True)
class RemovalRows(Measure):
    """What the prediction loses without each head."""

    layers: tuple[LayerFacts, ...]

    columns: ClassVar[tuple[Column, ...]] = (Column(REMOVAL, "floats", "ŷ", "by head: ŷ − ŷ without it"),)

    def measure(self, view: ModelView) -> Measured:
        context, texts = view.explanation.towards_predicted(), len(view.texts)
        heads = [(layer, (head,)) for layer, head in names_of_heads(self.layers)]
        drops = ablate_heads(
            context, context.target, heads, lambda done, total: context.progress(done * texts / total, texts)
        )
        return Measured({REMOVAL: lists(drops)})


@dataclass(frozen=True)
class DirectRows(Measure):
    """What each head of a language model adds to the logit of the predicted token by the direct path; the
    null is that of models with random weights and of the tokens that these predict."""

    layers: tuple[LayerFacts, ...]

    columns: ClassVar[tuple[Column, ...]] = (
        Column(DIRECT, "floats", "logits", "by head what it adds to the predicted token's logit directly"),
        Column(column_name(OF_RANDOM, (DIRECT, "")), "floats", "logits", "by layer that of random models"),
        Column(RANDOM_DIRECT, "floats", "logits", "by random model and head"),
    )

    def measure(self, view: ModelView) -> Measured:
        model, texts = view.explanation.model, len(view.texts)
        width, random = len(names_of_heads(self.layers)), np.full((texts, len(self.layers)), np.nan)
        own, reason = np.full((texts, width), np.nan), ""
        draws = np.full((texts, RANDOM_MODELS, width), np.nan)
        try:
            own = self.effects(model, view.explanation)
            for number in range(RANDOM_MODELS):
                twin = random_twin(model, RANDOM_MODELS * view.seed + number)
                draws[:, number] = self.effects(twin, view.explanation)
                view.explanation.progress(texts * (number + 1) // RANDOM_MODELS, texts)
            of_heads = draws.mean(axis=1)
            for place, heads in enumerate(places_of_heads(self.layers).values()):
                random[:, place] = of_heads[:, heads].mean(axis=1)
        except InputError as error:
            reason = str(error)
        columns = {
            DIRECT: lists(own),
            column_name(OF_RANDOM, (DIRECT, "")): lists(random),
            RANDOM_DIRECT: lists(draws.reshape(texts, -1)),
        }
        return Measured(columns, {UNREAD: reason} if reason else {})

    def effects(self, model: PreTrainedModel, context: ExplanationContext) -> Floats:
        """By text and head [texts, heads]."""
        places, encoded = places_of_heads(self.layers), context.encoded
        result = np.full((len(encoded.ids), len(names_of_heads(self.layers))), np.nan)
        maps = 3 * heads_of(model.config) * layers_of(model.config)
        for texts, inputs in batches(encoded, device=model.device, maps=maps):
            for layer, values in head_effects(model, inputs).items():
                if layer in places:
                    result[texts.numpy(), places[layer]] = values.double().cpu().numpy()
        return result


class RowSums:
    """For each text the sums over its rows by head [texts, heads], and what every place of it receives from a
    layer on average [own or uniform, texts, layers, places], the start of a decoder first."""

    def __init__(self, layers: Sequence[LayerFacts], encoded: Encoded) -> None:
        self.places, self.shape = places_of_heads(layers), (len(encoded.ids), len(names_of_heads(layers)))
        self.order = {one.layer: place for place, one in enumerate(layers)}
        self.lengths: list[int] = encoded.mask.sum(dim=1).tolist()
        self.statistics: dict[str, Floats] = {}
        self.parts = np.zeros((len(encoded.ids), encoded.ids.shape[1] + 1), dtype=np.int64)
        self.received = np.full((2, len(encoded.ids), len(layers), encoded.ids.shape[1] + 1), np.nan)

    def add(self, view: AttentionView, sums: RowSum | UnitMeans) -> None:
        """Add a statistic of a view, or what its units receive."""
        text, layer = view.text, view.facts.layer
        if isinstance(sums, UnitMeans):
            for part, means in zip(self.received, (sums.own, sums.uniform), strict=True):
                part[text, self.order[layer], 1 + sums.places] = means.cpu().numpy()
            self.parts[text, 1 + sums.places] = max(view.keys[0], 0)
            return
        for name, values in ((TOTAL, sums.total), (ROWS, sums.rows), (UNIFORM, sums.null)):
            if values is not None:
                column = column_name(name, (sums.statistic, sums.against))
                of_heads = self.statistics.setdefault(column, np.zeros(self.shape))
                of_heads[text, self.places[layer]] += values.detach().cpu().numpy()

    def columns(self) -> dict[str, NDArray[Any]]:
        """All of it, a list for each text."""
        columns = {name: lists(values) for name, values in self.statistics.items()}
        for name, values in zip((RECEIVED, RECEIVED_EVEN), self.received, strict=True):
            own = [part[:, : n + 1].ravel() for part, n in zip(values, self.lengths, strict=True)]
            columns[name] = lists(own)
        parts = [own[: n + 1] for own, n in zip(self.parts, self.lengths, strict=True)]
        return columns | {PARTS: lists(parts)}


def read_heads(view: ModelView, rows: HeadRows) -> tuple[RowSums, PairDivergences]:
    """Sums over rows and divergences of pairs, by the same passes: the view keeps them."""
    cache = view.explanation.cache
    if STATISTICS not in cache:
        pairs = PairDivergences(rows.layers, len(view.texts), view.rng)
        cache[STATISTICS] = sum_rows(view, rows, view.explanation.model, pairs), pairs
    kept: tuple[RowSums, PairDivergences] = cache[STATISTICS]
    return kept


def sum_rows(
    view: ModelView, rows: HeadRows, model: PreTrainedModel, pairs: PairDivergences | None = None
) -> RowSums:
    """Every statistic of the rows of a model, or of one with random weights; ``pairs`` takes how alike heads
    are."""
    context, encoded = view.explanation, view.explanation.encoded
    table, facts = (
        make_token_table(context.tokenizer, encoded, view.texts),
        {one.layer: one for one in rows.layers},
    )
    sums, score = RowSums(rows.layers, encoded), target_scores(context) if rows.predicts else None
    for batch in attention_views(model, encoded, score):
        for seen in batch:
            one = seen.of(facts[seen.facts.layer])
            for values in row_sums(one, text_tokens(encoded, table, one.text)):
                sums.add(one, values)
            if pairs is not None:
                pairs.add(one)
        if pairs is not None:
            pairs.finish_batch()
    return sums


def target_scores(context: ExplanationContext) -> Callable[[Tensor], Score]:
    """What is differentiated of the texts: the log-odds of the predicted class, or the rating."""
    name = "rating" if context.is_regression else "log-odds"
    predicted = context.towards_predicted().target
    return lambda texts: lambda logits: TARGETS[name](logits, predicted[texts].to(logits.device))


def random_columns(view: ModelView, rows: HeadRows) -> dict[str, Floats]:
    """The same of a few models that learned nothing: means over their heads, which are exchangeable, by layer
    [texts, layers], and the entropies of all of them [texts, models × heads]."""
    facts, texts = rows.layers, len(view.texts)
    draws: dict[Key, Floats] = {}
    entropies = []
    for number in range(RANDOM_MODELS):
        twin = random_twin(view.explanation.model, RANDOM_MODELS * view.seed + number)
        layers = list(layer_statistics(facts, sum_rows(view, rows, twin).statistics, texts))
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
    for name, against in layer.totals:
        if name == "relevance-share":  # of every text, whatever kinds others have
            yield ("inflation", against), layer.inflation(against)


def identifiable_heads(context: ExplanationContext, layers: Sequence[LayerFacts]) -> tuple[Floats, str]:
    """1 where the null space of the head's values is empty, 0 where it is not [texts, heads], NaN of texts
    that were not read; and a reason where the values cannot be had.

    Weights that sum to one are the only ones if LN([T, 1]) = {0}, others if LN(T) = {0}. A text in several
    parts is identifiable where all of them are. Source: Bhardwaj et al. (2021), section 2.2.
    """
    facts, places = {one.layer: one for one in layers}, places_of_heads(layers)
    result = np.full((len(context.encoded.ids), len(names_of_heads(layers))), np.nan)
    try:
        for ranks in value_ranks(context.model, context.encoded, RowSelector()):
            if ranks.layer not in facts:
                continue
            null = ranks.null_with_ones if facts[ranks.layer].sums_to_one else ranks.null
            np.fmin.at(result[:, places[ranks.layer]], ranks.texts, (null == 0).astype(float))
    except InputError as error:
        return result * np.nan, str(error)
    return result, ""
