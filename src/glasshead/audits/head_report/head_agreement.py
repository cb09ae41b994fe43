"""How alike the heads of a model are: the Jensen-Shannon divergence between their rows."""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor

from glasshead.audits.head_report.views import AttentionView

ROWS = 8
"""So many rows of each text are compared: all pairs of heads are, which is many."""
Head = tuple[int, int]


class HeadAgreement:
    """Sums over texts of the divergence of every pair of heads that attend from and to the same tokens.

    JSD(p, q) = H((p + q) / 2) − (H(p) + H(q)) / 2, in bits: 0 for equal rows, 1 for rows that share no key.

    Source: Clark et al. (2019), section 6.
    """

    def __init__(self) -> None:
        self.rows: dict[tuple[object, ...], list[tuple[list[Head], Float[Tensor, "h r k"]]]] = {}
        self.sums: dict[tuple[Head, Head], tuple[float, int]] = {}
        self.heads: dict[Head, int] = {}
        self.total = np.zeros((0, 0))
        self.count = np.zeros((0, 0))

    def add(self, view: AttentionView) -> None:
        """Keep some rows of a view until its batch is done."""
        sizes = view.weights.abs().masked_fill(~view.allowed, 0.0)
        sums = sizes.sum(-1, keepdim=True)
        heads = [(view.facts.layer, head) for head in range(len(sizes))]
        for head in heads:
            self.heads.setdefault(head, len(self.heads))
        places = np.unique(np.linspace(0, sizes.shape[1] - 1, ROWS).round().astype(int))
        shares = (sizes / sums.masked_fill(sums == 0, 1.0))[:, torch.from_numpy(places)].float().cpu()
        group = (view.text, view.facts.kind, tuple(view.queries.tolist()), tuple(view.keys.tolist()))
        self.rows.setdefault(group, []).append((heads, shares))

    def finish_batch(self) -> None:
        """Compare the rows that were kept."""
        size = len(self.heads)
        if size > len(self.total):
            grown = np.zeros((2, size, size))
            old = len(self.total)
            grown[:, :old, :old] = self.total, self.count
            self.total, self.count = grown
        for layers in self.rows.values():
            heads = np.array([self.heads[head] for names, _ in layers for head in names])
            divergence = mean_divergence(torch.cat([shares for _, shares in layers]))
            self.total[np.ix_(heads, heads)] += np.nan_to_num(divergence)
            self.count[np.ix_(heads, heads)] += ~np.isnan(divergence)
        self.rows.clear()

    def matrix(self, heads: list[Head]) -> NDArray[np.float64]:
        """The mean over texts, in the order of some heads; NaN for heads that were never compared."""
        order = np.array([self.heads[head] for head in heads], dtype=int)
        total, count = self.total[np.ix_(order, order)], self.count[np.ix_(order, order)]
        return np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)


def mean_divergence(shares: Float[Tensor, "m r k"]) -> NDArray[np.float64]:
    """The mean over rows of the divergence of every pair [m, m]; rows without any weight are left out."""
    real = shares.sum(-1) > 0.5  # [m, r]
    own = torch.special.entr(shares).sum(-1)
    result = np.full((len(shares), len(shares)), np.nan)
    for one in range(len(shares)):
        others = shares[one:]
        both = real[one] & real[one:]
        mixed = torch.special.entr((shares[one] + others) / 2).sum(-1)
        divergence = (mixed - (own[one] + own[one:]) / 2).clamp(min=0) / np.log(2)
        counts = both.sum(-1)
        means = (divergence * both).sum(-1) / counts.clamp(min=1)
        result[one, one:] = result[one:, one] = means.where(counts > 0, torch.nan).double().numpy()
    return result
