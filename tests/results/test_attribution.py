"""The explanation of one text, and what its intervals say."""

from dataclasses import replace

import numpy as np
import pytest

from glasshead.results import Attribution

ATTRIBUTION = Attribution(
    text="grün ist 'gut' </script>",
    tokens=("grün", "ist"),
    ids=(7, 8),
    words=(0, 1),
    offsets=((0, 4), (5, 8)),
    scores=(0.5, -0.25),
    signed=True,
    target="good",
    predicted="bad",
    prediction=0.25,
    method="attention",
    contributions=(0.125, -1e-300),
)


def test_colours():
    assert ATTRIBUTION.colours == ATTRIBUTION.contributions
    assert replace(ATTRIBUTION, contributions=None).colours == ATTRIBUTION.scores


RANGED = replace(
    ATTRIBUTION,
    tokens=tuple("abcdefgh"),
    scores=(0.5, -0.25, 0.2, 0.0, 0.1, -0.3, 0.3, 0.0),
    intervals=(
        (0.25, 0.75), (-0.5, 1e-7), (0.2, 0.2 + 1e-7), (0.0, 0.0),
        None, (None, -0.125), (-0.5, None), (None, None),
    ),
)  # fmt: skip


def test_what_intervals_say_of_each_token():
    every = range(8)
    assert [RANGED.interval(i) for i in (0, 4, 5, 7)] == [
        (0.25, 0.75), None, (-np.inf, -0.125), (-np.inf, np.inf)
    ]  # fmt: skip
    assert [RANGED.certain(i) for i in every] == [False, False, True, True, *[False] * 4]
    assert [RANGED.may_be_zero(i) for i in every] == [False, True, *[False] * 4, True, True]
    assert [RANGED.least(i) for i in every] == [0.25, 0.0, 0.2, 0.0, None, -0.125, 0.0, 0.0]


def test_nobody_asked_for_intervals():
    assert ATTRIBUTION.intervals is None
    assert [ATTRIBUTION.interval(0), ATTRIBUTION.least(0)] == [None, None]
    assert not ATTRIBUTION.certain(0)
    assert not ATTRIBUTION.may_be_zero(0)


def test_a_drawing_with_intervals_shows_what_they_speak_of():
    assert RANGED.contributions is not None
    assert RANGED.colours == RANGED.scores


def test_an_interval_for_each_token():
    with pytest.raises(ValueError, match="1 intervals for 2 scores"):
        replace(ATTRIBUTION, intervals=(None,))
