"""Several trained models side by side: maps, the parts of their scores, and the loss between them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, Normalize

from glasshead.escaping import visible
from glasshead.papers.results import LossLine, Minima, Solution
from glasshead.report import (
    SHADES,
    SIGNED,
    ColourBar,
    Figure,
    Ink,
    LegendEntry,
    Panel,
    class_colour,
    map_panel,
    number,
    plot,
)
from glasshead.results import HeadMap, HeadMaps

SHOWN, LINES = 4, 6
"""How many models and lines are drawn."""
UNUSED = 0.98
"""Entropy from which weights are called nearly uniform."""
MAP_SIZE = 2.5
PART_TITLES = {"semantic": "letter with letter", "positional": "place with place"}


@plot("minima", Minima)
def minima(compared: Minima) -> Figure:
    """Attention of each model to one text, the two parts of its scores, and the loss between models.

    Source: Cui, Behrens, Krzakala and Zdeborová (2024), Fig. 1.
    """
    shown = compared.solutions[:SHOWN]
    known = [part for part in PART_TITLES if all(np.isfinite(one.parts[part]).any() for one in shown)]
    weights = Normalize(0.0, max(float(np.nanmax(one.weights)) for one in shown))
    panels = [
        replace(
            draw_map(compared, one.name, one.weights, (weights, SHADES), place == 0, one.entropy),
            note=f"accuracy {number(one.accuracy)}, entropy {number(one.entropy, 2)}",
        )
        for place, one in enumerate(shown)
    ]
    bars = [ColourBar("attention weight", range(len(shown)), weights, SHADES)]
    largest = max([float(np.nanmax(np.abs(one.parts[part]))) for one in shown for part in known], default=1.0)
    signed = Normalize(-largest, largest)
    for part in known:
        begun = len(panels)
        panels += [
            draw_map(
                compared,
                f"{PART_TITLES[part]}: {number(one.shares[part], 2)}",
                one.parts[part],
                (signed, SIGNED),
                place == 0,
            )
            for place, one in enumerate(shown)
        ]
        bars.append(ColourBar(f"score, {part} part", range(begun, len(panels)), signed, SIGNED))
    lines = [line for line in compared.lines if max(line.ends) < SHOWN][:LINES]
    if lines:
        panels.append(line_panel(compared, lines))
    left_out = len(compared.solutions) - len(shown)
    caption = (
        "A row is the query token, a column a key. Accuracy and entropy (1 is uniform) are means over "
        f"{compared.texts:,} texts. The shares of the variance along a row are above the parts of the "
        "scores; with that of letters and places together they add up to 1. The loss between models is "
        f"that of {compared.landscape_texts:,} texts that were trained on."
    )
    more = f" {left_out} further runs are not drawn." if left_out else ""
    legend = [
        LegendEntry(class_colour(place), line_name(compared, line), "dashed" if line.matched else "line")
        for place, line in enumerate(lines)
    ]
    return Figure(
        "Trained models side by side", panels, visible(caption + more), legend,
        source="after Cui et al. 2024, Fig. 1", across=max(len(shown), 1), colour_bars=bars,
    )  # fmt: skip


def title(one: Solution) -> str:
    """What stands above the map of a model."""
    return f"{one.name}: accuracy {number(one.accuracy)}, entropy {number(one.entropy, 2)}"


def draw_map(
    compared: Minima, words: str, values: np.ndarray, scale: tuple[Normalize, Colormap], first: bool,
    entropy: float = 0.0,
) -> Panel:  # fmt: skip
    """One map, with the names of its rows where it is the ``first`` of its row."""
    one = HeadMap(visible(words), values, entropy > UNUSED)
    maps = HeadMaps("the last layer", [one], compared.queries, compared.keys, signed=scale[1] is SIGNED)
    left = 0.07 * max(map(len, compared.queries)) + 0.1 if first else 0.0
    panel = map_panel(maps, one, *scale, (MAP_SIZE + 0.3, MAP_SIZE + 0.5), left)
    return replace(panel, description=f"{visible(words)}. {panel.description}")


def line_panel(compared: Minima, lines: Sequence[LossLine]) -> Panel:
    """The loss on the straight lines between models."""

    def draw(axes: Axes, ink: Ink) -> None:
        for place, line in enumerate(lines):
            axes.plot(
                np.linspace(0, 1, len(line.losses)), line.losses, color=ink(class_colour(place)),
                linewidth=1.5, linestyle="--" if line.matched else "-",
            )  # fmt: skip
        axes.set_ylim(bottom=0.0)

    words = "; ".join(f"{line_name(compared, line)}: {number(line.barrier)}" for line in lines)
    return Panel(
        "Loss between models", ("from the first model to the second", "mean loss of training"), draw,
        visible(f"Barriers. {words}."), size=(MAP_SIZE + 1.2, MAP_SIZE),
    )  # fmt: skip


def line_name(compared: Minima, line: LossLine) -> str:
    """Which models a line joins."""
    first, second = (compared.solutions[end].name for end in line.ends)
    return visible(f"{first} – {second}{', hidden units matched' if line.matched else ''}")


def minimum_lines(compared: Minima) -> Iterator[str]:
    """The measurements of each model and between models, one per line."""
    for one in compared.solutions:
        shares = ", ".join(f"{part} {number(share, 2)}" for part, share in one.shares.items())
        yield f"{title(one)}, variance of scores: {shares}"
        for name, around in one.curvatures.items():
            loss, gradient = number(around.loss), number(around.gradient)
            ends = f"{number(around.smallest)} to {number(around.largest)}"
            words = f"loss of training {loss}, gradient {gradient}, Hessian from {ends}"
            yield f"{visible(one.name)}, {name}: {words}"
    for line in compared.lines:
        yield f"{line_name(compared, line)}: barrier {number(line.barrier)}"
