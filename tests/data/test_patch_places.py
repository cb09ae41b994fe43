"""Which patches stand beside which, and how far apart they are."""

import numpy as np
import pytest

from glasshead.data import PatchGrid
from glasshead.opening import open_subject
from image_families import image_model, pictures, processor

STEPS = {"left": (0, -1), "right": (0, 1), "above": (-1, 0), "below": (1, 0), "itself": (0, 0)}


@pytest.fixture(scope="module")
def encoded():
    reader = open_subject(image_model(), processor()).tokenizer
    assert reader.grid == PatchGrid(3, 3, 12, 12, 1)
    return reader.encode(pictures(1))


def test_neighbours_are_those_one_step_away(encoded):
    words = encoded.words[0]
    found = encoded.neighbours(words)
    assert set(found) == set(STEPS)
    places = {(word // 3, word % 3): place for place, word in enumerate(words) if word >= 0}
    for name, (down, right) in STEPS.items():
        for (row, column), place in places.items():
            assert found[name][place] == places.get((row + down, column + right), -1), name
        assert found[name][0] == (0 if name == "itself" else -1)  # a class token stands beside nothing


def test_distances_are_counted_in_patches(encoded):
    distances = encoded.distances(encoded.words[0])
    assert np.isnan(distances[0]).all()
    assert np.isnan(distances[:, 0]).all()
    assert distances[1, 2] == distances[1, 4] == 1
    assert distances[1, 9] == pytest.approx(np.sqrt(8))
