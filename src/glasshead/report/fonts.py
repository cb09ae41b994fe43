"""The fonts of saved pictures: one that is always there, and of all others the first that has what it lacks.

Letters are shaped and ordered by matplotlib (libraqm), within the words that are drawn at once.
"""

import unicodedata
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from matplotlib.font_manager import FontProperties, findfont, findSystemFonts, fontManager, get_font
from matplotlib.textpath import TextToPath

from glasshead.errors import pluralise
from glasshead.escaping import visible
from glasshead.report.style import quiet_search

FONT = "DejaVu Sans"
"""It comes with matplotlib."""
LACKING = "\ufffd"
"""Stands for a character that no font has."""
LAST_RESORT = "lastresort"
"""Such a font has a box for every character."""
IGNORED = frozenset("\u200d\u200f")
"""A joiner and a mark of direction: they shape what is next to them, and have no glyph."""
MOST_SHOWN = 4
"""So many missing characters of a script are shown, and so many scripts."""


class MissingFontWarning(UserWarning):
    """A saved picture has characters that no installed font has."""


@dataclass(frozen=True)
class UsedFonts:
    """The families that a picture needs, and the characters that none has."""

    families: set[str] = field(default_factory=set)
    missing: set[str] = field(default_factory=set)

    def warn(self) -> None:
        """Name the missing characters, if there are some, and what helps."""
        if not self.missing:
            return
        scripts: dict[str, list[str]] = {}
        for character in sorted(self.missing):
            scripts.setdefault(script_of(character), []).append(character)
        listed = ", ".join(
            f"{name} {''.join(own[:MOST_SHOWN])}{'…' if len(own) > MOST_SHOWN else ''}"
            for name, own in list(scripts.items())[:MOST_SHOWN]
        )
        more = " and others" if len(scripts) > MOST_SHOWN else ""
        warnings.warn(
            f"no installed font has {pluralise(len(self.missing), 'character')} of the picture, drawn as "
            f"{LACKING}: {listed}{more}; install a font that has them, such as Noto, and save again",
            MissingFontWarning,
            stacklevel=2,
        )


def script_of(character: str) -> str:
    """What the script of a character is called, by the first word of its name; of a sign, its number."""
    if unicodedata.category(character)[0] not in "LM":
        return f"U+{ord(character):04X}"
    return unicodedata.name(character, f"U+{ord(character):04X}").split()[0]


USED: ContextVar[UsedFonts | None] = ContextVar("used", default=None)


def drawable(text: str) -> str:
    """Words from outside, with a question mark in a box for every character that no installed font has."""
    used = USED.get()
    letters = []
    for character in visible(text):
        family = family_of(character)
        letters.append(LACKING if family is None else character)
        if used is not None and family is not None:
            used.families.add(family)
        elif used is not None:
            used.missing.add(character)
    return "".join(letters)


@contextmanager
def used_fonts() -> Iterator[UsedFonts]:
    """What everything that is made drawable in the block needs."""
    used = UsedFonts()
    token = USED.set(used)
    try:
        yield used
    finally:
        USED.reset(token)


def in_order(families: Iterable[str]) -> list[str]:
    """A list for matplotlib: the usual font first, the others as they are asked for a character."""
    return [FONT, *sorted(set(families) - {FONT}, key=preference)]


@cache
def family_of(character: str) -> str | None:
    """The first family that draws a character; None where none does."""
    if character in IGNORED or draws(FONT, character):
        return FONT
    return next((family for family in other_families() if draws(family, character)), None)


def draws(family: str, character: str) -> bool:
    """Whether a family has an outline for a character; white space needs none."""
    if ord(character) not in charmap(family):
        return False
    if family == FONT or character.isspace():
        return True
    font = get_font(file_of(family))
    font.set_size(10.0, 72.0)
    try:
        font.load_char(ord(character))
    except RuntimeError:  # a font of pictures alone
        return False
    return len(font.get_path()[0]) > 0


@cache
def charmap(family: str) -> frozenset[int]:
    """The characters that a family has."""
    try:
        return frozenset(get_font(file_of(family)).get_charmap())
    except (RuntimeError, OSError):  # a font that cannot be read
        return frozenset()


def file_of(family: str) -> str:
    """Where the upright, regular letters of a family are."""
    with quiet_search():
        return findfont(FontProperties(family=[family]), fallback_to_default=False)


@cache
def other_families() -> tuple[str, ...]:
    """All other families that are installed, those first that look like the usual one."""
    known = {Path(entry.fname) for entry in fontManager.ttflist}
    for path in findSystemFonts():
        if Path(path) not in known:  # installed after matplotlib listed the fonts
            try:
                fontManager.addfont(path)
            except (RuntimeError, OSError, NotImplementedError, ValueError):
                continue
    names = {entry.name for entry in fontManager.ttflist}
    usable = (name for name in names if LAST_RESORT not in name.lower().replace(" ", ""))
    return tuple(sorted(set(usable) - {FONT}, key=preference))


def preference(family: str) -> tuple[bool, str]:
    """Letters without serifs first."""
    return "sans" not in family.lower(), family


@cache
def width_in_points(letters: str, size: float) -> float:
    """How far letters reach, shaped, in their fonts; blanks at their ends count."""
    families = in_order(filter(None, map(family_of, letters)))
    font = FontProperties(family=families, size=size)
    # Only ink has a width: bars keep the blanks between them.
    wide, bars = (
        TextToPath().get_text_width_height_descent(text, font, ismath=False)[0]
        for text in (f"|{letters}|", "||")
    )
    return float(wide - bars)


def is_right_to_left(letters: str) -> bool | None:
    """Whether the first letter that has a direction runs to the left; None where none has one."""
    for letter in letters:
        direction = unicodedata.bidirectional(letter)
        if direction in ("R", "AL", "L"):
            return direction != "L"
    return None


def visual_order(sides: list[bool], right_to_left: bool) -> list[int]:
    """The words of a line from left to right, in a text that runs to one side: those that run to the other
    keep their own order among themselves.

    Source: Unicode Standard Annex 9, rule L2, for whole words.
    """
    order: list[int] = []
    at = 0
    while at < len(sides):
        end = at
        while end < len(sides) and sides[end] == sides[at]:
            end += 1
        run = list(range(at, end))
        order[len(order) :] = run if sides[at] == right_to_left else run[::-1]
        at = end
    return order[::-1] if right_to_left else order


def sides_of(words: list[str], right_to_left: bool) -> list[bool]:
    """Which words of a line run to the left: what has no direction goes with its neighbours where they agree,
    else with the text (rules N1 and N2)."""
    own: list[bool | None] = []
    last = right_to_left
    for word in words:
        side = is_right_to_left(word)
        if side is None and any(letter.isdigit() for letter in word):
            side = last  # a number goes with the words before it (W7)
        last = last if side is None else side
        own.append(side)
    sides = []
    for at, side in enumerate(own):
        before = next((each for each in reversed(own[:at]) if each is not None), right_to_left)
        after = next((each for each in own[at:] if each is not None), right_to_left)
        sides.append(side if side is not None else before if before == after else right_to_left)
    return sides
