"""Batches that cost least: as many tokens, padding and passes as the best of all ways to divide the texts."""

import copy
from itertools import combinations

import numpy as np
import pytest
import torch

from glasshead.data import batches, encode, keep_lengths_apart
from glasshead.data.batching import PAIRS, TOKENS_PER_BATCH, batch_size, batch_sizes
from small import tokenizer


def cost_of(lengths, sizes, cost):
    """Tokens with padding, and the cost of each pass."""
    starts = np.cumsum([0, *sizes[:-1]])
    return sum(int(lengths[start]) * size + cost for start, size in zip(starts, sizes, strict=True))


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("cost", [0, 3, 20, 500])
def test_no_other_division_costs_less(seed, cost):
    rng = np.random.default_rng(seed)
    lengths = np.sort(rng.integers(1, 12, 9))[::-1]
    every = [
        np.diff([0, *cuts, len(lengths)]).tolist()
        for number in range(len(lengths))
        for cuts in combinations(range(1, len(lengths)), number)
    ]
    sizes = batch_sizes(lengths, 1, cost)
    assert sum(sizes) == len(lengths)
    assert cost_of(lengths, sizes, cost) == min(cost_of(lengths, own, cost) for own in every)


def test_no_batch_is_too_large():
    lengths = np.repeat([512, 500, 20], [300, 40, 5000])
    sizes = batch_sizes(lengths, 12, 64)
    starts = np.cumsum([0, *sizes[:-1]])
    assert sum(sizes) == len(lengths)
    for start, size in zip(starts, sizes, strict=True):
        longest = int(lengths[start])
        assert size <= batch_size(longest, 12)
        assert size * longest <= TOKENS_PER_BATCH
        assert 12 * size * longest**2 <= PAIRS


def test_every_text_is_in_one_batch_and_not_cut():
    words = ["plot", "acting"]
    encoded = encode(tokenizer(), [" ".join(words * (1 + n * n % 7)) for n in range(30)])
    texts = torch.arange(30).repeat(3)
    places = []
    for rows, inputs in batches(encoded, texts):
        places += rows.tolist()
        assert torch.equal(inputs["attention_mask"].sum(dim=1), encoded.mask[texts[rows]].sum(dim=1))
    assert sorted(places) == list(range(90))
    assert not list(batches(encoded, texts[:0]))


def test_where_padding_is_read_no_batch_has_any():
    encoded = encode(tokenizer(), ["plot" + " acting" * (n * n % 7) for n in range(30)])
    assert any((inputs["attention_mask"] == 0).any() for _, inputs in batches(encoded))
    reader = copy.deepcopy(tokenizer())
    keep_lengths_apart(reader)
    apart = encode(reader, ["plot" + " acting" * (n * n % 7) for n in range(30)])
    for some in (apart, apart.some(np.arange(5, 20)), apart.take(torch.arange(9))):
        seen = 0
        for rows, inputs in batches(some):
            assert inputs["attention_mask"].all()
            seen += len(rows)
        assert seen == len(some.ids)
