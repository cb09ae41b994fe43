"""Two versions of a text beside each other: every letter of both lies in one piece."""

import time
from difflib import SequenceMatcher
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshead.report import align_texts
from glasshead.report.text_alignment import MOST_PAIRS, shared_pairs
from hostile import NASTY

TEXTS = st.text("ab ,.\né🎬", max_size=25) | st.lists(st.sampled_from(NASTY), max_size=4).map(" ".join)


def letters(pieces, text, side):
    return [text[slice(*getattr(piece, side))] for piece in pieces]


@given(before=TEXTS, after=TEXTS)
def test_every_letter_lies_in_one_piece_in_order(before, after):
    pieces = align_texts(before, after)
    assert "".join(letters(pieces, before, "before")) == before
    assert "".join(letters(pieces, after, "after")) == after
    for side in ("before", "after"):
        places = [place for piece in pieces for place in getattr(piece, side)]
        assert places == sorted(places)
    for piece, first, second in zip(
        pieces, letters(pieces, before, "before"), letters(pieces, after, "after"), strict=True
    ):
        assert piece.same == (first == second) or (not piece.same and first != second)


@given(text=TEXTS)
def test_a_text_beside_itself_differs_nowhere(text):
    assert all(piece.same and piece.before == piece.after for piece in align_texts(text, text))


@given(before=TEXTS, after=TEXTS)
def test_the_other_way_round_as_much_is_shared(before, after):
    def shared(pieces):
        return sum(end - start for piece in pieces if piece.same for start, end in [piece.before])

    assert (shared(align_texts(before, after)) == 0) == (shared(align_texts(after, before)) == 0)


@pytest.mark.parametrize(
    ("before", "after", "differs"),
    [
        ("a warm film", "a cold film", [("warm", "cold")]),
        ("a film", "a good film", [("", "good ")]),
        ("a good film", "a film", [("good ", "")]),
        ("", "new", [("", "new")]),
        ("a b c", "a x c y", [("b", "x"), ("", " y")]),
        ("a  film", "a film", [("  ", " ")]),
        ("मैं हिन्दी जानता हूँ", "मैं हिन्दू जानता हूँ", [("हिन्दी", "हिन्दू")]),
        ("cafe\u0301 noir", "cafe noir", [("cafe\u0301", "cafe")]),
        ("so 👩\u200d🔬!", "so 👩\u200d🚀!", [("👩\u200d🔬", "👩\u200d🚀")]),
        ("这部电影很好看", "这部电影不好看", [("很", "不")]),
        ("この映画は良い", "この映画は悪い", [("良", "悪")]),
    ],
)
def test_what_differs_is_the_words_that_were_changed(before, after, differs):
    pieces = [piece for piece in align_texts(before, after) if not piece.same]
    found = list(zip(letters(pieces, before, "before"), letters(pieces, after, "after"), strict=True))
    assert [(first.strip(), second.strip()) for first, second in found] == [
        (first.strip(), second.strip()) for first, second in differs
    ]


@given(one=st.lists(st.sampled_from("abc"), max_size=7), other=st.lists(st.sampled_from("abc"), max_size=9))
def test_what_is_shared_is_a_longest_common_subsequence(one, other):
    pairs = list(shared_pairs(one, other))
    assert pairs == sorted(pairs)
    for side in zip(*pairs, strict=True):
        assert len(set(side)) == len(side)
    assert all(one[i] == other[j] for i, j in pairs)
    subsequences = {
        tuple(other[j] for j in places)
        for size in range(len(other) + 1)
        for places in combinations(range(len(other)), size)
    }
    longer = combinations(one, len(pairs) + 1)
    assert not any(candidate in subsequences for candidate in longer)


def test_as_much_is_shared_as_by_difflib_or_more():
    one, other = (
        ["the", "film", "was", "bad", "and", "the", "music", "was", "good"],
        ["the", "music", "was", "bad", ",", "the", "film", "good"],
    )
    blocks = SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks()
    assert len(list(shared_pairs(one, other))) >= sum(block.size for block in blocks)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a " * 1000, "a b " * 500),
        ("film " + "a " * 700, "a " * 700),
        ("a " * 5000, "b a " * 2500),
        ("good film , " * 800, "x " + "good , film " * 800),
        (" " * 10_000, "a" + " " * 9_999),
    ],
)
def test_repeated_words_are_aligned_in_no_time(before, after):
    started = time.process_time()
    pieces = align_texts(before, after)
    assert time.process_time() - started < 5  # difflib: minutes
    assert "".join(letters(pieces, after, "after")) == after


def test_texts_that_are_too_long_differ_between_their_common_ends(monkeypatch):
    assert MOST_PAIRS >= 20_000**2
    monkeypatch.setattr("glasshead.report.text_alignment.MOST_PAIRS", 8)
    before, after = "so a b c d end", "so b x c end"
    differs = [piece for piece in align_texts(before, after) if not piece.same]
    assert letters(differs, before, "before") == ["a b c d"]
    assert letters(differs, after, "after") == ["b x c"]
