"""How V and W are coupled after several trainings, against the ratio of positive to negative texts."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes

from glasshead.report.dynamics.curves import spaced
from glasshead.report.dynamics.picture import Ink, Key, Panel, Picture
from glasshead.report.number_format import number
from glasshead.report.plots import near_zero
from glasshead.report.style import drawable, plain


@dataclass(frozen=True)
class Point:
    """One training: positive texts for one negative text of train, and VᵀW."""

    ratio: float
    coupling: float


@dataclass(frozen=True)
class Seeds:
    """The trainings of one ratio: how many they are, mean, and standard deviation (n − 1; of one NaN)."""

    ratio: float
    n: int
    mean: float
    std: float


def by_ratio(points: Sequence[Point]) -> list[Seeds]:
    """Trainings whose ratios have the same two leading digits, from the least ratio to the largest."""
    groups: dict[float, list[Point]] = {}
    for point in sorted(points, key=lambda each: each.ratio):
        groups.setdefault(float(f"{point.ratio:.2g}"), []).append(point)
    return [
        Seeds(
            float(np.mean([each.ratio for each in group])),
            len(group),
            float(np.mean([each.coupling for each in group])),
            float(np.std([each.coupling for each in group], ddof=1)) if len(group) > 1 else float("nan"),
        )
        for group in groups.values()
    ]


def ratios(points: Sequence[Point], name: str, labels: tuple[str, str], when: str) -> Picture:
    """A point for each training, and mean ± std of those of one ratio; ``name`` is that of VᵀW, ``labels``
    are the negative and the positive class, ``when`` says at which steps was looked."""
    seeds = by_ratio(points)
    several = [each for each in seeds if each.n > 1]
    spread = [each.mean + sign * each.std for each in several for sign in (-1, 1)]
    low, high = near_zero(np.array([*(each.coupling for each in points), *spread]))

    def draw(axes: Axes, ink: Ink) -> None:
        axes.set_ylim(low, high)
        axes.set_xscale("log")
        axes.set_xticks([each.ratio for each in seeds], [plain(float(f"{each.ratio:.2g}")) for each in seeds])
        axes.minorticks_off()
        axes.margins(x=0.08)
        axes.axhline(0.0, color=ink("--line"), linewidth=0.8, zorder=0)
        x, mean = [each.ratio for each in seeds], [each.mean for each in seeds]
        axes.plot(x, mean, color=ink("--accent"), linewidth=1.4)
        axes.errorbar(
            [each.ratio for each in several], [each.mean for each in several], [each.std for each in several],
            color=ink("--accent"), linewidth=1.4, linestyle="none", capsize=3, marker="_", markersize=9,
        )  # fmt: skip
        axes.scatter(
            [each.ratio for each in points], [each.coupling for each in points],
            s=16, color=ink("--ink"), alpha=0.55, linewidths=0, zorder=3,
        )  # fmt: skip

    said = ", ".join(f"{plain(float(f'{each.ratio:.2g}'))}: {told(each)}" for each in seeds)
    negative, positive = labels
    across = drawable(f"{positive} texts for one {negative} text in train")
    panel = Panel("", (across, spaced(name)), draw, f"{name} by ratio, {said}.", over_steps=False)
    keys = [
        Key("--ink", f"one training (of {len(points)})", "dot"),
        Key("--accent", "mean ± standard deviation over seeds" if several else "from ratio to ratio"),
    ]
    caption = (
        f"The dot product of the context vector V and the output vector W {when}, against the ratio of the "
        f"classes in the texts of the training. {how_many(seeds)}"
    )
    return Picture(f"{name} and the ratio of the classes", [panel], caption, keys, "Sun and Lu 2020, Fig. 7")


def how_many(seeds: Sequence[Seeds]) -> str:
    """How many trainings each ratio has, in a sentence."""
    sizes = {each.n for each in seeds}
    if len(sizes) == 1:
        return f"n = {sizes.pop()} of each ratio."
    return (
        "n by ratio: " + ", ".join(f"{each.n} at {plain(float(f'{each.ratio:.2g}'))}" for each in seeds) + "."
    )


def told(seeds: Seeds) -> str:
    """Mean ± standard deviation, and how many trainings."""
    spread = f" ± {number(seeds.std)}" if seeds.n > 1 else ""
    return f"{number(seeds.mean)}{spread} ({seeds.n} {'training' if seeds.n == 1 else 'trainings'})"
