"""Texts → padded ids that remember where they came from."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshead.data import encode, train_tokenizer
from glasshead.data.encode import safe_prefix

WORDS = ("a", "longish", "it's", "self-indulgent", "``", "...", "-LRB-", "<br />", "3.5", ",")
ODD = (
    "x" * 70,
    " " * 40,
    "\u3000",
    "-",
    "3.",
    "'",
    "<",
    "<<<",
    "<b",
    "< br",
    ">",
    "日本語",
    "。",
    "\x1c",
    "\n ",
)


def trained(max_length, **options):
    return train_tokenizer([" ".join(WORDS)], min_freq=1, max_length=max_length, **options)


@given(
    texts=st.lists(
        st.lists(st.sampled_from([*WORDS, *ODD]), max_size=40).flatmap(
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


@given(
    text=st.lists(st.sampled_from([*WORDS, *ODD, " "]), max_size=30).map("".join),
    size=st.integers(1, 60),
)
def test_a_beginning_ends_between_two_tokens(text, size):
    head = safe_prefix(text, size)
    assert text.startswith(head)
    assert len(head) <= size
    assert head == text or len(text) > size
    tokenize = trained(512).backend_tokenizer.pre_tokenizer.pre_tokenize_str
    tokens = tokenize(head)
    assert tokens == tokenize(text)[: len(tokens)]


@pytest.mark.parametrize(
    ("text", "size", "head"),
    [
        ("one two", 7, "one two"),
        ("one two", 6, "one"),
        ("one   two", 5, ""),  # nothing but one word, which may be longer
        ("  one two", 7, "  one"),
        ("日本語日本語", 4, ""),
        ("one <br /> two", 9, "one "),
        ("one <br /> two", 12, "one <br />"),
        ("one <<< two", 9, "one "),
    ],
)
def test_where_a_text_is_cut(text, size, head):
    assert safe_prefix(text, size) == head


def test_a_tokenizer_that_cuts_on_the_left_reads_the_end():
    tokenizer = trained(2)
    tokenizer.truncation_side = "left"
    text = "a " * 100 + "longish 3.5"
    assert tokenizer.convert_ids_to_tokens(encode(tokenizer, [text]).ids[0]) == ["longish", "3.5"]


@pytest.mark.parametrize("limit", [2, 5])
def test_a_first_token_takes_one_place_and_is_no_word(limit):
    encoded = encode(trained(limit, first=True), ["a longish a a a a " * 10, "", "it's"])
    assert encoded.ids[:, 0].tolist() == [2, 2, 2]
    assert encoded.mask.sum(dim=1).tolist() == [limit, 1, 2]
    assert encoded.words[0].tolist() == list(range(-1, limit - 1))
    assert encoded.words[1].tolist() == [-1] * limit
    assert encoded.offsets[2][:2].tolist() == [[0, 0], [0, 4]]


def test_what_a_model_is_called_with():
    texts = ["a a longish", "it's", "", "a"]
    encoded = encode(trained(8), texts)
    assert encoded.types is None
    given = encoded.inputs()
    assert set(given) == {"input_ids", "attention_mask"}
    assert given["input_ids"].equal(encoded.ids)
    typed = encode(trained(8, pairs=True), texts, texts)
    given = typed.inputs(slice(1, 3))
    assert set(given) == {"input_ids", "attention_mask", "token_type_ids"}
    assert given["input_ids"].equal(typed.ids[1:3])
    assert given["attention_mask"].equal(typed.mask[1:3])
    assert given["token_type_ids"].equal(typed.types[1:3])
    assert {each.device.type for each in typed.inputs(device="meta").values()} == {"meta"}


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
