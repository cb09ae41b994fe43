"""What the heads of a layer do together: shares of special tokens, what gradients say of these, and whether
joining words is why they are large."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from glasshead.audits.head_report.row_statistics import UNIFORM
from glasshead.audits.head_report.summaries import Floats, Statistic, summaries, to_finding
from glasshead.audits.head_report.text_statistics import LayerStatistics
from glasshead.audits.head_report.token_kinds import FIRST, PUNCTUATION, SPECIAL
from glasshead.audits.head_report.verdicts import UNRELATED, layer_verdict, pair_verdict
from glasshead.audits.slices import Group
from glasshead.results import PAIR_DIVERGENCE, Finding, HeadLayer

OF_LAYERS = ("share", "gradient-share", "relevance-share")
UNSPLIT = "unsplit words"


def summarise_layer(layer: LayerStatistics, level: float, rng: np.random.Generator) -> HeadLayer:
    """One layer; intervals have that ``level``."""
    facts = layer.facts
    group = Group(f"layer {facts.layer}", np.ones(layer.texts, dtype=bool), level=level)
    statistics = [one for one in layer_statistics(layer) if not np.isnan(one.values).all()]
    findings = [
        to_finding(statistic, summary, group, layer_verdict(statistic.name, summary))
        for statistic, summary in zip(statistics, summaries(statistics, rng, level), strict=True)
    ]
    return HeadLayer(facts.layer, facts.name, facts.kind, facts.mechanism, facts.num_heads, findings)


def summarise_layers(layers: Sequence[LayerStatistics], rng: np.random.Generator) -> list[Finding]:
    """The means over all layers of what is said of all special tokens."""
    values: dict[str, list[Statistic]] = {}
    for layer in layers:
        special = all_special(layer)
        for one in layer_statistics(layer):
            if one.against == special and not np.isnan(one.values).all():
                values.setdefault(one.name, []).append(one)
    group = Group("all layers", np.ones(layers[0].texts if layers else 0, dtype=bool))
    statistics = [
        Statistic(name, SPECIAL, mean_of(one.values for one in of_layers), nulls_of(of_layers))
        for name, of_layers in values.items()
    ]
    return [
        to_finding(statistic, summary, group, layer_verdict(statistic.name, summary))
        for statistic, summary in zip(statistics, summaries(statistics, rng, group.level), strict=True)
    ]


def summarise_pairs(of_texts: Sequence[tuple[float, float]], rng: np.random.Generator) -> list[Finding]:
    """How far apart two heads are on average, beside unrelated maps; nothing where there are no pairs."""
    if not of_texts:
        return []
    own, null = np.array(of_texts).T
    statistics = [Statistic(PAIR_DIVERGENCE, "", own, {UNRELATED: null})]
    group = Group("all pairs of heads", np.ones(len(own), dtype=bool))
    (summary,) = summaries(statistics, rng, group.level)
    return [to_finding(statistics[0], summary, group, pair_verdict(summary))]


def nulls_of(statistics: Sequence[Statistic]) -> dict[str, Floats]:
    """The mean of the nulls of one statistic of several layers."""
    nulls = [one.nulls[UNIFORM] for one in statistics if UNIFORM in one.nulls]
    return {UNIFORM: mean_of(nulls)} if nulls else {}


def mean_of(columns: Iterable[Floats]) -> Floats:
    """The mean of columns [texts], NaN where one of them is."""
    return np.asarray(np.mean(list(columns), axis=0))


def layer_statistics(layer: LayerStatistics) -> Iterator[Statistic]:
    """Shares of attention and of gradients by kind of token; the differences that say whether attention to
    special tokens is inflated, and whether joining words is why."""
    for name in OF_LAYERS:
        for against in layer.about(name):
            null = layer.null_of_layer((name, against))
            nulls = {} if null is None else {UNIFORM: null}
            yield Statistic(name, against, layer.of_layer((name, against)), nulls)
    for against in layer.about("relevance-share"):
        shares, relevance = (layer.of_layer((name, against)) for name in ("share", "relevance-share"))
        yield Statistic("inflation", against, shares - relevance, {})
    special = all_special(layer)
    if special is None or not layer.about("joined-share"):
        return
    joined = layer.of_layer(("joined-share", SPECIAL))
    yield Statistic("joined-share", special, joined, {})
    yield Statistic("joining", special, joined - layer.of_layer(("share", special)), {})
    if UNSPLIT in layer.about("received"):
        tokens, words = (layer.of_layer(("received", kind)) for kind in (SPECIAL, UNSPLIT))
        yield Statistic("beyond-unsplit-words", special, tokens - words, {})


def all_special(layer: LayerStatistics) -> str | None:
    """By which name the share of all special tokens goes: their common one, or that of the only one."""
    kinds = layer.about("share")
    if SPECIAL in kinds:
        return SPECIAL
    return next((kind for kind in kinds if kind not in (FIRST, PUNCTUATION)), None)
