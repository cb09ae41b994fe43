"""Marks of chats and characters of several tokens: what a reader sees as one thing is one."""

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

import glasshead
from classifier_families import FAMILIES
from glasshead.data import encode, token_names, train_byte_pairs
from glasshead.data.token_names import BYTE_OF_LETTER
from glasshead.explainers import by_word

TEXTS = ["the lower login of the low", "user assistant hello"]
CHAT = "<|im_start|>user\nनमस्ते 👩‍👩‍👧 你<|im_end|>\n<|im_start|>assistant\n"


def chat_tokenizer():
    """Byte pairs whose special tokens are read in texts, as those of chat models are."""
    made = train_byte_pairs(TEXTS, vocab_size=280, first=True)
    made.split_special_tokens = False
    made.add_tokens([AddedToken(mark, special=True) for mark in ("<|im_start|>", "<|im_end|>")])
    return made


def metaspace_tokenizer():
    """As Llama has it: blanks are letters, unknown characters are bytes, a BOS before each text."""
    pieces = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁", *"aefhilmtow"]
    made = Tokenizer(
        models.BPE(
            {piece: rank for rank, piece in enumerate(pieces)}, [], byte_fallback=True, unk_token="<unk>"
        )
    )
    made.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    made.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    made.post_processor = processors.TemplateProcessing("<s> $A", None, [("<s>", 1)])
    return PreTrainedTokenizerFast(
        tokenizer_object=made, unk_token="<unk>", bos_token="<s>", eos_token="</s>", pad_token="</s>"
    )


KINDS = {"bytes": chat_tokenizer(), "metaspace": metaspace_tokenizer()}
kinds = pytest.mark.parametrize("kind", KINDS)


def words_of(tokenizer, text):
    """The characters of each word, joined from its tokens."""
    encoded = encode(tokenizer, [text])
    found = {}
    for word, (start, stop) in zip(encoded.words[0].tolist(), encoded.offsets[0].tolist(), strict=True):
        if word >= 0 and stop > start:
            low, high = found.get(word, (start, stop))
            found[word] = (min(low, start), max(high, stop))
    return [text[start:stop] for start, stop in found.values()]


@kinds
def test_characters_of_several_tokens_are_in_one_word(kind):
    assert words_of(KINDS[kind], "the film नमस्ते 👍🏽 cafe\u0301s 👩‍👩‍👧") == [
        "the", "film", "नमस्ते", "👍🏽", "cafe\u0301s", "👩‍👩‍👧",
    ]  # fmt: skip
    assert words_of(KINDS[kind], "你好 low") == ["你", "好", "low"]


@kinds
@settings(deadline=None)
@given(text=st.text(st.characters(codec="utf-8")) | st.text("a 👍🏽\u200dनस्ते你!\n", max_size=12))
@example("a\u0301 \u0301")
def test_every_letter_is_in_one_word_and_words_count_on(kind, text):
    tokenizer = KINDS[kind]
    encoded = encode(tokenizer, [text])
    words = [word for word in encoded.words[0].tolist() if word >= 0]
    assert words == sorted(words)
    assert sorted(set(words)) == list(range(len(set(words))))
    assert "".join("".join(words_of(tokenizer, text)).split()) == "".join(text.split())


def test_marks_of_a_chat_are_no_words():
    tokenizer = KINDS["bytes"]
    model = FAMILIES["GPT2"].build(vocab_size=len(tokenizer), pad_token_id=tokenizer.pad_token_id)
    (attribution,) = glasshead.explain(model, CHAT, tokenizer=tokenizer, method="gradient")
    shown = list(zip(attribution.tokens, attribution.words, strict=True))
    assert [token for token, word in shown if word < 0] == [
        "<|endoftext|>", "<|im_start|>", "<|im_end|>", "␣", "<|im_start|>",
    ]  # fmt: skip
    assert [token for token, word in shown if word >= 0] == ["user", "नमस्ते", "👩‍👩‍👧", "你", "assistant"]
    assert by_word(attribution) == attribution
    assert not {"�", "Ġ", "Ċ"} & set("".join(attribution.tokens))


@kinds
def test_what_begins_a_text_already_is_not_put_before_it_again(kind):
    tokenizer = KINDS[kind]
    begin = tokenizer.bos_token
    encoded = encode(tokenizer, [f"{begin}the film", "a b c d e f g h i j k l m n"])
    ids = encoded.ids[0][encoded.mask[0]].tolist()
    assert ids.count(tokenizer.bos_token_id) == 1
    assert encoded.words[0][0] == -1
    assert words_of(tokenizer, f"{begin}the film") == ["the", "film"]
    assert encoded.words[1].max() == 13


@pytest.mark.parametrize("text", ["the low", CHAT, "a 👍🏽", "\u0120 \u2581"])
def test_names_of_tokens_can_be_read(text):
    """Those of bytes are the characters of the text, and bytes that are none by themselves say so."""
    tokenizer = KINDS["bytes"]
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    names = token_names(tokenizer, ids)
    assert "�" not in "".join(names)
    for number, name in zip(ids, names, strict=True):
        read = tokenizer.decode([number])
        assert name == (read.strip() or "␣") if "�" not in read else re.fullmatch("(<0x[0-9A-F]{2}>)+", name)


def test_names_of_pieces_have_no_mark_of_a_blank():
    tokenizer = KINDS["metaspace"]
    names = token_names(tokenizer, tokenizer("low 你")["input_ids"])
    assert names == ["<s>", "␣", "l", "o", "w", "␣", "<0xE4>", "<0xBD>", "<0xA0>"]


def test_every_byte_has_the_letter_that_the_library_gives_it():
    assert set(BYTE_OF_LETTER) == set(pre_tokenizers.ByteLevel.alphabet())
    for letter, byte in BYTE_OF_LETTER.items():
        if byte < 128:
            assert (
                pre_tokenizers.ByteLevel(add_prefix_space=False).pre_tokenize_str(chr(byte))[0][0] == letter
            )


def test_unknown_and_hidden_words_are_words():
    masked = train_byte_pairs(TEXTS, vocab_size=280)
    masked.split_special_tokens = False
    assert words_of(masked, "the <|mask|> low") == ["the", "<|mask|>", "low"]
