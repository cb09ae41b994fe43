"""What colours mean, and which they are: pages, pictures, plots, notebooks and the terminal draw from here.

Red is for: what raises a score, lies above zero, or is positive. Blue is against. What has a size and no sign
(weights that cannot be negative, entropy, |Δŷ|, similarity) is teal, the stronger the larger. Classes and
curves have colours that are none of these. All are told apart by people who see no red or green.
"""

from collections.abc import Mapping
from typing import Literal

Meaning = Literal["for", "against", "size"]
Colour = tuple[int, int, int]


def meaning(value: float, signed: bool) -> Meaning:
    """What the colour of a number says; numbers that are not ``signed`` have a size alone."""
    if not signed:
        return "size"
    return "against" if value < 0 else "for"


LIGHT = {
    "--paper": "#fdfdfb", "--raised": "#f5f5f1", "--ink": "#1c1d21", "--muted": "#5c5f68",
    "--line": "#dcdcd5", "--accent": "#0b6a75", "--caution": "#8a5a00", "--hatch": "28 29 33",
    "--for": "#b23320", "--against": "#1f5fae", "--size": "#0b6a75", "--neutral": "#6b6e78",
    "--for-ground": "240 118 98", "--against-ground": "104 166 240", "--size-ground": "92 190 196",
    "--c0": "#b36200", "--c1": "#7d4fa8", "--c2": "#3c8f52", "--c3": "#b5398e", "--c4": "#7c6a1c",
    "--c5": "#6f4e37", "--c6": "#8b8e98", "--c7": "#3a3d45",
}  # fmt: skip
"""The colours of a page by their CSS names; grounds lie under letters, at whatever strength."""
DARK = {
    "--paper": "#15171b", "--raised": "#1d2026", "--ink": "#e9e8e3", "--muted": "#a3a6ae",
    "--line": "#363a42", "--accent": "#5fc3cd", "--caution": "#e5b455", "--hatch": "233 232 227",
    "--for": "#f28b78", "--against": "#86b8f7", "--size": "#5fc3cd", "--neutral": "#a3a6ae",
    "--for-ground": "170 54 38", "--against-ground": "34 92 172", "--size-ground": "10 102 110",
    "--c0": "#f0993e", "--c1": "#b98ce0", "--c2": "#6cc283", "--c3": "#ee7fc0", "--c4": "#cdb85a",
    "--c5": "#d3a98c", "--c6": "#868993", "--c7": "#d5d7dc",
}  # fmt: skip
"""The same on dark paper."""
PRINT = LIGHT | {
    "--paper": "#ffffff", "--ink": "#000000", "--muted": "#444444", "--line": "#bbbbbb", "--hatch": "0 0 0",
}  # fmt: skip
INK, MUTED, LINE, PAPER = "#1f2328", "#5c636b", "#d9dce0", "#ffffff"
INKS = {"--ink": INK, "--muted": MUTED, "--line": LINE, "--paper": PAPER}
ONLY_PAGES = ("--raised", "--caution", "--hatch", "--for-ground", "--against-ground", "--size-ground")
FILE = {name: colour for name, colour in (LIGHT | INKS).items() if name not in ONLY_PAGES}
"""A colour of the page by its CSS name → the ink of a file."""

GROUNDS: Mapping[Meaning, Colour] = {"for": (214, 69, 65), "against": (43, 108, 196), "size": (11, 124, 134)}
"""Under letters and patches where no style sheet is, laid over whatever paper there is."""
STRONGEST = 0.62
"""How opaque the strongest of them is: letters stay readable on it, in light and dark."""
MARKS: Mapping[Meaning, str] = {"for": "p", "against": "n", "size": "s"}
"""The classes of coloured letters in the style sheet."""
TERMINAL: Mapping[Meaning, tuple[str, ...]] = {
    "for": ("#d1503f", "bold #d1503f", "#ffffff on #a63a2b", "bold #ffffff on #c92a1a"),
    "against": ("#3f86d6", "bold #3f86d6", "#ffffff on #2f639f", "bold #ffffff on #1b5fc4"),
    "size": ("#2a959f", "bold #2a959f", "#ffffff on #14707a", "bold #ffffff on #067f8c"),
}
"""From weak to strong: weak tokens colour the letters, strong ones the ground, on light and dark paper."""
SIZE_SHADES = ("#f5f9f9", "#95cbcf", "#0b7c86", "#05333a")
SIGNED_SHADES = ("#0f2e57", "#2a6fbb", "#9dbfe3", "#f8f8f7", "#f0ab9e", "#c23f2c", "#74190c")
"""Heat maps from zero up, and from below zero to above."""
MAX_CLASSES = 8
POLARITY_COLOURS = {"positive": "--for", "negative": "--against", "neutral": "--neutral"}


def css(theme: Mapping[str, str]) -> str:
    """The declarations of a theme."""
    return " ".join(f"{name}: {colour};" for name, colour in theme.items())


def class_colour(rank: int) -> str:
    """A colour for each of eight classes; more classes repeat them."""
    return f"--c{rank % MAX_CLASSES}"


def group_colours(groups: list[str]) -> dict[str, str]:
    """One CSS colour per group: those of their meaning for polarities, a palette for classes."""
    others = [group for group in groups if group not in POLARITY_COLOURS]
    palette = {group: class_colour(rank) for rank, group in enumerate(others)}
    return {group: POLARITY_COLOURS.get(group) or palette[group] for group in groups}
