"""The ledger of a token: how much of its attention score, or of its polarity, came from which term."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from glasshead.report.dynamics.curves import STEPS, kept, with_kept
from glasshead.report.dynamics.picture import Ink, Key, Panel, Picture
from glasshead.report.dynamics.term_labels import (
    AXES,
    REST_COLOUR,
    cause_of,
    keys_of,
    ledger_of,
    scaled,
    source_of,
)
from glasshead.report.labels import groups_in_order
from glasshead.report.number_format import number
from glasshead.results import NOT_EXPLAINED, Columns, History, added

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Ledger:
    """What the terms have added up to at every step, and the change that was measured.

    measured(t) = Σ_terms added(t) + rest(t); the rest is what finite steps, single batches and the time
    between looks leave unexplained.
    """

    steps: Floats
    added: dict[str, Floats]
    measured: Floats

    @property
    def rest(self) -> Floats:
        """What no term explains."""
        return self.measured - np.sum(list(self.added.values()), axis=0)


def ledger(history: History, quantity: str, rows: Columns) -> Ledger:
    """The ledger of one token's rows.

    Raises:
        InputError: if there is none.
    """
    terms = ledger_of(history, quantity)
    values = rows[quantity].astype(np.float64)
    return Ledger(
        rows["step"].astype(np.float64),
        {name: rows[added(quantity, name)].astype(np.float64) for name in terms},
        values - values[0],
    )


def mean_ledger(history: History, quantity: str, group: str) -> Ledger:
    """The ledger of the mean of a group's followed tokens: the mean of their ledgers.

    Raises:
        InputError: as `ledger`.
    """
    terms = ledger_of(history, quantity)
    here = history.tokens["group"] == group
    looks = len(history.steps)
    rows = {"step": history.steps} | {
        name: history.tokens[name][here].reshape(looks, -1).mean(axis=1, dtype=np.float64)
        for name in [quantity, *(added(quantity, term) for term in terms)]
    }
    return ledger(history, quantity, rows)


def token_ledgers(history: History, tokens: Sequence[str]) -> Picture:
    """Score and polarity of each token, side by side.

    Raises:
        InputError: if there is no ledger.
    """
    panels = [
        panel_of(history, f"{token}: {words}", quantity, ledger(history, quantity, history.token(token)))
        for token in tokens
        for quantity, words in AXES.items()
    ]
    return picture_of(history, "Ledger of " + ", ".join(tokens), panels)


def group_ledgers(history: History) -> Picture:
    """Score and polarity of the mean token of every group.

    Raises:
        InputError: if there is no ledger.
    """
    for quantity in AXES:
        ledger_of(history, quantity)
    groups = [group for group in groups_in_order(history.groups) if (history.tokens["group"] == group).any()]
    panels = [
        panel_of(history, f"{words}, {group}", quantity, mean_ledger(history, quantity, group))
        for group in groups
        for quantity, words in AXES.items()
    ]
    return picture_of(history, "Ledger of a mean token of every group", panels)


def picture_of(history: History, title: str, panels: list[Panel]) -> Picture:
    """Panels with the legend of their areas."""
    names = [name for quantity in AXES for name in ledger_of(history, quantity)]
    keys = [
        *keys_of(names, "area"),
        Key(REST_COLOUR, NOT_EXPLAINED, "hatched"),
        Key("--ink", "measured change"),
    ]
    caption = (
        "Areas above zero are what terms have added since the start, areas below what they have taken away; "
        "their sum with the hatched rest is the measured change, the black line. The rest is due to steps "
        f"that are not infinitely small and of one batch each{apart(history)}."
    )
    return Picture(
        title, panels, with_kept(history, caption), keys, f"terms: {source_of(history)}", across=len(AXES)
    )


def apart(history: History) -> str:
    """How far apart looks are, behind what else a rest is due to; nothing if every step was looked at."""
    every = history.facts["every"]
    return f", and to looks that are {every:,} steps apart" if every > 1 else ""


def panel_of(history: History, title: str, quantity: str, found: Ledger) -> Panel:
    """Stacked areas over the steps."""
    size, power = scaled([found.measured, *found.added.values()])

    def draw(axes: Axes, ink: Ink) -> None:
        steps, stacks = stacked(found.steps, found.added | {"": found.rest})
        for name, (lower, upper) in stacks:
            colour = ink(REST_COLOUR if name == "" else cause_of(name).colour)
            given = (
                {"facecolor": "none", "edgecolor": colour, "hatch": "/////", "linewidth": 0.0}
                if name == ""
                else {"color": colour, "alpha": 0.75, "linewidth": 0}
            )
            axes.fill_between(steps, lower / size, upper / size, **given)  # type: ignore[arg-type]
        axes.axhline(0.0, color=ink("--ink"), linewidth=0.6)
        axes.plot(found.steps, found.measured / size, color=ink("--paper"), linewidth=3.2)
        axes.plot(found.steps, found.measured / size, color=ink("--ink"), linewidth=1.5)
        kept(axes, history, ink)

    return Panel(title, (STEPS, f"change of {SHORT[quantity]}{power}"), draw, about(title, found))


SHORT = {"score": "a", "polarity": "s"}


def about(title: str, found: Ledger) -> str:
    """The ledger's last line."""
    said = ", ".join(f"{name} {number(values[-1], plus=True)}" for name, values in found.added.items())
    return (
        f"Ledger, {title}: measured change {number(found.measured[-1], plus=True)}; {said}; "
        f"{NOT_EXPLAINED} {number(found.rest[-1], plus=True)}."
    )


def stacked(
    steps: Floats, parts: Mapping[str, Floats]
) -> tuple[Floats, list[tuple[str, tuple[Floats, Floats]]]]:
    """Lower and upper edges of areas that are stacked away from zero, above it or below it by their sign.

    Between two looks a part is a straight line, so steps at which one crosses zero are added: then the
    areas above, less those below, are the sum of all parts everywhere.
    """
    extra = [steps]
    for values in parts.values():
        before, after = values[:-1], values[1:]
        turn = np.flatnonzero(before * after < 0)
        share = before[turn] / (before[turn] - after[turn])
        extra.append(steps[turn] + share * (steps[turn + 1] - steps[turn]))
    fine = np.unique(np.concatenate(extra))
    above, below = np.zeros_like(fine), np.zeros_like(fine)
    areas = []
    for name, values in parts.items():
        here = np.interp(fine, steps, values)
        up, down = np.maximum(here, 0.0), np.minimum(here, 0.0)
        # One area for both signs: where it is on the one side it has no height on the other.
        areas.append((name, (above, above + up)))
        areas.append((name, (below + down, below)))
        above, below = above + up, below + down
    return fine, areas
