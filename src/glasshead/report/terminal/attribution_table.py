"""The tokens of an explained text with their numbers, as a table in the terminal.

What comes from outside is always a `rich.text.Text`: square brackets in it are never read as markup.
"""

import math

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from glasshead.escaping import one_line
from glasshead.report.colours import TERMINAL, meaning
from glasshead.report.number_format import finite, number
from glasshead.report.terminal.wrapping_table import WrappingTable
from glasshead.report.text_spans import diverging, max_abs, normalised_score, score_name
from glasshead.report.weight_intervals import (
    HATCH,
    MEANING,
    UNKNOWN,
    extremes,
    range_text,
    summary_of_ranges,
)
from glasshead.results import POINT_WIDTH, Attribution

CELLS = 10
RANGE = 16
LEAST, SHOWN, MOST = "█", "▓", HATCH
"""Letters of a bar to either side, and of one with a range; what a weight is at least, is, and is at most."""


def attribution_table(attribution: Attribution, scale: float | None = None) -> RenderableType:
    """One row per token with its numbers and a bar, whose full length is ``scale`` (None: the largest number
    of this text); a column of words where words have several tokens.

    With intervals, a column of them, bars that show them, and what they mean in words below.
    """
    known = attribution.intervals is not None
    tokens = range(len(attribution.tokens))
    columns = {score_name(attribution): [number(v, plus=attribution.signed) for v in attribution.scores]}
    if attribution.rest is not None:
        columns["without the first"] = [
            "–" if value is None else number(value, plus=attribution.signed) for value in attribution.rest
        ]
    if known:
        marks = [f" {HATCH}" if attribution.may_be_zero(i) else "" for i in tokens]
        columns["could be"] = [
            range_text(attribution, i) + mark for i, mark in zip(tokens, marks, strict=True)
        ]
    if attribution.contributions is not None:
        columns["contribution"] = [number(value, plus=True) for value in attribution.contributions]
    full, limits = max_abs(attribution) if scale is None else scale, extremes([attribution])
    bars = [
        range_bar(attribution, i, limits)
        if known
        else bar(normalised_score(attribution.colours[i], full), diverging(attribution))
        for i in tokens
    ]
    names = {attribution.nouns.token: [one_line(token) for token in attribution.tokens]}
    within = [word for word in attribution.words if word >= 0]
    if len(set(within)) < len(within):
        names = {"word": _words(attribution)} | names
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for name in names:
        table.add_column(name, overflow="fold")
    for heading in columns:
        table.add_column(heading, justify="left" if heading == "could be" else "right", no_wrap=True)
    table.add_column("", no_wrap=True, width=RANGE + 1 if known else 2 * CELLS + 1)
    for i in tokens:
        faded = "dim" if attribution.may_be_zero(i) else ""
        cells = [Text(column[i], style=faded) for column in names.values()]
        cells += [Text(column[i]) for column in columns.values()]
        table.add_row(*cells, bars[i])
    numbers = WrappingTable(table, ornament=True)
    return Group(numbers, *_key(attribution)) if known else numbers


def _words(attribution: Attribution) -> list[str]:
    """The word of each token, said once."""
    spans, words = _word_spans(attribution), attribution.words
    return [
        "" if i and words[i - 1] == word else one_line(attribution.text[slice(*spans[word])])
        for i, word in enumerate(words)
    ]


def _key(attribution: Attribution) -> list[Text]:
    """What the marks of a table with ranges mean, one line each."""
    lines = [
        f"could be: {MEANING}",
        f"{LEAST} the least, {SHOWN} to the weight shown, {MOST} to the most; "
        f"{HATCH} after a range: may be zero",
    ]
    if any(attribution.interval(token) is None for token in range(len(attribution.scores))):
        lines.append(f"{UNKNOWN} no solver had an answer, or none was asked for")
    return [*(Text(line, style="dim") for line in lines), Text(summary_of_ranges(attribution))]


def _word_spans(attribution: Attribution) -> dict[int, tuple[int, int]]:
    spans: dict[int, tuple[int, int]] = {}
    for word, (start, end) in zip(attribution.words, attribution.offsets, strict=True):
        first, last = spans.get(word, (start, end))
        spans[word] = (min(first, start), max(last, end))
    return spans


def bar(share: float, signed: bool) -> Text:
    """A bar to the right of the middle for a positive number, to the left for a negative one."""
    length, colour = round(abs(share) * CELLS), TERMINAL[meaning(share, signed)][0]
    if share < 0:
        return Text.assemble(" " * (CELLS - length), (LEAST * length, colour), "│", " " * CELLS)
    return Text.assemble(" " * CELLS, "│", (LEAST * length, colour))


def range_bar(attribution: Attribution, token: int, limits: tuple[float, float]) -> Text:
    """A weight with its range: █ what it is at least, ▓ on to the weight itself, ░ on to what it is at most.

    An end that nothing bounds is an arrow. ``limits`` are the numbers at the edges, with zero among them; no
    room is spent on a side that nothing reaches.
    """
    full = max(-limits[0], limits[1], POINT_WIDTH)
    left = RANGE // 2 if limits[0] < -POINT_WIDTH * min(full, 1.0) else 0
    score = finite(attribution.scores[token]) or 0.0
    low, high = attribution.interval(token) or (score, score)
    least = 0.0 if attribution.may_be_zero(token) else attribution.least(token) or 0.0
    if attribution.certain(token):
        least = low = high = score  # the width that is left is rounding
    below, above = (
        _side(cells, *(max(sign * value / full, 0.0) for value in (least, score, most)))
        for sign, cells, most in ((-1, left, low), (1, RANGE - left, high))
    )
    mirrored = below[::-1].replace("→", "←").rjust(left)
    right = TERMINAL[meaning(1.0, attribution.signed)][0]
    return Text.assemble((mirrored, TERMINAL["against"][0]), "│", (above, right))


def _side(cells: int, least: float, shown: float, most: float) -> str:
    """The bar from zero outwards; the three are parts of its length, and ``most`` may be infinite."""
    if not cells:
        return ""
    reach = round(min(most, 1.0) * cells)
    # A bar that is long enough to be seen has a solid part if the weight cannot be zero, however small.
    solid = max(round(min(least, 1.0) * cells), int(least > 0 and reach > 0))
    middle = max(round(min(shown, 1.0) * cells), solid)
    drawn = LEAST * solid + SHOWN * (middle - solid) + MOST * (reach - middle)
    return drawn[:-1] + "→" if most == math.inf else drawn
