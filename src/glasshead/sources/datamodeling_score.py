"""How well numbers of passages predict the effect of removing passages: the linear datamodeling score.

Source: Park et al. (2023), TRAK; Cohen-Wang et al. (2024), ContextCite, section 4.2.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from scipy.stats import rankdata

from glasshead.results import Foretelling
from glasshead.sources.effects import LEVEL, RESAMPLES, Masks, Numbers, fit_surrogate

FOLDS = 8
LEAST_SUBSETS, LEAST_PASSAGES = 16, 3
"""With fewer, ranks say nothing."""
LEAST_SPREAD = 0.1
"""Log-odds: answers that vary less do not depend on the passages."""
Outputs = Float[np.ndarray, " subsets"]


def can_be_foretold(masks: Masks, outputs: Outputs) -> bool:
    """Whether there are enough subsets, and the statement depends on them."""
    subsets, passages = masks.shape
    return subsets >= LEAST_SUBSETS and passages >= LEAST_PASSAGES and float(np.std(outputs)) > LEAST_SPREAD


def surrogate_predictions(masks: Masks, outputs: Outputs, tokens: int, seed: int) -> Outputs:
    """What the surrogate says of each subset, fitted without it (cross-validation)."""
    folds = np.random.default_rng(seed).permutation(len(masks)) % FOLDS
    predicted = np.zeros(len(masks))
    for fold in range(FOLDS):
        left_out = folds == fold
        weights = fit_surrogate(masks[~left_out], outputs[~left_out], tokens)
        rest = outputs[~left_out].mean() - masks[~left_out].mean(axis=0) @ weights
        predicted[left_out] = rest + masks[left_out] @ weights
    return predicted


def foretell(predicted: Outputs, outputs: Outputs, seed: int) -> Foretelling:
    """Spearman's ρ between predicted and measured log-odds of subsets, its interval by drawing the subsets
    again, and what chance reaches in one of twenty shuffles."""
    random = np.random.default_rng(seed)
    again = []
    for _ in range(RESAMPLES):
        rows = random.integers(len(outputs), size=len(outputs))
        again.append(spearman(predicted[rows], outputs[rows]))
    shuffled = [spearman(random.permutation(predicted), outputs) for _ in range(RESAMPLES)]
    low, high = np.quantile(again, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Foretelling(
        spearman(predicted, outputs),
        (float(low), float(high)),
        float(np.quantile(shuffled, LEVEL)),
        len(outputs),
    )


def foretell_by_sum(numbers: Numbers, masks: Masks, outputs: Outputs, seed: int) -> Foretelling:
    """`foretell` by the sum of the numbers of the passages that are there; chance gives them to other
    passages."""
    found = foretell(masks @ numbers, outputs, seed)
    random = np.random.default_rng(seed)
    shuffled = [spearman(masks @ random.permutation(numbers), outputs) for _ in range(RESAMPLES)]
    return Foretelling(found.rho, found.interval, float(np.quantile(shuffled, LEVEL)), found.n)


def spearman(one: Outputs, other: Outputs) -> float:
    """The correlation of ranks; 0 where all are the same."""
    first, second = rankdata(one), rankdata(other)
    if first.std() == 0 or second.std() == 0:
        return 0.0
    return float(np.corrcoef(first, second)[0, 1])
