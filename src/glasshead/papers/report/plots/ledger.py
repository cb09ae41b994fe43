"""The ledger of tokens as stacked areas: what each term has added to score and polarity since the start."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from glasshead.arrays import Floats
from glasshead.papers.report.curves import STEPS, caption_with_best_step, mark_best_step
from glasshead.papers.report.term_labels import AXES, REST_COLOUR, SYMBOLS, cause_legend, cause_of, cite_terms
from glasshead.papers.results import NOT_EXPLAINED, History, Ledger, ledger_terms, mean_ledger, token_ledger
from glasshead.report import (
    Figure,
    Ink,
    LegendEntry,
    Panel,
    PlotOptions,
    number,
    plot,
    power_of_ten,
    sort_groups,
)


@plot(
    "ledger", History, "terms", "tokens", order=2, tokens="optional", drawn_by="plot dynamics --what ledger"
)
def ledger(history: History, options: PlotOptions) -> Figure:
    """How much each term has added to score and polarity: of chosen tokens, else of the mean of every group.

    Raises:
        InputError: if there is no ledger.
    """
    names = [name for quantity in AXES for name in ledger_terms(history, quantity)]
    if options.tokens:
        title = "Ledger of " + ", ".join(options.tokens)
        panels = [
            ledger_panel(
                history, f"{token}: {words}", quantity, token_ledger(history, quantity, history.token(token))
            )
            for token in options.tokens
            for quantity, words in AXES.items()
        ]
    else:
        title = "Ledger of a mean token of every group"
        panels = [
            ledger_panel(history, f"{words}, {group}", quantity, mean_ledger(history, quantity, group))
            for group in sort_groups(history.groups)
            if (history.tokens["group"] == group).any()
            for quantity, words in AXES.items()
        ]
    legend = [
        *cause_legend(names, "area"),
        LegendEntry(REST_COLOUR, NOT_EXPLAINED, "hatched"),
        LegendEntry("--ink", "measured change"),
    ]
    caption = (
        "Areas above zero are what terms have added since the start, areas below what they have removed; "
        "together with the hatched rest they sum to the measured change, the black line. The rest comes "
        f"from finite steps on single batches{snapshot_distance(history)}."
    )
    caption = caption_with_best_step(history, caption)
    return Figure(title, panels, caption, legend, f"terms: {cite_terms(history)}", len(AXES))


def snapshot_distance(history: History) -> str:
    """How far apart snapshots are, behind what else a rest is due to; nothing if every step has one."""
    every = history.facts["every"]
    return f", and from snapshots that are {every:,} steps apart" if every > 1 else ""


def ledger_panel(history: History, title: str, quantity: str, ledger: Ledger) -> Panel:
    """Stacked areas over the steps."""
    size, power = power_of_ten([ledger.measured, *ledger.added.values()])

    def draw(axes: Axes, ink: Ink) -> None:
        steps, areas = stack_areas(ledger.steps, ledger.added | {"": ledger.rest})
        for name, (lower, upper) in areas:
            colour = ink(REST_COLOUR if name == "" else cause_of(name).colour)
            style: dict[str, Any] = {"color": colour, "alpha": 0.75, "linewidth": 0}
            if name == "":
                style = {"facecolor": "none", "edgecolor": colour, "hatch": "/////", "linewidth": 0.0}
            axes.fill_between(steps, lower / size, upper / size, **style)
        axes.axhline(0.0, color=ink("--ink"), linewidth=0.6)
        axes.plot(ledger.steps, ledger.measured / size, color=ink("--paper"), linewidth=3.2)
        axes.plot(ledger.steps, ledger.measured / size, color=ink("--ink"), linewidth=1.5)
        mark_best_step(axes, history, ink)

    axis = f"change of {SYMBOLS[quantity]}{power}"
    return Panel(title, (STEPS, axis), draw, last_line(title, ledger), x="steps")


def last_line(title: str, ledger: Ledger) -> str:
    """The ledger's last line in words."""
    parts = ", ".join(f"{name} {number(values[-1], plus=True)}" for name, values in ledger.added.items())
    return (
        f"Ledger, {title}: measured change {number(ledger.measured[-1], plus=True)}; {parts}; "
        f"{NOT_EXPLAINED} {number(ledger.rest[-1], plus=True)}."
    )


def stack_areas(
    steps: Floats, parts: Mapping[str, Floats]
) -> tuple[Floats, list[tuple[str, tuple[Floats, Floats]]]]:
    """Lower and upper edges of areas that are stacked away from zero, above it or below it by their sign.

    Between two snapshots a part is a straight line, so steps at which one crosses zero are added: then the
    areas above, less those below, are the sum of all parts everywhere.
    """
    extra = [steps]
    for values in parts.values():
        before, after = values[:-1], values[1:]
        crossing = np.flatnonzero(before * after < 0)
        share = before[crossing] / (before[crossing] - after[crossing])
        extra.append(steps[crossing] + share * (steps[crossing + 1] - steps[crossing]))
    fine = np.unique(np.concatenate(extra))
    above, below = np.zeros_like(fine), np.zeros_like(fine)
    areas = []
    for name, values in parts.items():
        curve = np.interp(fine, steps, values)
        up, down = np.maximum(curve, 0.0), np.minimum(curve, 0.0)
        # One area for both signs: where it is on the one side it has no height on the other.
        areas.append((name, (above, above + up)))
        areas.append((name, (below + down, below)))
        above, below = above + up, below + down
    return fine, areas
