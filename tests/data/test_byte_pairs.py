"""Byte pairs: every text can be said, and read back as it was."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from transformers import AutoTokenizer

from glasshead.data import encode, train_byte_pairs
from glasshead.errors import InputError

TEXTS = ["the lower login of the low", "the newest and the widest", "नमस्ते नमस्ते 你好你好 👍 👍"]
SPECIAL = ["<|endoftext|>", "<|pad|>", "<|mask|>"]
anything = st.text(st.characters(codec="utf-8"))


def trained(**options):
    return train_byte_pairs(TEXTS, **({"vocab_size": 300, "min_freq": 2} | options))


TOKENIZER = trained()


@settings(deadline=None)
@given(text=anything)
@example("don't  stop , 's <|endoftext|> <|pad|>\r\n\u2028 e\u0301 👍🏽 👩‍👩‍👧 नमस्ते 你好")
@example("\x00 \ufffd \u0120")
def test_any_text_comes_back_as_it_was(text):
    ids = TOKENIZER(text)["input_ids"]
    assert TOKENIZER.decode(ids) == text
    assert not set(ids) & {0, 1, 2}  # no text speaks for a special token


def test_special_tokens_come_first():
    assert TOKENIZER.convert_ids_to_tokens([0, 1, 2]) == SPECIAL
    assert (TOKENIZER.bos_token_id, TOKENIZER.eos_token_id) == (0, 0)
    assert (TOKENIZER.pad_token_id, TOKENIZER.mask_token_id) == (1, 2)
    assert TOKENIZER.unk_token is None
    assert len(trained(vocab_size=280)) == 280


def test_frequent_words_are_one_token_and_rare_pairs_stay_apart():
    assert TOKENIZER.tokenize("the the low") == ["the", "Ġthe", "Ġlow"]
    assert len(trained(vocab_size=1000)) < len(trained(vocab_size=1000, min_freq=1)) < 1000
    assert TOKENIZER.tokenize("log") == ["lo", "g"]  # "og" occurs once


def test_the_order_of_texts_does_not_matter():
    assert train_byte_pairs(TEXTS[::-1], vocab_size=300).get_vocab() == TOKENIZER.get_vocab()


def test_saved_and_loaded_it_is_the_same(tmp_path):
    TOKENIZER.save_pretrained(tmp_path)
    again = AutoTokenizer.from_pretrained(tmp_path)
    for text in [*TEXTS, "<|endoftext|> 's ,", ""]:
        assert again(text)["input_ids"] == TOKENIZER(text)["input_ids"]
        assert again.decode(again(text)["input_ids"]) == text


def test_what_stands_around_texts_and_between_two():
    a, b = TOKENIZER("low")["input_ids"], TOKENIZER("the")["input_ids"]
    assert trained(pairs=True)("low", "the")["input_ids"] == [*a, 0, *b]
    assert trained(pairs=True)("low", "the")["token_type_ids"] == [0] * (len(a) + 1) + [1] * len(b)
    assert trained(first=True)("low")["input_ids"] == [0, *a]
    assert trained(first=True, pairs=True)("low", "the")["input_ids"] == [0, *a, 0, *b]
    encoded = encode(trained(first=True), ["low the"])
    assert encoded.words.tolist() == [[-1, *([0] * len(a)), 1]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"vocab_size": 258}, "is too small for all bytes: give 259"),
        ({"min_freq": 0}, "start at 1"),
        ({"max_length": 1, "first": True}, "no room"),
        ({"min_freq": 100}, "no pair of tokens occurs 100 times"),
    ],
)
def test_refusals(options, message):
    with pytest.raises(InputError, match=message):
        trained(**options)


def test_bytes_alone_are_a_vocabulary():
    assert trained(vocab_size=259).tokenize("low") == ["l", "o", "w"]
