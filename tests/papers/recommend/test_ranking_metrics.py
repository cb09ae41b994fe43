"""AUC, MRR and nDCG of one impression against numbers worked out by hand, and against all orders of ties."""

from itertools import permutations
from math import log2
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.metrics import ndcg_score, roc_auc_score

from glasshead.papers.recommend.evaluate import all_scores, ranking_estimates
from glasshead.papers.recommend.metrics import RANKING_METRICS, click_auc, mrr, ndcg

SCORES = np.array([0.9, 0.1, 0.8, 0.3, 0.2, 0.7])  # ranks 1 6 2 4 5 3
CLICKED = np.array([False, False, True, True, False, False])


def test_by_hand():
    # Ranks of the clicked: 2 and 4. Pairs: above 0.1, 0.2, 0.7 of 0.9 …: 3 of 4; and 2 of 4.
    assert click_auc(SCORES, CLICKED) == pytest.approx(5 / 8)
    assert mrr(SCORES, CLICKED) == pytest.approx((1 / 2 + 1 / 4) / 2)
    ideal = 1 + 1 / log2(3)
    assert ndcg(SCORES, CLICKED, 5) == pytest.approx((1 / log2(3) + 1 / log2(5)) / ideal)
    assert ndcg(SCORES, CLICKED, 3) == pytest.approx((1 / log2(3)) / ideal)
    assert RANKING_METRICS["ndcg@10"](SCORES, CLICKED) == pytest.approx(
        RANKING_METRICS["ndcg@5"](SCORES, CLICKED)
    )


def test_the_cut_after_five_and_ten():
    scores = -np.arange(12.0)
    clicked = np.arange(12) == 6
    assert RANKING_METRICS["ndcg@5"](scores, clicked) == 0
    assert RANKING_METRICS["ndcg@10"](scores, clicked) == pytest.approx(1 / log2(8))
    assert RANKING_METRICS["mrr"](scores, clicked) == pytest.approx(1 / 7)


def test_best_and_worst():
    scores, clicked = np.array([3.0, 2.0, 1.0]), np.array([True, False, False])
    assert [metric(scores, clicked) for metric in RANKING_METRICS.values()] == pytest.approx([1, 1, 1, 1])
    assert click_auc(-scores, clicked) == 0
    assert mrr(-scores, clicked) == pytest.approx(1 / 3)


@pytest.mark.parametrize("name", list(RANKING_METRICS))
@pytest.mark.parametrize(
    ("scores", "clicked"),
    [([1, 1, 1, 1], [1, 0, 0, 0]), ([2, 1, 1, 0, 1], [0, 1, 0, 1, 1]), ([0, 0, 5, 5, 1], [1, 0, 1, 0, 0])],
)
def test_ties_are_the_mean_over_their_orders(name, scores, clicked):
    metric, scores = RANKING_METRICS[name], np.array(scores, dtype=float)
    clicked = np.array(clicked, dtype=bool)
    broken = [metric(scores + 1e-6 * np.array(order), clicked) for order in permutations(range(len(scores)))]
    assert metric(scores, clicked) == pytest.approx(np.mean(broken), abs=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_equal_to_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 5 if seed % 2 else 1000, rng.integers(2, 30)).astype(float)
    clicked = rng.random(len(scores)) < 0.3
    clicked[:2] = True, False
    assert click_auc(scores, clicked) == pytest.approx(roc_auc_score(clicked, scores))
    for k in (5, 10):
        assert ndcg(scores, clicked, k) == pytest.approx(ndcg_score(clicked[None], scores[None], k=k))


def test_means_and_paired_differences():
    rng = np.random.default_rng(0)
    clicked = [np.arange(6) == 0 for _ in range(200)]
    chance = [rng.random(6) for _ in range(200)]
    model = [each + (np.arange(6) == 0) * 0.5 for each in chance]
    means, differences = ranking_estimates({"model": model, "random": chance}, clicked)
    by_hand = np.mean([click_auc(*pair) for pair in zip(model, clicked, strict=True)])
    assert means["model"]["auc"].mean == pytest.approx(by_hand)
    assert means["model"]["auc"].n == 200
    low, high = means["random"]["auc"].interval
    assert low < 0.5 < high
    lead = differences["random"]["auc"]
    assert lead.mean == pytest.approx(means["model"]["auc"].mean - means["random"]["auc"].mean)
    assert lead.low > 0
    again, _ = ranking_estimates({"model": model, "random": chance}, clicked)
    assert again == means


def expectation(n, p):
    """What a random order of n items gives in the mean, p of them clicked: the closed forms."""
    discounts = [1 / log2(1 + r) for r in range(1, n + 1)]
    gains = [p / n * sum(discounts[:k]) / sum(discounts[: min(p, k)]) for k in (5, 10)]
    return dict(zip(RANKING_METRICS, [0.5, sum(1 / r for r in range(1, n + 1)) / n, *gains], strict=True))


@pytest.mark.parametrize("seed", range(3))
def test_the_random_row_is_the_expectation_of_a_random_order(seed):
    rng = np.random.default_rng(seed)
    sizes = [(2, 1), (4, 2), (9, 1), (12, 7), (30, 3)]
    impressions = [
        SimpleNamespace(
            shown=[f"N{item}" for item in range(n)], clicked=(np.arange(n) < p).tolist(), rankable=True
        )
        for n, p in sizes
    ]
    logs = SimpleNamespace(impressions=impressions)
    run = SimpleNamespace(clicks={"N1": 3}, scores=lambda logs: [rng.random(n) for n, _ in sizes])
    clicked = [np.array(each.clicked) for each in impressions]
    means, _ = ranking_estimates(all_scores(run, logs), clicked, seed=seed)
    for name, estimate in means["random"].items():
        assert estimate.mean == pytest.approx(np.mean([expectation(n, p)[name] for n, p in sizes]))
    assert means["random"]["auc"].interval is None  # nothing varies
    assert means["popularity"]["auc"].mean != 0.5


def test_the_closed_forms_are_the_mean_over_orders():
    clicked = np.arange(6) < 2
    for name, metric in RANKING_METRICS.items():
        drawn = [metric(np.array(order, dtype=float), clicked) for order in permutations(range(6))]
        assert np.mean(drawn) == pytest.approx(expectation(6, 2)[name])
