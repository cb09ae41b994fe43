"""Comprehensiveness and sufficiency: numbers of the code of ferret's and ERASER's authors."""

import json
from pathlib import Path

import numpy as np
import pytest

from glasshead.audits.measuring.removal_curves import (
    Orders,
    curve_statistics,
    curves_along,
    score_ranks,
    statistic_weights,
)

CASES = json.loads((Path(__file__).parent / "faithfulness_numbers.json").read_text(encoding="utf-8"))["cases"]


class MadeUp:
    """The made-up model of the stored cases: how much ŷ falls without sets of tokens."""

    def __init__(self, effects):
        self.effects, self.words = effects, np.ones((1, len(effects)), dtype=bool)

    def __call__(self, texts, removed):
        left = [self.effects[~gone] for gone in removed]
        logits = [own.sum() / 3 + own[0] * own[-1] if len(own) else 0.0 for own in left]
        whole = self.effects.sum() / 3 + self.effects[0] * self.effects[-1]
        return 1 / (1 + np.exp(-whole)) - 1 / (1 + np.exp(-np.array(logits)))


@pytest.mark.parametrize("author", ["ferret", "eraser"])
def test_the_numbers_are_those_of_the_authors(author):
    cases = [case for case in CASES if author in case]
    assert len(cases) >= 5
    for case in cases:
        scores, effects = (np.array(case[name]) for name in ("scores", "effects"))
        drops = MadeUp(effects)
        weights = statistic_weights(np.array([len(scores)]), len(scores))
        order = Orders.of(score_ranks(scores[None], drops.words, np.arange(len(scores))[None])[None])
        asked = np.ones((1, len(scores) + 1), dtype=bool)
        found = curve_statistics(curves_along(drops, order, asked), weights, np.zeros(1))
        for name, value in case[author].items():
            assert found[name].item() == pytest.approx(value, abs=1e-9), (name, len(scores))
