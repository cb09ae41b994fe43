"""Bounded Dyck grammars: labels close the last open bracket, and no text is deeper than it may be."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glasshead.data import DATASETS, encode, load, train_tokenizer
from glasshead.errors import InputError
from glasshead.papers.datasets.dyck import BRACKETS, DyckOptions, draw_dyck

OPTIONS = st.builds(
    DyckOptions,
    instances=st.integers(40, 80),
    brackets=st.integers(2, 3),
    depth=st.integers(2, 5),
    length=st.integers(4, 16),
    seed=st.integers(0, 5),
)


@settings(deadline=None, max_examples=30)
@given(OPTIONS)
def test_a_stack_gives_the_label_and_the_mark(options):
    closing = {pair[0]: pair[1] for pair in BRACKETS}
    drawn = draw_dyck(options)
    assert sum(len(split.texts) for split in drawn.values()) == options.instances
    for split in drawn.values():
        for text, label, marks in zip(split.texts, split.labels, split.marks, strict=True):
            stack, words = [], text.split()
            for place, word in enumerate(words):
                if word in closing:
                    stack.append(place)
                else:
                    assert closing[words[stack.pop()]] == word
                assert len(stack) <= options.depth
            assert 3 <= len(words) <= options.length
            assert words[-1] not in closing
            assert closing[words[stack[-1]]] == options.class_names[label]
            ((start, end),) = marks
            assert (text[start:end], text[:start].count(" ")) == (words[stack[-1]], stack[-1])


def test_classes_are_equally_frequent_and_each_bracket_is_one_token():
    data = load("dyck")
    frequencies = np.bincount(data["train"]["label"])
    assert frequencies.max() - frequencies.min() <= 1
    texts = data["test"]["text"][:20]
    encoded = encode(train_tokenizer(data["train"]["text"]), texts)
    assert encoded.mask.sum(dim=1).tolist() == [len(text.split()) for text in texts]


def test_the_seed_decides():
    options = DyckOptions(instances=60)
    assert draw_dyck(options) == draw_dyck(options)
    assert draw_dyck(options) != draw_dyck(DyckOptions(instances=60, seed=1))


@pytest.mark.parametrize(
    ("changes", "says"),
    [({"brackets": 4}, "at most 3"), ({"depth": 1}, "2 or more"), ({"types": 2}, "unknown generator option")],
)
def test_refused(changes, says):
    with pytest.raises(InputError, match=says):
        DATASETS["dyck"].options(changes)
