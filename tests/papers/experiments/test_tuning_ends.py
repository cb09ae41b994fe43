"""A choice at the end of what was tried is marked: more of it might be better."""

import pytest

from glasshead.papers.experiments.markdown import choice_in_words
from glasshead.papers.experiments.tuning import Tuning


@pytest.mark.parametrize(
    ("tried", "chosen", "marked"),
    [((1, 3, 9), 2, True), ((9, 1, 3), 1, True), ((1, 3, 9), 1, False), ((1, 3), 1, False)],
)
def test_ends_of_a_grid(tried, chosen, marked):
    tuning = Tuning([{"learning_rate": rate} for rate in tried], [None] * len(tried), chosen)
    assert tuning.at_end("learning_rate") == marked
    assert ("the last tried" in choice_in_words(tuning)) == marked
