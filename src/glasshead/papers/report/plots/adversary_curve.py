"""The cost of other maps: how far the predictions of trained adversaries go with their attention."""

import math
from collections.abc import Sequence

from matplotlib.axes import Axes

from glasshead.escaping import visible
from glasshead.papers.results import AdversaryCurve, MapDivergence
from glasshead.report import Figure, Ink, LegendEntry, Panel, number, plot
from glasshead.results import Finding

DISTANCE_AXES = ("mean JSD of the maps (nats)", "mean TVD of the predictions")
SEED, UNIFORM, CONSTANT = "seed", "uniform", "constant"
MOST = math.log(2)


@plot("adversary-curve", AdversaryCurve)
def adversary_curve(curve: AdversaryCurve) -> Figure:
    """Distance of predictions over that of maps, a point for each λ; another seed beside them.

    Source: Wiegreffe and Pinter (2019), Fig. 5.
    """
    first = curve.points[0]
    legend = [LegendEntry("--accent", "adversary, by λ", "dot")]
    if first.maps.null.get(SEED) is not None:
        legend.append(LegendEntry("--c0", "another seed of the same recipe", "diamond"))
    legend.append(LegendEntry("--muted", "uniform weights", "dotted"))
    return Figure(
        f"The cost of other maps: {visible(str(first.facts['base']))}",
        [adversary_panel(curve.points)],
        "Far to the right and low: other maps, the same answers. Maps without a common token are log 2 ≈ "
        f"0.693 apart. Always answering the same would be at {number(first.predictions.null[CONSTANT])}. "
        "Bars are 95 % intervals over texts.",
        legend,
        source="after Wiegreffe and Pinter 2019, Fig. 5",
    )


def adversary_panel(points: Sequence[MapDivergence]) -> Panel:
    """All adversaries on one pair of axes."""
    places = [(mean_or_nan(point.maps), mean_or_nan(point.predictions)) for point in points]
    nulls = points[0].maps.null, points[0].predictions.null

    def draw(axes: Axes, ink: Ink) -> None:
        axes.plot(*zip(*places, strict=True), color=ink("--accent"), linewidth=1.0, alpha=0.5)
        for (x, y), point in zip(places, points, strict=True):
            axes.errorbar(
                x,
                y,
                xerr=arms(point.maps),
                yerr=arms(point.predictions),
                color=ink("--accent"),
                marker="o",
                markersize=4,
                linewidth=1.2,
            )
            words = ink.text(f"λ = {point.facts['weight']:g}")
            axes.annotate(
                words, (x, y), xytext=(0, 14), textcoords="offset points", ha="center", **ink.halo()
            )
        if (uniform := nulls[0].get(UNIFORM)) is not None:
            axes.axvline(uniform, color=ink("--muted"), linewidth=1.0, linestyle=(0, (1, 1.6)))
        if (maps := nulls[0].get(SEED)) is not None and (predictions := nulls[1].get(SEED)) is not None:
            axes.scatter(maps, predictions, marker="D", s=26, facecolor="none", edgecolor=ink("--c0"))
        axes.set_xlim(-0.02, 1.12 * MOST)
        axes.set_ylim(bottom=0.0)
        axes.margins(y=0.15)

    words = "; ".join(
        f"λ = {point.facts['weight']:g}: maps {number(x)}, predictions {number(y)}"
        for point, (x, y) in zip(points, places, strict=True)
    )
    n = points[0].predictions.n
    return Panel("", DISTANCE_AXES, draw, f"{words}.", note=f"n = {n:,} texts", size=(4.6, 3.2))


def mean_or_nan(finding: Finding) -> float:
    """The estimate; NaN where there is none, which draws nothing."""
    return math.nan if finding.estimate is None else finding.estimate


def arms(finding: Finding) -> list[list[float]] | None:
    """How far the interval reaches to both sides, as matplotlib wants it."""
    if finding.interval is None or finding.estimate is None:
        return None
    low, high = finding.interval
    return [[finding.estimate - low], [high - finding.estimate]]
