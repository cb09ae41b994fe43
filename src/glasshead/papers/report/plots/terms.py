"""How fast every term of the flow moves score and polarity, per group."""

import numpy as np
from matplotlib.axes import Axes

from glasshead.papers.report.curves import STEPS, caption_with_best_step, mark_best_step
from glasshead.papers.report.term_labels import AXES, SYMBOLS, cause_legend, cause_of, cite_terms
from glasshead.papers.results import Columns, History, terms_of
from glasshead.report import (
    BROAD,
    DASHES,
    Figure,
    Ink,
    LegendEntry,
    Panel,
    PlotOptions,
    limits,
    number,
    plot,
    power_of_ten,
)

NORMAL_95 = 1.96
"""Standard errors to either side of a mean of many tokens that hold it 95 times of 100."""
RATES = (
    "What each term adds to the score or the polarity of a mean token of the group in a unit of time τ of "
    "gradient flow (steps times learning rate)"
)
THICK, THIN = 2.6, 1.2
"""Widths of a whole line and of a broken one that may lie upon it."""

Rates = dict[str, dict[str, Columns]]


@plot("terms", History, "terms", order=1, drawn_by="plot dynamics --what terms")
def terms(history: History, options: PlotOptions) -> Figure:
    """How fast each term moves score and polarity: over the steps, or at the end if that is all there is."""
    rates = {quantity: term_curves(history, quantity) for quantity in AXES}
    names = [name for quantity in AXES for name in terms_of(history, quantity)]
    source = cite_terms(history)
    if len(history.steps) < 2:
        panels = [final_rates(quantity, by_group) for quantity, by_group in rates.items()]
        caption = f"{RATES}{'; whiskers: 95 % intervals over tokens' if has_intervals(rates) else ''}."
        legend = cause_legend(names, "area")
        return Figure("What moves the trained model's scores", panels, caption, legend, source)
    panels = [
        rates_over_steps(history, quantity, group, by_group[group])
        for group in history.groups
        for quantity, by_group in rates.items()
    ]
    broken = {cause_of(name).kind != "line" for name in names} == {True, False}
    upon = "; where terms overlap, a thin broken line runs inside a thick one" if broken else ""
    caption = f"{RATES}. Every panel has its own scale. The broad grey line is the sum{upon}."
    legend = [*cause_legend(names), LegendEntry("--ink", "sum of all terms", "broad")]
    caption = caption_with_best_step(history, caption)
    return Figure("What moves scores and polarities", panels, caption, legend, source, len(AXES))


def term_curves(history: History, quantity: str) -> Rates:
    """Group → term → its curve."""
    return {
        group: {name: history.curve(f"{quantity} {name}", group) for name in terms_of(history, quantity)}
        for group in history.groups
    }


def rates_over_steps(history: History, quantity: str, group: str, by_term: dict[str, Columns]) -> Panel:
    """The terms of one quantity of a group over a broad line, their sum; broken lines lie on top."""
    total = summed_terms(by_term)
    curves = [total["mean"], *(columns["mean"] for columns in by_term.values())]
    size, power = power_of_ten(curves)
    low, high = limits(*curves, zero=True)
    kinds = list(DASHES)
    ordered = sorted(by_term, key=lambda name: kinds.index(cause_of(name).kind))

    def draw(axes: Axes, ink: Ink) -> None:
        axes.set_ylim(low / size, high / size)
        axes.axhline(0.0, color=ink("--line"), linewidth=0.8, zorder=0)
        axes.plot(total["step"], total["mean"] / size, color=ink("--ink"), **BROAD)
        for name in ordered:
            cause, columns = cause_of(name), by_term[name]
            axes.plot(
                columns["step"], columns["mean"] / size, color=ink(cause.colour),
                linestyle=DASHES[cause.kind], linewidth=THICK if cause.kind == "line" else THIN,
            )  # fmt: skip
        mark_best_step(axes, history, ink)

    ends = ", ".join(f"{name} {number(columns['mean'][-1])}" for name, columns in by_term.items())
    description = f"Terms of the flow of the {quantity} of {group} tokens, at the end: {ends}."
    axis = f"d{SYMBOLS[quantity]}/dτ{power}"
    return Panel(f"{quantity}, {group}", (STEPS, axis), draw, description, x="steps")


def summed_terms(by_term: dict[str, Columns]) -> Columns:
    """The sum of all terms."""
    curves = list(by_term.values())
    return {"step": curves[0]["step"], "mean": np.sum([columns["mean"] for columns in curves], axis=0)}


def has_intervals(rates: dict[str, Rates]) -> bool:
    """Whether any bar has an interval: of a single token there is none."""
    curves = [
        columns for by_group in rates.values() for terms in by_group.values() for columns in terms.values()
    ]
    return any(np.isfinite(columns["std"][-1]) for columns in curves)


def final_rates(quantity: str, by_group: Rates) -> Panel:
    """A bar for each term of each group."""
    rows = [
        (f"{group}: {name}", name, columns)
        for group, terms in by_group.items()
        for name, columns in terms.items()
    ]
    rows.reverse()
    size, power = power_of_ten(columns["mean"] for _, _, columns in rows)

    def draw(axes: Axes, ink: Ink) -> None:
        axes.axvline(0.0, color=ink("--muted"), linewidth=0.8, zorder=0)
        axes.set_ylim(-0.6, len(rows) - 0.4)
        for height, (_, name, columns) in enumerate(rows):
            mean = float(columns["mean"][-1]) / size
            error = NORMAL_95 * float(columns["std"][-1]) / size / float(columns["n"][-1]) ** 0.5
            axes.barh(height, mean, 0.56, color=ink(cause_of(name).colour), alpha=0.7, linewidth=0)
            if np.isfinite(error):
                axes.hlines(height, mean - error, mean + error, color=ink("--ink"), linewidth=1.1)

    ends = ", ".join(f"{words} {number(columns['mean'][-1])}" for words, _, columns in rows)
    return Panel(
        AXES[quantity], (f"d{SYMBOLS[quantity]}/dτ{power}", ""), draw,
        f"Terms of the flow of the {quantity}: {ends}.", rows=[words for words, _, _ in rows],
    )  # fmt: skip
