"""The report's plots: plain data in, one SVG element out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import escape
from numpy.typing import NDArray

from glasshead.escaping import visible
from glasshead.report.svg import ACCENT, FAINT, INK, MUTED, PAPER, Canvas

Floats = NDArray[np.float64]
Limits = tuple[float, float]

WIDTH, HEIGHT = 400.0, 280.0
ROW, ROW_LEFT = 46.0, 92.0


@dataclass(frozen=True)
class Points:
    """One colour of a scatter plot; ``titles`` show on hover, ``names`` may be written beside a point, and
    the ``marked`` ones have a ring."""

    x: Floats
    y: Floats
    colour: str
    titles: Sequence[str]
    names: Sequence[str] = ()
    marked: NDArray[np.bool_] | None = None


@dataclass(frozen=True)
class Spread:
    """One row of a distribution plot: the values above the line, and others below it (or outlined)."""

    label: str
    values: Floats
    other: Floats | None = None


def limits(*arrays: Floats, zero: bool = False) -> Limits:
    """A range with a little air that holds all numbers (and zero, if asked)."""
    values = np.concatenate([np.asarray(a, float).ravel() for a in arrays] or [np.zeros(0)])
    values = values[np.isfinite(values)]
    if zero or not values.size:
        values = np.append(values, 0.0)
    low, high = float(values.min()), float(values.max())
    air = 0.06 * (high - low) or 0.5 * abs(high) or 1.0
    return low - air, high + air


def scatter(
    groups: Sequence[Points],
    key: str,
    description: str,
    axes: tuple[str, str],
    ranges: tuple[Limits, Limits],
    trend: tuple[Floats, Floats] | None = None,
) -> str:
    """Points by group with zero lines; ``trend`` adds one line over them."""
    canvas = Canvas(WIDTH, HEIGHT)
    ax = canvas.axes
    ax.set_xlim(*ranges[0])
    ax.set_ylim(*ranges[1])
    ax.set_xlabel(axes[0])
    ax.set_ylabel(axes[1])
    ax.axhline(0, color=FAINT, linewidth=0.8, zorder=0)
    ax.axvline(0, color=FAINT, linewidth=0.8, zorder=0)
    ax.locator_params(nbins=6)
    ax.ticklabel_format(useOffset=False, style="plain")
    for ringed in (False, True):
        for group in groups:
            marked = np.zeros(len(group.x), bool) if group.marked is None else group.marked
            chosen = np.flatnonzero(marked == ringed)
            if not chosen.size:
                continue
            look, radius = ('fill-opacity=".62"', 2.3) if not ringed else ('stroke="var(--ink)"', 3.6)
            canvas.overlay.append(f'<g fill="var({group.colour})" {look}>')
            for place in chosen.tolist():
                across, down = canvas.place(group.x[place], group.y[place])
                canvas.overlay.append(
                    f'<circle cx="{across:.1f}" cy="{down:.1f}" r="{radius}">'
                    f"<title>{escape(visible(group.titles[place]))}</title></circle>"
                )
            canvas.overlay.append("</g>")
    if trend is not None and trend[0].size:
        places = [canvas.place(x, y) for x, y in zip(*trend, strict=True)]
        path = "L".join(f"{across:.1f} {down:.1f}" for across, down in places)
        for colour, width in (("--paper", 4.5), ("--ink", 1.6)):
            canvas.overlay.append(
                f'<path d="M{path}" fill="none" stroke="var({colour})" stroke-width="{width}" '
                'stroke-linejoin="round"/>'
            )
    _write_names(canvas, groups)
    return canvas.drawn(key, description)


def _write_names(canvas: Canvas, groups: Sequence[Points], most: int = 9) -> None:
    """Name the outermost points where there is room."""
    for word, (across, down), anchor in named_points(
        groups, canvas.place, (WIDTH, HEIGHT), canvas.left, most
    ):
        start = across + 5 if anchor == "start" else across - 5
        canvas.overlay.append(
            f'<text class="halo" x="{start:.1f}" y="{down + 3:.1f}" text-anchor="{anchor}" font-size="8.5">'
            f"{escape(visible(word))}</text>"
        )


Place = tuple[float, float]


def named_points(
    groups: Sequence[Points],
    place: Callable[[float, float], Place],
    size: tuple[float, float],
    left_edge: float,
    most: int,
) -> list[tuple[str, Place, str]]:
    """Which points get their names: the outermost ones, where no name lies over another or leaves the plot.

    ``place`` says where a point lies, across and down, on a drawing of this ``size``. Word, place, and the
    side: ``start`` to the right of the point, ``end`` to the left.
    """
    centre = place(0.0, 0.0)
    candidates = []
    for group in groups:
        for x, y, name in zip(group.x, group.y, group.names, strict=False):
            if name:
                here = place(x, y)
                far = ((here[0] - centre[0]) / size[0]) ** 2 + ((here[1] - centre[1]) / size[1]) ** 2
                candidates.append((-far, name, here))
    taken: list[tuple[float, float, float, float]] = []
    found: list[tuple[str, Place, str]] = []
    for _, name, (across, down) in sorted(candidates)[: 20 * most]:
        word = name if len(name) <= 16 else name[:15] + "…"
        width = 5.6 * len(word)
        for left, side in ((across + 5, "start"), (across - 5 - width, "end")):
            box = (left, down - 9, left + width, down + 7)
            clear = all(box[2] < t[0] or box[0] > t[2] or box[3] < t[1] or box[1] > t[3] for t in taken)
            if left_edge <= left and box[2] < size[0] and down >= 10 and clear:
                taken.append(box)
                found.append((word, (across, down), side))
                break
        if len(found) == most:
            break
    return found


def _rows(rows: Sequence[Spread], range_: Limits, axis: str) -> Canvas:
    canvas = Canvas(WIDTH, ROW * max(len(rows), 1) + 48, left=ROW_LEFT, bottom=38, top=10)
    ax = canvas.axes
    ax.set_xlim(*range_)
    ax.set_ylim(-0.08, max(len(rows), 1))
    ax.set_xlabel(axis)
    ax.set_yticks([])
    ax.spines["left"].set_visible(False)
    ax.locator_params(axis="x", nbins=6)
    if range_[0] < 0 < range_[1]:
        ax.axvline(0, color=MUTED, linewidth=0.7, zorder=0)
    for position, row in enumerate(reversed(rows)):
        across, down = canvas.place(range_[0], position + 0.28)
        name = row.label if len(row.label) <= 14 else row.label[:13] + "…"
        canvas.write(across - 8, down - 4, name, "end")
        counted = f"n = {int(np.isfinite(row.values).sum()):,}"
        canvas.overlay.append(
            f'<text x="{across - 8:.1f}" y="{down + 8:.1f}" text-anchor="end" font-size="8" '
            f'fill="var(--muted)">{counted}</text>'
        )
    return canvas


def histograms(
    rows: Sequence[Spread], key: str, description: str, axis: str, range_: Limits, null: float | None = None
) -> str:
    """One histogram per row over one axis: ``values`` filled, ``other`` outlined, the median as a dot."""
    canvas = _rows(rows, range_, axis)
    ax = canvas.axes
    edges = np.linspace(range_[0], range_[1], 41)
    shares = [(_shares(row.values, edges), _shares(row.other, edges)) for row in rows]
    tallest = max((float(s.max()) for pair in shares for s in pair), default=0.0) or 1.0
    for position, (row, (filled, outline)) in enumerate(zip(reversed(rows), reversed(shares), strict=True)):
        ax.axhline(position, color=FAINT, linewidth=0.7, zorder=1)
        ax.stairs(
            filled / tallest * 0.86 + position, edges, baseline=position, fill=True, color=ACCENT, alpha=0.5
        )
        if row.other is not None:
            ax.stairs(outline / tallest * 0.86 + position, edges, baseline=None, color=INK, linewidth=0.8)
        _dot(canvas, row.values, position)
    if null is not None:
        ax.axvline(null, color=INK, linewidth=0.9, linestyle=(0, (2, 2.4)), zorder=2)
    return canvas.drawn(key, description)


def violins(rows: Sequence[Spread], key: str, description: str, axis: str, range_: Limits) -> str:
    """One split violin per row: ``values`` above the line, ``other`` below; medians as dots."""
    canvas = _rows(rows, range_, axis)
    ax = canvas.axes
    grid = np.linspace(range_[0], range_[1], 121)
    for position, row in enumerate(reversed(rows)):
        middle = position + 0.46
        ax.axhline(middle, color=FAINT, linewidth=0.7, zorder=1)
        upper = density(row.values, grid)
        ax.fill_between(grid, middle, middle + 0.42 * upper, color=ACCENT, alpha=0.55, linewidth=0)
        if row.other is None:
            ax.fill_between(grid, middle, middle - 0.42 * upper, color=ACCENT, alpha=0.55, linewidth=0)
        else:
            lower = density(row.other, grid)
            ax.fill_between(grid, middle, middle - 0.42 * lower, color=MUTED, alpha=0.45, linewidth=0)
            _dot(canvas, row.other, middle - 0.08)
        _dot(canvas, row.values, middle + (0.08 if row.other is not None else 0.0))
    return canvas.drawn(key, description)


def density(values: Floats, grid: Floats) -> Floats:
    """A Gaussian kernel density on a grid, its highest point 1; zeros for no values."""
    kept = np.asarray(values, float)
    kept = kept[np.isfinite(kept)]
    if not kept.size:
        return np.zeros_like(grid)
    if kept.size > 2000:
        kept = np.quantile(kept, np.linspace(0, 1, 2000))
    width = max(1.06 * float(kept.std()) * kept.size**-0.2, 0.012 * float(grid[-1] - grid[0]))
    curve = np.exp(-0.5 * ((grid[:, None] - kept) / width) ** 2).mean(axis=1)
    step = float(grid[1] - grid[0])
    inside = (grid >= kept.min() - step) & (grid <= kept.max() + step)
    curve = np.where(inside, curve, 0.0)
    return np.asarray(curve / max(float(curve.max()), 1e-300))


def _shares(values: Floats | None, edges: Floats) -> Floats:
    kept = np.zeros(0) if values is None else np.asarray(values, float)
    kept = kept[np.isfinite(kept)]
    counts = np.histogram(np.clip(kept, edges[0], edges[-1]), edges)[0]
    return counts / max(kept.size, 1)


def _dot(canvas: Canvas, values: Floats, height: float) -> None:
    kept = np.asarray(values, float)
    kept = kept[np.isfinite(kept)]
    if not kept.size:
        across, down = canvas.place(sum(canvas.axes.get_xlim()) / 2, height + 0.2)
        canvas.write(across, down, "no defined value", "middle", 8.5)
        return
    canvas.axes.plot(
        [float(np.median(kept))],
        [height],
        "o",
        markersize=5,
        color=INK,
        markeredgecolor=PAPER,
        markeredgewidth=1.1,
        clip_on=False,
        zorder=4,
    )
