"""Nothing that comes from outside steers a terminal."""

import json
import unicodedata
from html import unescape

import pytest

from glasshead.escaping import as_html, as_json, one_line, visible

STEERS = {"Cc", "Cf", "Cs", "Zl", "Zp"}
SEEN = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD, *range(0x13430, 0x13440)}
"""Signs that Unicode counts as formats, and that are drawn."""
EVERY = [chr(code) for code in range(0x110000)]


def test_all_that_steers_is_replaced_and_nothing_else_is():
    changed = {each for each, shown in zip(EVERY, visible("".join(EVERY)), strict=True) if each != shown}
    steers = {each for each in EVERY if unicodedata.category(each) in STEERS and ord(each) not in SEEN}
    assert steers - changed == {"\n", "\t"}
    more = changed - steers
    assert {"\u3164", "\u115f"} < more  # letters without width
    assert all(unicodedata.category(each) in ("Lo", "Mn", "Cn") for each in more)
    assert len(more) < 4_096


@pytest.mark.parametrize(
    "text",
    [
        "naïve café",
        "日本語",
        "שלום",
        "مرحبا",
        "नमस्ते",
        "👍🏽 ❤️",
        "a\u0301",
        "−½",
        "👩‍👩‍👧 🏳️‍🌈 ❤️‍🔥",
        "क्‍ष र्‌य",
        "می‌خواهم",
    ],
)
def test_writing_of_people_stays(text):
    assert visible(text) == text


@pytest.mark.parametrize(
    "text", ["go\u200dod", "go\u200cod", "👍\u200d good", "\u200d👍", "می\u200c", "\u200cمی"]
)
def test_joiners_that_join_nothing_are_shown(text):
    assert visible(text) == text.replace("\u200d", "\ufffd").replace("\u200c", "\ufffd")


def test_a_name_is_one_line():
    assert one_line("a\nerror: b\tc\r\x1b[31m\u202e") == "a↵error: b⇥c␍␛[31m\ufffd"


def test_documents_say_the_same():
    steering = "".join(each for each in EVERY if visible(each) != each and ord(each) < 0xD800)
    value = {steering: [steering, "\U000e0041", "ü\n"]}
    document = as_json(json.dumps(value, ensure_ascii=False, indent=1))
    assert json.loads(document) == value
    assert visible(document) == document
    text = "a\u202eb\u200bc\u2069\U000e0041"
    assert as_html(f"<p title='{text}'>") == visible(as_html(text)).join(["<p title='", "'>"])
    assert unescape(as_html(text)) == text


def test_words_from_right_to_left_turn_no_number_round():
    from glasshead.report.html.environment import caption

    said = str(caption("predicted إيجابي جدا, p(إيجابي) = 0.98 <b>, 'שלום' +0.1"))
    assert said == (
        "predicted <bdi>إيجابي جدا</bdi>, p(<bdi>إيجابي</bdi>) = 0.98 &lt;b&gt;, "
        "&#39;<bdi>שלום</bdi>&#39; +0.1"
    )
