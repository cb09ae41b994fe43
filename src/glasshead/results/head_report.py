"""What every head of a model does: plain values, no torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from glasshead.arrays import AnyFloats
from glasshead.drawable import Drawable
from glasshead.errors import pluralise
from glasshead.escaping import one_line
from glasshead.results.comparison import Difference
from glasshead.results.finding import Finding
from glasshead.results.json_text import json_text

if TYPE_CHECKING:
    import pandas as pd

HEADS = "heads"
"""What findings about heads say instead of an audit."""

OFFSET = "offset"
"""The statistic of a head about the fixed offset at which it looks most."""
PAIR_DIVERGENCE = "pair-divergence"
"""The mean divergence of all pairs of heads, among the findings of the model as a whole."""
LayerKind = Literal["encoder", "causal", "cross", "pooled"]
"""Who attends to whom: a text to itself, to its own past, a decoder to its encoder, or a learned query."""


@dataclass(frozen=True)
class HeadLayer:
    """One attention call of a model, with a finding for each statistic of layers
    (docs/reference/heads.md)."""

    layer: int
    name: str
    kind: LayerKind
    mechanism: str
    num_heads: int
    findings: Sequence[Finding]


@dataclass(frozen=True)
class HeadSummary:
    """One head: a finding for each statistic of heads, the ``pattern`` that they show (empty where none is
    shown), and the mean share of its attention by ``distance`` j − i, from −``reach`` to ``reach``; beyond
    counts at the ends. It is empty if queries and keys come from different sequences."""

    layer: int
    head: int
    findings: Sequence[Finding]
    pattern: str
    distance: Sequence[float]

    @property
    def name(self) -> str:
        """``3-7``: head 7 of layer 3, both counted from 0."""
        return f"{self.layer}-{self.head}"

    @property
    def reach(self) -> int:
        """The largest distance of the profile."""
        return len(self.distance) // 2

    def finding(self, statistic: str, against: str = "") -> Finding | None:
        """The finding of one statistic."""
        wanted = (statistic, against)
        return next((one for one in self.findings if (one.statistic, one.against) == wanted), None)

    @property
    def offset(self) -> Finding | None:
        """The finding about the fixed offset at which the head looks most; ``against`` says which."""
        return next((one for one in self.findings if one.statistic == OFFSET), None)


@dataclass(frozen=True, eq=False)
class HeadAgreement:
    """The distance between the rows of every two heads: matrices [heads, heads], in the order of the heads.

    ``divergence`` is the mean Jensen-Shannon divergence over texts, in bits, ``interval`` [2, heads, heads]
    its ends. ``null`` is the divergence from an unrelated map of the same breadth: the weights of each row of
    the other head, in random order over the keys that it may look at. ``over_null`` [2, heads, heads] are the
    ends of the paired difference from it. Intervals hold for all pairs at once. They are NaN where fewer
    than 20 texts have both heads; everything is NaN where none has.
    """

    divergence: AnyFloats
    interval: AnyFloats
    null: AnyFloats
    over_null: AnyFloats

    @property
    def closer(self) -> NDArray[np.bool_]:
        """Which pairs are shown to be more alike than unrelated maps of the same breadth."""
        return np.asarray(self.over_null[1] < 0)

    @property
    def further(self) -> NDArray[np.bool_]:
        """Which pairs are shown to be less alike than these."""
        return np.asarray(self.over_null[0] > 0)

    def pairs(self) -> list[tuple[int, int]]:
        """The pairs of different heads that some text has, the most alike first."""
        first, second = np.nonzero(np.triu(np.isfinite(self.divergence), k=1))
        order = np.argsort(self.divergence[first, second], kind="stable")
        return list(zip(first[order].tolist(), second[order].tolist(), strict=True))


@dataclass(frozen=True)
class HeadRelation:
    """How well heads follow one relation of dependency trees: the ``best`` head (its name) among all, chosen
    on one half of the sentences and measured on the other, next to the best fixed ``offset`` chosen likewise,
    and the paired ``difference``. ``direction`` says which of the two words looks at the other."""

    relation: str
    direction: str
    best: str
    accuracy: Finding
    offset: int
    baseline: Finding
    difference: Difference


@dataclass(frozen=True)
class HeadText:
    """The maps of all heads for one text, a pair of texts, or an image.

    ``weights`` has an array [heads, queries, keys] for each layer, NaN where a query may not look.
    ``words`` is the word of each token, −1 for special ones, ``sides`` 0 or 1: the first or second text. A
    decoder that reads an encoder looks from ``decoder_tokens``, of ``decoder_words``. ``query_vectors`` and
    ``key_vectors`` have an array [heads, tokens, size] for each layer, if they were kept. For an image,
    ``text`` is its name, ``image`` a data URI of its pixels as the model reads them, and ``boxes`` has
    left, top, right and bottom of each token in its pixels; None for a special token.
    """

    text: str
    tokens: Sequence[str]
    words: Sequence[int]
    sides: Sequence[int]
    weights: Mapping[int, AnyFloats]
    query_vectors: Mapping[int, AnyFloats] = field(default_factory=dict)
    key_vectors: Mapping[int, AnyFloats] = field(default_factory=dict)
    decoder_tokens: Sequence[str] = ()
    decoder_words: Sequence[int] = ()
    image: str | None = None
    boxes: Sequence[tuple[int, int, int, int] | None] = ()


@dataclass(frozen=True, repr=False)
class HeadReport(Drawable):
    """The result of `glasshead.heads`: layers, heads, how similar they are, the relations they follow, and
    some texts.

    ``agreement`` holds every two heads, in the order of ``heads``. ``conclusion`` says in words what these
    texts show.
    """

    facts: Mapping[str, Any]
    layers: Sequence[HeadLayer]
    heads: Sequence[HeadSummary]
    agreement: HeadAgreement
    findings: Sequence[Finding]
    relations: Sequence[HeadRelation]
    conclusion: Sequence[str]
    remarks: Sequence[str] = ()
    texts: Sequence[HeadText] = ()

    def head(self, layer: int, head: int) -> HeadSummary:
        """One head, by the number of its layer and its own number."""
        return next(one for one in self.heads if (one.layer, one.head) == (layer, head))

    def rows(self) -> list[dict[str, Any]]:
        """One row for each head and statistic."""
        return [
            {
                "layer": head.layer,
                "head": head.head,
                "pattern": head.pattern or None,
                "statistic": finding.statistic,
                "against": finding.against or None,
                "estimate": finding.estimate,
                "low": (finding.interval or (None, None))[0],
                "high": (finding.interval or (None, None))[1],
                "n": finding.n,
                **{f"null.{name}": value for name, value in finding.null.items()},
                "verdict": finding.verdict,
            }
            for head in self.heads
            for finding in head.findings
        ]

    def to_pandas(self) -> pd.DataFrame:
        """One row for each head and statistic."""
        import pandas as pd

        return pd.DataFrame(self.rows())

    def to_json(self) -> str:
        """Everything but the maps of the texts."""
        document = asdict(replace(self, texts=()))
        del document["texts"]
        return json_text(document)

    def __repr__(self) -> str:
        return one_line(f"HeadReport({pluralise(len(self.heads), 'head')}: {' '.join(self.conclusion)})")
