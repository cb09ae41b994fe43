"""Colours can be read on every paper, and are told apart by people who see no red or green."""

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from glasshead.report import colours
from glasshead.report.colours import (
    DARK,
    FILE,
    GROUNDS,
    LIGHT,
    MAX_CLASSES,
    POLARITY_COLOURS,
    PRINT,
    STRONGEST,
    class_colour,
    group_colours,
    meaning,
)

THEMES = {"light": LIGHT, "dark": DARK, "print": PRINT, "file": FILE}
MEANINGS = ("--for", "--against", "--size")
# Linear RGB as it is seen without one kind of cones (Viénot, Brettel and Mollon 1999).
SEEN = {
    "all": np.eye(3),
    "no red": np.array([[0.11238, 0.88762, 0.0], [0.11238, 0.88762, 0.0], [0.00401, -0.00401, 1.0]]),
    "no green": np.array([[0.29275, 0.70725, 0.0], [0.29275, 0.70725, 0.0], [-0.02234, 0.02234, 1.0]]),
}


def parts(colour):
    """``#rrggbb``, ``r g b`` or three numbers, from 0 to 1."""
    if isinstance(colour, str) and colour.startswith("#"):
        colour = [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
    elif isinstance(colour, str):
        colour = colour.split()
    return np.array(colour, dtype=float) / 255


def linear(colour):
    return np.where(colour <= 0.04045, colour / 12.92, ((colour + 0.055) / 1.055) ** 2.4)


def contrast(one, other):
    """That of WCAG, from 1 to 21."""
    light, dark = sorted(linear(each) @ [0.2126, 0.7152, 0.0722] + 0.05 for each in (one, other))[::-1]
    return light / dark


def lab(colour, seen):
    """CIE L*a*b* of a colour as it is seen."""
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    relative = np.clip(xyz @ SEEN[seen] @ linear(colour), 1e-6, None) / [0.9505, 1.0, 1.089]
    x, y, z = np.where(relative > 0.008856, np.cbrt(relative), 7.787 * relative + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("theme", THEMES)
def test_letters_and_lines_can_be_read_on_the_paper(theme):
    theme = THEMES[theme]
    paper = parts(theme["--paper"])
    for name in (*MEANINGS, "--accent", "--muted", "--ink"):
        assert contrast(parts(theme[name]), paper) >= 4.5, name
    for name in ("--neutral", *map(class_colour, range(MAX_CLASSES))):
        assert contrast(parts(theme[name]), paper) >= 3, name


@pytest.mark.parametrize("theme", ["light", "dark", "print"])
def test_letters_can_be_read_on_the_strongest_grounds(theme):
    theme = THEMES[theme]
    for name in MEANINGS:
        assert contrast(parts(theme["--ink"]), parts(theme[f"{name}-ground"])) >= 4.5, name


@pytest.mark.parametrize(("ink", "paper"), [("#000000", "#ffffff"), ("#e9e8e3", "#15171b")])
def test_letters_can_be_read_where_a_ground_lies_over_any_paper(ink, paper):
    for name, ground in GROUNDS.items():
        mixed = STRONGEST * parts(ground) + (1 - STRONGEST) * parts(paper)
        assert contrast(parts(ink), mixed) >= 4.5, name


@pytest.mark.parametrize("seen", SEEN)
@pytest.mark.parametrize("theme", ["light", "dark", "print"])
def test_for_against_and_size_are_told_apart(theme, seen):
    theme = THEMES[theme]
    for suffix in ("", "-ground"):
        labs = [lab(parts(theme[name + suffix]), seen) for name in MEANINGS]
        assert min(np.linalg.norm(one - other) for one, other in combinations(labs, 2)) > 20


def test_a_meaning_has_one_colour():
    assert [meaning(value, True) for value in (0.5, 0.0, -0.5)] == ["for", "for", "against"]
    assert [meaning(value, False) for value in (0.5, 0.0)] == ["size", "size"]
    groups = group_colours(["positive", "negative", "neutral", "cat"])
    assert groups == POLARITY_COLOURS | {"cat": "--c0"}
    for theme in (LIGHT, DARK):
        named = [theme[name] for name in MEANINGS]
        assert len(set(named)) == 3
        assert not {theme[class_colour(rank)] for rank in range(MAX_CLASSES)} & set(named)


def test_no_other_file_says_a_colour():
    package = Path(colours.__file__).parents[1]
    files = [
        path
        for room in ("report", "serve", "papers/report")
        for ending in ("*.py", "*.css", "*.js", "*.j2")
        for path in (package / room).rglob(ending)
    ]
    said = {path.name for path in files if re.search(r"#[0-9a-fA-F]{6}\b", path.read_text(encoding="utf-8"))}
    assert said == {"colours.py"}


def test_themes_name_the_same_colours():
    assert LIGHT.keys() == DARK.keys() == PRINT.keys() >= FILE.keys()
