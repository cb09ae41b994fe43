"""How alike the heads of a model are: the Jensen-Shannon divergence between their rows."""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Bool, Float
from numpy.typing import NDArray
from torch import Tensor

from glasshead.audits.head_report.views import AttentionView
from glasshead.results import MIN_UNITS, HeadAgreement
from glasshead.statistics import simultaneous_level, student_interval

ROWS = 8
"""So many rows of each text are compared: all pairs of heads are, which is many."""
Head = tuple[int, int]
HeadPart = tuple[list[Head], Float[Tensor, "h r k"], Float[Tensor, "h r k"]]
"""Heads of one call, with shares of some rows, as they are and in random order."""
COUNT, SUM, SQUARES, NULL, OVER_NULL, OVER_NULL_SQUARES = range(6)


class AgreementSums:
    """Sums over texts of the divergence of every pair of heads that attend from and to the same tokens, and
    of the divergence from an unrelated map: the other head's weights in random order.

    JSD(p, q) = H((p + q) / 2) − (H(p) + H(q)) / 2, in bits: 0 for equal rows, 1 for rows that share no key.

    Source: Clark et al. (2019), section 6.
    """

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        self.rows: dict[int, dict[tuple[object, ...], list[HeadPart]]] = {}
        self.heads: dict[Head, int] = {}
        self.sums = np.zeros((6, 0, 0))
        self.of_texts: list[tuple[float, float]] = []

    def add(self, view: AttentionView) -> None:
        """Keep some rows of a view until its batch is done."""
        sizes = view.weights.abs().masked_fill(~view.allowed, 0.0)
        sums = sizes.sum(-1, keepdim=True)
        heads = [(view.facts.layer, head) for head in range(len(sizes))]
        for head in heads:
            self.heads.setdefault(head, len(self.heads))
        places = torch.from_numpy(np.unique(np.linspace(0, sizes.shape[1] - 1, ROWS).round().astype(int)))
        shares = (sizes / sums.masked_fill(sums == 0, 1.0))[:, places].float().cpu()
        rng = np.random.default_rng([self.seed, view.text, view.facts.layer, 1 + int(view.keys[0])])
        shuffled = shuffle_rows(shares, view.allowed[:, places].cpu(), rng)
        group = (view.facts.kind, tuple(view.queries.tolist()), tuple(view.keys.tolist()))
        self.rows.setdefault(view.text, {}).setdefault(group, []).append((heads, shares, shuffled))

    def finish_batch(self) -> None:
        """Compare the rows that were kept."""
        size, old = len(self.heads), self.sums.shape[-1]
        if size > old:
            self.sums = np.pad(self.sums, ((0, 0), (0, size - old), (0, size - old)))
        for groups in self.rows.values():
            self.add_text(list(groups.values()))
        self.rows.clear()

    def add_text(self, groups: list[list[HeadPart]]) -> None:
        """The pairs of one text, whose parts attend to themselves alone."""
        size = len(self.heads)
        totals, counts = np.zeros((2, size, size)), np.zeros((size, size))
        for parts in groups:
            at = np.array([self.heads[head] for heads, _, _ in parts for head in heads])
            divergences = mean_divergence(
                torch.cat([shares for _, shares, _ in parts]),
                torch.cat([shuffled for _, _, shuffled in parts]),
            )
            totals[:, at[:, None], at] += np.nan_to_num(divergences)
            counts[np.ix_(at, at)] += ~np.isnan(divergences[0])
        own, null = totals / np.maximum(counts, 1)
        over = own - null
        self.sums += (counts > 0) * np.stack([np.ones_like(own), own, own**2, null, over, over**2])
        pairs = np.triu(counts > 0, k=1)
        if pairs.any():
            self.of_texts.append((float(own[pairs].mean()), float(null[pairs].mean())))

    def agreement(self, heads: list[Head]) -> HeadAgreement:
        """Means over texts and their intervals, in the order of some heads."""
        order = np.array([self.heads[head] for head in heads], dtype=int)
        sums = self.sums[:, order[:, None], order]
        counts = np.where(sums[COUNT] > 0, sums[COUNT], np.nan)
        level = simultaneous_level(len(heads) * (len(heads) - 1) // 2)
        enough = sums[COUNT] >= MIN_UNITS
        interval, over_null = (
            np.where(enough, student_interval(sums[total], sums[squares], sums[COUNT], level), np.nan)
            for total, squares in ((SUM, SQUARES), (OVER_NULL, OVER_NULL_SQUARES))
        )
        return HeadAgreement(
            (sums[SUM] / counts).round(6), interval.round(6), (sums[NULL] / counts).round(6),
            over_null.round(6),
        )  # fmt: skip


def shuffle_rows(
    shares: Float[Tensor, "h r k"], allowed: Bool[Tensor, "h r k"], rng: np.random.Generator
) -> Float[Tensor, "h r k"]:
    """The shares of each row in random order over the keys that it may look at."""
    noise = torch.from_numpy(rng.random(shares.shape)).masked_fill(~allowed, torch.inf)
    places = (~allowed).byte().argsort(dim=-1, stable=True)
    return torch.zeros_like(shares).scatter(-1, places, shares.gather(-1, noise.argsort(dim=-1)))


def mean_divergence(
    shares: Float[Tensor, "m r k"], shuffled: Float[Tensor, "m r k"]
) -> Float[NDArray, "2 m m"]:
    """The mean over rows of the divergence of every pair, and of the first from the other one shuffled; rows
    without any weight are left out."""
    real = shares.sum(-1) > 0.5  # [m, r]
    own = torch.special.entr(shares).sum(-1)
    result = np.full((2, len(shares), len(shares)), np.nan)
    for one in range(len(shares)):
        both = real[one] & real[one:]
        counts = both.sum(-1)
        for matrix, others in zip(result, (shares, shuffled), strict=True):
            mixed = torch.special.entr((shares[one] + others[one:]) / 2).sum(-1)
            divergence = (mixed - (own[one] + own[one:]) / 2).clamp(min=0) / np.log(2)
            means = (divergence * both).sum(-1) / counts.clamp(min=1)
            matrix[one, one:] = matrix[one:, one] = means.where(counts > 0, torch.nan).double().numpy()
    return result
