"""Attention between words: to a divided word the sum over its pieces, from it the mean."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from glasshead.attention import ACTIVATIONS
from glasshead.errors import InputError
from glasshead.explainers.aggregate_words import sum_words
from glasshead.trace import unit_of_each, word_map, word_means, word_sums
from tolerances import EXACT_MATHS


def by_loops(weights, words):
    """Ã_st = 1/a Σ_i Σ_j A_{s_i t_j}, as the lecture has it (Clark et al. 2019, section 4.1)."""
    pieces = []
    for place, word in enumerate(words):
        if word != -1 and place and words[place - 1] == word:
            pieces[-1].append(place)
        else:
            pieces.append([place])
    between = torch.zeros(*weights.shape[:-2], len(pieces), len(pieces), dtype=weights.dtype)
    for s, rows in enumerate(pieces):
        for t, columns in enumerate(pieces):
            for i in rows:
                for j in columns:
                    between[..., s, t] += weights[..., i, j] / len(rows)
    return between


@st.composite
def divided(draw):
    """The word of each token: words of some pieces in their order, with special tokens between them."""
    sizes = draw(st.lists(st.tuples(st.booleans(), st.integers(1, 4)), min_size=1, max_size=6))
    words, number = [], 0
    for special, size in sizes:
        if special:
            words += [-1] * size
        else:
            words += [number] * size
            number += 1
    return words


def sines(*shape):
    numbers = torch.arange(torch.Size(shape).numel(), dtype=torch.float64)
    return 3 * torch.sin(1.7 * numbers + 0.3).reshape(shape)


def weights_of(activation, n):
    """Two heads, from scores of the activation's domain; the last query may look at two tokens alone."""
    low, high = activation.domain
    mask = torch.ones(2, n, n, dtype=torch.bool)
    mask[:, -1, 2:] = False
    return activation.weights(low + (high - low) * (3 + sines(2, n, n)) / 6, mask)


@settings(deadline=None, max_examples=25)
@given(words=divided())
@pytest.mark.parametrize("activation", sorted(ACTIVATIONS))
def test_a_row_sums_to_the_mean_of_its_pieces_rows(activation, words):
    activation = ACTIVATIONS[activation]()
    weights = weights_of(activation, len(words))
    between = word_map(weights, words)
    units = torch.tensor(unit_of_each(words))
    sums = torch.stack([weights.sum(-1)[:, units == s].mean(-1) for s in range(between.shape[-1])], dim=-1)
    torch.testing.assert_close(between.sum(-1), sums, **EXACT_MATHS)
    if activation.rows_sum_to_one:
        torch.testing.assert_close(between.sum(-1), torch.ones_like(sums), **EXACT_MATHS)
    torch.testing.assert_close(between, by_loops(weights, words), **EXACT_MATHS)
    assert between.shape[-1] == between.shape[-2] == units.max() + 1


@settings(deadline=None, max_examples=25)
@given(words=divided())
def test_both_halves_of_the_map(words):
    weights = sines(2, len(words), len(words))
    both = word_map(weights, words)
    torch.testing.assert_close(word_means(word_sums(weights, words), words), both, **EXACT_MATHS)
    torch.testing.assert_close(word_sums(word_means(weights, words), words), both, **EXACT_MATHS)


def test_undivided_words_have_the_map_of_the_tokens():
    weights = sines(3, 4, 4)
    torch.testing.assert_close(word_map(weights, [-1, 0, 1, -1]), weights, **EXACT_MATHS)


@settings(deadline=None, max_examples=25)
@given(words=divided(), padding=st.integers(0, 2))
def test_vectors_of_a_word_are_added_at_its_first_token(words, padding):
    vectors = sines(2, len(words) + padding, 3)
    joined = sum_words(vectors, words)
    expected, units = torch.zeros_like(vectors), unit_of_each(words)
    for place, unit in enumerate(units):
        expected[:, units.index(unit)] += vectors[:, place]
    expected[:, len(words) :] = vectors[:, len(words) :]
    torch.testing.assert_close(joined, expected, **EXACT_MATHS)
    torch.testing.assert_close(joined.sum(1), vectors.sum(1), **EXACT_MATHS)


def test_pieces_that_cancel_leave_nothing():
    vectors = torch.tensor([[1.0, 2.0], [3.0, -4.0], [-3.0, 4.0], [0.5, 0.0]])
    assert sum_words(vectors, [-1, 0, 0, 1]).norm(dim=-1).tolist() == pytest.approx([5**0.5, 0, 0, 0.5])


@settings(deadline=None, max_examples=50)
@given(entries=st.lists(st.floats(-5, 5), min_size=6, max_size=6))
def test_a_word_does_not_win_by_being_divided(entries):
    """The norm of the sum is at most the sum of the norms, which is what pieces used to add up to."""
    vectors = torch.tensor(entries, dtype=torch.float64).reshape(3, 2)
    word = sum_words(vectors, [0, 0, 0])[0].norm()
    assert word <= vectors.norm(dim=-1).sum() + 1e-12
    in_thirds = (vectors.sum(0) / 3).expand(3, 2)
    torch.testing.assert_close(sum_words(in_thirds, [0, 0, 0])[0].norm(), word, **EXACT_MATHS)


@pytest.mark.parametrize("shape", [(2, 5, 5), (4, 5), (5, 4)])
def test_a_map_needs_a_word_for_every_token(shape):
    with pytest.raises(InputError, match="a word for each"):
        word_map(torch.ones(shape), [0, 0, 1, 2])
