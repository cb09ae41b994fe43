"""What an audit asks of one impression: does attention point at what the recommendation rests on?"""

from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from glasshead.arrays import Floats
from glasshead.papers.recommend.explanation import Candidate
from glasshead.papers.recommend.metrics import click_auc
from glasshead.papers.recommend.parts import ScoreParts
from glasshead.statistics import kendall_tau_b, total_variation
from glasshead.trace import intervene, uniform

ERASURE = {
    "attention.erasure": "agreement",
    "contribution.erasure": "agreement",
    "heaviest.change": "removal",
    "strongest.fall": "removal",
}
"""What is asked of clicks and of words, and how it is judged."""
POOLINGS = ("uniform-pooling", "permuted-pooling")
BY_LEVEL = ("uniform-news-level", "uniform-word-level")


def erasure_numbers(
    weights: Floats, contributions: Floats, falls: Floats, draws: int, rng: np.random.Generator
) -> dict[str, tuple[float, float]]:
    """Each of `ERASURE` for one impression, beside the same of units in random order.

    τ-b of the weights with |fall| and of the contributions with the fall, the null in ``draws`` random
    orders; |fall| without the unit of the largest weight, and the fall without that of the largest
    contribution, the null over all units; where several are largest, their mean. Falls are of the click
    probability. All are NaN for fewer than two units.
    """
    if len(weights) < 2:
        return dict.fromkeys(ERASURE, (np.nan, np.nan))
    orders = np.stack([rng.permutation(len(weights)) for _ in range(draws)])
    changes = np.abs(falls)
    return {
        "attention.erasure": agreement(weights, changes, orders),
        "contribution.erasure": agreement(contributions, falls, orders),
        "heaviest.change": (mean_at_largest(changes, weights), float(changes.mean())),
        "strongest.fall": (mean_at_largest(falls, contributions), float(falls.mean())),
    }


def mean_at_largest(effects: Floats, scores: Floats) -> float:
    """The effect of the unit of the largest score, or the mean effect of those that share it."""
    return float(effects[np.isclose(scores, scores.max(), rtol=1e-9, atol=0.0)].mean())


def agreement(scores: Floats, effects: Floats, orders: NDArray[np.int64]) -> tuple[float, float]:
    """Kendall τ-b of scores with effects, and its mean over scores in random order; NaN if undefined."""
    stacked = np.concatenate([scores[None], scores[orders]])[:, None]
    tau = kendall_tau_b(stacked, effects[None], np.ones((1, len(effects)), dtype=bool)).tau[:, 0]
    return float(tau[0]), float(tau[1:].mean())


def click_falls(one: Candidate) -> Floats:
    """How much the click probability falls without each of the clicked news."""
    users = one.parts.without_each_click(one.parts.news[one.history])
    scores = users @ one.parts.news[one.shown].T
    return (probabilities(one.scores) - probabilities(scores))[:, one.index]


def word_falls(one: Candidate) -> Floats:
    """How much the click probability falls without each of the words of the title."""
    falls = one.falls_by_word()
    scores = one.scores.repeat(len(falls), 1)
    scores[:, one.index] -= falls
    return (probabilities(one.scores) - probabilities(scores))[:, one.index]


def probabilities(scores: Tensor) -> Floats:
    """Softmax of the scores [*, C] of the shown news, [*, C] with at least two axes."""
    return torch.atleast_2d(scores).softmax(dim=-1).cpu().numpy()


def score_edits(
    one: Candidate, draws: int, rng: np.random.Generator, flat_words: Tensor
) -> Iterator[tuple[str, Floats]]:
    """The scores of the shown news with other weights, [draws, C]: the name of the edit, and what it gives.

    ``flat_words`` are the vectors of all news with uniform attention at the word level.
    """
    news, states, count = one.parts.news, one.states, len(one.weights)
    shown = news[one.shown]
    orders = torch.from_numpy(np.stack([rng.permutation(count) for _ in range(draws)])).to(news.device)
    flat = torch.full_like(one.weights, 1 / count)
    yield "uniform-pooling", ((flat @ states) @ shown.T)[None].cpu().numpy()
    yield "permuted-pooling", ((one.weights[orders] @ states) @ shown.T).cpu().numpy()
    with intervene(one.parts.model.clicks, uniform):
        user = one.parts.read_histories(news[one.history][None]).vector
    yield "uniform-news-level", (user @ shown.T).cpu().numpy()
    user = one.parts.read_histories(flat_words[one.history][None]).vector
    yield "uniform-word-level", (user @ flat_words[one.shown].T).cpu().numpy()


def news_with_uniform_words(parts: ScoreParts) -> Tensor:
    """The vectors of all news when every attention at the word level is uniform."""
    with intervene(parts.model.words, uniform):
        return parts.encode_news()


def ranking_numbers(
    one: Candidate, edits: Iterator[tuple[str, Floats]], clicked: NDArray[np.bool_] | None
) -> dict[str, float]:
    """The AUC of one impression where ``clicked`` is told, and for each edit how much of it is lost and how
    far (total variation, from 0 to 1) the click probabilities move; means over draws."""
    numbers: dict[str, float] = {}
    scores = one.scores.cpu().numpy()
    before = probabilities(one.scores)
    if clicked is not None:
        numbers["auc"] = float(click_auc(scores, clicked))
    for name, edited in edits:
        after = probabilities(torch.from_numpy(edited))
        numbers[f"shift.{name}"] = float(total_variation(after, np.broadcast_to(before, after.shape)).mean())
        if clicked is not None:
            auc = click_auc(edited, np.broadcast_to(clicked, edited.shape))
            numbers[f"loss.{name}"] = numbers["auc"] - float(auc.mean())
    return numbers
