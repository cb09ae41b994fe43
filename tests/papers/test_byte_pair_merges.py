"""Merges by hand, and against the library that does them fast."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from glasshead.errors import InputError
from glasshead.papers.merges import byte_pair_merges


def library_merges(words, size):
    """The merges of the trainer of tokenizers, on characters."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    letters = len(set("".join(words)))
    made.train_from_iterator(words, trainers.BpeTrainer(vocab_size=letters + size, show_progress=False))
    return [tuple(pair) for pair in json.loads(made.to_str())["model"]["merges"]]


def test_low_and_login():
    trace = byte_pair_merges(["low", "login"], 3)
    assert trace.words == (("l", "o", "w"), ("l", "o", "g", "i", "n"))
    assert [(merge.token, merge.count) for merge in trace.merges] == [("lo", 2), ("gi", 1), ("low", 1)]
    assert trace.merges[0].words == (("lo", "w"), ("lo", "g", "i", "n"))
    assert list(trace.lines)[1] == "1. l + o (2×): lo|w  lo|g|i|n"


def test_a_word_counts_as_often_as_it_occurs():
    trace = byte_pair_merges(["ab", "cd", "cd"], 1)
    assert (trace.counts, trace.merges[0].pair, trace.merges[0].count) == ((1, 2), ("c", "d"), 2)


def test_pairs_are_merged_from_the_left_until_none_is_left():
    assert [merge.words for merge in byte_pair_merges(["aaa"], 9).merges] == [(("aa", "a"),), (("aaa",),)]
    assert byte_pair_merges(["a"], 9).merges == ()


WITHOUT_TIES = ["low"] * 8 + ["lower"] * 5 + ["newest"] * 11 + ["widest"] * 3 + ["login"] * 17


def test_as_the_library_does_it():
    trace = byte_pair_merges(WITHOUT_TIES, 12)
    assert [merge.pair for merge in trace.merges] == library_merges(WITHOUT_TIES, 12)


@settings(deadline=None)
@given(words=st.lists(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=8, unique=True), min_size=1))
def test_as_the_library_does_it_with_ties(words):
    """Letters of a word differ here: in runs of one letter the library's counts are those of before."""
    joined = ["".join(word) for word in words]
    assert [merge.pair for merge in byte_pair_merges(joined, 6).merges] == library_merges(joined, 6)


def test_without_a_word():
    with pytest.raises(InputError, match="no word"):
        byte_pair_merges(["", ""], 3)
