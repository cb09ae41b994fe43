"""Ranks of all heads of a batch at once are those of one matrix after the other."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fake_models import TEXT, write_model
from glasshead.data import encode
from glasshead.errors import InputError
from glasshead.identifiability import FLOAT32_EPS, RowSelector, attention_rows, column_space
from glasshead.identifiability.head_ranks import head_ranks, singular_values, value_ranks
from glasshead.opening import open_model
from tolerances import of_size

DOUBLE = 2.0**-52
TEXTS = [
    TEXT,
    "the film",
    "music " * 12,  # the same token many times
    "the plot is thin and the end was good , the music too . the film ! " * 2,
]
MODELS = {
    "softmax": ("encoder", {"attention": "softmax", "positions": "none", "num_hidden_layers": 2}),
    "added": ("encoder", {"attention": "tanhmax", "head_combination": "add", "value_dim": 16}),
    "values from places": ("encoder", {"attention": "shaw"}),
    "pairs": ("pair-encoder", {"attention": "softmax"}),
    "sentences": ("hierarchical", {"attention": "softmax"}),
    "pooled": ("pooled", {"embedding_size": 6, "hidden_size": 4, "value_dim": 4}),
}


@pytest.mark.parametrize("name", MODELS)
def test_the_same_as_one_by_one(name, tmp_path):
    family, options = MODELS[name]
    model, tokenizer = open_model(write_model(tmp_path / "run", family, **options))
    encoded = encode(tokenizer, TEXTS, TEXTS[::-1] if family == "pair-encoder" else None)
    found = {}
    for layer in value_ranks(model, encoded, RowSelector()):
        assert layer.rank.shape == (len(layer.texts), len(layer.heads))
        for one, place in enumerate(zip(layer.texts.tolist(), layer.parts.tolist(), strict=True)):
            for column, head in enumerate(layer.heads):
                found[*place, layer.layer, head] = {
                    "tokens": layer.tokens[one],
                    "rank": layer.rank[one, column],
                    "null": layer.null[one, column],
                    "margin": layer.margin[one, column],
                    "rank_with_ones": layer.rank_with_ones[one, column],
                    "null_with_ones": layer.null_with_ones[one, column],
                    "margin_with_ones": layer.margin_with_ones[one, column],
                }
    rows = [row for batch in attention_rows(model, encoded, RowSelector()) for row in batch]
    assert {(row.text, row.part, row.layer, row.head) for row in rows} == set(found)
    deficient = 0
    for row in rows:
        plain, centred = (
            column_space(row.T, embed_dim=row.embed_dim, eps=row.eps, centred=each) for each in (False, True)
        )
        one = found[row.text, row.part, row.layer, row.head]
        n, rank, rank_with_ones = len(row.T), len(plain.sizes), len(centred.sizes) + 1
        deficient += n > rank
        assert one["tokens"] == n
        assert (one["rank"], one["null"]) == (rank, n - rank)
        assert (one["rank_with_ones"], one["null_with_ones"]) == (rank_with_ones, n - rank_with_ones)
        np.testing.assert_allclose(one["margin"], plain.margin, rtol=1e-2)
        np.testing.assert_allclose(one["margin_with_ones"], centred.margin, rtol=1e-2)
    assert deficient or name == "added"  # as many columns as tokens


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=3),
    st.integers(1, 12),
    st.integers(0, 5),
    st.integers(0, 99),
)
def test_planted_ranks(tokens, columns, planted, seed):
    """rank T is planted; rank [T, 1] is that of the matrix with a column of ones. Padding holds garbage."""
    rng = np.random.default_rng(seed)
    T = np.full((len(tokens), 2, max(tokens), columns), np.nan)
    real = np.arange(max(tokens)) < np.array(tokens)[:, None]
    for text, n in enumerate(tokens):
        for head in range(2):
            T[text, head, :n] = rng.normal(size=(n, planted)) @ rng.normal(size=(planted, columns))
    found = head_ranks(
        torch.from_numpy(T), torch.from_numpy(real), embed_dim=columns, eps=FLOAT32_EPS, **ABOUT
    )
    for text, n in enumerate(tokens):
        rank = min(n, planted, columns)
        assert found.rank[text].tolist() == [rank] * 2
        assert (found.margin[text] == np.inf).all() == (rank == 0)
        for head in range(2):
            with_ones = np.linalg.matrix_rank(np.column_stack([T[text, head, :n], np.ones(n)]))
            assert found.rank_with_ones[text, head] == with_ones
    np.testing.assert_array_equal(found.expected, np.maximum(np.array(tokens) - columns, 0))


ABOUT = {
    "layer": 0,
    "name": "",
    "heads": (0, 1),
    "texts": np.zeros(1, dtype=int),
    "parts": np.zeros(1, dtype=int),
    "projected": True,
}


def test_two_tokens_alike_and_one_between():
    """Rows 1, 3 and 2 of one column: rank 1, and a constant apart rank 2 of 3; equal rows: rank 1 of 3."""
    T = torch.tensor([[[[1.0], [3.0], [2.0]], [[5.0], [5.0], [5.0]]]], dtype=torch.float64)
    found = head_ranks(T, torch.ones(1, 3, dtype=torch.bool), embed_dim=1, eps=FLOAT32_EPS, **ABOUT)
    assert found.rank.tolist() == [[1, 1]]
    assert found.rank_with_ones.tolist() == [[2, 1]]
    assert found.null_with_ones.tolist() == [[1, 2]]


@pytest.mark.parametrize(("eps", "rank"), [(FLOAT32_EPS, 1), (DOUBLE, 2)])
def test_the_precision_of_the_values_decides(eps, rank):
    T = torch.diag(torch.tensor([1.0, 1e-9], dtype=torch.float64))[None, None]
    found = head_ranks(T, torch.ones(1, 2, dtype=torch.bool), embed_dim=2, eps=eps, **ABOUT)
    assert found.rank.tolist() == [[rank]]


@pytest.mark.parametrize("shape", [(3, 2, 9, 4), (3, 2, 4, 9), (1, 1, 1, 1)])
def test_the_fast_singular_values_are_the_slow_ones(shape):
    T = torch.from_numpy(np.random.default_rng(0).normal(size=shape))
    slow = singular_values(T, 0.0)
    torch.testing.assert_close(singular_values(T, 1e-5), slow, **of_size(slow, 1e-10))


def test_half_precision_has_no_rank(tmp_path):
    model, tokenizer = open_model(write_model(tmp_path / "run", attention="softmax"))
    with pytest.raises(InputError, match=r"half precision.*model\.float"):
        next(value_ranks(model.half(), encode(tokenizer, TEXTS), RowSelector()))


def test_a_head_that_does_not_exist(tmp_path):
    model, tokenizer = open_model(write_model(tmp_path / "run", attention="softmax"))
    with pytest.raises(InputError, match="no head 6: they are numbered 0 to 5"):
        next(value_ranks(model, encode(tokenizer, TEXTS), RowSelector(heads=(6,))))
