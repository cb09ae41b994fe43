"""How ŷ changes as the tokens of a text are removed in some order, and as they come back in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

import numpy as np
import torch
from numpy.typing import NDArray

from glasshead.arrays import Flags, Floats
from glasshead.audits.judging.curve_statistics import STATISTICS
from glasshead.explainers import REMOVALS, ExplanationContext, removable, value_change

if TYPE_CHECKING:
    from glasshead.audits.measuring.view import ModelView

REMOVED_PERCENTS = (1, 5, 10, 20, 50)
"""Per cent of the tokens that are removed, or kept alone; a curve has these points, and its two ends."""
CURVE_SHARES = np.linspace(0, 1, 11)
"""Where a curve is written down."""
TIES = 2**31 - 1
"""The seed by which equal scores are put into an order, which is none of the null's."""
Ints = NDArray[np.int64]


class Curves(NamedTuple):
    """ŷ(x) − ŷ(x without the first k tokens of an order), and ŷ(x) − ŷ(these tokens alone), by k.

    Each is [orders, N, n + 1], and NaN at a k that was not asked for.
    """

    without: Floats
    alone: Floats


class PredictionSide(NamedTuple):
    """What is to fall when tokens go: ŷ = the probability of the class ``target`` [N] or, of a rating r,
    ŷ = ± (r − ``centre``) with the ``sign`` [N] of its side, so that a low one falls by rising."""

    target: Ints
    sign: Ints
    centre: float = 0.0


def in_float32(view: ModelView) -> ExplanationContext:
    """The texts before a copy of the model in float32, which is fast enough to be asked of many orders."""
    return replace(view.explanation, model=view.model_in(torch.float32))


class ValueDrops:
    """ŷ(x) − ŷ(x without a set of tokens), by one type of deletion and for one side of each text."""

    def __init__(self, explanation: ExplanationContext, removal: str, side: PredictionSide) -> None:
        self.explanation, self.removal, self.side = explanation, REMOVALS[removal], side
        self.target = torch.from_numpy(side.target)
        self.words: Flags = removable(explanation).numpy()

    @property
    def prediction(self) -> Floats:
        """ŷ(x) [N]."""
        values = self.explanation.target_fn(self.explanation.logits, self.target)
        return np.asarray(self.side.sign * (values.double().numpy() - self.side.centre))

    def __call__(self, texts: Ints, removed: Flags) -> Floats:
        """The drops of variants [V] of texts, each without its set of tokens [V, n]; a set that occurs more
        than once is asked of the model once."""
        keys = np.concatenate([texts.astype("<i4")[:, None].view(np.uint8), np.packbits(removed, axis=1)], 1)
        _, first, place = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        drops = np.zeros(len(first))
        changes = removed[first].any(axis=1)
        rows = torch.from_numpy(texts[first[changes]])
        if len(rows):
            before = self.explanation.logits[rows]
            after = self.removal.logits(self.explanation, rows, torch.from_numpy(removed[first[changes]]))
            drops[changes] = value_change(
                self.explanation.target_fn, before, after, self.target[rows]
            ).numpy()
        return drops[place.ravel()] * self.side.sign[texts]


class Orders(NamedTuple):
    """The rank of every token [orders, N, n], 0 first, and which rank a set of the first k tokens begins with
    [orders, N, n + 1]: 0 in an order."""

    ranks: Ints
    begins: Ints

    @classmethod
    def of(cls, ranks: Ints) -> Orders:
        """Orders, from their ranks [orders, N, n]."""
        return cls(ranks, np.zeros((*ranks.shape[:2], ranks.shape[2] + 1), dtype=np.int64))

    def beside(self, others: Orders) -> Orders:
        """These and others."""
        return Orders(*(np.concatenate(both) for both in zip(self, others, strict=True)))


def score_ranks(scores: NDArray[np.floating], words: Flags, ids: Ints) -> Ints:
    """The rank of every token [N, n] from the largest score of its text down, 0 first; what is not a token
    comes last. Equal scores are in a random order that depends on the text alone."""

    def draw(text: int) -> np.random.Generator:
        return np.random.default_rng([TIES, crc32(ids[text, words[text]].astype("<i8").tobytes())])

    return _ranks(-scores, random_keys(words, 1, draw)[0], words)


def random_keys(words: Flags, orders: int, rng: Callable[[int], np.random.Generator]) -> Floats:
    """Random numbers of the tokens [orders, N, n], those of a text from its own ``rng``."""
    keys = np.zeros((orders, *words.shape))
    for text, own in enumerate(words):
        keys[:, text, own] = rng(text).random((orders, int(own.sum())))
    return keys


def random_orders(words: Flags, orders: int, rng: Callable[[int], np.random.Generator]) -> Orders:
    """Random orders of the tokens of each text, which follow from its own ``rng``; each second one is the one
    before it from behind. What one keeps the other removes, so their mean is nearer to that of all orders."""
    keys = random_keys(words, -(-orders // 2), rng)
    ranks = [_ranks(sign * own, sign * own, words) for own in keys for sign in (1, -1)]
    return Orders.of(np.stack(ranks[:orders]))


def random_sets(
    words: Flags, weights: Mapping[str, Floats], orders: int, rng: Callable[[int], np.random.Generator]
) -> Orders:
    """Random orders in which the sets of each size that some statistic counts have no token in common, so
    that few of them come near to the mean over all sets; each set of a size is as likely as any other."""
    ranks, begins = random_orders(words, orders, rng)
    sizes = np.any([table != 0 for table in weights.values()], axis=0) * np.arange(words.shape[1] + 1)
    sizes[sizes == words.sum(axis=1)[:, None]] = 0  # all tokens
    # The largest set comes first, and each begins where the larger ones end.
    return Orders(ranks, begins + sizes[:, ::-1].cumsum(axis=1)[:, ::-1] - sizes)


def _ranks(keys: NDArray[np.number], ties: NDArray[np.number], words: Flags) -> Ints:
    """The rank of each token by its key, then by the other."""
    order = np.lexsort((ties, keys, ~words), axis=-1)
    ranks = np.empty(words.shape, dtype=np.int64)
    np.put_along_axis(ranks, order, np.arange(words.shape[1])[None], axis=1)
    return ranks


def bin_weights(counts: Ints, longest: int) -> Floats:
    """What each number k of tokens counts in comprehensiveness and sufficiency [N, n + 1].

    k is ⌊share · n⌋ for each of the shares; no k counts twice, and k = 0 not at all. NaN for texts of fewer
    than two tokens. Shares and mean: DeYoung et al. 2020; k, and that it counts once: Attanasio et al. 2023.
    """
    weights = np.zeros((len(counts), longest + 1))
    np.put_along_axis(weights, counts[:, None] * np.array(REMOVED_PERCENTS) // 100, 1.0, axis=1)
    weights[:, 0] = 0.0
    weights[counts < 2] = np.nan
    return weights / weights.sum(axis=1, keepdims=True)


def area_weights(counts: Ints, longest: int) -> Floats:
    """What each number k of tokens counts in the area under a curve over k / n [N, n + 1], by trapezoids
    between the same k = ⌊share · n⌋ and the ends 0 and n; NaN for texts of fewer than two tokens."""
    shares = np.array([0, *REMOVED_PERCENTS, 100])
    lengths = counts[:, None] * shares // 100
    widths = np.diff(lengths, axis=1) / np.maximum(counts, 1)[:, None]
    weights = np.zeros((len(counts), longest + 1))
    rows = np.arange(len(counts))[:, None]
    for ends in (lengths[:, :-1], lengths[:, 1:]):
        np.add.at(weights, (rows, ends), widths / 2)
    weights[counts < 2] = np.nan
    return weights


def statistic_weights(counts: Ints, longest: int) -> dict[str, Floats]:
    """The weights w_k of every statistic."""
    bins, areas = bin_weights(counts, longest), area_weights(counts, longest)
    return {name: areas if statistic.area else bins for name, statistic in STATISTICS.items()}


def curves_along(drops: ValueDrops, orders: Orders, lengths: Flags) -> Curves:
    """The curves of several orders at the numbers k of tokens marked in ``lengths`` [N, n + 1], from one pass
    over all variants of all texts."""
    text, length = lengths.nonzero()
    words, ranks = drops.words[text], orders.ranks
    begin = orders.begins[:, text, length][..., None]
    first = (ranks[:, text] >= begin) & (ranks[:, text] < begin + length[:, None]) & words
    removed = np.stack([first, words & ~first])
    texts = np.broadcast_to(text, removed.shape[:-1])
    result = np.full((2, len(ranks), *lengths.shape), np.nan)
    changes = drops(texts.ravel(), removed.reshape(-1, words.shape[1]))
    result[:, :, text, length] = changes.reshape(removed.shape[:-1])
    return Curves(*result)


def curve_statistics(curves: Curves, weights: Mapping[str, Floats], prediction: Floats) -> dict[str, Floats]:
    """Every statistic of every text [orders, N]; ``prediction`` is ŷ(x) [N]."""
    result = {}
    for name, statistic in STATISTICS.items():
        curve = getattr(curves, statistic.curve)
        mean = np.where(weights[name] != 0, weights[name] * curve, 0.0).sum(axis=-1)
        result[name] = prediction - mean if statistic.area else mean
    return result


def lengths_asked(weights: Mapping[str, Floats], texts: Flags) -> Flags:
    """The numbers of tokens [N, n + 1] that some statistic of these texts counts."""
    return np.any([table != 0 for table in weights.values()], axis=0) & texts[:, None]


def statistics_along(
    drops: ValueDrops, orders: Orders, texts: Flags, weights: Mapping[str, Floats]
) -> dict[str, Floats]:
    """Every statistic along some orders [orders, N], of these texts; NaN of others."""
    curves = curves_along(drops, orders, lengths_asked(weights, texts))
    return curve_statistics(curves, weights, drops.prediction)


def values_at_shares(curves: Curves, lengths: Flags, counts: Ints, prediction: Floats) -> dict[str, Floats]:
    """ŷ as shares 0, 0.1, …, 1 of the tokens of a text go, and as they alone are kept [orders, N, 11], by the
    area below it; between the ``lengths`` that were asked [N, n + 1] along straight lines. NaN of texts
    that were not asked."""
    result = {}
    for name, statistic in STATISTICS.items():
        if not statistic.area:
            continue
        curve = getattr(curves, statistic.curve)
        values = np.full((*curve.shape[:2], len(CURVE_SHARES)), np.nan)
        for text in np.flatnonzero(lengths.any(axis=1)):
            at = np.flatnonzero(lengths[text])
            for order, own in enumerate(curve[:, text, at]):
                values[order, text] = prediction[text] - np.interp(CURVE_SHARES, at / counts[text], own)
        result[name] = values
    return result
