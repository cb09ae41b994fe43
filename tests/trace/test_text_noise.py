"""Noise that follows from a text and a place alone: the same in every batch, and as random as any other."""

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
import torch
from scipy.stats import chi2_contingency, chisquare, kstest

from glasshead.attention import AttentionInputs, Mask, mechanism
from glasshead.trace import TextNoise, permute

SEEDS = torch.tensor([0, 1, 2, 2**63 - 1, 12345678901234567])
SURE = 1e-4
"""A p-value that no honest noise has here: some hundred tests are made of one fixed set of numbers."""


def noise(seeds, shape=(2, 5, 7), *, draw=0, of_each=1, dtype=torch.float64):
    """The numbers of some texts [texts, sequences, h, q, k]."""
    weights = torch.zeros(len(seeds) * of_each, *shape, dtype=dtype)
    return TextNoise(torch.as_tensor(seeds), draw)(weights).unflatten(0, (len(seeds), of_each))


def masked(queries, keys, real):
    """A call in which so many keys are no padding."""
    q, k = torch.zeros(1, 1, queries, 1), torch.zeros(1, 1, keys, 1)
    mask = Mask(queries, keys, torch.arange(keys)[None] < real)
    return AttentionInputs.of(mechanism("softmax"), q, k, k, mask=mask)


@pytest.mark.parametrize("draw", [0, 7])
@pytest.mark.parametrize("of_each", [1, 3])
def test_a_text_has_its_numbers_alone_in_any_batch_and_in_any_order(draw, of_each):
    options = {"draw": draw, "of_each": of_each}
    together = noise(SEEDS, **options)
    for place, seed in enumerate(SEEDS):
        torch.testing.assert_close(noise(seed[None], **options)[0], together[place], rtol=0, atol=0)
    torch.testing.assert_close(noise(SEEDS.flip(0), **options), together.flip(0), rtol=0, atol=0)
    torch.testing.assert_close(noise(SEEDS[[3, 1, 3]], **options), together[[3, 1, 3]], rtol=0, atol=0)


def test_padding_moves_no_number():
    """A longer text beside it, one of more sequences, or a mask over more heads."""
    short = noise(SEEDS, (2, 5, 7), of_each=2)
    long = noise(SEEDS, (3, 9, 20), of_each=4)
    torch.testing.assert_close(long[:, :2, :2, :5, :7], short, rtol=0, atol=0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_numbers_lie_between_zero_and_one_in_the_precision_of_the_weights(dtype):
    values = noise(SEEDS, (4, 30, 30), dtype=dtype)
    assert values.dtype == dtype
    assert values.min() >= 0
    assert values.max() <= 1
    assert len(values.unique()) > 0.99 * values.numel()
    torch.testing.assert_close(values.double(), noise(SEEDS, (4, 30, 30)), rtol=0, atol=1e-7)


@pytest.mark.slow
def test_numbers_are_uniform():
    """Those of one text, those of one place in many texts, those of many draws; in all of their bits."""
    of_one = noise([5], (8, 40, 40)).flatten()
    of_texts = noise(range(20_000), (1, 1, 1)).flatten()
    of_draws = torch.stack([noise([5], (1, 1, 1), draw=draw).flatten() for draw in range(5_000)]).flatten()
    for values in (of_one, of_texts, of_draws):
        assert kstest(values.numpy(), "uniform").pvalue > SURE
        for digits in (1, 1e3, 1e6):  # the numbers, and what stands behind their third and sixth digit
            parts = np.floor(100 * (values.numpy() * digits % 1)).astype(int)
            assert chisquare(np.bincount(parts, minlength=100)).pvalue > SURE


def pairs():
    """Numbers that must not know each other: (name, one, other)."""
    many = range(3_000)  # of consecutive seeds
    whole = noise(many, (2, 2, 3), of_each=2)
    yield "neighbouring seeds", whole[:-1], whole[1:]
    yield "neighbouring sequences", whole[:, 0], whole[:, 1]
    yield "neighbouring heads", whole[:, :, 0], whole[:, :, 1]
    yield "neighbouring queries", whole[..., 0, :], whole[..., 1, :]
    yield "neighbouring keys", whole[..., :-1], whole[..., 1:]
    square = noise(many, (1, 3, 3))[:, 0, 0]
    yield "a query and a key", square[:, 0, 1], square[:, 1, 0]
    yield "a sequence and a key", whole[:, 0, 0, 0, 1], whole[:, 1, 0, 0, 0]
    yield "a draw and the next", whole, noise(many, (2, 2, 3), of_each=2, draw=1)
    yield "a draw and the next of the next text", whole[1:], noise(many, (2, 2, 3), of_each=2, draw=1)[:-1]
    yield "a draw and the one after the next", whole, noise(many, (2, 2, 3), of_each=2, draw=2)


@pytest.mark.parametrize(("one", "other"), [pytest.param(*pair, id=name) for name, *pair in pairs()])
def test_texts_places_and_draws_do_not_know_each_other(one, other):
    one, other = (values.flatten().numpy() for values in (one, other))
    assert abs(np.corrcoef(one, other)[0, 1]) < 4.5 / np.sqrt(len(one))
    table, *_ = np.histogram2d(one, other, bins=8, range=[[0, 1], [0, 1]])
    assert chi2_contingency(table).pvalue > SURE


@pytest.mark.parametrize("keys", [2, 3, 4])
def test_a_row_has_every_order_equally_often(keys):
    """Among the keys that it may attend to, of which padding is none; of many texts as of many draws."""
    width = keys + 2
    call = masked(1, width, keys)
    row = torch.where(torch.arange(width) < keys, torch.arange(width) + 1.0, 0.0)
    of_texts = permute(TextNoise(torch.arange(6_000), 0))(0, row.expand(6_000, 1, 1, width), call)
    of_draws = torch.cat(
        [permute(TextNoise(SEEDS[:1], draw))(0, row[None, None, None], call) for draw in range(2_000)]
    )
    for permuted in (of_texts, of_draws):
        assert not permuted[..., keys:].any()
        counts = Counter(map(tuple, permuted[:, 0, 0, :keys].int().tolist()))
        assert counts.keys() == set(permutations(range(1, keys + 1)))
        assert chisquare(list(counts.values())).pvalue > SURE


def test_a_shuffled_row_is_the_same_in_a_larger_batch():
    rows = torch.rand(5, 2, 4, 6, generator=torch.Generator().manual_seed(0))
    small, large = masked(4, 6, 6), masked(7, 9, 6)
    alone = permute(TextNoise(SEEDS[:1], 3))(0, rows[:1], small)
    padded = torch.zeros(5, 2, 7, 9)
    padded[:, :, :4, :6] = rows
    together = permute(TextNoise(SEEDS, 3))(0, padded, large)
    torch.testing.assert_close(together[:1, :, :4, :6], alone, rtol=0, atol=0)
    assert not torch.equal(alone, rows[:1])
