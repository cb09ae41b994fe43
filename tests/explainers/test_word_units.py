"""A word is taken out with all its pieces; a token alone where tokens have numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from test_divided_words import PIECES, TEXT, word_pieces
from torch.testing import assert_close

import glasshead
from classifier_families import FAMILIES
from glasshead.data import encode
from glasshead.explainers import (
    REMOVALS,
    LinearReadout,
    explain_texts,
    find_explainer,
    make_context,
    removable,
)
from glasshead.models import PooledClassifier, PooledConfig
from glasshead.opening import open_subject
from glasshead.requests import MethodRequest

IN_TEXT = ["erasure-delete", "erasure-mask-token", "erasure-mean-embedding"]
IN_ATTENTION = ["erasure", "erasure-renormalise", "erasure-zero-value"]


@pytest.fixture(scope="module")
def subject():
    return open_subject(FAMILIES["Bert"].build(labels=2), word_pieces())


@pytest.fixture(scope="module")
def pooled():
    torch.manual_seed(0)
    config = PooledConfig(vocab_size=len(PIECES), hidden_size=8, num_labels=2, pad_token_id=0)
    return open_subject(PooledClassifier(config), word_pieces())


def test_the_owner_of_a_piece_is_the_first_of_its_word() -> None:
    texts = [TEXT, "good", "unkindly unkindly"]
    by_token, by_word = (encode(word_pieces(), texts, unit=unit) for unit in ("token", "word"))
    length = by_word.ids.shape[1]
    assert by_token.owner.tolist() == [[*range(length)]] * 3
    assert not by_token.has_larger_units
    assert by_word.owner.tolist() == [
        [0, 1, 2, 2, 2, 5, 6, 7], [0, 1, 2, 3, 4, 5, 6, 7], [0, 1, 1, 1, 4, 4, 4, 7],
    ]  # fmt: skip
    assert by_word.has_larger_units
    # Shares of every unit add up to one, and so do numbers that are shared.
    shares = by_word.shares.numpy()
    units = (by_word.mask & by_word.leads).numpy()
    assert by_word.sum_units(shares)[units] == pytest.approx(1)
    assert shares[~by_word.mask.numpy()].sum() == 0
    # Some of the texts have the same units.
    some = by_word.some(np.array([2, 1]))
    assert some.owner.tolist() == [by_word.owner[2].tolist(), by_word.owner[1].tolist()]


def without(context, method: str, tokens: list[int]) -> torch.Tensor:
    """The slow twin: ŷ of the text less ŷ without a set of its tokens, in one variant."""
    removed = torch.zeros_like(context.encoded.mask)
    removed[0, tokens] = True
    removal = REMOVALS[find_explainer(method).own_removal(context)]
    logits = removal.compute_logits(context, torch.tensor([0]), removed)
    return context.value(context.logits) - context.value(logits)


@pytest.mark.parametrize("method", [*IN_TEXT, *IN_ATTENTION])
@pytest.mark.parametrize("kind", ["subject", "pooled"])
def test_an_erased_word_is_erased_whole(kind: str, method: str, request) -> None:
    subject = request.getfixturevalue(kind)
    if kind == "pooled" and method == "erasure-zero-value":
        pytest.skip("it is the zero weight of a pooled model")
    (by_word,) = explain_texts(subject, [TEXT], None, MethodRequest(method=method, target=1))
    (by_token,) = explain_texts(subject, [TEXT], None, MethodRequest(method=method, target=1, unit="token"))
    context = make_context(subject.model, encode(subject.tokenizer, [TEXT]), subject.tokenizer, target=1)
    assert by_word.tokens == ("[CLS]", "a", "unkindly", "good", "film", "[SEP]")
    for word, tokens in ((1, [1]), (2, [2, 3, 4]), (3, [5])):
        assert_close(by_word.scores[word], without(context, method, tokens).item(), rtol=1e-4, atol=1e-6)
    for token in range(1, 7):
        assert_close(by_token.scores[token], without(context, method, [token]).item(), rtol=1e-4, atol=1e-6)


def test_surrogates_draw_words(subject) -> None:
    context = make_context(subject.model, encode(subject.tokenizer, [TEXT], unit="word"), subject.tokenizer)
    assert removable(context)[0].nonzero()[:, 0].tolist() == [1, 2, 5, 6]
    scores = find_explainer("captum:lime").importance(context)[0]
    assert scores[[3, 4]].tolist() == [0, 0]
    assert scores[2] != 0


def test_a_pooled_word_has_the_contributions_of_its_pieces(pooled) -> None:
    """z is linear in the weights: what a word takes with it is the sum of what its pieces add."""
    encoded = encode(pooled.tokenizer, [TEXT, "good unkindly"], unit="word")
    context = make_context(pooled.model, encoded, pooled.tokenizer, target=1, target_fn="logit")
    assert isinstance(context.observation, LinearReadout)
    change = find_explainer("erasure").importance(context)
    pieces = find_explainer("erasure").importance(replace(context, encoded=replace(encoded, unit="token")))
    of_words = encoded.sum_units(change.numpy())
    assert of_words == pytest.approx(encoded.sum_units(pieces.numpy()), abs=1e-6)


@pytest.mark.slow
def test_audits_and_rankings_count_words(subject) -> None:
    data = [
        {"text": text, "label": number % 2}
        for number, text in enumerate([TEXT, "unkindly good", "a film", "a kindly film good"] * 6)
    ]
    options = {"tokenizer": subject.tokenizer, "audits": ["agreement", "faithfulness"]}
    words, tokens = (
        glasshead.audit(subject.model, data, unit=unit, **options).examples for unit in ("word", "token")
    )
    assert words["tokens"][:4] == tokens["tokens"][:4] == [8, 6, 4, 7]
    # Texts without a divided word have the same numbers.
    for name, column in words.items():
        if name.startswith("tau."):
            assert column[2] == tokens[name][2]
    assert any(column[0] != tokens[name][0] for name, column in words.items() if name.startswith("tau."))
    ranked = glasshead.rank(subject.model, data, ["attention", "gradient"], tokenizer=subject.tokenizer)
    shown = [one for text in ranked.texts for one in text.attributions]
    assert shown
    assert not any(token.startswith("##") for one in shown for token in one.tokens)
