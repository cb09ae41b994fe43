"""What is said of data before a model learns from them: how much is read and known, and doubtful labels."""

import pytest

from classifier_families import FAMILIES
from glasshead.data import coverage, describe_in_words, encode, train_tokenizer
from glasshead.errors import InputError

TEXTS = ["a b c d e f g", "a b", "a x y", "", "a b c d"]


@pytest.fixture
def tokenizer():
    return train_tokenizer(["a b c d e f g"], min_freq=1, max_length=4)


def test_texts_that_are_cut_and_tokens_that_are_unknown_are_counted(tokenizer):
    found = coverage(tokenizer, TEXTS, None, encode(tokenizer, TEXTS))
    assert (found.texts, found.cut, found.left_out, found.unknown) == (5, 1, 3, 2)
    assert found.tokens == 4 + 2 + 3 + 0 + 4
    cut, unknown = found.lines("train")
    assert cut == "train: 1 of 5 texts cut to 4 tokens, 3 of 16 tokens not read (18.8%)"
    assert unknown == "train: 2 of 13 tokens unknown to the model (15.4%)"


def test_nothing_is_said_of_texts_that_are_read_and_known(tokenizer):
    assert coverage(tokenizer, ["a b"], None, encode(tokenizer, ["a b"])).lines("train") == []


def test_a_long_text_is_counted_to_its_end(tokenizer):
    texts = [" ".join(["a"] * 5000)]
    assert coverage(tokenizer, texts, None, encode(tokenizer, texts)).left_out == 4996


def test_pairs_count_both_texts():
    tokenizer = train_tokenizer(["a b c d"], min_freq=1, max_length=5, pairs=True)
    pairs = ["a b c d"], ["b c x"]
    found = coverage(tokenizer, *pairs, encode(tokenizer, *pairs))
    assert (found.cut, found.tokens, found.left_out) == (1, 5, 3)  # seven words and [SEP]


def facts(**classes):
    return {
        "rows": {"train": sum(classes.values())},
        "classes": {"train": classes},
        "empty_texts": {"train": 2},
    }


def test_rows_classes_and_empty_texts():
    assert describe_in_words(facts(bad=3, good=1200)) == [
        "train  1,203 rows: bad 3, good 1,200; 2 empty texts"
    ]


def test_ratings():
    rated = {"rows": {"dev": 4}, "ratings": {"dev": {"mean": 2.5, "std": 0.5}}, "empty_texts": {"dev": 0}}
    assert describe_in_words(rated) == ["  dev  4 rows: ratings 2.5 ± 0.5"]


def test_labels_that_occur_once_or_differ_by_case():
    _, case, once = describe_in_words(facts(Positive=9, positive=8, NaN=1, rare=1))
    assert "'Positive' and 'positive' differ only by case" in case
    assert "occur once: 'NaN', 'rare'" in once


def test_a_label_that_each_split_has_once_occurs_twice():
    two = {"rows": {"train": 1, "dev": 1}, "empty_texts": {"train": 0, "dev": 0}}
    assert len(describe_in_words(two | {"classes": {"train": {"a": 1}, "dev": {"a": 1}}})) == 2


def test_of_a_very_long_text_what_is_not_read_is_estimated():
    tokenizer = train_tokenizer(["good bad film"], min_freq=1, max_length=4)
    text = "good bad " * 40_000
    found = coverage(tokenizer, [text], None, encode(tokenizer, [text]))
    assert found.left_out == pytest.approx(80_000 - 4, rel=1e-3)
    assert "about" in found.lines("audited")[0]


def test_what_a_tokenizer_does_not_cut_is_not_said_to_be_cut():
    """A limit in which not even the special tokens fit is not followed by fast tokenizers."""
    tokenizer = FAMILIES["Bert"].tokenizer()
    tokenizer.model_max_length = 1
    read = encode(tokenizer, ["a warm film"])
    assert (read.words >= 0).sum() == 3
    assert coverage(tokenizer, ["a warm film"], None, read).lines("read") == []


def test_a_limit_without_room_for_a_word_is_named():
    tokenizer = FAMILIES["Bert"].tokenizer()
    tokenizer.model_max_length = 2
    with pytest.raises(InputError, match="cut to 2 tokens, which leaves no room for a word"):
        encode(tokenizer, ["a warm film"])
    tokenizer.model_max_length = 3
    assert coverage(tokenizer, ["a b"], None, encode(tokenizer, ["a b"])).lines("read")
    with pytest.raises(InputError, match="pairs are cut to 3 tokens"):
        encode(tokenizer, ["a"], ["b"])
    tokenizer.model_max_length = 0
    with pytest.raises(InputError, match="cut to 0 tokens"):
        encode(tokenizer, ["a warm film" * 100])
