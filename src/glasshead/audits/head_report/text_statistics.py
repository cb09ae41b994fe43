"""Statistics of every head before every text, as rows keep them: by statistic a list over all heads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from glasshead.arrays import Flags, Floats
from glasshead.audits.judging.table import Table
from glasshead.results import LayerKind

PUNCTUATION, WORD, FIRST, SPECIAL = "punctuation", "word", "first token", "special tokens"
IMAGE = "part of the image"
PROFILE_REACH = 10
"""The largest distance of a profile; what is further away counts there."""
OFFSET_REACH = 16
"""The largest fixed offset that is looked for."""
OFFSETS = tuple(offset for offset in range(-OFFSET_REACH, OFFSET_REACH + 1) if abs(offset) > 1)
"""Neighbours and the token itself have names of their own."""
ELSEWHERE = "offset-elsewhere"
"""What other rows give to the tokens that stand at an offset."""
RANDOM, RANDOM_MODELS = "random weights", 3
"""A null: the mean over the heads of a layer of so many models that learned nothing."""
TOTAL, ROWS, UNIFORM, OF_RANDOM = "total", "rows", "uniform", "random"
"""Columns: a sum over the rows of a text, over how many, the same sum of uniform attention, and the null of
random weights."""
RANDOM_ENTROPY = "entropy of random weights"
RANDOM_DIRECT = "direct effects of random weights"
RECEIVED, RECEIVED_EVEN, PARTS = "received", "received of uniform", "parts"
"""Columns: by layer what every place of the text receives, the start of a decoder first, NaN where no word
begins; and of every place where the part begins that attends to itself alone."""
Key = tuple[str, str]
"""A statistic, and what it is about."""
ENTROPY: Key = ("entropy", "")
RandomNulls = Mapping[int, Mapping[Key, Floats]]
"""By layer and statistic one number for each text."""
TauRange = tuple[float, float]


class LayerFacts(NamedTuple):
    """One attention call: its number, the name of its module, who attends to whom, and by which mechanism."""

    layer: int
    name: str
    kind: LayerKind
    mechanism: str
    num_heads: int
    signed: bool
    sums_to_one: bool

    @property
    def within(self) -> bool:
        """Whether tokens attend to tokens of the same sequence."""
        return self.kind in ("encoder", "causal")


def names_of_heads(layers: Sequence[LayerFacts]) -> list[tuple[int, int]]:
    """Layer and number of every head, in the order of a column."""
    return [(one.layer, head) for one in layers for head in range(one.num_heads)]


def places_of_heads(layers: Sequence[LayerFacts]) -> dict[int, slice]:
    """Where the heads of each layer are in a column."""
    ends = np.cumsum([one.num_heads for one in layers]).tolist()
    return {one.layer: slice(end - one.num_heads, end) for one, end in zip(layers, ends, strict=True)}


def column_name(kind: str, key: Key) -> str:
    """The name of a column."""
    return ".".join((kind, *key))


def columns_of(table: Table, width: int) -> dict[str, Floats]:
    """Columns of lists as arrays [texts, width]; zeros of texts that lack one."""
    columns = {}
    for name, values in table.items():
        kind = name.partition(".")[0]
        if kind in (TOTAL, ROWS, UNIFORM):
            columns[name] = full_lists(values, width, 0.0)
    return columns


def full_lists(values: Any, width: int, fill: float = np.nan) -> Floats:
    """Lists as an array [texts, width], filled where a text has none."""
    full = np.full((len(values), width), fill)
    for row, own in enumerate(values):
        if len(own):
            full[row] = own
    return full


@dataclass(frozen=True)
class LayerStatistics:
    """Sums, counts and sums of nulls [texts, heads] of the statistics of a layer."""

    facts: LayerFacts
    texts: int
    totals: Mapping[Key, Floats]
    counts: Mapping[Key, Floats]
    nulls: Mapping[Key, Floats]
    received: Floats | None = None
    """What a special token and a frequent word that is never split receive of a row, on average, and what
    they would of uniform attention [own or uniform, kind, texts]."""
    direct_by_chance: TauRange | None = None
    """Between which mean direct effects a head with random weights lies."""

    def by_head(self, key: Key) -> Floats:
        """The mean over the rows of each text [texts, heads]; NaN if there is none."""
        if key not in self.totals:
            return np.full((self.texts, self.facts.num_heads), np.nan)
        return ratio(self.totals[key], self.counts[key])

    def null_by_head(self, key: Key) -> Floats | None:
        """What uniform attention would give each head."""
        return ratio(self.nulls[key], self.counts[key]) if key in self.nulls else None

    def of_layer(self, key: Key) -> Floats:
        """The mean over the rows of all heads [texts]; of shares of a gradient, the share of all heads."""
        if key not in self.totals:
            return np.full(self.texts, np.nan)
        return ratio(self.totals[key].sum(axis=1), self.counts[key].sum(axis=1))

    def null_of_layer(self, key: Key) -> Floats | None:
        """What uniform attention would give the layer."""
        if key not in self.nulls:
            return None
        return ratio(self.nulls[key].sum(axis=1), self.counts[key].sum(axis=1))

    def inflation(self, against: str) -> Floats:
        """The share of attention on a kind of tokens minus that of |A ∂z/∂A| [texts]."""
        return self.of_layer(("share", against)) - self.of_layer(("relevance-share", against))

    def uniform_inflation(self, against: str) -> Floats:
        """What uniform attention has under the gradients of the model's own: what goes into the difference
        because rows, heads and tokens differ in their gradients."""
        share = self.null_of_layer(("share", against))
        assert share is not None
        return share - self.of_layer(("uniform-relevance", against))

    def about(self, statistic: str) -> list[str]:
        """What a statistic is about here: of kinds of tokens special ones by their names, then all of them;
        kinds that no text has are left out."""
        return [
            against
            for name, against in self.totals
            if name == statistic and ((name, against) not in self.nulls or self.nulls[name, against].any())
        ]

    def profile(self) -> Floats:
        """The mean share by distance [heads, 2 · reach + 1]; of no columns where there are no distances."""
        keys = [("distance", str(distance)) for distance in range(-PROFILE_REACH, PROFILE_REACH + 1)]
        if keys[0] not in self.totals:
            return np.zeros((self.facts.num_heads, 0))
        columns = []
        for key in keys:
            shares = self.by_head(key)
            columns.append(np.nansum(shares, axis=0) / np.maximum((~np.isnan(shares)).sum(axis=0), 1))
        return np.stack(columns, axis=1)


def ratio(totals: Floats, counts: Floats) -> Floats:
    """One over the other, NaN over nothing."""
    return np.divide(totals, counts, out=np.full(totals.shape, np.nan), where=counts > 0)


def layer_statistics(
    layers: Sequence[LayerFacts], columns: Mapping[str, Floats], texts: int
) -> Iterator[LayerStatistics]:
    """The statistics of each layer from columns [texts, heads], without those that it has no rows of."""
    sums: dict[str, dict[Key, Floats]] = {TOTAL: {}, ROWS: {}, UNIFORM: {}}
    for name in columns:
        kind, statistic, against = name.split(".", 2)
        sums[kind][statistic, against] = columns[name]
    keys = sorted(sums[ROWS], key=lambda key: (key[1] in (SPECIAL, PUNCTUATION, FIRST), key))
    for layer, heads in places_of_heads(layers).items():
        facts = next(one for one in layers if one.layer == layer)
        known = [key for key in keys if sums[ROWS][key][:, heads].any()]
        totals, counts, nulls = (
            {key: own[key][:, heads] for key in known if key in own} for own in sums.values()
        )
        yield LayerStatistics(facts, texts, totals, counts, nulls)


def received_by_kind(
    layers: Sequence[LayerFacts], table: Table, masks: Sequence[tuple[Flags, Flags]]
) -> Iterator[Floats]:
    """What a special token and a frequent word receive on average, by layer [own or uniform, kind, texts]: in
    the parts of a text that have both. ``masks`` say where these are among the places of each text."""
    result = np.full((len(layers), 2, 2, len(masks)), np.nan)
    for text, (own, even, parts) in enumerate(
        zip(table[RECEIVED], table[RECEIVED_EVEN], table[PARTS], strict=True)
    ):
        received = np.stack([own, even]).reshape(2, 1, len(layers), -1)
        units = ~np.isnan(received[0]) & (parts == np.unique(parts)[:, None, None])  # [parts, layers, places]
        of_kinds = [units & mask for mask in masks[text]]
        weights = units.sum(-1) * np.all([one.any(-1) for one in of_kinds], axis=0)
        for kind, one in enumerate(of_kinds):
            sums = np.where(one, received, 0.0).sum(-1)  # [own or uniform, parts, layers]
            means = sums / np.maximum(one.sum(-1), 1)
            result[:, :, kind, text] = ratio((means * weights).sum(1), np.stack([weights.sum(0)] * 2)).T
    yield from result


def random_nulls(layers: Sequence[LayerFacts], table: Table) -> RandomNulls:
    """The means over the heads of each layer of random models, text by text."""
    nulls: dict[int, dict[Key, Floats]] = {one.layer: {} for one in layers}
    for name, values in table.items():
        kind, *key = name.split(".", 2)
        if kind != OF_RANDOM:
            continue
        for facts, own in zip(layers, full_lists(values, len(layers)).T, strict=True):
            if not np.isnan(own).all():
                nulls[facts.layer][key[0], key[1]] = own
    return nulls


def random_entropies(layers: Sequence[LayerFacts], table: Table) -> dict[int, TauRange]:
    """By layer between which entropies the heads of all random models lie, each in the mean over the texts
    that have one."""
    means = means_of_random_heads(layers, table[RANDOM_ENTROPY])
    return {layer: (float(own.min()), float(own.max())) for layer, own in means.items()}


def direct_effects_by_chance(layers: Sequence[LayerFacts], table: Table, level: float) -> dict[int, TauRange]:
    """By layer between which mean direct effects a further head with random weights lies, at this level:
    x̄ ± t · s √(1 + 1/n) of the n heads of the random models."""
    from scipy.stats import t  # takes as long to import as torch does

    if RANDOM_DIRECT not in table:
        return {}
    ranges = {}
    for layer, own in means_of_random_heads(layers, table[RANDOM_DIRECT]).items():
        n = own.size
        if n > 1:
            deviation = own.std(ddof=1) * np.sqrt(1 + 1 / n)
            reach = float(t.ppf(0.5 + level / 2, n - 1) * deviation)
            ranges[layer] = (float(own.mean()) - reach, float(own.mean()) + reach)
    return ranges


def means_of_random_heads(layers: Sequence[LayerFacts], values: Any) -> dict[int, Floats]:
    """By layer the mean of each head of each random model [heads of all models], over the texts that have
    one."""
    width = len(names_of_heads(layers))
    models = full_lists(values, RANDOM_MODELS * width).reshape(-1, RANDOM_MODELS, width)
    found = {}
    for layer, heads in places_of_heads(layers).items():
        known = [own[~np.isnan(own).any(axis=1)] for own in models[:, :, heads].swapaxes(0, 1)]
        means = [own.mean(axis=0) for own in known if len(own)]
        if means:
            found[layer] = np.concatenate(means)
    return found
