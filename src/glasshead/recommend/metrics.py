"""How well scores rank the news of one impression: AUC, MRR, nDCG@5 and nDCG@10.

Equal scores count as the mean over all orders of them, in every metric. scikit-learn's metrics agree (the
tests compare them), but check their input for a millisecond or more per impression.
"""

import numpy as np
from numpy.typing import NDArray

from glasshead.statistics import auc

Scores = NDArray[np.float64]
Clicks = NDArray[np.bool_]


def click_auc(scores: Scores, clicked: Clicks) -> float:
    """How often something clicked scores above something not clicked; a tie counts one half."""
    return auc(scores[clicked], scores[~clicked])


def mrr(scores: Scores, clicked: Clicks) -> float:
    """Σ_i y_i / rank_i / Σ_i y_i, as MIND has it: the mean over all that was clicked, not only the first."""
    return float(by_rank(scores, 1 / np.arange(1, len(scores) + 1))[clicked].mean())


def ndcg(scores: Scores, clicked: Clicks, k: int) -> float:
    """Σ_i y_i / log2(1 + rank_i) over the first k ranks, divided by the largest possible."""
    ranks = np.arange(1, len(scores) + 1)
    discounts = np.where(ranks <= k, 1 / np.log2(1 + ranks), 0.0)
    return float(by_rank(scores, discounts)[clicked].sum() / discounts[: clicked.sum()].sum())


def by_rank(scores: Scores, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The value of the rank of each item, the largest score first; ties share the mean of their ranks."""
    from scipy.stats import rankdata

    first = rankdata(-scores, method="min").astype(int) - 1
    after = rankdata(-scores, method="max").astype(int)
    total = np.concatenate([[0.0], np.cumsum(values)])
    return (total[after] - total[first]) / (after - first)


RANKING_METRICS = {
    "auc": click_auc,
    "mrr": mrr,
    "ndcg@5": lambda scores, clicked: ndcg(scores, clicked, 5),
    "ndcg@10": lambda scores, clicked: ndcg(scores, clicked, 10),
}
"""Metrics of one impression that has both."""
