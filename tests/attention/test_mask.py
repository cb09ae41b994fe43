"""Masks and places: what is accepted, and what every form means, pair by pair."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from glasshead.attention import Mask
from glasshead.attention.mask import has_holes
from glasshead.errors import InputError

CPU = torch.device("cpu")


def qk(batch=2, heads=3, queries=4, keys=4):
    return torch.zeros(batch, heads, queries, 1), torch.zeros(batch, heads, keys, 1)


def booleans(*shape, seed=0):
    return torch.rand(shape, generator=torch.Generator().manual_seed(seed)) < 0.6


def whole(mask, batch=2, heads=3):
    """The full mask of every sequence and head."""
    return mask.allowed(CPU).expand(batch, heads, mask.queries, mask.keys)


def test_no_mask_allows_everything():
    for mask in (Mask.of(*qk()), Mask.of(*qk(queries=2))):
        assert mask.is_full
        assert whole(mask).all()


@pytest.mark.parametrize(
    ("shape", "padding"),
    [
        ((2, 5), True),
        ((2, 1, 1, 5), True),
        ((1, 1, 1, 5), True),
        ((1, 1, 1, 1), True),
        ((4, 5), False),
        ((1, 1, 4, 5), False),
        ((2, 1, 4, 5), False),
        ((1, 3, 4, 5), False),
        ((2, 3, 4, 5), False),
        ((2, 3, 1, 5), False),
        ((2, 3, 4, 1), False),
    ],
)
def test_every_shape_that_broadcasts(shape, padding):
    given_mask = booleans(*shape)
    mask = Mask.of(*qk(keys=5), given_mask)
    assert (mask.padding is not None, mask.attn_mask is not None) == (padding, not padding)
    assert not mask.is_full
    expected = given_mask[:, None, None] if shape == (2, 5) else given_mask
    assert torch.equal(whole(mask), expected.expand(2, 3, 4, 5))


def test_two_dimensions_that_could_be_both_are_refused():
    with pytest.raises(InputError, match=r"\(2, 4\) can be padding .* or pairs .*mask\[:, None, None, :\]"):
        Mask.of(*qk(queries=2), booleans(2, 4))
    padding, pairs = booleans(2, 4)[:, None, None, :], booleans(2, 4)[None, None]
    assert Mask.of(*qk(queries=2), padding).padding is not None
    assert Mask.of(*qk(queries=2), pairs).attn_mask is not None
    # One sequence and one query: both readings allow the same.
    assert Mask.of(*qk(batch=1, queries=1), booleans(1, 4)).padding is not None


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        (torch.zeros(2, 4), "not torch.float32: compare an additive mask with 0"),
        (torch.ones(2, 4, dtype=torch.long), r"not torch.int64: make it one with \.bool\(\)"),
        ([[True]], "not list"),
        ("causal", "not str"),
        (booleans(2, 3), r"\(2, 3\) does not fit .* \[2, 3, 4, 4\], nor padding \[batch, keys\]"),
        (booleans(3, 4), "does not fit"),
        (booleans(2, 4, 4), "does not fit"),
        (booleans(4), "does not fit"),
        (booleans(2, 2, 4, 4), "does not fit"),
        (booleans(2, 1, 1, 4).to("meta"), r"the mask is on meta and the queries on cpu: .*\.to\('cpu'\)"),
    ],
)
def test_what_is_no_mask(mask, message):
    with pytest.raises(InputError, match=message):
        Mask.of(*qk(), mask)


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        (Mask(3, 4), "for 3 queries and 4 keys, not 4 and 4"),
        (Mask(4, 4, padding=booleans(3, 4)), r"for \[batch, heads\] = \[3\], not \[2\]"),
        (Mask(4, 4, attn_mask=booleans(3, 1, 4, 4)), r"= \[3, 1\], not \[2, 3\]"),
        (Mask(4, 4, attn_mask=booleans(2, 2, 4, 4)), r"= \[2, 2\], not \[2, 3\]"),
        (Mask(4, 4, padding=booleans(2, 4).to("meta")), "the mask is on meta"),
    ],
)
def test_a_mask_for_another_call(mask, message):
    with pytest.raises(InputError, match=message):
        Mask.of(*qk(), mask)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"padding": booleans(2, 3)}, r"padding must be \[batch, 4\], not \[2, 3\]"),
        ({"padding": booleans(4)}, r"padding must be \[batch, 4\]"),
        ({"padding": torch.ones(2, 4)}, "boolean"),
        ({"attn_mask": booleans(3, 4)}, r"attn_mask is \[batch, heads, 3, 4\], not \[3, 4\]"),
        ({"attn_mask": booleans(1, 1, 4, 3)}, "attn_mask is"),
        ({"attn_mask": torch.ones(1, 1, 3, 4)}, "boolean"),
        ({"query_positions": range(2)}, "query_positions has 2 positions for 3 queries"),
        ({"query_positions": range(2, 5)}, r"are at range\(2, 5\), outside the 4 keys"),
        ({"query_positions": range(-1, 2)}, "outside the 4 keys"),
        (
            {"query_positions": [0, 1, 2]},
            r"query_positions is a range or an integer tensor \[3\] .*, not list: give range",
        ),
        ({"query_positions": torch.zeros(3)}, r"not torch.float32 \[3\]"),
        ({"query_positions": torch.ones(3, dtype=torch.bool)}, r"not torch.bool \[3\]"),
        ({"query_positions": torch.zeros(3, 2, dtype=torch.long)}, r"not torch.int64 \[3, 2\]"),
        ({"query_positions": torch.arange(2)}, "query_positions has 2 positions for 3 queries"),
        ({"query_positions": torch.tensor([0, 1, 4])}, "are at 0 to 4, outside the 4 keys"),
        ({"query_positions": torch.tensor([0, -1, 2])}, "are at -1 to 2, outside the 4 keys"),
        ({"causal": True}, "a causal mask needs the positions of the queries"),
    ],
)
@pytest.mark.wrong_types
def test_a_mask_that_contradicts_itself(parts, message):
    with pytest.raises(InputError, match=message):
        Mask(3, 4, **parts)


def test_a_given_mask_stays_and_becomes_causal_on_request():
    mask = Mask(2, 4, query_positions=range(2, 4))
    assert Mask.of(*qk(queries=2), mask) is mask
    causal = Mask.of(*qk(queries=2), mask, is_causal=True)
    assert causal == Mask(2, 4, causal=True, query_positions=range(2, 4))
    assert whole(causal)[0, 0].tolist() == [[True, True, True, False], [True] * 4]


def test_causality_and_places_need_one_sequence():
    with pytest.raises(
        InputError, match=r"as many queries as keys, not 2 and 4: with a cache, pass glasshead.Mask"
    ):
        Mask.of(*qk(queries=2), is_causal=True)
    with pytest.raises(InputError, match="needs the positions of the queries"):
        Mask.of(*qk(queries=2), Mask(2, 4), is_causal=True)
    with pytest.raises(InputError, match="it is for self-attention"):
        Mask.of(*qk(queries=2)).token_positions(CPU)


def test_the_causal_mask_keeps_the_diagonal():
    assert torch.equal(whole(Mask.of(*qk(), is_causal=True))[1, 2], torch.ones(4, 4).tril().bool())


@st.composite
def masks(draw):
    """A mask of self-attention, whole or with a cache, with its parts as lists."""
    keys = draw(st.integers(1, 7))
    first = draw(st.integers(0, keys - 1))
    queries = draw(st.integers(1, keys - first))
    padding = draw(
        st.none() | st.lists(st.lists(st.booleans(), min_size=keys, max_size=keys), min_size=2, max_size=2)
    )
    pairs = draw(st.none() | st.integers(0, 99))
    at = range(first, first + queries)
    return Mask(
        queries,
        keys,
        padding=None if padding is None else torch.tensor(padding),
        attn_mask=None if pairs is None else booleans(2, 3, queries, keys, seed=pairs),
        causal=draw(st.booleans()),
        query_positions=draw(st.sampled_from([at, torch.tensor(list(at))])),
    )


def slow_allowed(mask, b, h, i, j):
    real = mask.padding is None or bool(mask.padding[b, j])
    paired = mask.attn_mask is None or bool(mask.attn_mask[b, h, i, j])
    return real and paired and (not mask.causal or j <= int(mask.query_positions[i]))


@given(mask=masks())
def test_allowed_pair_by_pair(mask):
    found = whole(mask)
    for b, h, i, j in torch.cartesian_prod(*map(torch.arange, found.shape)).tolist():
        assert bool(found[b, h, i, j]) == slow_allowed(mask, b, h, i, j)


@given(mask=masks())
def test_distances_count_real_tokens_only(mask):
    """j − i is the number of real tokens one has to walk, wherever the padding stands."""
    offsets = mask.token_positions(CPU).offsets().expand(2, 1, mask.queries, mask.keys)
    real = torch.ones(2, mask.keys, dtype=torch.bool) if mask.padding is None else mask.padding
    for b in range(2):
        for i in range(mask.queries):
            for j in range(mask.keys):
                at = int(mask.query_positions[i])
                if real[b, at] and real[b, j]:
                    walked = int(real[b, min(at, j) : max(at, j)].sum())
                    assert int(offsets[b, 0, i, j]) == (walked if j > at else -walked)


@given(mask=masks(), data=st.data())
def test_rows_are_rows_of_the_whole(mask, data):
    chosen = data.draw(st.lists(st.integers(0, mask.queries - 1), min_size=1, max_size=5))
    start, stop = data.draw(st.integers(0, mask.queries)), data.draw(st.integers(0, mask.queries))
    step = data.draw(st.integers(1, 3))
    everything, offsets = whole(mask), mask.token_positions(CPU).offsets()
    for rows in (torch.tensor(chosen), slice(start, stop, step)):
        some = mask.rows(rows)
        assert some.queries == len(range(mask.queries)[rows] if isinstance(rows, slice) else rows)
        assert torch.equal(whole(some), everything[:, :, rows])
        assert torch.equal(some.token_positions(CPU).offsets(), offsets[:, :, rows])
        # And rows of rows.
        if some.queries:
            last = slice(some.queries - 1, None)
            assert torch.equal(whole(some.rows(last)), everything[:, :, rows][:, :, last])


def test_rows_without_places_stay_without():
    mask = Mask.of(*qk(queries=3), booleans(1, 1, 3, 4))
    assert mask.rows(slice(1, 3)).query_positions is None
    assert torch.equal(mask.rows(torch.tensor([2])).attn_mask, mask.attn_mask[:, :, [2]])


def test_consecutive_places_say_where_they_start():
    """Then offsets are a band, and kernels need no gathering."""
    mask = Mask(3, 5, query_positions=range(2, 5))
    places = mask.token_positions(CPU)
    assert places.start == 2
    assert places.offsets().tolist() == [[[[-2, -1, 0, 1, 2], [-3, -2, -1, 0, 1], [-4, -3, -2, -1, 0]]]]
    assert mask.rows(slice(1, 3)).token_positions(CPU).start == 3
    assert mask.rows(slice(0, 3, 2)).token_positions(CPU).start is None
    assert mask.rows(torch.tensor([0, 1])).token_positions(CPU).start is None


def test_places_with_padding_left_right_and_within():
    left, right = torch.tensor([[False, False, True, True]]), torch.tensor([[True, True, False, False]])
    for padding in (left, right):
        places = Mask(4, 4, padding=padding, query_positions=range(4)).token_positions(CPU)
        assert places.start == 0  # nothing shifts, so nothing has to be counted
    hole = torch.tensor([[True, False, False, True], [True, True, True, True]])
    places = Mask(4, 4, padding=hole, query_positions=range(4)).token_positions(CPU)
    assert places.start is None
    assert places.key.tolist() == [[0, 0, 0, 1], [0, 1, 2, 3]]
    assert places.offsets()[0, 0, 0, 3] == 1
    assert places.offsets()[1, 0, 0, 3] == 3


@pytest.mark.parametrize(
    ("rows", "holes"),
    [
        ([[1, 1, 0, 0], [0, 0, 1, 1], [0, 1, 1, 0], [0, 0, 0, 0], [1, 1, 1, 1]], False),
        ([[1, 0, 1, 0]], True),
        ([[0, 1, 0, 1], [1, 1, 1, 1]], True),
        ([[1, 1, 0, 1]], True),
    ],
)
def test_holes(rows, holes):
    assert has_holes(torch.tensor(rows, dtype=torch.bool)) is holes


def test_a_settled_mask_and_its_copies_ask_no_more(monkeypatch):
    hole = torch.tensor([[True, False, True, True]])
    settled = Mask(4, 4, padding=hole, query_positions=range(4)).with_position_policy()
    plain = Mask(
        4, 4, padding=hole.logical_or(torch.tensor(True)), query_positions=range(4)
    ).with_position_policy()
    monkeypatch.setattr("glasshead.attention.mask.has_holes", None)  # whoever asks now fails
    assert settled.token_positions(CPU).start is None
    assert settled.rows(slice(1, 3)).token_positions(CPU).query.tolist() == [[0, 1]]
    assert plain.rows(slice(1, 3)).token_positions(CPU).start == 1
    assert settled == Mask(4, 4, padding=settled.padding, query_positions=range(4))


@given(mask=masks())
def test_the_longest_is_one_more_than_the_largest_distance_of_a_pair(mask):
    """Over all pairs that may meet, and at most over all real tokens up to the last query."""
    offsets = (
        mask.with_position_policy(reach=0)
        .token_positions(CPU)
        .offsets()
        .expand(2, 1, mask.queries, mask.keys)
    )
    allowed = whole(mask).any(dim=1, keepdim=True)
    real = torch.ones(2, mask.keys, dtype=torch.bool) if mask.padding is None else mask.padding
    allowed &= real[:, None, torch.as_tensor(list(mask.query_positions)), None]  # a padded query has no place
    met = [int(each) + 1 for each in offsets.abs()[allowed]]
    last = max(int(each) for each in mask.query_positions) if mask.causal else mask.keys - 1
    assert max(met, default=0) <= mask.max_span() <= int(real[:, : last + 1].sum(dim=1).max())


def test_the_longest_counts_neither_padding_nor_what_is_still_to_be_filled():
    padding = torch.tensor([[True] * 5 + [False] * 3, [False, True] * 4])
    assert Mask(8, 8, query_positions=range(8)).max_span() == 8
    assert Mask(8, 8, padding=padding, query_positions=range(8)).max_span() == 5
    assert Mask(1, 8, causal=True, query_positions=range(2, 3)).max_span() == 3
    assert Mask(2, 8, causal=True, query_positions=torch.tensor([1, 3])).max_span() == 4
    assert Mask(1, 8, padding=padding, causal=True, query_positions=range(3, 4)).max_span() == 4
    assert (
        Mask(1, 8, attn_mask=torch.arange(8)[None, None, None] < 3, query_positions=range(2, 3)).max_span()
        == 3
    )
    assert Mask(8, 8, padding=padding[:0], query_positions=range(8)).max_span() == 0


def test_no_keys_and_no_queries():
    for queries, keys in ((0, 0), (0, 3), (3, 0)):
        mask = Mask.of(*qk(queries=queries, keys=keys), torch.ones(2, 1, 1, keys, dtype=torch.bool))
        assert whole(mask).shape == (2, 3, queries, keys)
    assert Mask.of(*qk(queries=0, keys=0), booleans(2, 1, 1, 0)).token_positions(CPU).offsets().numel() == 0
