"""The coupling of V and W after several trainings, against the ratio of positive to negative texts."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from glasshead.papers.report.term_labels import SUN_AND_LU, space_prime
from glasshead.papers.results import CouplingByRatio, RatioGroup
from glasshead.report import Figure, Ink, LegendEntry, Panel, near_zero, number, plain, plot


@plot("ratios", CouplingByRatio)
def class_ratios(coupling: CouplingByRatio) -> Figure:
    """VᵀW against the ratio of positive to negative texts: a point for each training, and mean ± std."""
    points, name = coupling.points, coupling.name
    groups = coupling.groups
    several = [group for group in groups if group.n > 1]
    ends = [group.mean + sign * group.std for group in several for sign in (-1, 1)]
    low, high = near_zero(np.array([*(point.coupling for point in points), *ends]))
    negative, positive = coupling.labels

    def draw(axes: Axes, ink: Ink) -> None:
        axes.set_ylim(low, high)
        axes.set_xlabel(ink.text(f"{positive} texts for one {negative} text in train"))
        axes.set_xscale("log")
        axes.set_xticks([group.ratio for group in groups], [short_ratio(group) for group in groups])
        axes.minorticks_off()
        axes.margins(x=0.08)
        axes.axhline(0.0, color=ink("--line"), linewidth=0.8, zorder=0)
        x, mean = [group.ratio for group in groups], [group.mean for group in groups]
        axes.plot(x, mean, color=ink("--accent"), linewidth=1.4)
        axes.errorbar(
            [group.ratio for group in several], [group.mean for group in several],
            [group.std for group in several],
            color=ink("--accent"), linewidth=1.4, linestyle="none", capsize=3, marker="_", markersize=9,
        )  # fmt: skip
        axes.scatter(
            [point.ratio for point in points], [point.coupling for point in points],
            s=16, color=ink("--ink"), alpha=0.55, linewidths=0, zorder=3,
        )  # fmt: skip

    numbers = ", ".join(f"{short_ratio(group)}: {mean_and_spread(group)}" for group in groups)
    panel = Panel("", ("", space_prime(name)), draw, f"{name} by ratio, {numbers}.")
    legend = [
        LegendEntry("--ink", f"one training (of {len(points)})", "dot"),
        LegendEntry("--accent", "mean ± standard deviation over seeds" if several else "from ratio to ratio"),
    ]
    caption = (
        f"The dot product of the context vector V and the output vector W {coupling.when}, against the ratio "
        f"of the classes in the texts of the training. {describe_counts(groups)}"
    )
    return Figure(f"{name} and the ratio of the classes", [panel], caption, legend, f"{SUN_AND_LU}, Fig. 7")


def ratio_lines(coupling: CouplingByRatio) -> list[str]:
    """A line of numbers for each ratio."""
    return [f"{short_ratio(group)}: {coupling.name} {mean_and_spread(group)}" for group in coupling.groups]


def short_ratio(group: RatioGroup) -> str:
    """A ratio with two digits."""
    return plain(float(f"{group.ratio:.2g}"))


def describe_counts(groups: Sequence[RatioGroup]) -> str:
    """How many trainings each ratio has, in a sentence."""
    counts = {group.n for group in groups}
    if len(counts) == 1:
        return f"n = {counts.pop()} of each ratio."
    return "n by ratio: " + ", ".join(f"{group.n} at {short_ratio(group)}" for group in groups) + "."


def mean_and_spread(group: RatioGroup) -> str:
    """Mean ± standard deviation, and how many trainings."""
    spread = f" ± {number(group.std)}" if group.n > 1 else ""
    return f"{number(group.mean)}{spread} ({group.n} {'training' if group.n == 1 else 'trainings'})"
