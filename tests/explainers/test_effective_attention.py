"""Effective attention of every reading: against the pseudo-inverse, and where it can be told by hand."""

from collections import defaultdict

import numpy as np
import pytest

from glasshead.data import encode
from glasshead.explainers import EXPLAINERS, make_context
from glasshead.explainers.forward_observation import head_signs_of
from glasshead.explainers.intervals import rows_of_site
from glasshead.identifiability import FLOAT32_EPS, attention_rows
from glasshead.trace import AttentionSelector, find_read_rows
from readable import KINDS, Kind, family
from small import planted_model, tokenizer
from tolerances import ONE_FORMULA, ONE_MODEL

READINGS = [
    ("pooled", {}),
    ("encoder", {}),
    ("encoder first", {"layer": 0, "head": 1, "row": "last"}),
    ("encoder first", {"row": "mean"}),
    ("encoder added, three classes", {}),
    ("pair-encoder", {}),
    ("pair-encoder first", {"row": "mean"}),
    ("hierarchical", {}),
    ("hierarchical first, rating", {"row": "last"}),
    ("bert", {"layer": 0, "row": "mean"}),
    ("gpt2", {}),
    ("gpt2", {"row": "mean"}),
]


def told(method, kind, **reading):
    before = kind.model, kind.tokenizer, list(kind.texts), kind.pairs
    return EXPLAINERS[method](*before, attention_selector=AttentionSelector(**reading))


def by_pseudo_inverse(kind, encoded, place):
    """a T T⁺ of the rows and heads of a place in the mean, by text and part: another way to the same."""
    found, heads = defaultdict(lambda: np.zeros(encoded.ids.shape[1])), defaultdict(set)
    read = None if place is None else find_read_rows(kind.model, encoded, place)
    for batch in attention_rows(kind.model, encoded, rows_of_site(place), read):
        for row in batch:
            signs = head_signs_of(kind.model, row.layer) if place else None
            cut = max(len(row.weights), row.embed_dim) * FLOAT32_EPS
            projected = row.weights @ row.T @ np.linalg.pinv(row.T, rcond=cut)
            sign = 1 if signs is None else float(signs[row.head])
            found[row.text, row.part][row.keys] += projected * sign * row.share
            heads[row.text, row.part].add(row.head)
    return {key: values / len(heads[key]) for key, values in found.items()}


@pytest.mark.parametrize(("name", "reading"), READINGS)
def test_it_is_the_projection_in_the_mean_over_heads_and_rows(name, reading):
    kind = KINDS[name]().of(1, 3, 4)
    kind.model.double()
    encoded = encode(kind.tokenizer, list(kind.texts), kind.pairs)
    place = make_context(
        kind.model, encoded, kind.tokenizer, attention_selector=AttentionSelector(**reading)
    ).site
    expected = np.zeros(encoded.ids.shape)
    above = by_pseudo_inverse(kind, encoded, place.above) if place and place.above else None
    for (text, part), values in by_pseudo_inverse(kind, encoded, place).items():
        expected[text] += values if above is None else values * above[text, 0][part]
    for text, attribution in enumerate(told("effective-attention", kind, **reading)):
        np.testing.assert_allclose(attribution.scores, expected[text][encoded.mask[text]], **ONE_FORMULA)
        assert attribution.contributions is None
        assert attribution.signed


def test_where_all_values_are_one_number_only_the_sum_is_left():
    kind = Kind(
        planted_model("tanhmax"), tokenizer(), ("the film was good and the plot was long", "bad film")
    )
    for ours, a in zip(told("effective-attention", kind), told("attention", kind), strict=True):
        np.testing.assert_allclose(ours.scores, np.mean(a.scores), **ONE_MODEL)


def test_tokens_that_are_one_vector_share_what_they_have():
    """Their distances give them different weights, of which the output shows the sum alone."""
    kind = family("encoder", pooling="first", attention="tener", num_attention_heads=1, hidden_size=16)
    kind = Kind(kind.model, kind.tokenizer, ("good bad good film good",))
    (ours,), (a,) = told("effective-attention", kind), told("attention", kind)
    good = [place for place, token in enumerate(a.tokens) if token == "good"]
    weights = np.array(a.scores)
    assert np.ptp(weights[good]) > 1e-3
    weights[good] = weights[good].mean()
    np.testing.assert_allclose(ours.scores, weights, **ONE_MODEL)


@pytest.mark.parametrize("name", ["bert", "encoder first", "gpt2"])
def test_it_is_the_attention_where_the_values_are_independent(name):
    """Texts of few tokens have fewer than there are directions, and the weights keep no secret."""
    kind = KINDS[name]().of(2, 4)
    kind.model.double()
    for ours, a in zip(told("effective-attention", kind), told("attention", kind), strict=True):
        np.testing.assert_allclose(ours.scores, a.scores, **ONE_FORMULA)
    assert np.abs(np.subtract(*(each[0].scores for each in (
        told("effective-attention", KINDS[name]().of(5)), told("attention", KINDS[name]().of(5))
    )))).max() > 1e-3  # fmt: skip
