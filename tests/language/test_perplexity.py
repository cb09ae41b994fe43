"""Perplexity by windows is that of the recipe of Transformers, and scores are sums over tokens."""

import math

import numpy as np
import pytest
import torch

import glasshead
from glasshead.errors import ParameterError
from glasshead.language import perplexity, score_blocks, unigram_scores
from writers import small_writer


def recipe(model, tokens, window, stride):
    """ "Perplexity of fixed-length models", line by line: one window at a time, the loss of the model."""
    total, count, previous = 0.0, 0, 0
    for begin in range(0, len(tokens), stride):
        end = min(begin + window, len(tokens))
        new = end - previous
        ids = tokens[None, begin:end]
        target = ids.clone()
        target[:, :-new] = -100
        with torch.no_grad():
            loss = model(ids, labels=target).loss
        scored = int((target != -100).sum()) - 1
        if scored:
            total += float(loss) * scored
            count += scored
        previous = end
        if end == len(tokens):
            break
    return math.exp(total / count)


@pytest.mark.parametrize(
    ("length", "stride"), [(300, 32), (300, 64), (301, 20), (64, 32), (30, 32), (97, 32)]
)
def test_perplexity_is_that_of_the_recipe(length, stride):
    model, _ = small_writer()
    tokens = torch.randint(32, (length,), generator=torch.Generator().manual_seed(length))
    found = perplexity(model, tokens, window=64, stride=stride)
    assert found.value == pytest.approx(recipe(model, tokens, 64, stride), rel=1e-4)


def test_more_context_makes_a_repeated_text_no_other():
    model, _ = small_writer()
    tokens = torch.randint(32, (200,), generator=torch.Generator().manual_seed(1))
    assert perplexity(model, tokens, window=64) == perplexity(model, tokens, window=64, stride=32)
    assert perplexity(model, tokens, window=64, stride=64) != perplexity(model, tokens, window=64, stride=16)


@pytest.mark.parametrize(("window", "stride"), [(1, None), (64, 1), (64, 65)])
def test_windows_that_make_no_sense_are_refused(window, stride):
    model, _ = small_writer()
    with pytest.raises(ParameterError):
        perplexity(model, torch.zeros(100, dtype=torch.long), window=window, stride=stride)


def test_scores_are_the_loss_of_the_model():
    model, _ = small_writer()
    blocks = torch.randint(32, (5, 16), generator=torch.Generator().manual_seed(2))
    scores = score_blocks(model, {"input_ids": blocks, "labels": blocks}, masked=False)
    with torch.no_grad():
        output = model(blocks, labels=blocks)
    assert scores.loss == pytest.approx(float(output.loss), rel=1e-5)
    assert scores.tokens.tolist() == [15.0] * 5
    hits = (output.logits[:, :-1].argmax(-1) == blocks[:, 1:]).sum(1)
    np.testing.assert_array_equal(scores.correct, hits.numpy())
    summary = scores.summary()
    low, high = summary["perplexity_interval"]
    assert low < summary["perplexity"] < high


def test_what_is_opened_has_the_perplexity_of_the_model():
    model, tokenizer = small_writer()
    tokens = torch.randint(32, (100,), generator=torch.Generator().manual_seed(2))
    opened = glasshead.open(model, tokenizer=tokenizer).model
    assert perplexity(opened, tokens, window=64) == perplexity(model, tokens, window=64)


def test_a_floor_knows_which_tokens_are_never_hidden():
    train = torch.tensor([0] * 6 + [1] * 3 + [2])
    rows = {"labels": torch.tensor([[-100, 1, 1, 2]])}
    knows = unigram_scores(train, rows, 3, masked=True, never=[0])
    assert knows.losses[0] == pytest.approx(-2 * math.log(4 / 6) - math.log(2 / 6))
    assert knows.correct[0] == 2
    assert unigram_scores(train, rows, 3, masked=True).correct[0] == 0
