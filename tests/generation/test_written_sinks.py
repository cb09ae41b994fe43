"""Attention sinks of written texts: named, and left out of what is strongest."""

from dataclasses import replace

import numpy as np
import pytest

import glasshead
from glasshead.report.html.written_page import prepare
from glasshead.report.written_words import facts_in_words, strongest_before
from glasshead.results import WrittenMap
from planted_sink import with_sink


@pytest.fixture(scope="module")
def written():
    model, tokenizer = with_sink(0.6, empty=True)
    return glasshead.generate(model, "the film was good and", tokenizer=tokenizer, tokens=4)


@pytest.fixture(scope="module")
def explained(written):
    return written.explain("attention", layer=1)


def test_rows_say_how_much_is_on_the_first_token(explained):
    matrix, shares = explained.matrix, explained.map.sinks()
    assert all(share > 0.5 for share in shares)
    np.testing.assert_allclose(shares, matrix[:, 0] / np.nansum(matrix, axis=1))
    assert explained.row(1).sink == shares[1]


def test_the_rest_are_shares_of_what_is_left(explained):
    rest, matrix = explained.rest, explained.matrix
    assert np.isnan(rest[:, 0]).all()
    np.testing.assert_allclose(np.nansum(rest, axis=1), 1.0)
    np.testing.assert_allclose(rest[0, 2] / rest[0, 1], matrix[0, 2] / matrix[0, 1])


def test_a_sink_is_counted_and_not_named(explained):
    written = replace(explained.written, maps=(explained.map,))
    assert any("attention sink" in fact and "4 of 4 rows)" in fact for fact in facts_in_words(written))
    assert not strongest_before(written, explained.map, 0).startswith("the ")
    assert prepare(written).data["maps"][0]["sinks"] == pytest.approx(explained.map.sinks(), abs=1e-3)


def test_other_numbers_have_no_sinks(written):
    erased = written.explain("erasure-mean-embedding")
    assert erased.map.sinks() == (None,) * 4
    np.testing.assert_array_equal(erased.rest, erased.matrix)


def test_behind_a_source_the_answer_has_a_sink_of_its_own():
    rows = ((0.1, 0.9, 1.0), (0.5, 0.5, 0.8, 0.2), (0.5, 0.5, 0.2, 0.2, 0.6))
    one = WrittenMap("attention", rows, signed=False)
    assert one.sinks(source=2) == (None, pytest.approx(0.8), None)
