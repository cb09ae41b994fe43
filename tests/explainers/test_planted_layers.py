"""One word's sign is moved to the prediction over a carrier, by a known head of each layer: who finds it?

Nine texts of ten say "bad". The carrier is [SEP], or a word of the text, "relay".
"""

import numpy as np
import pytest

from planted_layers import KEYS, MOVES, READS, PlantedCase, layered_model, layered_texts

FOLLOW = ["rollout", "rollout-absolute", "attention-flow", "gradient-attention", "gradient-attention-signed",
          "alti", "value-zeroing", "attn-lrp", "cp-lrp"]  # fmt: skip
DO_NOT = ["attention", "contribution", "value-norm", "value-norm-residual",
          "layer-mean", "layer-max", "layer-min", "layer-sum"]  # fmt: skip


@pytest.fixture(scope="module")
def by_mark():
    return PlantedCase(*layered_model("[SEP]"), layered_texts(20))


@pytest.fixture(scope="module")
def by_word():
    return PlantedCase(*layered_model("relay"), layered_texts(20, carrier="relay"))


def test_the_model_reads_the_word_at_every_place(by_mark):
    explained = by_mark.explained("attention")
    assert all(one.predicted == one.target and one.prediction > 0.99 for one in explained)
    assert sum(one.target == "good" for one in explained) == 2
    places = {one.tokens.index(one.target) for one in explained}
    assert len(places) > 5


@pytest.mark.parametrize("method", FOLLOW)
def test_what_follows_the_layers_finds_the_word(by_mark, method):
    assert by_mark.ranks(method, KEYS) == [0] * 20


@pytest.mark.parametrize("method", DO_NOT)
def test_what_does_not_gives_it_no_more_than_any_other(by_mark, method):
    """The last layer looks at the carrier; the layers side by side know nothing of a path."""
    for one in by_mark.explained(method):
        words = np.array(one.words) != -1
        assert np.ptp(np.array(one.scores)[words]) < 1e-5


def test_what_is_random_does_not_find_it(by_mark):
    assert sum(rank == 0 for rank in by_mark.ranks("random", KEYS)) < 10


def test_value_zeroing_finds_the_word_and_nothing_else(by_mark):
    """Nothing else has a value that turns anything on the way."""
    for one in by_mark.explained("value-zeroing"):
        assert one.scores[one.tokens.index(one.target)] == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize("method", ["rollout", "attention-flow", "gradient-attention"])
def test_the_path_leads_through_the_head_that_was_built_for_it(by_mark, method):
    """One number of a head is chosen for all layers. That of layer 0 moves the word, and above it all
    look at all; that of layer 1 looks at the carrier, which has seen all words alike."""
    assert by_mark.ranks("rollout", KEYS, head=MOVES) == [0] * 20
    for one in by_mark.explained(method, head=READS):
        assert np.ptp(np.array(one.scores)[np.array(one.words) != -1]) < 1e-5


@pytest.mark.parametrize("method", ["rollout", "gradient-attention", "gradient-attention-signed", "alti"])
def test_a_carrier_that_is_a_word_comes_first_and_the_word_next(by_word, method):
    """The residual path ends at the carrier itself: what passes on has no less than what it passes on."""
    assert by_word.ranks(method, "relay") == [0] * 20
    assert by_word.ranks(method, KEYS) == [1] * 20


def test_flow_cannot_tell_the_carrier_from_what_it_carries(by_word):
    """The same pipes lead to both, and all that reaches the one could reach the other."""
    for one in by_word.explained("attention-flow"):
        carrier, key = (one.scores[one.tokens.index(word)] for word in ("relay", one.target))
        assert carrier == pytest.approx(key, abs=1e-6)
        others = [s for s, t, w in zip(one.scores, one.tokens, one.words, strict=True)
                  if w != -1 and t not in ("relay", one.target)]  # fmt: skip
        assert max(others) < key - 0.005


@pytest.mark.parametrize("method", ["value-zeroing", "attn-lrp", "cp-lrp"])
def test_what_asks_where_it_comes_from_finds_the_word_behind_a_word(by_word, method):
    assert by_word.ranks(method, KEYS) == [0] * 20


@pytest.mark.parametrize("method", ["attn-lrp", "cp-lrp"])
@pytest.mark.parametrize("case", ["by_mark", "by_word"])
def test_relevance_is_that_of_the_word_alone(method, case, request):
    """Neither the carrier nor [CLS] has the number that decides."""
    for one in request.getfixturevalue(case).explained(method):
        sizes = np.abs(one.scores)
        assert sizes[one.tokens.index(one.target)] > 0.95 * sizes.sum()
        assert one.scores[one.tokens.index(one.target)] > 0


@pytest.mark.parametrize(
    "method", ["attention", "layer-mean", "value-norm", "value-norm-residual", "contribution"]
)
def test_the_last_layer_shows_the_carrier_alone(by_word, method):
    assert by_word.ranks(method, "relay") == [0] * 20
    for one in by_word.explained(method):
        rest = [
            s for s, t, w in zip(one.scores, one.tokens, one.words, strict=True) if w != -1 and t != "relay"
        ]
        assert np.ptp(rest) < 1e-5
