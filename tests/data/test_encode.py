"""Texts → padded ids that remember where they came from."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshead.data import encode, train_tokenizer

WORDS = ("a", "longish", "it's", "self-indulgent", "``", "...", "-LRB-", "<br />", "3.5", ",")


def trained(max_length):
    return train_tokenizer([" ".join(WORDS)], minimum_frequency=1, max_length=max_length)


@given(
    texts=st.lists(
        st.lists(st.sampled_from([*WORDS, "x" * 70, " " * 40, "-", "3.", "'"]), max_size=40).flatmap(
            lambda words: st.sampled_from([" ".join(words), "".join(words)])
        ),
        max_size=6,
    ),
    limit=st.integers(1, 9),
)
def test_leaving_the_tail_of_a_long_text_unread_changes_nothing(texts, limit):
    tokenizer = trained(limit)
    encoded = encode(tokenizer, texts)
    whole = [row[:limit] for row in tokenizer(texts)["input_ids"]] if texts else []
    assert [ids[mask].tolist() for ids, mask in zip(encoded.ids, encoded.mask, strict=True)] == whole
    for text, mask, offsets in zip(texts, encoded.mask, encoded.offsets, strict=True):
        ends = [0]
        for start, end in offsets[mask.numpy()]:
            assert ends[-1] <= start < end <= len(text)
            ends.append(end)


def test_a_tag_across_the_cut_is_read_whole():
    tokenizer = trained(2)
    assert encode(tokenizer, ["self-indulgent<br />"]).ids.tolist() == [
        tokenizer("self-indulgent<br />")["input_ids"][:2]
    ]


def test_padding_and_empty_texts():
    encoded = encode(trained(8), ["a a longish", "", "  ", "a"])
    assert encoded.mask.sum(dim=1).tolist() == [3, 0, 0, 1]
    assert (encoded.ids[~encoded.mask] == 0).all()
    assert (encoded.words[~encoded.mask.numpy()] == -1).all()
    np.testing.assert_array_equal(encoded.words[0][:3], [0, 1, 2])
    assert encode(trained(8), [""]).ids.shape == (1, 1)
    assert encode(trained(8), []).ids.shape[0] == 0


@pytest.mark.parametrize("chunk", [1, 2, 100])
def test_chunks_change_nothing(chunk):
    texts = ["a longish a", "it's", "", "a a a a"]
    one, other = encode(trained(8), texts), encode(trained(8), texts, chunk=chunk)
    assert one.ids.equal(other.ids)
    assert one.mask.equal(other.mask)
