"""Statistics of every head before every text, gathered over batches; how alike heads are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from torch import Tensor
from transformers import PreTrainedModel

from glasshead.arrays import Floats
from glasshead.audits.head_report.head_agreement import AgreementSums
from glasshead.audits.head_report.row_statistics import PROFILE_REACH, RowSum, row_sums, text_tokens
from glasshead.audits.head_report.token_kinds import TokenTable
from glasshead.audits.head_report.views import LayerFacts, Score, attention_views
from glasshead.audits.progress import StageProgress
from glasshead.data import Encoded

Key = tuple[str, str]
"""A statistic, and what it is about."""


@dataclass
class LayerStatistics:
    """Sums, counts and sums of nulls [texts, heads] of the statistics of a layer."""

    facts: LayerFacts
    texts: int
    totals: dict[Key, Floats] = field(default_factory=dict)
    counts: dict[Key, Floats] = field(default_factory=dict)
    nulls: dict[Key, Floats] = field(default_factory=dict)

    def add(self, text: int, row_sum: RowSum) -> None:
        """The rows of a text, or of a part of it."""
        key = (row_sum.statistic, row_sum.against)
        for sums, values in (
            (self.totals, row_sum.total),
            (self.counts, row_sum.rows),
            (self.nulls, row_sum.null),
        ):
            if values is not None:
                sums.setdefault(key, np.zeros((self.texts, self.facts.num_heads)))
                sums[key][text] += values.detach().cpu().numpy()

    def by_head(self, key: Key) -> Floats:
        """The mean over the rows of each text [texts, heads]; NaN where there is none."""
        return ratio(self.totals[key], self.counts[key])

    def null_by_head(self, key: Key) -> Floats | None:
        """What uniform attention would give each head."""
        return ratio(self.nulls[key], self.counts[key]) if key in self.nulls else None

    def of_layer(self, key: Key) -> Floats:
        """The mean over the rows of all heads [texts]; of shares of a gradient, the share of all heads."""
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
        """What a statistic is about here, in the order in which it came; kinds of tokens that no text has are
        left out."""
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


def gather_statistics(
    model: PreTrainedModel,
    encoded: Encoded,
    table: TokenTable,
    score: Callable[[Tensor], Score] | None,
    agreement: AgreementSums | None,
    stages: StageProgress,
) -> list[LayerStatistics]:
    """Every statistic of rows, by layer in the order of a pass; ``agreement`` takes how alike heads are."""
    layers: dict[int, LayerStatistics] = {}
    texts, done = len(encoded.ids), 0
    for batch in attention_views(model, encoded, score):
        texts_of_batch = set()
        for view in batch:
            facts = view.facts
            layer = layers.setdefault(facts.layer, LayerStatistics(facts, texts))
            if facts.kind == "encoder" and layer.facts.kind == "causal":
                layer.facts = facts  # one token sees nothing behind it in any model
            for row_sum in row_sums(view, text_tokens(encoded, table, view.text)):
                layer.add(view.text, row_sum)
            if agreement is not None:
                agreement.add(view)
            texts_of_batch.add(view.text)
        if agreement is not None:
            agreement.finish_batch()
        done += len(texts_of_batch)
        stages.on_texts(done, texts)
    return [layers[number] for number in sorted(layers)]
