"""Packing segments and putting them back, against loops."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from glasshead.models import SegmentLayout

texts = st.lists(  # of each text, of each segment, the number of tokens; then padding before and after
    st.tuples(st.lists(st.integers(1, 4), max_size=4), st.integers(0, 2)), min_size=1, max_size=4
)


def laid_out(described):
    """segment [B, n] and real [B, n], texts shifted by padding in front."""
    width = max(sum(sizes) + before for sizes, before in described) + 1
    segment = torch.zeros(len(described), width, dtype=torch.long)
    real = torch.zeros(len(described), width, dtype=torch.bool)
    for text, (sizes, before) in enumerate(described):
        place = before
        for number, size in enumerate(sizes):
            segment[text, place : place + size] = number
            real[text, place : place + size] = True
            place += size
    return segment, real


def loops(segment, real):
    """(text, number) → the columns of its tokens, in order."""
    found = {}
    for text in range(real.shape[0]):
        for column in range(real.shape[1]):
            if real[text, column]:
                found.setdefault((text, int(segment[text, column])), []).append(column)
    return found


@given(texts)
@settings(max_examples=60, deadline=None)
def test_all_of_it_against_loops(described):
    segment, real = laid_out(described)
    found, expected = SegmentLayout.of(segment, real), loops(segment, real)
    assert list(zip(found.text.tolist(), found.number.tolist(), strict=True)) == list(expected)
    tokens = torch.randn(*real.shape, 3)
    packed = found.pack(tokens)
    assert packed.shape[:2] == found.mask.shape
    for row, ((text, _), columns) in enumerate(expected.items()):
        assert found.mask[row].tolist() == [True] * len(columns) + [False] * (
            len(found.mask[row]) - len(columns)
        )
        assert torch.equal(packed[row, : len(columns)], tokens[text, columns])
        assert packed[row, len(columns) :].count_nonzero() == 0

    numbers = torch.randn(found.mask.shape)
    unpacked = found.unpack(numbers)
    width = max((number for _, number in expected), default=0) + 1
    of_segment = torch.randn(len(described), width)
    spread = found.spread(of_segment)
    for row, ((text, number), columns) in enumerate(expected.items()):
        assert torch.equal(unpacked[text, columns], numbers[row, : len(columns)])
        assert (spread[text, columns] == of_segment[text, number]).all()
    assert unpacked[~real].count_nonzero() == spread[~real].count_nonzero() == 0

    vectors = torch.randn(len(expected), 3)
    lined, there = found.line_up(vectors)
    assert lined.shape == (len(described), width, 3)
    assert there.sum() == len(expected)
    for row, (text, number) in enumerate(expected):
        assert there[text, number]
        assert torch.equal(lined[text, number], vectors[row])
    assert lined[~there].count_nonzero() == 0
    wide, _ = found.line_up(vectors, width=7)
    assert torch.equal(wide[:, :width], lined)


def test_a_batch_of_empty_texts():
    real = torch.zeros(3, 4, dtype=torch.bool)
    found = SegmentLayout.of(torch.zeros(3, 4, dtype=torch.long), real)
    packed = found.pack(torch.randn(3, 4, 5))
    assert packed.shape == (0, 1, 5)
    lined, there = found.line_up(torch.randn(0, 5))
    assert lined.shape == (3, 1, 5)
    assert not there.any()
    assert torch.equal(found.unpack(torch.zeros(0, 1)), torch.zeros(3, 4))
    assert torch.equal(found.spread(torch.zeros(3, 1)), torch.zeros(3, 4))


def test_gradients_reach_the_tokens_they_came_from():
    segment, real = laid_out([([2, 1], 1), ([], 0), ([3], 0)])
    tokens = torch.randn(*real.shape, 2, requires_grad=True)
    found = SegmentLayout.of(segment, real)
    found.line_up(found.pack(tokens).sum(dim=1))[0].sum().backward()
    assert torch.equal(tokens.grad, real[:, :, None].expand_as(tokens).to(tokens))
