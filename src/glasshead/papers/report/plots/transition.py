"""The transition from positional to semantic attention: losses and overlaps over the number of texts."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes

from glasshead.papers.results import Transition, TransitionPoint
from glasshead.report import DASHES, Figure, Ink, LegendEntry, Panel, number, plot

SOLUTION_COLOURS = {"positional": "--c1", "semantic": "--c0"}
ALPHA_AXIS = "texts over dimensions, α"

FEW_SEEDS = 5
"""Fewer have no interval."""
TRAINED_LABELS = ("trained, mean and 95 % interval", "trained, each seed")


@plot("transition", Transition)
def transition(result: Transition) -> Figure:
    """Loss of the semantic minus the positional solution, |m| and |θ| / σ², and the error on new texts.

    Source: Cui, Behrens, Krzakala and Zdeborová (2024).
    """
    legend = [LegendEntry(colour, kind) for kind, colour in SOLUTION_COLOURS.items()]
    legend += [
        LegendEntry("--muted", "linear, the best fixed attention", "dotted"),
        LegendEntry("--muted", TRAINED_LABELS[result.settings["seeds"] < FEW_SEEDS], "dot"),
    ]
    if not all(point.converged for point in result.points):
        legend.append(LegendEntry("--muted", "theory that did not converge", "ring"))
    panels = [
        difference_panel(result),
        curves_panel(result, "Overlap with the places", "|m|", "m", 1.0),
        curves_panel(result, "Overlap with the target", "|θ| / σ²", "theta", result.settings["sigma"] ** 2),
        curves_panel(result, "Error on new texts", "E‖y − ŷ‖² / d", "error", 1.0),
    ]
    return Figure(
        "From positional to semantic attention",
        panels,
        f"Lines are the theory of infinite dimensions, dots trainings with d = {result.settings['d']:g} and "
        f"{result.settings['seeds']:g} seeds. {critical_sentence(result)}",
        legend,
        source="after Cui et al. 2024",
        across=2,
    )


def difference_panel(result: Transition) -> Panel:
    """Training loss of the semantic minus the positional solution, of the same texts."""
    pairs = result.pairs

    def draw(axes: Axes, ink: Ink) -> None:
        alphas = [semantic.alpha for semantic, _ in pairs]
        gaps = [semantic.theory["loss"] - other.theory["loss"] for semantic, other in pairs]
        converged = [semantic.converged and other.converged for semantic, other in pairs]
        theory_line(axes, alphas, gaps, converged, ink("--muted"))
        axes.axhline(0.0, color=ink("--muted"), linewidth=0.8)
        for semantic, other in pairs:
            values = [a["loss"] - b["loss"] for a, b in zip(semantic.trained, other.trained, strict=True)]
            bar(axes, semantic.alpha, values, ink("--muted"))
        if result.critical is not None:
            axes.axvline(result.critical, color=ink("--muted"), linewidth=1.0, linestyle=(0, (1, 1.6)))

    return Panel(
        "Loss: semantic − positional",
        (ALPHA_AXIS, "training loss / d"),
        draw,
        critical_sentence(result),
    )


def curves_panel(result: Transition, title: str, axis: str, name: str, unit: float) -> Panel:
    """One quantity of both solutions."""

    def draw(axes: Axes, ink: Ink) -> None:
        for kind, colour in SOLUTION_COLOURS.items():
            points = [point for point in result.points if point.start == kind]
            values = [point.theory[name] / unit for point in points]
            converged = [point.converged for point in points]
            theory_line(axes, [point.alpha for point in points], values, converged, ink(colour))
            for point in points:
                bar(axes, point.alpha, [run[name] / unit for run in point.trained], ink(colour))
        if name == "error":
            axes.axhline(result.linear, color=ink("--muted"), linestyle=(0, (1, 1.6)), linewidth=1.0)
        axes.set_ylim(bottom=0.0)

    words = "; ".join(
        f"{point.start} at {point.alpha:g}: {number(point.theory[name] / unit)}{doubt(point)}"
        for point in result.points
    )
    return Panel(title, (ALPHA_AXIS, axis), draw, f"Theory. {words}.")


def theory_line(
    axes: Axes, alphas: list[float], values: list[float], converged: list[bool], colour: str
) -> None:
    """The theory: dashed from and to a point that did not converge, which is hollow."""
    places = list(zip(alphas, values, converged, strict=True))
    for one, other in pairwise(places):
        style = DASHES["line" if one[2] and other[2] else "dashed"]
        axes.plot((one[0], other[0]), (one[1], other[1]), color=colour, linewidth=1.5, linestyle=style)
    for alpha, value, sure in places:
        if sure and len(places) == 1:
            axes.plot(alpha, value, color=colour, marker="_", markersize=14, markeredgewidth=1.5)
        if not sure:
            axes.plot(
                alpha, value, color=colour, marker="o", markersize=7, fillstyle="none", gid="not-converged"
            )


def doubt(point: TransitionPoint) -> str:
    """What has to be said of a point that did not converge."""
    if point.converged:
        return ""
    return f" (not converged, residual {point.theory['residual']:.1g})"


def bar(axes: Axes, place: float, values: list[float], colour: str) -> None:
    """Mean and 95 % t-interval over seeds; of few seeds each."""
    half = half_interval(values)
    shown = values if half is None else [np.mean(values)]
    axes.errorbar([place] * len(shown), shown, yerr=half, color=colour, fmt="o", markersize=4, elinewidth=1.2)


def half_interval(values: list[float]) -> float | None:
    """Half of the 95 % t-interval of the mean; None of fewer than five, which tell little of others."""
    from glasshead.statistics import interval_of_mean

    if len(values) < FEW_SEEDS:
        return None
    low, high = interval_of_mean(np.array(values))
    return (high - low) / 2


def describe_trainings(values: list[float], digits: int) -> str:
    """The mean of the trainings with its interval, or of how many seeds it is."""
    mean, half = number(float(np.mean(values)), digits), half_interval(values)
    return (
        f"trained {mean}, {len(values)} seeds"
        if half is None
        else f"trained {mean} ± {number(half, digits + 1)}"
    )


def critical_sentence(result: Transition) -> str:
    """Where the losses cross."""
    if result.critical is not None:
        return f"In theory the semantic solution has the lower loss from α = {number(result.critical, 2)} on."
    if result.crossing is None:
        return "In theory the losses do not cross between these α."
    low, high = result.crossing
    return (
        f"Between α = {low:g} and {high:g} the theory did not converge: where the losses cross is not known."
    )


def transition_lines(result: Transition) -> Iterator[str]:
    """Theory and trainings, a line for each point."""
    yield critical_sentence(result)
    for point in result.points:
        parts = []
        for name in ("m", "theta", "loss", "error"):
            digits = 4 if name in ("loss", "error") else 3
            theory = point.theory[name] if digits == 4 else round(point.theory[name], 4)
            parts.append(
                f"{name} {number(theory, digits)} "
                f"({describe_trainings([run[name] for run in point.trained], digits)})"
            )
        minima = f"two minima for {point.theory['ambiguous']:.1%} of the texts"
        yield f"α {point.alpha:g}, {point.start}{doubt(point)}: {', '.join(parts)}, {minima}"
