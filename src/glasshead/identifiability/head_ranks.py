"""Numerical ranks of T and of [T, 1]: of all heads of a layer and all texts of a batch at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from transformers import PreTrainedModel

from glasshead.arrays import Floats, Integers
from glasshead.data import Encoded
from glasshead.identifiability.attention_row import AttentionRow
from glasshead.identifiability.lp.rank import rank_threshold
from glasshead.identifiability.pooled import read_pooled_rows
from glasshead.identifiability.row_extraction import (
    batch_index,
    project_values,
    query_values,
    record_rows,
    require_full_precision,
)
from glasshead.identifiability.row_selector import RowSelector
from glasshead.models import PooledClassifier
from glasshead.trace import LayerRecord, TokenLayout

EIGENVALUE_RESOLUTION = 1e-6
"""Eigenvalues of TᵀT in float64 tell singular values from zero down to about 1e-8 of the largest one."""


@dataclass(frozen=True)
class HeadRanks:
    """Ranks [t, h] of T and of [T, 1], for t texts (or segments of them) and the heads h of one layer.

    ``tokens`` [t] is d_s, ``size`` d_v (d_e where that is smaller), ``embed_dim`` d_e. A margin is the
    smallest counted singular value divided by the threshold; ∞ where none counts. The margin of [T, 1] is
    that of the centred T, whose columns are orthogonal to the constant 1: rank [T, 1] is one more than the
    rank of the centred T. ``projected`` is false where T is V itself.
    """

    layer: int
    name: str
    heads: tuple[int, ...]
    texts: Integers
    parts: Integers
    tokens: Integers
    size: int
    embed_dim: int
    projected: bool
    rank: Integers
    margin: Floats
    rank_with_ones: Integers
    margin_with_ones: Floats

    @property
    def null(self) -> Integers:
        """dim LN(T) = d_s − rank T. Source: Bhardwaj et al. (2021), eq. 4."""
        return self.tokens[:, None] - self.rank

    @property
    def null_with_ones(self) -> Integers:
        """dim LN([T, 1]): with 0, weights that sum to one are identifiable."""
        return self.tokens[:, None] - self.rank_with_ones

    @property
    def expected(self) -> Integers:
        """max(d_s − d_v, 0) [t]: dim LN(T) of generic values. Source: Bhardwaj et al. (2021), eq. 7."""
        return np.maximum(self.tokens - self.size, 0)


def value_ranks(model: PreTrainedModel, encoded: Encoded, selector: RowSelector) -> Iterator[HeadRanks]:
    """Ranks of every chosen head for every text, one layer and one batch of texts after the other.

    T holds all tokens of a text, or of a segment that attends only to itself. If a position changes the
    values from row to row, T is that of the first row. Which ``rows`` are chosen does not matter.

    Raises:
        InputError: as `glasshead.identifiability.row_extraction.attention_rows`.
    """
    require_full_precision(model)
    if isinstance(model, PooledClassifier):
        for rows in read_pooled_rows(model, encoded, selector):
            if rows:
                yield rank_pooled_values(rows)
        return
    for batch in record_rows(model, encoded, selector, [0]):
        for recorded in batch:
            yield layer_ranks(*recorded)


def layer_ranks(layer: LayerRecord, layout: TokenLayout, batch_texts: Sequence[int]) -> HeadRanks:
    """Ranks of a recorded layer; ``batch_texts`` are the numbers of the texts of the batch."""
    own = layer.call.mechanism.position.changes_output
    T, embed_dim = project_values(query_values(layer, 0) if own else layer.v, layer.projection)
    real, text, part, _ = batch_index(layout)
    kept = np.flatnonzero(real.any(axis=1))
    return head_ranks(
        torch.from_numpy(T).to(layer.v.device)[kept],
        torch.from_numpy(real[kept]),
        embed_dim=embed_dim,
        eps=float(torch.finfo(layer.call.v.dtype).eps),
        layer=layer.layer,
        name=layer.name,
        heads=layer.heads,
        texts=np.array([batch_texts[text[row]] for row in kept], dtype=np.int64),
        parts=part[kept],
        projected=layer.projection is not None,
    )


def rank_pooled_values(rows: Sequence[AttentionRow]) -> HeadRanks:
    """Ranks of the vectors that a pooled classifier weighs."""
    values = [torch.from_numpy(row.T) for row in rows]
    real = [torch.ones(len(row.T), dtype=torch.bool) for row in rows]
    first = rows[0]
    return head_ranks(
        pad_sequence(values, batch_first=True)[:, None],
        pad_sequence(real, batch_first=True),
        embed_dim=first.embed_dim,
        eps=first.eps,
        layer=first.layer,
        name=first.name,
        heads=(first.head,),
        texts=np.array([row.text for row in rows], dtype=np.int64),
        parts=np.zeros(len(rows), dtype=np.int64),
        projected=first.projected,
    )


def head_ranks(
    T: Float[Tensor, "t h k r"], real: Bool[Tensor, "t k"], *, embed_dim: int, eps: float, **facts: object
) -> HeadRanks:
    """Both ranks of every T [k, r] over its ``real`` keys; what stands at the others does not matter."""
    keep = real.to(T.device)[:, None, :, None]
    tokens = keep.sum(dim=2).double()  # [t, 1, 1]
    T = T.masked_fill(~keep, 0.0)
    sizes = singular_values(T, embed_dim * eps)  # [t, h, r']
    centred = (T - T.sum(dim=2, keepdim=True) / tokens[..., None]).masked_fill(~keep, 0.0)
    centred_sizes = singular_values(centred, embed_dim * eps)
    counts = tokens[:, 0, 0].long().cpu().numpy()
    norms = sizes[..., :1].amax(dim=-1).cpu().numpy()  # [t, h]
    floors = norms * np.array([[rank_threshold(n, embed_dim, eps, 1.0)] for n in counts.tolist()])
    rank, margin = count_above(sizes.cpu().numpy(), floors, counts)
    centred_rank, margin_with_ones = count_above(centred_sizes.cpu().numpy(), floors, counts - 1)
    return HeadRanks(
        tokens=counts,
        size=T.shape[-1],
        embed_dim=embed_dim,
        rank=rank,
        margin=margin,
        rank_with_ones=centred_rank + 1,
        margin_with_ones=margin_with_ones,
        **facts,  # type: ignore[arg-type]
    )


def singular_values(T: Float[Tensor, "t h k r"], wanted: float) -> Float[Tensor, "t h s"]:
    """All singular values of every matrix, the largest first.

    Those below ``wanted`` of the largest need not be right: the smaller one of T Tᵀ and TᵀT then has fewer
    numbers than T and an eigenvalue for each. Where more is wanted than that can tell, by singular values.
    """
    if wanted < EIGENVALUE_RESOLUTION:
        return torch.linalg.svdvals(T)
    small = T if T.shape[-2] < T.shape[-1] else T.transpose(-1, -2)
    squares = torch.linalg.eigvalsh(small @ small.transpose(-1, -2))
    return squares.clamp_min(0.0).sqrt().flip(-1)


def count_above(sizes: Floats, floors: Floats, most: Integers) -> tuple[Integers, Floats]:
    """How many singular values [t, h, s] lie above the floors [t, h], at most so many [t], and the margin."""
    rank = np.minimum((sizes > floors[..., None]).sum(axis=-1), most[:, None])
    last = np.take_along_axis(sizes, np.maximum(rank - 1, 0)[..., None], axis=-1)[..., 0]
    counts = (rank > 0) & (floors > 0)
    return rank, np.where(counts, last / np.where(counts, floors, 1.0), np.inf)
