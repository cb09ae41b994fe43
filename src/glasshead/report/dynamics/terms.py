"""How fast every term of the flow moves score and polarity, per group."""

import numpy as np
from matplotlib.axes import Axes

from glasshead.report.dynamics.curves import STEPS, kept, with_kept
from glasshead.report.dynamics.picture import BROAD, DASHES, Ink, Key, Panel, Picture
from glasshead.report.dynamics.term_labels import AXES, cause_of, keys_of, scaled, source_of, terms_of
from glasshead.report.figures import limits
from glasshead.report.number_format import number
from glasshead.results import Columns, History

SURE = 1.96
"""Standard errors to either side of a mean of many tokens that hold it 95 times of 100."""


def terms(history: History) -> Picture:
    """The rate of every term over the steps, or at the end if that is all there is."""
    found = {quantity: rates(history, quantity) for quantity in AXES}
    names = [name for quantity in AXES for name in terms_of(history, quantity)]
    keys = keys_of(names, None if len(history.steps) > 1 else "area")
    if len(history.steps) < 2:
        panels = [at_the_end(quantity, by_group) for quantity, by_group in found.items()]
        caption = (
            "What each term adds to the score or the polarity of a mean token of the group in a unit of "
        )
        caption += "time τ of gradient flow (steps times learning rate)"
        caption += "; whiskers: 95 % intervals over tokens." if whiskers(found) else "."
        return Picture("What moves the trained model's scores", panels, caption, keys, source_of(history))
    panels = [
        over_steps(history, quantity, group, by_group[group])
        for group in history.groups
        for quantity, by_group in found.items()
    ]
    caption = (
        "What each term adds to the score or the polarity of a mean token of the group in a unit of time τ "
        "of gradient flow (steps times learning rate). Every panel has a scale of its own. The broad grey "
        "line is the sum"
    )
    broken = {cause_of(name).kind != "line" for name in names} == {True, False}
    upon = "; where terms lie upon each other, a thin broken line runs inside a thick one"
    caption += f"{upon if broken else ''}."
    keys.append(Key("--ink", "sum of all terms", "broad"))
    caption = with_kept(history, caption)
    return Picture("What moves scores and polarities", panels, caption, keys, source_of(history), len(AXES))


Rates = dict[str, dict[str, Columns]]


def rates(history: History, quantity: str) -> Rates:
    """Group → term → its curve."""
    return {
        group: {name: history.curve(f"{quantity} {name}", group) for name in terms_of(history, quantity)}
        for group in history.groups
    }


THICK, THIN = 2.6, 1.2
"""Widths of a whole line and of a broken one that may lie upon it."""


def over_steps(history: History, quantity: str, group: str, by_term: dict[str, Columns]) -> Panel:
    """The terms of one quantity of a group over a broad line, their sum; broken lines lie on top."""
    whole = total(by_term)
    every = [whole["mean"], *(columns["mean"] for columns in by_term.values())]
    size, power = scaled(every)
    low, high = limits(*every, zero=True)
    kinds = list(DASHES)
    ordered = sorted(by_term, key=lambda name: kinds.index(cause_of(name).kind))

    def draw(axes: Axes, ink: Ink) -> None:
        axes.set_ylim(low / size, high / size)
        axes.axhline(0.0, color=ink("--line"), linewidth=0.8, zorder=0)
        axes.plot(whole["step"], whole["mean"] / size, color=ink("--ink"), **BROAD)
        for name in ordered:
            cause, columns = cause_of(name), by_term[name]
            axes.plot(
                columns["step"], columns["mean"] / size, color=ink(cause.colour),
                linestyle=DASHES[cause.kind], linewidth=THICK if cause.kind == "line" else THIN,
            )  # fmt: skip
        kept(axes, history, ink)

    said = ", ".join(f"{name} {number(columns['mean'][-1])}" for name, columns in by_term.items())
    about = f"Terms of the flow of the {quantity} of {group} tokens, at the end: {said}."
    return Panel(f"{quantity}, {group}", (STEPS, f"d{SYMBOLS[quantity]}/dτ{power}"), draw, about)


SYMBOLS = {"score": "a", "polarity": "s"}


def total(by_term: dict[str, Columns]) -> Columns:
    """The sum of all terms."""
    curves = list(by_term.values())
    return {"step": curves[0]["step"], "mean": np.sum([columns["mean"] for columns in curves], axis=0)}


def whiskers(found: dict[str, Rates]) -> bool:
    """Whether any bar has an interval: of a single token there is none."""
    curves = [
        columns for by_group in found.values() for terms in by_group.values() for columns in terms.values()
    ]
    return any(np.isfinite(columns["std"][-1]) for columns in curves)


def at_the_end(quantity: str, by_group: Rates) -> Panel:
    """A bar for each term of each group."""
    rows = [
        (f"{group}: {name}", name, columns)
        for group, terms in by_group.items()
        for name, columns in terms.items()
    ]
    rows.reverse()
    size, power = scaled(columns["mean"] for _, _, columns in rows)

    def draw(axes: Axes, ink: Ink) -> None:
        axes.axvline(0.0, color=ink("--muted"), linewidth=0.8, zorder=0)
        axes.set_ylim(-0.6, len(rows) - 0.4)
        for height, (_, name, columns) in enumerate(rows):
            mean = float(columns["mean"][-1]) / size
            error = SURE * float(columns["std"][-1]) / size / float(columns["n"][-1]) ** 0.5
            axes.barh(height, mean, 0.56, color=ink(cause_of(name).colour), alpha=0.7, linewidth=0)
            if np.isfinite(error):
                axes.hlines(height, mean - error, mean + error, color=ink("--ink"), linewidth=1.1)

    said = ", ".join(f"{words} {number(columns['mean'][-1])}" for words, _, columns in rows)
    return Panel(
        AXES[quantity],
        (f"d{SYMBOLS[quantity]}/dτ{power}", ""),
        draw,
        f"Terms of the flow of the {quantity}: {said}.",
        rows=[words for words, _, _ in rows],
        over_steps=False,
    )
