"""A text without some of its words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshead.errors import InputError
from glasshead.serve.answers import erase_spans, what_is_left
from glasshead.serve.questions import ExplainQuestion

WORDS = st.lists(st.text("abcä🎬שé", min_size=1, max_size=5), min_size=2, max_size=8)


@given(text=st.text(max_size=50))
def test_without_nothing_a_text_stays(text):
    assert erase_spans(text, []) == text


@given(words=WORDS, data=st.data())
def test_words_that_stay_are_one_blank_apart(words, data):
    text, starts = " ".join(words), [sum(len(w) + 1 for w in words[:i]) for i in range(len(words))]
    places = range(len(words))
    gone = data.draw(st.sets(st.sampled_from(places), min_size=1, max_size=len(words) - 1))
    stretches = data.draw(st.permutations([(starts[i], starts[i] + len(words[i])) for i in gone]))
    left = [words[i] for i in places if i not in gone]
    assert (
        erase_spans(text, stretches).split(" ") == left
        or erase_spans(text, stretches) == " ".join(left) + " "
    )


@given(text=st.text("ab ,", min_size=1, max_size=12), data=st.data())
def test_every_letter_outside_stays_whatever_the_stretches(text, data):
    """Also where they touch or overlap, or one is named twice."""
    ends = st.tuples(st.integers(0, len(text)), st.integers(0, len(text))).map(sorted).map(tuple)
    stretches = data.draw(st.lists(ends.filter(lambda each: each[0] < each[1]), min_size=1, max_size=4))
    kept = [c for i, c in enumerate(text) if not any(start <= i < end for start, end in stretches)]
    if not "".join(kept).strip():
        with pytest.raises(InputError, match="no word is left"):
            erase_spans(text, stretches)
        return
    letters = [c for c in kept if not c.isspace()]
    assert [c for c in erase_spans(text, stretches) if not c.isspace()] == letters


def test_marks_of_a_sentence_stay():
    assert erase_spans("good, bad.", [(6, 9)]) == "good, ."
    assert erase_spans("good film", [(0, 4)]) == "film"
    assert erase_spans("film good", [(5, 9)]) == "film "
    assert erase_spans("one\ngood\ntwo", [(4, 8)]) == "one\ntwo"


@pytest.mark.parametrize("stretch", [(-1, 2), (2, 2), (3, 2), (0, 9), (9, 12)])
def test_what_is_no_stretch_is_refused(stretch):
    with pytest.raises(InputError, match="not a part of the text"):
        erase_spans("the film", [stretch])


def test_something_has_to_be_left():
    with pytest.raises(InputError, match="no word is left: restore one"):
        erase_spans("the film", [(0, 3), (4, 8)])


def left(text, pair, *without):
    return what_is_left(ExplainQuestion(model="m", text=text, pair=pair, without=list(without)))


class TestPairs:
    def test_places_are_those_of_both_texts_with_a_line_between(self):
        text, pair = "the film", "was good"
        joined = f"{text}\n{pair}"
        good = joined.index("good")
        assert left(text, pair, (good, good + 4)) == ("the film", "was ")
        assert left(text, pair, (9, 12), (0, 3)) == ("film", "good")
        assert left(text, pair) == (text, pair)
        assert left(text, None, (0, 3)) == ("film", None)

    @given(text=st.text("ab ", min_size=1, max_size=6), pair=st.text("ab ", max_size=6), data=st.data())
    def test_a_stretch_of_one_leaves_the_other_as_it_is(self, text, pair, data):
        ends = st.lists(st.integers(0, len(text) + 1 + len(pair)), min_size=2, max_size=2, unique=True)
        start, end = sorted(data.draw(ends))
        line = len(text)
        if start <= line < end:
            with pytest.raises(InputError, match="spans both texts"):
                left(text, pair, (start, end))
            return
        kept = text[:start] + text[end:] if end <= line else pair[: start - line - 1] + pair[end - line - 1 :]
        if not kept.strip():
            with pytest.raises(InputError, match="no word is left"):
                left(text, pair, (start, end))
            return
        first, second = left(text, pair, (start, end))
        assert (first == text) or (second == pair)
        changed = first if end <= line else second
        assert changed.replace(" ", "") == kept.replace(" ", "")

    @pytest.mark.parametrize("stretch", [(8, 9), (0, 17), (7, 12)])
    def test_none_goes_over_the_line(self, stretch):
        with pytest.raises(InputError, match="which spans both texts: name two"):
            left("the film", "was good", stretch)

    def test_something_is_left_of_both(self):
        with pytest.raises(InputError, match="no word is left"):
            left("the film", "good", (9, 13))
        with pytest.raises(InputError, match="not a part of the text"):
            left("the film", "good", (9, 14))
