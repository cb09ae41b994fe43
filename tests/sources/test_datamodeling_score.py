"""The linear datamodeling score: planted numbers foretell, shuffled ones do not."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from glasshead.sources.datamodeling_score import foretell, foretell_by_sum, spearman, surrogate_predictions
from glasshead.sources.effects import draw_masks

WEIGHTS = np.array([3.0, 0.0, 1.0, 0.0, -2.0, 0.0, 0.5, 0.0])


def planted(seed, noise=0.5):
    masks = draw_masks(8, 64, seed)
    return masks, masks @ WEIGHTS + noise * np.random.default_rng(seed).normal(size=64)


def test_planted_weights_foretell():
    masks, outputs = planted(0)
    found = foretell_by_sum(WEIGHTS, masks, outputs, 0)
    assert found.rho == pytest.approx(spearmanr(masks @ WEIGHTS, outputs).statistic)
    assert found.rho > max(0.9, found.chance)
    assert found.interval[0] > 0.8


@pytest.mark.slow
def test_numbers_that_know_nothing_are_within_chance():
    """In 19 of 20."""
    beyond = 0
    for seed in range(60):
        masks, outputs = planted(seed)
        found = foretell_by_sum(np.random.default_rng(1000 + seed).random(8), masks, outputs, seed)
        beyond += found.rho > found.chance
    assert beyond <= 8


@pytest.mark.slow
def test_a_surrogate_of_noise_foretells_nothing():
    """Each subset is predicted without itself."""
    found = []
    for seed in range(20):
        masks = draw_masks(8, 64, seed)
        outputs = np.random.default_rng(seed).normal(size=64)
        found.append(foretell(surrogate_predictions(masks, outputs, 1, seed), outputs, seed).rho)
    assert np.mean(found) < 0.05


def test_a_surrogate_of_planted_weights_foretells_them():
    masks, outputs = planted(0)
    assert foretell(surrogate_predictions(masks, outputs, 1, 0), outputs, 0).rho > 0.9


def test_numbers_that_are_all_the_same_foretell_nothing():
    assert spearman(np.ones(5), np.arange(5.0)) == 0.0
