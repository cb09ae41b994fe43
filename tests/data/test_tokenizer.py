"""Words in, ids out, and offsets that find the words again."""

import random
import unicodedata

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import AutoTokenizer, PreTrainedTokenizerFast

from glasshead.data import SyntheticOptions, encode, load, occurrences, planted_groups, train_tokenizer
from glasshead.errors import InputError

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def trained(*texts, **options):
    return train_tokenizer(texts, **({"min_freq": 1} | options))


def pieces(text, **options):
    tokenizer = trained(text, **options)
    return tokenizer.convert_ids_to_tokens(tokenizer(text)["input_ids"])


class TestRule:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("a self-indulgent mess", "a self-indulgent mess"),
            ("don't don’t n't", "don't don’t n't"),
            ("it 's rock'n'roll", "it 's rock'n'roll"),
            ("we 've , I 'D , they ’ll , 'em", "we 've , I 'D , they ’ll , 'em"),
            ("-LRB- fine -RRB-", "-LRB- fine -RRB-"),
            ("``quoted''", "`` quoted ''"),
            ("'hello'", "' hello '"),
            ("'small town'", "' small town '"),
            ("dogs' tails", "dogs ' tails"),
            ("well-- so ... no!!! -foo", "well -- so ... no !!! - foo"),
            ('fine." (yes)', 'fine . " ( yes )'),
            ("3.5 of 1,000 at 9:30.", "3.5 of 1,000 at 9:30 ."),
            ("e.g. U.S.", "e . g . U . S ."),
            ("co-writer\\/director", "co-writer \\ / director"),
            ("naïve cafe\u0301 Ωmega", "naïve cafe\u0301 Ωmega"),
            ("a\u200bb\x00c\u00a0d", "a b c d"),
            ("snake_case x2", "snake_case x2"),
            ("👍👍 ok", "👍👍 ok"),
            ("a < b", "a < b"),
            ("#39;s", "# 39 ; s"),
        ],
    )
    def test_tokens(self, text, expected):
        assert pieces(text, lowercase=False) == expected.split(" ")

    def test_a_line_break_tag_is_one_token(self):
        assert pieces("end.<br /><br />Next") == ["end", ".", "<br />", "<br />", "next"]

    def test_every_planted_word_is_one_token(self):
        words = planted_groups(SyntheticOptions(polar_words=120, neutral_words=2500))
        assert pieces(" ".join(words), vocab_size=9999) == list(words)

    def test_no_text_speaks_for_a_special_token(self):
        tokenizer = trained("[PAD] [MASK] [SEP] a")
        for text in ("[PAD]", "a [SEP] a", "[MASK]"):
            assert min(tokenizer(text)["input_ids"]) >= len(SPECIAL)

    def test_empty_texts_have_no_tokens(self):
        tokenizer = trained("a")
        assert tokenizer(["", " \n\u2028", "\u200b"])["input_ids"] == [[], [], []]


anything = st.text(st.characters(codec="utf-8")) | st.text("abİΣ'’-.<>/ br[]PADUNK1`\u0301", max_size=20)


def silent(text):
    """Whether there is nothing to read: separators, controls and formats."""
    return all(unicodedata.category(character) in {"Zs", "Zl", "Zp", "Cc", "Cf"} for character in text)


class TestOffsets:
    @settings(deadline=None)
    @given(text=anything, lowercase=st.booleans())
    def test_they_slice_back_to_the_token(self, text, lowercase):
        try:
            tokenizer = trained(text, lowercase=lowercase)
        except InputError:
            assert silent(text)
            return
        encoded = tokenizer(text, return_offsets_mapping=True)
        tokens = tokenizer.convert_ids_to_tokens(encoded["input_ids"])
        end = 0
        for token, (start, stop) in zip(tokens, encoded["offset_mapping"], strict=True):
            assert silent(text[end:start])
            piece = text[start:stop]
            # By character: str.lower() knows a sigma at the end of a word.
            assert token == ("".join(character.lower() for character in piece) if lowercase else piece)
            end = stop
        assert silent(text[end:])

    def test_of_a_pair(self):
        encoded = trained("a b c")("a b", "c", return_offsets_mapping=True)
        assert encoded["offset_mapping"] == [(0, 1), (2, 3), (0, 0), (0, 1)]


class TestVocabulary:
    def test_special_tokens_come_first_then_words_by_frequency(self):
        tokenizer = trained("c c b b b a a")
        assert tokenizer.convert_ids_to_tokens(range(len(tokenizer))) == [*SPECIAL, "b", "a", "c"]
        assert set(tokenizer.all_special_ids) == {0, 1, 2, 3, 4}
        ids = (tokenizer.pad_token_id, tokenizer.unk_token_id, tokenizer.cls_token_id)
        assert (*ids, tokenizer.sep_token_id, tokenizer.mask_token_id) == (0, 1, 2, 3, 4)

    def test_ties_do_not_depend_on_the_order_of_texts(self):
        words = [f"w{number}" for number in range(200)]
        first = trained(*words, vocab_size=100).get_vocab()
        for seed in range(3):
            random.Random(seed).shuffle(words)
            assert trained(*words, vocab_size=100).get_vocab() == first

    def test_the_cap_counts_special_tokens(self):
        tokenizer = trained("a a b b c", vocab_size=7)
        assert len(tokenizer) == 7
        assert tokenizer("a b c")["input_ids"] == [5, 6, 1]

    def test_rare_words_are_unknown(self):
        tokenizer = train_tokenizer(["a a b"])
        assert tokenizer("a b never-seen")["input_ids"] == [5, 1, 1]
        assert len(train_tokenizer(["a a b"], min_freq=1)) == 7

    def test_case(self):
        assert trained("Film film")("FILM film")["input_ids"] == [5, 5]
        assert trained("Film film", lowercase=False)("FILM film Film")["input_ids"] == [1, 6, 5]

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"vocab_size": 5}, "has no words"),
            ({"min_freq": 0}, "start at 1"),
            ({"max_length": 0}, "start at 1"),
            ({"min_freq": 3}, "no word occurs 3 times"),
        ],
    )
    def test_refusals(self, options, message):
        with pytest.raises(InputError, match=message):
            trained("a a", **options)


class TestHuggingFace:
    def test_a_single_text_gets_nothing_and_a_pair_one_separator(self):
        tokenizer = trained("a b")
        assert isinstance(tokenizer, PreTrainedTokenizerFast)
        assert dict(tokenizer("a b")) == {"input_ids": [5, 6], "attention_mask": [1, 1]}
        assert dict(tokenizer("a b", "b")) == {"input_ids": [5, 6, 3, 6], "attention_mask": [1] * 4}

    def test_padding_is_masked(self):
        batch = trained("a b")(["a b a", "b"], padding=True, return_tensors="pt")
        assert batch["input_ids"].tolist() == [[5, 6, 5], [6, 0, 0]]
        assert batch["attention_mask"].tolist() == [[1, 1, 1], [1, 0, 0]]

    def test_texts_are_cut_only_when_asked(self):
        tokenizer = trained("a b", max_length=3)
        assert tokenizer.model_max_length == 3
        assert tokenizer("a b a b", truncation=True)["input_ids"] == [5, 6, 5]
        assert tokenizer("a b a b")["input_ids"] == [5, 6, 5, 6]
        assert tokenizer("a b", "a b", truncation=True)["input_ids"] == [5, 3, 5]

    def test_saved_and_loaded_it_is_the_same(self, tmp_path):
        texts = ["A self-indulgent mess, don't -LRB- [MASK] -RRB- ``ok''...", "İstanbul <br />", ""]
        tokenizer = trained(*texts, max_length=7)
        tokenizer.save_pretrained(tmp_path)
        again = AutoTokenizer.from_pretrained(tmp_path)
        for options in ({}, {"truncation": True}, {"text_pair": texts[::-1]}):
            kept = tokenizer(texts, return_offsets_mapping=True, **options)
            assert dict(again(texts, return_offsets_mapping=True, **options)) == dict(kept)
        assert again.model_max_length == 7
        assert again.model_input_names == ["input_ids", "attention_mask"]
        assert again.get_vocab() == tokenizer.get_vocab()
        assert again.decode(again("a mess")["input_ids"]) == "a mess"


def counted(tokenizer, data):
    labels = torch.tensor(data["label"][:])
    return occurrences(
        encode(tokenizer, data["text"][:]),
        labels,
        classes=data.features["label"].num_classes,
        vocabulary=len(tokenizer),
    )


class TestOccurrences:
    def test_per_class_as_far_as_the_model_reads(self):
        tokenizer = trained("a a b", max_length=2)
        encoded = encode(tokenizer, ["a a b", "b", "unseen", ""])
        found = occurrences(encoded, torch.tensor([0, 2, 2, 1]), classes=3, vocabulary=7)
        expected = np.zeros((3, 7), dtype=np.int64)
        expected[0, 5], expected[2, 6], expected[2, 1] = 2, 1, 1
        np.testing.assert_array_equal(found, expected)

    def test_against_a_plain_loop(self):
        data = load("synthetic")["train"]
        tokenizer = train_tokenizer(data["text"][:])
        expected = np.zeros((2, len(tokenizer)), dtype=np.int64)
        for row in data:
            for token in row["text"].split():
                expected[row["label"], tokenizer.convert_tokens_to_ids(token)] += 1
        np.testing.assert_array_equal(counted(tokenizer, data), expected)
        assert expected.sum() == 12 * len(data)

    def test_planted_words_lean_to_their_class(self):
        data = load("synthetic")["train"]
        tokenizer = train_tokenizer(data["text"][:])
        negative, positive = counted(tokenizer, data)
        lean = (positive - negative) / np.maximum(positive + negative, 1)
        for word, group in planted_groups(SyntheticOptions()).items():
            # Each word occurs equally often in both classes, or in one of them only.
            assert (
                lean[tokenizer.convert_tokens_to_ids(word)]
                == {"positive": 1, "negative": -1, "neutral": 0}[group]
            )

    def test_real_words(self, real_data):
        data = load(real_data / "sst2")["train"]
        tokenizer = train_tokenizer(data["text"][:])
        found = counted(tokenizer, data)
        assert found[:, tokenizer.unk_token_id].sum() < 0.07 * found.sum()
        bad, good = (found[:, tokenizer.convert_tokens_to_ids(word)] for word in ("bad", "moving"))
        assert bad[0] > 3 * bad[1]
        assert good[1] > 3 * good[0]
