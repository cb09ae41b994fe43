"""What a question may hold: limits, nothing that is not known, and numbers that come in an address."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from glasshead.serve.fields import MOST_LETTERS
from glasshead.serve.questions import (
    MOST_NEW_TOKENS,
    CompareQuestion,
    ExplainQuestion,
    GenerateQuestion,
    HeadsQuestion,
    Reading,
)

READING = {"model": "m"}


@pytest.mark.parametrize(
    ("kind", "needed", "texts"),
    [
        (ExplainQuestion, {"model": "m", "text": "a"}, ("text", "pair")),
        (HeadsQuestion, {"model": "m", "text": "a"}, ("text", "pair")),
        (GenerateQuestion, {"model": "m", "prompt": "a"}, ("prompt",)),
        (
            CompareQuestion,
            {"text": "a", "first": READING, "second": READING},
            ("text", "pair", "other_text"),
        ),
    ],
)
def test_texts_have_a_longest_and_fields_are_known(kind, needed, texts):
    kind(**needed)
    for name in texts:
        longest = "🎬" * MOST_LETTERS  # characters, not bytes
        assert getattr(kind(**needed | {name: longest}), name) == longest
        with pytest.raises(ValidationError, match="at most"):
            kind(**needed | {name: longest + "a"})
    with pytest.raises(ValidationError, match="Extra"):
        kind(**needed, path="/etc/passwd")
    for name in needed:
        with pytest.raises(ValidationError, match="required"):
            kind(**{key: value for key, value in needed.items() if key != name})


@pytest.mark.parametrize("name", ["layer", "head"])
class TestNumbersOfAddresses:
    @given(value=st.integers(0, 99_999))
    def test_digits_are_a_number(self, name, value):
        assert getattr(Reading(model="m", **{name: str(value)}), name) == value
        assert getattr(Reading(model="m", **{name: value}), name) == value

    @given(value=st.text(max_size=200))
    def test_other_letters_stay_and_nothing_is_nothing(self, name, value):
        read = getattr(Reading(model="m", **{name: value}), name)
        if value == "":
            assert read is None
        elif value.isdecimal() and len(value) < 6:
            assert read == int(value)
        else:
            assert read == value

    @pytest.mark.parametrize("value", [-1, 10**30, 0.5, [], {}, "x" * 1001])
    def test_what_is_neither_is_refused(self, name, value):
        with pytest.raises(ValidationError):
            Reading(model="m", **{name: value})


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (GenerateQuestion, {"tokens": 0}), (GenerateQuestion, {"tokens": MOST_NEW_TOKENS + 1}),
        (GenerateQuestion, {"seed": -1}), (GenerateQuestion, {"seed": 2**32}),
        (GenerateQuestion, {"methods": ["attention"] * 5}), (GenerateQuestion, {"strategy": "x" * 1001}),
        (ExplainQuestion, {"without": [[0, 1]] * 1001}), (ExplainQuestion, {"without": [[0]]}),
        (ExplainQuestion, {"without": [["a", "b"]]}), (ExplainQuestion, {"unit": "letter"}),
        (ExplainQuestion, {"level": "paragraph"}), (ExplainQuestion, {"intervals": "perhaps"}),
        (HeadsQuestion, {"examples": 101}), (HeadsQuestion, {"examples": -1}),
    ],
)  # fmt: skip
def test_limits(kind, values):
    needed = {"model": "m", "text": "a"} if kind is not GenerateQuestion else {"model": "m", "prompt": "a"}
    with pytest.raises(ValidationError):
        kind(**needed | values)


def test_empty_fields_of_a_form_are_no_answer():
    read = Reading(model="m", target="", against="", target_fn="", layer="", head="", row="")
    assert read == Reading(model="m")
    assert GenerateQuestion(model="m", prompt="a", seed="").seed is None


def test_the_second_text_is_the_first_unless_another_is_named():
    pair = {"text": "a", "first": READING, "second": READING}
    assert CompareQuestion(**pair).second_text == "a"
    assert CompareQuestion(**pair, other_text="").second_text == ""
