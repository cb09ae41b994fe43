"""Text from outside, made harmless for whatever shows it: a terminal, a page, a drawing."""

import json
import re
from typing import Any

EMOJI = "\u2600-\u27bf\ufe0f\U0001f000-\U0001faff"
VIRAMAS = "\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca"
ARABIC = "\u0620-\u064a\u066e-\u06d3"
STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff"
    "\uffa0\ufff9-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff\ud800-\udfff]"
    # Joiners stay where they shape what is written: an emoji of several, an Indic cluster, a Persian word.
    f"|(?<![{EMOJI}{VIRAMAS}])\u200d|(?<=[{EMOJI}])\u200d(?![{EMOJI}])"
    f"|(?<![{ARABIC}{VIRAMAS}])\u200c|(?<=[{ARABIC}])\u200c(?![{ARABIC}])"
)
"""What steers a terminal, turns the direction of writing, or has no width: two texts that differ in it look
alike."""
REPLACEMENT = "\ufffd"
RIGHT_TO_LEFT = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff"
FROM_RIGHT_TO_LEFT = re.compile(f"[{RIGHT_TO_LEFT}](?:[^\\w{RIGHT_TO_LEFT}]*[{RIGHT_TO_LEFT}]+)*")
"""Letters that are written from right to left, with what stands between them: words of Arabic, Hebrew, ….
Outside of an isolate they turn round the numbers behind them."""


def visible(text: str) -> str:
    """The text, character by character, with all that would steer a terminal or a page made visible.

    Control characters become their Unicode pictures; what turns the direction of writing or has no width,
    and lone surrogates, U+FFFD. Line feeds and tabs stay, as do length and offsets.
    """
    return STEERING.sub(_picture, text)


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else REPLACEMENT


def one_line(text: str) -> str:
    """Text with arrows for line feeds and tabs: a name of a file or class cannot pass for a line."""
    return visible(text).replace("\n", "↵").replace("\t", "⇥")


def in_quotes(name: str) -> str:
    """The name of a class in quotes; that of a token, in which a blank counts, has them already."""
    return name if name.startswith("“") and name.endswith("”") else f"“{name}”"


def sendable(value: Any) -> Any:
    r"""A string with \udcff for what is not text in UTF-8, such as a byte of a file's name; so with all
    strings in lists and mappings."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, list | tuple):
        return type(value)(map(sendable, value))
    if isinstance(value, dict):
        return {sendable(key): sendable(item) for key, item in value.items()}
    return value


def as_json(document: str) -> str:
    """A JSON document that says the same with nothing in it that steers a terminal."""
    return STEERING.sub(lambda match: json.dumps(match[0])[1:-1], document)


def as_html(document: str) -> str:
    """An HTML document that says the same with nothing in it that steers a terminal."""
    return STEERING.sub(lambda match: f"&#x{ord(match[0]):x};", document)
