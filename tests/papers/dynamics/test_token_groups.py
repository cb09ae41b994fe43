"""Groups of tokens: those that are followed are the most frequent ones, and pairs are of different tokens."""

import numpy as np
import pytest

from glasshead.data import train_tokenizer
from glasshead.papers.dynamics import token_groups as cohorts_module
from glasshead.papers.dynamics.token_groups import PAIRED, TokenGroups, group_tokens

WORDS = {
    group: [f"{group}{letter}" for letter in "abcdefgh"] for group in ("positive", "negative", "neutral")
}
TRUTH = {word: group for group, words in WORDS.items() for word in words}


@pytest.fixture(scope="module")
def tokenizer():
    return train_tokenizer([" ".join([*TRUTH, "other", "never"])], min_freq=1, max_length=64)


@pytest.fixture
def counts(tokenizer):
    """Every word has a count of its own, 1 to 25 in no order; "other" is the most frequent, [UNK] more so."""
    chance, found = np.random.default_rng(0), np.zeros((2, len(tokenizer)), dtype=np.int64)
    often = dict(zip(TRUTH, chance.permutation(len(TRUTH)) + 1, strict=True)) | {"other": 25, "[UNK]": 99}
    for word, number in often.items():
        found[:, tokenizer.convert_tokens_to_ids(word)] = [number // 2, number - number // 2]
    return found


def by_count(tokenizer, counts, words):
    """Words from the most to the least frequent."""
    total = counts.sum(axis=0)
    return sorted(words, key=lambda word: -total[tokenizer.convert_tokens_to_ids(word)])


def test_followed_are_the_most_frequent_of_every_group_and_of_all(tokenizer, counts, monkeypatch):
    monkeypatch.setattr(cohorts_module, "MOST_OF_GROUP", 3)
    monkeypatch.setattr(cohorts_module, "MOST_FREQUENT", 12)
    found = group_tokens(tokenizer, counts, ["negative", "positive"], TRUTH)
    expected = {word for words in WORDS.values() for word in by_count(tokenizer, counts, words)[:3]}
    most = by_count(tokenizer, counts, [*TRUTH, "other", "never"])[:12]
    assert "other" in most
    assert not set(most) <= expected | {"other"}  # the two rules choose different words
    assert set(tokenizer.convert_ids_to_tokens(found.followed.tolist())) == expected | set(most)
    assert {name: len(ids) for name, ids in found.members.items()} == dict.fromkeys(WORDS, 8)


def test_all_are_followed_where_there_are_few(tokenizer, counts):
    """But no special token, and none that train never has."""
    found = group_tokens(tokenizer, counts, ["negative", "positive"], TRUTH)
    assert set(tokenizer.convert_ids_to_tokens(found.followed.tolist())) == {*TRUTH, "other"}


def test_pairs_are_of_different_tokens_of_their_group():
    """A token with itself has a product that is no pair's: its squared norm."""
    members = {"many": np.arange(500, 500 + PAIRED + 20), "few": np.arange(PAIRED)}
    made = TokenGroups(
        members, np.zeros(0, dtype=int), np.zeros((2, 700), dtype=int), np.ones(700, dtype=int), "γ"
    )
    paired = made.pair_sample()
    assert len(paired["many"]) == len(set(paired["many"].tolist())) == PAIRED
    assert set(paired["many"].tolist()) < set(members["many"].tolist())
    assert paired["few"].tolist() == members["few"].tolist()
    for name, again in made.pair_sample().items():
        assert again.tolist() == paired[name].tolist()
