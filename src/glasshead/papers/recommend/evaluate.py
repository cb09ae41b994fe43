"""How well a recommender ranks, with intervals over impressions, beside popularity and chance."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasshead.papers.recommend.metrics import RANKING_METRICS, impression_metrics
from glasshead.papers.recommend.mind import NewsLogs, rankable
from glasshead.papers.recommend.run import RecommenderRun
from glasshead.statistics import UNKNOWN, Estimate, mean_intervals
from glasshead.torch_modes import in_own_modes

MODEL, POPULARITY, RANDOM = "model", "popularity", "random"
ImpressionScores = Sequence[NDArray[np.float64]]
Estimates = dict[str, dict[str, Estimate]]


@in_own_modes
def rank(run: RecommenderRun, logs: NewsLogs, *, seed: int = 0) -> tuple[Estimates, Estimates]:
    """`ranking_estimates` of a model, of popularity and of chance, on the impressions that can be ranked.

    Raises:
        InputError: if clicks are not recorded, or no impression can be ranked.
    """
    impressions_with_clicks = rankable(logs)
    clicked = [np.array(impression.clicked, dtype=bool) for impression in impressions_with_clicks.impressions]
    return ranking_estimates(all_scores(run, impressions_with_clicks), clicked, seed=seed)


def all_scores(run: RecommenderRun, logs: NewsLogs) -> dict[str, ImpressionScores]:
    """Scores of the shown news of every impression: the model's, clicks in train, and equal ones.

    Equal scores count as the mean over all orders, which is the expectation of a random ranking: its AUC is
    ½ and, with p of n clicked, its MRR H_n/n and its nDCG@k p/n · Σ_{r ≤ k} 1/log2(1 + r) by the largest one.
    """
    popularity = [
        np.array([float(run.clicks.get(name, 0)) for name in impression.shown])
        for impression in logs.impressions
    ]
    chance = [np.zeros(len(impression.shown)) for impression in logs.impressions]
    return {MODEL: run.scores(logs), POPULARITY: popularity, RANDOM: chance}


def ranking_estimates(
    scores: Mapping[str, ImpressionScores], clicked: Sequence[NDArray[np.bool_]], *, seed: int = 0
) -> tuple[Estimates, Estimates]:
    """Every metric of every ranking, and how much the model exceeds each other one; means over impressions.

    Both are keyed by ranking and metric, with bootstrap intervals over impressions between 0 and 1; the
    differences are paired. The expected AUC of a random order is ½ for every impression, so it has none.
    """
    values = {name: impression_metrics(ranking, clicked) for name, ranking in scores.items()}
    others = [name for name in values if name != MODEL]
    rows = [*values.values(), *(values[MODEL] - values[name] for name in others)]
    kinds = [UNKNOWN if name == RANDOM else (0.0, 1.0) for name in values] + [(-1.0, 1.0)] * len(others)
    estimates = mean_intervals(
        np.concatenate(rows),
        rng=np.random.default_rng([seed, 0]),
        within=np.repeat(kinds, len(RANKING_METRICS), axis=0),
    )
    groups = [
        dict(zip(RANKING_METRICS, estimates[at : at + len(RANKING_METRICS)], strict=True))
        for at in range(0, len(estimates), len(RANKING_METRICS))
    ]
    means = dict(zip(values, groups, strict=False))
    return means, dict(zip(others, groups[len(values) :], strict=True))


def as_numbers(estimates: Estimates) -> dict[str, Any]:
    """Plain JSON."""
    return {
        name: {metric: estimate._asdict() for metric, estimate in metrics.items()}
        for name, metrics in estimates.items()
    }
