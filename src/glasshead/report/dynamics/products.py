"""Dot products of the embeddings of two tokens, by the groups that they are of."""

from collections.abc import Iterator

import numpy as np
from matplotlib.axes import Axes

from glasshead.errors import InputError
from glasshead.report.dynamics.curves import STEPS, SUN_AND_LU, kept, many_looks, recorded, with_kept
from glasshead.report.dynamics.picture import DASHES, Ink, Key, Panel, Picture
from glasshead.report.dynamics.term_labels import cause_of, scaled
from glasshead.report.labels import LAST
from glasshead.report.number_format import number
from glasshead.report.plots import group_colours
from glasshead.results import PRODUCT_RATE, Columns, History

TITLES = {"e": "embeddings, Ω = eᵢᵀeₖ", "h": "after the map, hᵢᵀhₖ"}
UP = {"e": "Ω", "h": "hᵢᵀhₖ"}
OPPOSITE = "--ink"
"""Pairs of different classes: no class has this colour."""


def products(history: History) -> Picture:
    """Median and quartiles of the dot products of all pairs of groups over the steps."""
    many_looks(history)
    found = spaces(history)
    panels = [over_steps(history, of, rows) for of, rows in found.items()]
    caption = (
        "A line is the median of all pairs of tokens, the band holds the middle half of them; of large "
        "groups a part is paired, chosen by chance."
    )
    return Picture(
        "Dot products of tokens",
        panels,
        with_kept(history, caption),
        keys(history, found),
        f"{SUN_AND_LU}, Figs. 1, 6, 8",
    )


def boxes(history: History, step: int | None = None) -> Picture:
    """Box plots of the dot products at the look nearest to a step, else the last."""
    found = spaces(history)
    at = history.nearest(step)
    panels = [at_step(history, of, rows, at) for of, rows in found.items()]
    when = f"at step {at:,}" if len(history.steps) > 1 else "of the trained model"
    caption = "A box holds the middle half of all pairs of tokens, the mark in it is their median; the thin "
    caption += "line reaches from the least to the largest."
    source = f"{SUN_AND_LU}, Figs. 2, 8, 11"
    return Picture(f"Dot products of tokens {when}", panels, caption, [], source)


def movers(history: History) -> Picture:
    """How fast leads (A) and labels (B) move the mean dot product of every two groups, on one scale.

    Raises:
        InputError: if it was not recorded, or looked at once only.
    """
    many_looks(history)
    found = {
        name.removeprefix(PRODUCT_RATE): rates(history, name)
        for name in history.quantities()
        if name.startswith(PRODUCT_RATE)
    }
    if not found and history.facts.get("form") is not None:
        raise InputError("this run was watched before rates of dot products were recorded: train it again")
    recorded(history, found, "rate of dot products")
    whole = {pair: sum_of([rows[pair] for rows in found.values()]) for pair in next(iter(found.values()))}
    panels = {f"{name}: {cause_of(name).words}": rows for name, rows in found.items()}
    panels |= {f"{' + '.join(found)} = dΩ/dτ": whole}
    every = [columns["mean"] for rows in panels.values() for columns in rows.values()]
    caption = (
        "What each part adds to the mean dot product of the embeddings of a pair in a unit of time τ of "
        "gradient flow (steps times learning rate); the last panel is their sum. The larger λ, "
        "the more of it is B."
    )
    return Picture(
        "What moves dot products of tokens",
        [rate_panel(history, title, rows, every) for title, rows in panels.items()],
        with_kept(history, caption),
        keys(history, found),
        f"{SUN_AND_LU}, eqs. 43–46",
    )


def rates(history: History, quantity: str) -> dict[str, Columns]:
    """Pair of groups → the curve of a part of dΩ/dτ."""
    here = history.curves["quantity"] == quantity
    pairs = dict.fromkeys(history.curves["group"][here].tolist())
    return {pair: history.curve(quantity, pair) for pair in pairs}


def sum_of(curves: list[Columns]) -> Columns:
    """All parts of one pair."""
    return {"step": curves[0]["step"], "mean": np.sum([each["mean"] for each in curves], axis=0)}


def rate_panel(history: History, title: str, rows: dict[str, Columns], every: list[np.ndarray]) -> Panel:
    """One part of all pairs; all panels share their scale."""
    size, power = scaled(every)
    low, high = min(0.0, *(each.min() for each in every)), max(0.0, *(each.max() for each in every))
    air = 0.06 * (high - low) or 1.0

    def draw(axes: Axes, ink: Ink) -> None:
        axes.set_ylim((low - air) / size, (high + air) / size)
        axes.axhline(0.0, color=ink("--line"), linewidth=0.8, zorder=0)
        for pair, columns in rows.items():
            colour, kind = style(history, pair)
            line = columns["step"], columns["mean"] / size
            axes.plot(*line, color=ink(colour), linewidth=1.5, linestyle=DASHES[kind])
        kept(axes, history, ink)

    said = ", ".join(f"{pair} {number(columns['mean'][-1])}" for pair, columns in rows.items())
    about = f"Rates of dot products, {title}, at the end: {said}."
    return Panel(title, (STEPS, f"dΩ/dτ{power}"), draw, about)


def spaces(history: History) -> dict[str, dict[str, Columns]]:
    """e and h → pair of groups → its rows."""
    recorded(history, len(history.products.get("step", [])), "dot product")
    found: dict[str, dict[str, Columns]] = {}
    for of in dict.fromkeys(history.products["of"].tolist()):
        here = history.products["of"] == of
        pairs = dict.fromkeys(history.products["pair"][here].tolist())
        found[of] = {
            pair: {
                name: column[here & (history.products["pair"] == pair)]
                for name, column in history.products.items()
            }
            for pair in pairs
        }
    return found


def style(history: History, pair: str) -> tuple[str, str]:
    """Colour and kind of line: a group with itself in its colour, with neutral tokens dashed, different
    classes in one colour of their own."""
    first, second = parts(history, pair)
    colours = group_colours(history.groups)
    if first == second:
        return colours[first], "line"
    if LAST in (first, second):
        return colours[first if second == LAST else second], "dashed"
    return OPPOSITE, "line"


def parts(history: History, pair: str) -> tuple[str, str]:
    """The two groups of a pair."""
    return next((a, b) for a in history.groups for b in history.groups if f"{a} × {b}" == pair)


def keys(history: History, found: dict[str, dict[str, Columns]]) -> list[Key]:
    """A legend of all pairs; pairs of different classes are one entry where there are many."""
    listed: dict[Key, None] = {}
    for pair in next(iter(found.values())):
        colour, kind = style(history, pair)
        words = pair if colour != OPPOSITE or len(history.groups) <= 3 else "different classes"
        listed[Key(colour, words, kind)] = None
    return list(listed)


def over_steps(history: History, of: str, rows: dict[str, Columns]) -> Panel:
    """The curves of one space."""

    def draw(axes: Axes, ink: Ink) -> None:
        axes.axhline(0.0, color=ink("--line"), linewidth=0.8, zorder=0)
        for pair, columns in rows.items():
            name, kind = style(history, pair)
            colour, step = ink(name), columns["step"]
            axes.fill_between(step, columns["lower"], columns["upper"], color=colour, alpha=0.1, linewidth=0)
            axes.plot(step, columns["median"], color=colour, linewidth=1.5, linestyle=DASHES[kind])
        kept(axes, history, ink)

    said = ", ".join(f"{pair} to {number(columns['median'][-1])}" for pair, columns in rows.items())
    about = f"Medians of dot products over {history.steps[-1]:,} steps: {said}."
    return Panel(TITLES.get(of, of), (STEPS, UP.get(of, of)), draw, about)


def at_step(history: History, of: str, rows: dict[str, Columns], step: int) -> Panel:
    """One box for each pair, the first on top."""
    order = list(reversed(rows))

    def draw(axes: Axes, ink: Ink) -> None:
        axes.axvline(0.0, color=ink("--line"), linewidth=0.8, zorder=0)
        axes.set_ylim(-0.6, len(order) - 0.4)
        for height, (low, lower, median, upper, high) in enumerate(quartiles(rows, order, step)):
            colour = ink(style(history, order[height])[0])
            axes.hlines(height, low, high, color=colour, linewidth=0.9)
            axes.barh(height, upper - lower, 0.52, left=lower, color=colour, alpha=0.55, linewidth=0)
            axes.vlines(median, height - 0.3, height + 0.3, color=ink("--ink"), linewidth=1.5)

    medians = [numbers[2] for numbers in quartiles(rows, order, step)]
    said = ", ".join(f"{pair} {number(value)}" for pair, value in zip(order, medians, strict=True))
    about = f"Box plots of dot products, medians: {said}."
    return Panel(TITLES.get(of, of), (UP.get(of, of), ""), draw, about, rows=order, over_steps=False)


def quartiles(rows: dict[str, Columns], order: list[str], step: int) -> Iterator[tuple[float, ...]]:
    """Minimum, quartiles and maximum of every pair at the step of a look."""
    for pair in order:
        here = rows[pair]["step"] == step
        yield tuple(rows[pair][name][here].item() for name in ("low", "lower", "median", "upper", "high"))
