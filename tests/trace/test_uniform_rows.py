"""Heads that look at everything alike are named, and no others."""

import numpy as np

from glasshead.results import NOT_USED
from glasshead.trace.head_weights import nearly_uniform


def test_nearly_uniform_is_a_bar_on_the_entropy_of_every_row():
    there = np.ones((2, 4), dtype=bool)
    even = np.full((2, 4), 0.25)
    assert nearly_uniform(even, there)
    assert nearly_uniform(even * [[1, -1, 1, -1]], there)  # of signed weights the sizes count
    assert nearly_uniform(3 * even, there)  # rows need not sum to one
    one = even.copy()
    one[1] = [0.85, 0.05, 0.05, 0.05]
    assert not nearly_uniform(one, there)
    # On both sides of the bar: H(p, (1 − p)/3 …) = 0.98 log 4 has the root p ≈ 0.356.
    for p, said in ((0.34, True), (0.37, False)):
        row = np.array([[p, *[(1 - p) / 3] * 3]])
        assert ((-(row * np.log(row)).sum() > NOT_USED * np.log(4)), nearly_uniform(row, there[:1])) == (
            said,
            said,
        )


def test_only_keys_that_may_be_looked_at_count():
    causal = np.tril(np.ones((3, 3), dtype=bool))
    weights = np.tril(np.ones((3, 3))) / np.arange(1, 4)[:, None]
    assert nearly_uniform(weights, causal)
    assert not nearly_uniform(weights, np.ones((3, 3), dtype=bool))
    assert not nearly_uniform(np.ones((1, 1)), np.ones((1, 1), dtype=bool))  # one key: nothing to prefer
    assert not nearly_uniform(np.zeros((1, 3)), np.ones((1, 3), dtype=bool))
