"""Polarity against attention score of all followed tokens at one step."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasshead.errors import InputError
from glasshead.papers.report.plots.group_curves import GROUP_AXIS
from glasshead.papers.report.term_labels import SUN_AND_LU
from glasshead.papers.results import History
from glasshead.report import (
    MAX_POINTS,
    Figure,
    LegendEntry,
    Limits,
    PlotOptions,
    Points,
    group_colours,
    limits,
    number,
    plot,
    scatter_panel,
    sort_groups,
)

NONE = "no group"
AXES_NAMES = GROUP_AXIS["polarity"], GROUP_AXIS["score"]


@plot(
    "scatter",
    History,
    "tokens",
    order=3,
    tokens="optional",
    at_step=True,
    drawn_by="plot dynamics --what scatter",
)
def token_scatter(history: History, options: PlotOptions) -> Figure:
    """Polarity against attention score of every followed token at the snapshot nearest to a step, else the
    last.

    Raises:
        InputError: if no tokens were followed.
    """
    if not history.tokens:
        raise InputError("no tokens were followed: only models with one attention output have them")
    step = history.nearest(options.step)
    chosen = history.tokens["step"] == step
    rows = {name: column[chosen] for name, column in history.tokens.items()}
    groups = usable_by_group(rows["group"], rows["polarity"], rows["score"], rows["token"], options.tokens)
    colours = group_colours(history.groups) | {NONE: "--muted"}
    points = points_of(rows["polarity"], rows["score"], rows["token"], groups, colours, options.tokens)
    drawn, followed = sum(len(group.x) for group in points), int(chosen.sum())
    when = f"at step {step:,}" if len(history.steps) > 1 else "of the trained model"
    title = f"Polarity and attention score of tokens {when}"
    description = f"{title}: scatter of {drawn} tokens."
    panel = scatter_panel("", points, AXES_NAMES, limits_of(points), description)
    legend = [LegendEntry(colours[group], group, "dot") for group in sort_groups(groups)]
    left_out = f" {drawn:,} of {followed:,} are drawn, by chance." if drawn < followed else ""
    ringed = " The chosen ones have a ring." if options.tokens else ""
    caption = f"A point is a followed token.{ringed}{left_out}"
    source = f"{SUN_AND_LU}, Figs. 13–28"
    return Figure(title, [panel], caption, legend, source, hint="Point at one to read it.")


def usable_by_group(
    group: NDArray[np.str_],
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    token: NDArray[np.str_],
    chosen: Sequence[str],
) -> dict[str, NDArray[np.int64]]:
    """Which tokens are drawn, by group, the neutral ones first so that the others lie above; a seeded part
    where they are too many, with all the chosen ones."""
    usable = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    if len(usable) > MAX_POINTS:
        part = np.random.default_rng(0).choice(usable, MAX_POINTS, replace=False)
        usable = np.union1d(part, usable[np.isin(token[usable], list(chosen))])
    names = np.where(group == "", NONE, group)
    order = sort_groups(names[usable].tolist())
    order = [name for name in order if name != NONE] + [name for name in order if name == NONE]
    return {name: usable[names[usable] == name] for name in reversed(order)}


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


def limits_of(points: Sequence[Points]) -> tuple[Limits, Limits]:
    """Limits of both axes that hold all points and zero."""
    return (
        limits(*(group.x for group in points), zero=True),
        limits(*(group.y for group in points), zero=True),
    )
