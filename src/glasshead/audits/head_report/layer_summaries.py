"""What the heads of a layer do together: shares of special tokens, what gradients say of these, and whether
joining words is why they are large."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from glasshead.arrays import Floats
from glasshead.audits.head_report.summaries import Statistic, null_of, statistic_finding, summaries
from glasshead.audits.head_report.text_statistics import (
    FIRST,
    PUNCTUATION,
    SPECIAL,
    Key,
    LayerStatistics,
    RandomNulls,
)
from glasshead.audits.head_report.verdicts import UNIFORM_NULL, UNRELATED_MAPS, layer_verdict, pair_verdict
from glasshead.audits.judging.slices import Group
from glasshead.results import PAIR_DIVERGENCE, Finding, HeadLayer

OF_LAYERS = ("share", "gradient-share", "relevance-share")


def summarise_layer(
    layer: LayerStatistics, random: Mapping[Key, Floats], level: float, rng: np.random.Generator
) -> HeadLayer:
    """One layer, next to ``random`` weights; intervals have that ``level``."""
    facts = layer.facts
    group = Group(f"layer {facts.layer}", np.ones(layer.texts, dtype=bool), level=level)
    statistics = [one for one in layer_statistics(layer, random) if not np.isnan(one.values).all()]
    findings = [
        statistic_finding(statistic, summary, group, layer_verdict(statistic.name, summary))
        for statistic, summary in zip(statistics, summaries(statistics, rng, level), strict=True)
    ]
    return HeadLayer(facts.layer, facts.name, facts.kind, facts.mechanism, facts.num_heads, findings)


def summarise_layers(
    layers: Sequence[LayerStatistics], random: RandomNulls, rng: np.random.Generator
) -> list[Finding]:
    """The means over all layers of what is said of all special tokens."""
    values: dict[str, list[Statistic]] = {}
    for layer in layers:
        special = all_special(layer)
        for one in layer_statistics(layer, random.get(layer.facts.layer, {})):
            if one.against == special and not np.isnan(one.values).all():
                values.setdefault(one.name, []).append(one)
    group = Group("all layers", np.ones(layers[0].texts if layers else 0, dtype=bool))
    statistics = [
        Statistic(name, SPECIAL, mean_of(one.values for one in of_layers), nulls_of(of_layers))
        for name, of_layers in values.items()
    ]
    return [
        statistic_finding(statistic, summary, group, layer_verdict(statistic.name, summary))
        for statistic, summary in zip(statistics, summaries(statistics, rng, group.level), strict=True)
    ]


def summarise_pairs(of_texts: Floats, rng: np.random.Generator) -> list[Finding]:
    """How far apart two heads are on average [2, texts], next to unrelated maps; nothing where there are no
    pairs."""
    own, null = of_texts
    if not len(own):
        return []
    statistics = [Statistic(PAIR_DIVERGENCE, "", own, {UNRELATED_MAPS: null})]
    group = Group("all pairs of heads", np.ones(len(own), dtype=bool))
    (summary,) = summaries(statistics, rng, group.level)
    return [statistic_finding(statistics[0], summary, group, pair_verdict(summary))]


def nulls_of(statistics: Sequence[Statistic]) -> dict[str, Floats]:
    """The means of the nulls that one statistic has in all of several layers."""
    shared = set.intersection(*(set(one.nulls) for one in statistics))
    return {name: mean_of(one.nulls[name] for one in statistics) for name in sorted(shared)}


def mean_of(columns: Iterable[Floats]) -> Floats:
    """The mean of columns [texts], NaN where one of them is."""
    return np.asarray(np.mean(list(columns), axis=0))


def layer_statistics(layer: LayerStatistics, random: Mapping[Key, Floats]) -> Iterator[Statistic]:
    """Shares of attention and of gradients by kind of token; the differences that say whether attention to
    special tokens is inflated, and whether joining words is why."""
    for name in OF_LAYERS:
        for against in layer.about(name):
            null = layer.null_of_layer((name, against))
            nulls = {} if null is None else {UNIFORM_NULL: null}
            yield Statistic(name, against, layer.of_layer((name, against)), nulls)
    for against in layer.about("relevance-share"):
        nulls = {UNIFORM_NULL: layer.uniform_inflation(against)} | null_of(random, ("inflation", against))
        yield Statistic("inflation", against, layer.inflation(against), nulls)
    special = all_special(layer)
    if special is None or not layer.about("joined-share"):
        return
    joined = layer.of_layer(("joined-share", SPECIAL))
    yield Statistic("joined-share", special, joined, {})
    yield Statistic("joining", special, joined - layer.of_layer(("share", special)), {})
    if layer.received is not None:
        own, even = (tokens - words for tokens, words in layer.received)
        yield Statistic("beyond-unsplit-words", special, own, {UNIFORM_NULL: even})


def all_special(layer: LayerStatistics) -> str | None:
    """The name of the share of all special tokens: their common one, or that of the only one."""
    kinds = layer.about("share")
    if SPECIAL in kinds:
        return SPECIAL
    return next((kind for kind in kinds if kind not in (FIRST, PUNCTUATION)), None)
