"""Single tokens: score, polarity and weight over the steps, and all tokens as points at one step."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from numpy.typing import NDArray

from glasshead.errors import InputError
from glasshead.report.dynamics.curves import SUN_AND_LU, UP, Line, many_looks, panel_of, with_kept
from glasshead.report.dynamics.picture import Ink, Key, Panel, Picture
from glasshead.report.figures import Limits, Points, limits, named_points, scatter
from glasshead.report.labels import groups_in_order
from glasshead.report.number_format import number
from glasshead.report.plots import group_colours, near_zero
from glasshead.report.style import drawable
from glasshead.results import History

MOST_POINTS = 1200
COLOURS = ("--c3", "--c5", "--c2", "--c4", "--c6", "--c0", "--c1", "--c7")
MOST_TOKENS = len(COLOURS)
NAMED = 12
PRINTED = (330.0, 220.0)
"""About the size of the axes on paper, in points: what names have room on."""
NONE = "no group"


def few(tokens: Sequence[str], asking: str) -> tuple[str, ...]:
    """Each token once; ``asking`` is what takes them.

    Raises:
        InputError: if they are too many to be told apart.
    """
    chosen = tuple(dict.fromkeys(tokens))
    if len(chosen) > MOST_TOKENS:
        raise InputError(f"{asking} takes at most {MOST_TOKENS} tokens, not {len(chosen)}")
    return chosen


def tokens(history: History, chosen: Sequence[str]) -> Picture:
    """Score, polarity and weight of chosen tokens, each beside the bands of the groups.

    Raises:
        InputError: if the training was not watched, or they are too many to be told apart.
    """
    many_looks(history)
    coloured = dict(zip(few(chosen, "the picture of tokens"), COLOURS, strict=False))
    panels = []
    for quantity, up in UP.items():
        lines = [
            Line(
                {"step": rows["step"], "mean": rows[quantity], "std": np.full(len(rows["step"]), np.nan)},
                colour,
                token,
            )
            for token, colour in coloured.items()
            for rows in [history.token(token)]
        ]
        bands = [history.curve(quantity, group) for group in history.groups]
        ends = [each["mean"] + sign * np.nan_to_num(each["std"]) for each in bands for sign in (-1, 1)]
        range_ = near_zero(*ends, *(line.columns["mean"] for line in lines))
        panels.append(with_groups(history, quantity, panel_of(history, "", lines, up, up, range_)))
    keys = [Key(colour, token) for token, colour in coloured.items()]
    keys += [Key(colour, group, "area") for group, colour in group_colours(history.groups).items()]
    caption = with_kept(
        history, "Lines are the tokens, bands are their groups: mean ± one standard deviation."
    )
    return Picture("Chosen tokens over time", panels, caption, keys)


def with_groups(history: History, quantity: str, panel: Panel) -> Panel:
    """The same panel over the bands of all groups."""

    def draw(axes: Axes, ink: Ink) -> None:
        for group, colour in group_colours(history.groups).items():
            curve = history.curve(quantity, group)
            low, high = curve["mean"] - curve["std"], curve["mean"] + curve["std"]
            axes.fill_between(curve["step"], low, high, color=ink(colour), alpha=0.16, linewidth=0)
        panel.draw(axes, ink)

    return Panel(panel.title, panel.axes, draw, panel.about)


def token_scatter(history: History, chosen: Sequence[str] = (), step: int | None = None) -> Picture:
    """Polarity against attention score of every followed token at the look nearest to a step, else the last.

    Raises:
        InputError: if no tokens were followed.
    """
    if not history.tokens:
        raise InputError("no tokens were followed: they are in models with one attention output")
    at = history.nearest(step)
    here = history.tokens["step"] == at
    rows = {name: column[here] for name, column in history.tokens.items()}
    groups = groups_of(rows["group"], rows["polarity"], rows["score"], rows["token"], chosen)
    colours = group_colours(history.groups) | {NONE: "--muted"}
    points = points_of(rows["polarity"], rows["score"], rows["token"], groups, colours, chosen)
    drawn_of = sum(len(each.x) for each in points)
    when = f"at step {at:,}" if len(history.steps) > 1 else "of the trained model"
    title = f"Polarity and attention score of tokens {when}"
    panel = cloud("", points, ranges_of(points), f"{title}: scatter of {drawn_of} tokens.")
    keys = [Key(colours[group], group, "dot") for group in groups_in_order(groups)]
    thinned = int(here.sum()) - drawn_of
    left_out = f" {drawn_of:,} of {drawn_of + thinned:,} are drawn, by chance." if thinned else ""
    ringed = " The chosen ones have a ring." if chosen else ""
    caption = f"A point is a followed token.{ringed}{left_out}"
    source = f"{SUN_AND_LU}, Figs. 13–28"
    return Picture(title, [panel], caption, keys, source, pointing="Point at one to read it.")


def points_of(
    polarity: NDArray[np.floating[Any]],
    score: NDArray[np.floating[Any]],
    token: NDArray[np.str_],
    groups: Mapping[str, NDArray[np.int64]],
    colours: Mapping[str, str],
    chosen: Sequence[str] = (),
) -> list[Points]:
    """Tokens as points, group by group; all may be named, or only the chosen ones if there are some, which
    are marked."""
    return [
        Points(
            polarity[members].astype(np.float64),
            score[members].astype(np.float64),
            colours[group],
            [
                f"{name} (polarity {number(x)}, score {number(y)})"
                for name, x, y in zip(token[members], polarity[members], score[members], strict=True)
            ],
            [name if not chosen or name in chosen else "" for name in token[members].tolist()],
            np.isin(token[members], list(chosen)) if chosen else None,
        )
        for group, members in groups.items()
    ]


Ranges = tuple[Limits, Limits]


def ranges_of(points: Sequence[Points]) -> Ranges:
    """Limits of both axes that hold all points and zero."""
    return limits(*(each.x for each in points), zero=True), limits(*(each.y for each in points), zero=True)


def cloud(title: str, points: Sequence[Points], ranges: Ranges, about: str) -> Panel:
    """Attention score over polarity, with the names of the outermost tokens."""
    axes_names = UP["polarity"], UP["score"]

    def draw(axes: Axes, ink: Ink) -> None:
        axes.set_xlim(*ranges[0])
        axes.set_ylim(*ranges[1])
        axes.axhline(0.0, color=ink("--line"), linewidth=0.8, zorder=0)
        axes.axvline(0.0, color=ink("--line"), linewidth=0.8, zorder=0)
        for each in points:
            axes.scatter(each.x, each.y, s=8, color=ink(each.colour), alpha=0.55, linewidths=0)
        for each in points:
            if each.marked is not None and each.marked.any():
                axes.scatter(
                    each.x[each.marked], each.y[each.marked], s=26, color=ink(each.colour),
                    edgecolors=ink("--ink"), linewidths=1.1, zorder=3,
                )  # fmt: skip
        (left, right), (low, high) = ranges

        def place(x: float, y: float) -> tuple[float, float]:
            return (x - left) / (right - left) * PRINTED[0], (high - y) / (high - low) * PRINTED[1]

        for name, (across, down), side in named_points(points, place, PRINTED, 0.0, NAMED):
            axes.annotate(
                drawable(name), (across / PRINTED[0], 1 - down / PRINTED[1]), xycoords="axes fraction",
                xytext=(4 if side == "start" else -4, 0), textcoords="offset points", va="center",
                ha="left" if side == "start" else "right", fontsize=7.5, color=ink("--ink"),
                path_effects=[withStroke(linewidth=2.2, foreground=ink("--paper"))],
            )  # fmt: skip

    return Panel(
        title, axes_names, draw, about, over_steps=False,
        page=lambda key: scatter(points, key, about, axes_names, ranges),
    )  # fmt: skip


def groups_of(
    group: NDArray[np.str_],
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    token: NDArray[np.str_],
    chosen: Sequence[str],
) -> dict[str, NDArray[np.int64]]:
    """Which tokens are drawn, by group, the neutral ones first so that the others lie above; a seeded part
    where they are too many, with all the chosen ones."""
    usable = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    if len(usable) > MOST_POINTS:
        part = np.random.default_rng(0).choice(usable, MOST_POINTS, replace=False)
        usable = np.union1d(part, usable[np.isin(token[usable], list(chosen))])
    names = np.where(group == "", NONE, group)
    order = groups_in_order(names[usable].tolist())
    order = [name for name in order if name != NONE] + [name for name in order if name == NONE]
    return {name: usable[names[usable] == name] for name in reversed(order)}
