"""What is measured of one question: removals along orders, and its key passage at other places.

Source: Cohen-Wang et al. (2024), ContextCite, section 4: the top-k drop of log p and the linear datamodeling
score. Liu et al. (2024), Lost in the Middle, for the place of a passage.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasshead.results import TOP, MeasuredQuestion
from glasshead.sources.citing import Citing
from glasshead.sources.datamodeling_score import can_be_foretold, spearman, surrogate_predictions
from glasshead.sources.effects import log_odds
from glasshead.sources.judge import LEAST, Removals, judge_sources
from glasshead.sources.passage_shares import read_shares
from glasshead.sources.removals import Masks

CONTEXTCITE, LEAVE_ONE_OUT, POSITION = "contextcite", "leave-one-out", "position"
RANDOM_ORDERS = 8
PLACES = 5
"""Places of the key passage, from the first to the last."""
FEWEST_TO_MOVE = PLACES
"""Of fewer passages some places are one, and there are too few orders of the others."""
Scores = Mapping[str, NDArray[np.float64]]


def measure_question(citing: Citing, question: Any) -> MeasuredQuestion:
    """Remove passages at random, one by one and along orders, and move the one that adds most."""
    passages, own, answer = citing.remover.frame.passages, citing.everything, citing.answer.text
    count = len(passages)
    random = np.random.default_rng([citing.request.seed, zlib.crc32(f"{question}\n{answer}".encode())])
    scored, subsets, drawn = citing.removals()
    base, drawn = scored[:, own].sum(axis=1), drawn[:, own].sum(axis=1)
    log_p, none = float(base[0]), float(base[1])
    alone, by_itself = base[0] - base[2 : 2 + count], base[2 + count :] - base[1]
    effects, scale = citing.effects(base, subsets, drawn, len(own))
    judged = judge_sources(effects, scale, Removals(log_p, none, [*alone], [*by_itself], {}), ())
    shares = read_shares(citing)
    scores = {
        CONTEXTCITE: effects.values,
        LEAVE_ONE_OUT: alone,
        **{name: np.array(one) for name, one in shares.of(own).items()},
        POSITION: by_place(count),
    }
    drops, random_drops = drops_along(citing, scores, log_p, random)
    predicts, random_predicts = predictions(citing, scores, subsets, drawn, random)
    key = int(np.argmax(by_itself))
    moves = count >= FEWEST_TO_MOVE and float(by_itself[key]) > LEAST
    places, reshuffled = move(citing, key, random) if moves else ([], [])
    texts = [one.text for one in passages]
    return MeasuredQuestion(
        question if isinstance(question, str) else question[-1]["content"],
        answer,
        count,
        len(citing.remover.tokens(texts)),
        log_p,
        none,
        alone.tolist(),
        by_itself.tolist(),
        [one.passage for one in judged if one.is_source],
        [stop - start for start, stop in shares.spans],
        {name: [*one] for name, one in shares.of(own).items()},
        drops,
        random_drops,
        predicts,
        random_predicts,
        key if moves else None,
        places,
        reshuffled,
        tuple(shares.notes),
    )


def by_place(count: int) -> NDArray[np.float64]:
    """Numbers that put the first passage first."""
    return np.arange(count, 0, -1) / count


def drops_along(
    citing: Citing, scores: Scores, log_p: float, random: np.random.Generator
) -> tuple[dict[str, list[float | None]], list[list[float] | None]]:
    """By how much log p falls without the first k of the order of each method, and of random orders. Equal
    scores are put in random order."""
    count = len(citing.remover.frame.passages)
    orders = [np.lexsort([random.random(count), -one]) for one in scores.values()]
    orders += [random.permutation(count) for _ in range(RANDOM_ORDERS)]
    fitting = [k for k in TOP if k < count]
    kept = np.ones((len(fitting), len(orders), count), bool)
    for row, k in zip(kept, fitting, strict=True):
        for mask, order in zip(row, orders, strict=True):
            mask[order[:k]] = False
    falls: dict[int, NDArray[np.float64]] = {}
    if fitting:
        scored = citing.score(kept.reshape(-1, count), "removing along orders")[:, citing.everything]
        falls = dict(zip(fitting, log_p - scored.sum(axis=1).reshape(len(fitting), -1), strict=True))
    return (
        {
            name: [float(falls[k][place]) if k in falls else None for k in TOP]
            for place, name in enumerate(scores)
        },
        [falls[k][len(scores) :].tolist() if k in falls else None for k in TOP],
    )


def predictions(
    citing: Citing, scores: Scores, subsets: Masks, drawn: NDArray[np.float64], random: np.random.Generator
) -> tuple[dict[str, float], dict[str, list[float]]]:
    """The linear datamodeling score of each method, that of the surrogate by cross-validation, and of its
    numbers given to other passages. It is that of subsets without two passages or more: the others are what
    leave-one-out has measured."""
    outputs, count = log_odds(drawn), subsets.shape[1]
    if not can_be_foretold(subsets, outputs):
        return {}, {}
    predicted = {name: subsets @ one for name, one in scores.items()}
    tokens = len(citing.everything)
    predicted[CONTEXTCITE] = surrogate_predictions(subsets, outputs, tokens, citing.request.seed)
    held = subsets.sum(axis=1) < count - 1
    subsets, outputs = subsets[held], outputs[held]
    return (
        {name: spearman(one[held], outputs) for name, one in predicted.items()},
        {
            name: [spearman(subsets @ random.permutation(one), outputs) for _ in range(RANDOM_ORDERS)]
            for name, one in scores.items()
        },
    )


def move(citing: Citing, key: int, random: np.random.Generator) -> tuple[list[float], list[float]]:
    """log p with the key passage at `PLACES` places among the others in one random order, and in the middle
    of them in as many orders, none of them twice: where orders mean nothing, both vary alike."""
    count = len(citing.remover.frame.passages)
    others = [place for place in range(count) if place != key]
    fixed = [others[n] for n in random.permutation(count - 1)]
    orders = [
        [*fixed[:place], key, *fixed[place:]]
        for place in np.round(np.linspace(0, count - 1, PLACES)).astype(int)
    ]
    middle = round((count - 1) / 2)
    shuffled = set[tuple[int, ...]]()
    while len(shuffled) < PLACES:
        shuffled.add(tuple(others[n] for n in random.permutation(count - 1)))
    orders += [[*rest[:middle], key, *rest[middle:]] for rest in sorted(shuffled)]
    scored = score_orders(citing, orders)
    return scored[:PLACES], scored[PLACES:]


def score_orders(citing: Citing, orders: Sequence[Sequence[int]]) -> list[float]:
    """log p of the answer behind all passages in other orders."""
    remover = citing.remover
    prompts = []
    for order in orders:
        passages = [remover.frame.passages[place] for place in order]
        moved = replace(remover, frame=replace(remover.frame, passages=passages))
        prompts.append(moved.tokens([one.text for one in passages]))
    scored = remover.scorer(prompts)[:, citing.everything].sum(axis=1)
    return [float(one) for one in scored]
