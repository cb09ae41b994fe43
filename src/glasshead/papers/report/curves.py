"""Curves over the steps of a training, with bands of one standard deviation."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes

from glasshead.errors import InputError
from glasshead.papers.results import Columns, History
from glasshead.report import DASHES, Ink, LegendEntry, Limits, Panel, near_zero, number
from glasshead.spelling import spell

STEPS = "step"


@dataclass(frozen=True)
class Curve:
    """One curve; ``columns`` are step, mean and std."""

    columns: Columns
    colour: str
    words: str
    kind: str = "line"


def curve_panel(
    history: History,
    title: str,
    curves: Sequence[Curve],
    axis: str,
    description: str,
    limits: Limits | None = None,
    bands: Sequence[Curve] = (),
) -> Panel:
    """Curves with their bands over one pair of axes; ``bands`` are bands without a curve, below them all."""
    low, high = limits or band_limits(curves, 0.0)

    def draw(axes: Axes, ink: Ink) -> None:
        axes.set_ylim(low, high)
        for band in bands:
            draw_band(axes, band, ink, 0.16)
        axes.axhline(0.0, color=ink("--line"), linewidth=0.8, zorder=0)
        for curve in curves:
            if np.isfinite(curve.columns["std"]).any():
                draw_band(axes, curve, ink, 0.15)
            axes.plot(
                curve.columns["step"], curve.columns["mean"], color=ink(curve.colour), linewidth=1.6,
                linestyle=DASHES[curve.kind],
            )  # fmt: skip
        mark_best_step(axes, history, ink)

    ends = ", ".join(
        f"{curve.words} from {number(curve.columns['mean'][0])} to {number(curve.columns['mean'][-1])}"
        for curve in curves
    )
    return Panel(
        title, (STEPS, axis), draw, f"{description} over {history.steps[-1]:,} steps: {ends}.", x="steps"
    )


def draw_band(axes: Axes, curve: Curve, ink: Ink, alpha: float) -> None:
    """One standard deviation to either side."""
    step, mean, std = (curve.columns[name] for name in ("step", "mean", "std"))
    axes.fill_between(step, mean - std, mean + std, color=ink(curve.colour), alpha=alpha, linewidth=0)


def band_limits(curves: Sequence[Curve], least: float) -> Limits:
    """Limits of curves with their bands, the lower one so far below the other at least; zero is among them
    unless all lie far from it."""
    ends = [
        curve.columns["mean"] + sign * np.nan_to_num(curve.columns["std"])
        for curve in curves
        for sign in (-1, 1)
    ]
    low, high = near_zero(*ends)
    if high - low >= least:
        return low, high
    return high - 0.95 * least, high + 0.05 * least


def curve_legend(curves: Sequence[Curve]) -> list[LegendEntry]:
    """The legend of some curves."""
    return list(dict.fromkeys(LegendEntry(curve.colour, curve.words, curve.kind) for curve in curves))


def best_step(history: History) -> int | None:
    """The step whose model was kept, if it is not the last: where a thin line stands."""
    best = history.facts.get("best_step")
    return best if best is not None and 0 < best < history.steps[-1] else None


def caption_with_best_step(history: History, caption: str) -> str:
    """A caption that explains the thin line where there is one."""
    marked = best_step(history) is not None
    return f"{caption} The thin line marks the step whose model was kept." if marked else caption


def mark_best_step(axes: Axes, history: History, ink: Ink) -> None:
    """A thin line at the step whose model was kept."""
    best = best_step(history)
    if best is not None:
        axes.axvline(best, color=ink("--muted"), linewidth=0.8, linestyle=(0, (1, 2)), zorder=1)
        axes.annotate(
            "kept", (best, 1.0), xycoords=axes.get_xaxis_transform(), xytext=(0, 2),
            textcoords="offset points", fontsize=7.5, color=ink("--muted"), ha="center", va="bottom",
        )  # fmt: skip


def require_recorded(history: History, values: object, quantity: str) -> None:
    """Raise InputError where there is nothing to draw."""
    if not values:
        why = history.facts.get("why_no_form")
        if history.facts["kind"] == "layers":
            own = "tokens have no separate numbers in a model with layers of attention"
            why = f"{own}; draw {spell('what', 'layers')}"
        raise InputError(f"no {quantity} was recorded{f': {why}' if why else ''}")


def require_snapshots(history: History) -> None:
    """Raise InputError for a training of which there is the end alone."""
    if len(history.steps) < 2:
        raise InputError(
            "this training was not recorded, so there is nothing over time: train with "
            f"{spell('DynamicsCallback')}"
        )
