"""Attention sinks: what is on the first token of a causal map is told apart."""

import pytest

import glasshead
from classifier_families import FAMILIES, TEXTS
from glasshead.report import shared_scale, sink_in_words
from planted_sink import with_sink


def explained(strength, **options):
    model, tokenizer = with_sink(strength)
    return glasshead.explain(model, TEXTS, tokenizer=tokenizer, **options)


def test_weights_without_the_first_token_stand_beside_those_with_it():
    attribution = explained(2.0)[1]
    assert attribution.tokens[0] == "the"
    assert 0.6 < attribution.sink < 1
    assert attribution.sink == pytest.approx(attribution.scores[0], abs=1e-5)
    first, *rest = attribution.rest
    assert first is None
    assert sum(rest) == pytest.approx(1.0)
    assert rest[2] / rest[1] == pytest.approx(attribution.scores[3] / attribution.scores[2])
    assert "on the first token, an attention sink" in sink_in_words(attribution)
    table = explained(2.0).to_pandas()
    # The first tokens, and the one token of the last text, which is no sink.
    assert list(table[table["without_first"].isna()]["token"]) == ["a", "the", "bad"]


def test_a_sink_pales_no_other_weight():
    (attribution,) = explained(2.0, intervals=True)[1:2]
    assert attribution.intervals is not None
    assert shared_scale([attribution]) == pytest.approx(max(attribution.scores[1:]))


def test_even_attention_has_no_sink():
    for attribution in explained(0.0):
        assert attribution.sink is None
        assert attribution.rest is None
        assert sink_in_words(attribution) == ""


@pytest.mark.parametrize("method", ["gradient", "erasure", "rollout"])
def test_other_numbers_have_none(method):
    assert all(attribution.sink is None for attribution in explained(2.0, method=method))


def test_encoders_have_none():
    family = FAMILIES["Bert"]
    attributions = glasshead.explain(family.build(), TEXTS, tokenizer=family.tokenizer())
    assert all(attribution.sink is None for attribution in attributions)
