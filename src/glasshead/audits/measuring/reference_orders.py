"""Orders of tokens that know the model: a greedy one, and the best of all."""

import numpy as np

from glasshead.arrays import Flags, Floats
from glasshead.audits.judging.curve_statistics import MOST_SUBSETS, STATISTICS
from glasshead.audits.measuring.removal_curves import Ints, ValueDrops

TIE = 1e-5
"""Models run in float32: tokens without which ŷ differs by less, relative to ŷ or 1, are equal. Which of them
went would depend on the other texts, and so would all that follows."""


def greedy_ranks(drops: ValueDrops, texts: Flags, resolution: float = TIE) -> Ints:
    """The ranks [N, n] of the tokens of some texts where at each step the token goes without which ŷ is
    smallest, the first one of equal ones (less than a ``resolution`` apart); every step of all texts is one
    call."""
    left, tie = drops.words & texts[:, None], max(TIE, resolution)
    ranks = np.full(left.shape, left.shape[1])
    for step in range(int(left.sum(axis=1).max(initial=0))):
        text, token = left.nonzero()
        removed = drops.words[text] & ~left[text]
        removed[np.arange(len(text)), token] = True
        table = np.full(left.shape, -np.inf)
        table[text, token] = drops(text, removed)
        rows = np.unique(text)
        largest = table[rows].max(axis=1, keepdims=True)
        best = (table[rows] >= largest - tie * np.maximum(np.abs(drops.prediction[rows, None]), 1)).argmax(1)
        ranks[rows, best] = step
        left[rows, best] = False
    return ranks


def best_statistics(drops: ValueDrops, texts: Flags, weights: dict[str, Floats]) -> dict[str, Floats]:
    """The best value [N] that any order can have of each statistic, of texts of at most ten tokens; NaN of
    others."""
    counts = drops.words.sum(axis=1)
    result = {name: np.full(len(counts), np.nan) for name in STATISTICS}
    for count in np.unique(counts[texts & (counts >= 2) & (counts <= MOST_SUBSETS)]):
        rows = (texts & (counts == count)).nonzero()[0]
        values = drops_of_subsets(drops, rows, int(count))
        for name, statistic in STATISTICS.items():
            own = weights[name][rows, : count + 1]
            # Of a set that is kept the rest is removed; and what is kept alone should change ŷ least.
            without = statistic.curve == "without"
            best = largest_sums(values, own) if without else -largest_sums(-values[:, ::-1], own)
            result[name][rows] = drops.prediction[rows] - best if statistic.area else best
    return result


def drops_of_subsets(drops: ValueDrops, rows: Ints, count: int) -> Floats:
    """ŷ(x) − ŷ(x without S) of all sets S of the ``count`` tokens of some texts [rows, 2ⁿ]; bit i of a set's
    number is token i."""
    subsets = np.arange(2**count)[:, None] >> np.arange(count) & 1
    removed = np.zeros((len(rows), len(subsets), drops.words.shape[1]), dtype=bool)
    for row, text in enumerate(rows):
        removed[row][:, drops.words[text]] = subsets > 0
    texts = np.repeat(rows, len(subsets))
    return drops(texts, removed.reshape(len(texts), -1)).reshape(len(rows), -1)


def largest_sums(values: Floats, weights: Floats) -> Floats:
    """The largest Σ_k w_k v(S_k) [T] over all chains of sets that grow by one token, from the values v of all
    sets [T, 2ⁿ] and weights w [T, n + 1]; by dynamic programming over sets."""
    count = weights.shape[1] - 1
    sizes = np.array([subset.bit_count() for subset in range(2**count)])
    sums = weights[:, sizes] * values
    for subset in range(1, 2**count):
        smaller = [subset ^ 1 << bit for bit in range(count) if subset >> bit & 1]
        sums[:, subset] += sums[:, smaller].max(axis=1)
    return sums[:, -1]
