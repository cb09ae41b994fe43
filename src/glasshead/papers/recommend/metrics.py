"""How well scores rank the news of impressions: AUC, MRR, nDCG@5 and nDCG@10.

Equal scores count as the mean over all orders of them, in every metric. scikit-learn's metrics agree (the
tests compare them), but check their input for a millisecond or more per impression. Impressions that show
equally many news are ranked together.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float
from numpy.typing import NDArray

Scores = Float[np.ndarray, "*impressions shown"]
Clicks = Bool[np.ndarray, "*impressions shown"]
Values = Float[np.ndarray, "*impressions"]


def click_auc(scores: Scores, clicked: Clicks) -> Values:
    """How often something clicked scores above something not clicked; a tie counts one half."""
    size, count = scores.shape[-1], clicked.sum(axis=-1)
    above = by_rank(scores, np.arange(size - 1.0, -1.0, -1.0))  # how many stand below each
    won = (above * clicked).sum(axis=-1) - count * (count - 1) / 2
    return won / (count * (size - count))


def mrr(scores: Scores, clicked: Clicks) -> Values:
    """Σ_i y_i / rank_i / Σ_i y_i, as MIND has it: the mean over all that was clicked, not only the first."""
    reciprocal = by_rank(scores, 1 / np.arange(1, scores.shape[-1] + 1))
    return (reciprocal * clicked).sum(axis=-1) / clicked.sum(axis=-1)


def ndcg(scores: Scores, clicked: Clicks, k: int) -> Values:
    """Σ_i y_i / log2(1 + rank_i) over the first k ranks, divided by the largest possible."""
    ranks = np.arange(1, scores.shape[-1] + 1)
    discounts = np.where(ranks <= k, 1 / np.log2(1 + ranks), 0.0)
    largest = np.cumsum(discounts)[clicked.sum(axis=-1) - 1]
    return (by_rank(scores, discounts) * clicked).sum(axis=-1) / largest


def by_rank(scores: Scores, values: NDArray[np.float64]) -> Scores:
    """The value of the rank of each item, the largest score first; ties share the mean of their ranks."""
    from scipy.stats import rankdata  # takes as long to import as torch does

    first = rankdata(-scores, method="min", axis=-1).astype(int) - 1
    after = rankdata(-scores, method="max", axis=-1).astype(int)
    total = np.concatenate([[0.0], np.cumsum(values)])
    return (total[after] - total[first]) / (after - first)


RANKING_METRICS = {
    "auc": click_auc,
    "mrr": mrr,
    "ndcg@5": lambda scores, clicked: ndcg(scores, clicked, 5),
    "ndcg@10": lambda scores, clicked: ndcg(scores, clicked, 10),
}
"""Metrics of impressions that have both."""


def impression_metrics(
    scores: Sequence[NDArray[np.float64]],
    clicked: Sequence[NDArray[np.bool_]],
    metrics: Sequence[str] = tuple(RANKING_METRICS),
) -> Float[np.ndarray, "metrics impressions"]:
    """Every metric of every impression; each may show another number of news."""
    sizes = np.array([len(row) for row in scores])
    values = np.empty((len(metrics), len(scores)))
    for size in np.unique(sizes):
        rows = np.flatnonzero(sizes == size).tolist()
        block = np.stack([scores[row] for row in rows]), np.stack([clicked[row] for row in rows])
        for number, name in enumerate(metrics):
            values[number, rows] = RANKING_METRICS[name](*block)
    return values
