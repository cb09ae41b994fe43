"""Estimates with their intervals in rows over one axis."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes

from glasshead.report.figure import Ink, LegendEntry, Panel
from glasshead.report.marks.limits import Limits

LINE, BETWEEN = 0.16, 0.2
"""The height of one line of a row's name and notes, and the gap between rows, in inches."""
NEXT = 0.24
"""How far below the one before the next estimate of a row lies."""
HOLLOW = LegendEntry("--muted", "decides nothing", "ring")
NULL = LegendEntry("--muted", "null", "diamond")


@dataclass(frozen=True)
class IntervalPoint:
    """One estimate with its interval; ``evidence`` is false if it decides nothing."""

    estimate: float
    interval: Sequence[float] | None
    colour: str
    evidence: bool
    nulls: Sequence[float] = ()


@dataclass(frozen=True)
class IntervalRow:
    """Intervals drawn in one row, and its name."""

    label: str
    note: str
    points: Sequence[IntervalPoint]


def interval_panel(
    rows: Sequence[IntervalRow], title: str, axis: str, limits: Limits, *, width: float, named: bool = True
) -> Panel:
    """One row after another, the first on top; ``width`` is that in a file, and rows that are not ``named``
    have their names in the neighbouring panel."""
    upwards = list(reversed(rows))
    lines = max((2 + row.note.count("\n") for row in rows), default=2)

    def draw(axes: Axes, ink: Ink) -> None:
        axes.set_xlim(*limits)
        axes.set_ylim(-0.6, len(rows) - 0.4)
        axes.axvline(0.0, color=ink("--muted"), linewidth=0.7, zorder=0)
        axes.set_yticks([])
        for height, row in enumerate(upwards):
            axes.axhline(height, color=ink("--line"), linewidth=0.7, zorder=0)
            for rank, point in enumerate(row.points):
                draw_point(axes, ink, point, height + NEXT * ((len(row.points) - 1) / 2 - rank))

    return Panel(
        title, (axis, ""), draw, description(rows),
        rows=[row.label for row in upwards] if named else [""] * len(rows),
        row_notes=[row.note for row in upwards] if named else (),
        size=(width, (LINE * lines + BETWEEN) * len(rows) + 0.9),
    )  # fmt: skip


def draw_point(axes: Axes, ink: Ink, point: IntervalPoint, height: float) -> None:
    """A dot on its interval, and open diamonds for what must mean nothing."""
    colour = ink(point.colour)
    if point.interval is not None:
        axes.plot(
            point.interval, [height, height], color=colour, linewidth=1.6, solid_capstyle="butt", zorder=2
        )
        axes.plot(point.interval, [height, height], "|", color=colour, markersize=6, zorder=2)
    axes.plot(
        [point.estimate], [height], "o", markersize=5.5, color=colour, zorder=3,
        markerfacecolor=colour if point.evidence else ink("--paper"),
    )  # fmt: skip
    for null in point.nulls:
        axes.plot(
            [null],
            [height],
            "D",
            markersize=4,
            color=ink("--muted"),
            markerfacecolor=ink("--paper"),
            zorder=1,
        )


def description(rows: Sequence[IntervalRow]) -> str:
    """The rows for those who do not see them."""
    return "; ".join(
        f"{row.label}: {', '.join(f'{point.estimate:.3f}' for point in row.points)}" for row in rows
    )


def legend_of(rows: Sequence[IntervalRow], level: float = 0.95) -> list[LegendEntry]:
    """What the marks of these rows mean, whose intervals have that level."""
    points = [point for row in rows for point in row.points]
    entries = [LegendEntry("--muted", f"estimate and {100 * level:.4g} % interval", "dot")]
    if any(not point.evidence for point in points):
        entries.append(HOLLOW)
    return [*entries, NULL] if any(point.nulls for point in points) else entries


def limits_of(rows: Sequence[IntervalRow]) -> Limits:
    """A range that holds zero, all estimates, intervals and nulls, with a little air."""
    ends = [0.0]
    for row in rows:
        for point in row.points:
            ends += [point.estimate, *(point.interval or ()), *point.nulls]
    air = 0.05 * (max(ends) - min(ends)) or 1.0
    return min(ends) - air, max(ends) + air
