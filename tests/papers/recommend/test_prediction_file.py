"""Ranks of candidates."""

import numpy as np
import pytest
from scipy.stats import rankdata

from glasshead.papers.recommend.prediction_file import candidate_ranks


@pytest.mark.parametrize("seed", range(5))
def test_the_largest_score_is_first_and_ties_keep_their_order(seed):
    scores = np.random.default_rng(seed).integers(4, size=12).astype(float)
    assert candidate_ranks(scores).tolist() == rankdata(-scores, method="ordinal").tolist()
