"""Audits of models with an attention sink: every number of tokens with and without the first."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.stats import kendalltau

import glasshead
from classifier_families import WORDS
from glasshead.attention import AttentionInputs, mechanism
from glasshead.audits.measuring.forward_perturbation import own_sum_edit, spare_others
from glasshead.results import WITHOUT_FIRST
from glasshead.trace import permute
from planted_sink import with_sink

COLUMN = "tau.attention.erasure-zero-weight"


def texts_of(count=40, seed=0):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS.split(), rng.integers(7, 13))) for _ in range(count)]


@pytest.fixture(scope="module")
def empty_sink():
    model, tokenizer = with_sink(0.6, empty=True)
    asked = ["agreement", "perturbation", "faithfulness"]
    rows = [{"text": text} for text in texts_of()]
    return model, tokenizer, glasshead.audit(model, rows, tokenizer=tokenizer, audits=asked)


@pytest.mark.slow
def test_order_of_all_tokens_but_the_first(empty_sink):
    model, tokenizer, card = empty_sink
    texts = card.examples["text"]
    weights, erased = (
        glasshead.explain(model, texts, tokenizer=tokenizer, method=method)
        for method in ("attention", "erasure")
    )
    assert all(one.sink > 0.5 for one in weights)
    for beginning, part in enumerate(("", "rest.")):
        slow = [
            kendalltau(one.scores[beginning:], other.scores[beginning:]).statistic
            for one, other in zip(weights, erased, strict=True)
        ]
        np.testing.assert_allclose(np.array(card.examples[part + COLUMN], dtype=float), slow, atol=1e-9)


def test_what_a_shuffle_changes_is_the_sink(empty_sink):
    _, _, card = empty_sink
    whole = card.finding("perturbation.permutation.absolute.all")
    rest = card.finding(f"perturbation.permutation.absolute.{WITHOUT_FIRST}")
    assert rest.n == whole.n == 40
    assert rest.interval[1] < whole.interval[0] / 3


def test_the_first_token_keeps_its_place_in_curves(empty_sink):
    _, _, card = empty_sink
    curves = (card.examples[f"{part}faithfulness.deletion.curve"] for part in ("", "rest."))
    curve, rest = (np.array(one, dtype=float) for one in curves)
    assert not np.allclose(curve[-1], rest[-1]), "at the end one token is left"


def test_findings_say_whether_they_count_the_sink(empty_sink, tmp_path):
    _, _, card = empty_sink
    names = {(one.audit, one.statistic, one.against) for one in card.findings if one.group == "all"}
    without = {(one.audit, one.statistic, one.against) for one in card.findings if one.group == WITHOUT_FIRST}
    assert {one for one in names if one[0] in ("agreement", "perturbation", "faithfulness")} == without
    assert 0.9 < card.facts["sink_share"] < 1
    card.save(tmp_path / "card.html")
    page = (tmp_path / "card.html").read_text()
    assert "of the weights of a text is on its first token" in page
    assert "Without the first token, an attention sink" in page
    comparison = glasshead.compare(card, replace(card, facts=card.facts | {"name": "again"}))
    paired = [one for one in comparison.differences if one.name.endswith(WITHOUT_FIRST)]
    assert paired
    assert all(one.estimate in (0.0, None) for one in paired)


def test_models_without_a_sink_are_asked_once():
    model, tokenizer = with_sink(0.0)
    rows = [{"text": text} for text in texts_of(8)]
    card = glasshead.audit(model, rows, tokenizer=tokenizer, audits=["agreement"])
    assert {one.group for one in card.findings} == {"all"}
    assert not any(name.startswith("rest.") for name in card.examples)


@pytest.mark.parametrize("edit", [permute(torch.Generator().manual_seed(0)), own_sum_edit])
def test_an_edit_spares_the_first_weight(edit):
    q, k, v = torch.randn(3, 1, 2, 6, 4, generator=torch.Generator().manual_seed(0))
    call = AttentionInputs.of(mechanism("softmax"), q, k, v, is_causal=True)
    own = (q @ k.mT).masked_fill(~call.mask.allowed(q.device), -torch.inf).softmax(dim=-1)
    new = spare_others(edit, torch.arange(6)[None] > 0)(0, own, call)
    torch.testing.assert_close(new[..., 0], own[..., 0])
    torch.testing.assert_close(new.sum(dim=-1), own.sum(dim=-1))
    assert not torch.allclose(new, own)
    assert (new.triu(1) == 0).all()
