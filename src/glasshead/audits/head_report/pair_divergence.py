"""How far apart the rows of two heads are before each text: the Jensen-Shannon divergence."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from glasshead.arrays import Floats
from glasshead.audits.head_report.text_statistics import LayerFacts, names_of_heads, places_of_heads
from glasshead.audits.head_report.views import AttentionView

ROWS = 8
"""So many rows of each text are compared: all pairs of heads are, which is many."""
HeadPart = tuple[slice, Float[Tensor, "h r k"], Float[Tensor, "h r k"]]
"""Where the heads of a call are among all, with shares of some rows, as they are and in random order."""


class PairDivergences:
    """The divergence of every two heads, with itself too, that attend from and to the same tokens, and that
    from an unrelated map: the other head's weights in random order. ``rng`` gives the generator of a text and
    a place.

    JSD(p, q) = H((p + q) / 2) − (H(p) + H(q)) / 2, in bits: 0 for equal rows, 1 for rows that share no key.

    Source: Clark et al. (2019), section 6.
    """

    def __init__(
        self, layers: Sequence[LayerFacts], texts: int, rng: Callable[[str, int], np.random.Generator]
    ) -> None:
        self.places, self.rng = places_of_heads(layers), rng
        self.size = len(names_of_heads(layers))
        self.pairs = np.triu_indices(self.size)
        self.values = np.full((2, texts, len(self.pairs[0])), np.nan)
        self.parts: dict[int, dict[tuple[object, ...], list[HeadPart]]] = {}

    def add(self, view: AttentionView) -> None:
        """Keep some rows of a view until its batch is done."""
        sizes = view.weights.abs().masked_fill(~view.allowed, 0.0)
        sums = sizes.sum(-1, keepdim=True)
        rows = torch.from_numpy(np.unique(np.linspace(0, sizes.shape[1] - 1, ROWS).round().astype(int)))
        shares = (sizes / sums.masked_fill(sums == 0, 1.0))[:, rows].float().cpu()
        rng = self.rng(f"rows of {view.facts.layer} from {view.keys[0]}", view.text)
        shuffled = shuffle_rows(shares, view.allowed[:, rows].cpu(), rng)
        group = (view.facts.kind, tuple(view.queries.tolist()), tuple(view.keys.tolist()))
        part = self.places[view.facts.layer], shares, shuffled
        self.parts.setdefault(view.text, {}).setdefault(group, []).append(part)

    def finish_batch(self) -> None:
        """Compare the rows that were kept."""
        for text, groups in self.parts.items():
            self.values[:, text] = self.of_text(list(groups.values()))[:, *self.pairs]
        self.parts.clear()

    def of_text(self, groups: list[list[HeadPart]]) -> Floats:
        """The pairs of one text, whose parts attend to themselves alone."""
        totals, counts = np.zeros((2, self.size, self.size)), np.zeros((self.size, self.size))
        for parts in groups:
            at = np.concatenate([np.arange(heads.start, heads.stop) for heads, _, _ in parts])
            divergences = mean_divergence(
                torch.cat([shares for _, shares, _ in parts]),
                torch.cat([shuffled for _, _, shuffled in parts]),
            )
            totals[:, at[:, None], at] += np.nan_to_num(divergences)
            counts[np.ix_(at, at)] += ~np.isnan(divergences[0])
        return np.where(counts > 0, totals / np.maximum(counts, 1), np.nan)


def shuffle_rows(
    shares: Float[Tensor, "h r k"], allowed: Bool[Tensor, "h r k"], rng: np.random.Generator
) -> Float[Tensor, "h r k"]:
    """The shares of each row in random order over the keys that it may look at."""
    noise = torch.from_numpy(rng.random(shares.shape)).masked_fill(~allowed, torch.inf)
    places = (~allowed).byte().argsort(dim=-1, stable=True)
    return torch.zeros_like(shares).scatter(-1, places, shares.gather(-1, noise.argsort(dim=-1)))


def mean_divergence(
    shares: Float[Tensor, "m r k"], shuffled: Float[Tensor, "m r k"]
) -> Float[np.ndarray, "2 m m"]:
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
