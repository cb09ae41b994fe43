"""How distance-aware attention sees distance: curves of its coefficient, and its matrix over a short text."""

from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.ticker import MaxNLocator

from glasshead.report.colours import FILE
from glasshead.report.figure import ColourBar, Figure, Ink, Panel
from glasshead.report.marks.limits import spread_apart
from glasshead.report.number_format import plain
from glasshead.report.plot_registry import plot
from glasshead.report.style import SHADES
from glasshead.results import CoefficientMatrix, DistanceCoefficients

SIGNS = [FILE[name] for name in ("--against", "--neutral", "--for")]
CURVES = LinearSegmentedColormap.from_list("curves", SIGNS)
EQUATION = "f(R) = (1 + eᵛ) / (1 + eᵛ⁻ᴿ)"


@plot("distance-aware", DistanceCoefficients)
def distance_coefficients(coefficients: DistanceCoefficients) -> Figure:
    """The coefficients of distance-aware attention: curves over distance, and a matrix for each v and w.

    Curves stand on the left, matrices on the right: one row for each v, one column for each w. The matrices
    of a column share their shades, so that one v can be compared with another.

    Source: Wu, Wu and Huang (2021), Figs. 1 and 2, in one.
    """
    matrices = coefficients.matrices
    rows, columns = len(matrices), len(matrices[0])
    norms = [
        Normalize(0.0, max(float(row[column].values.max()) for row in matrices)) for column in range(columns)
    ]
    panels = [curves_panel(coefficients, rows)]
    bars: list[list[int]] = [[] for _ in range(columns)]
    for down, row in enumerate(matrices):
        for across, matrix in enumerate(row):
            axes = "key j" if down == rows - 1 else "", "query i" if across == 0 else ""
            bars[across].append(len(panels))
            panels.append(matrix_panel(matrix, norms[across], axes))
    colour_bars = [
        ColourBar("coefficient f(R)", numbers, norm, SHADES)
        for numbers, norm in zip(bars, norms, strict=True)
    ]
    return Figure(
        "How distance-aware attention sees distance", panels, across=1 + columns, colour_bars=colour_bars
    )


def curves_panel(coefficients: DistanceCoefficients, rows: int) -> Panel:
    """f(R) for several v, each named where it ends."""
    order = sorted(coefficients.curves, key=lambda curve: curve.v)
    weighted = coefficients.weighted
    top = 1.05 * max(float(curve.values.max()) for curve in order)

    def draw(axes: Axes, ink: Ink) -> None:
        axes.axhline(1.0, color=ink("--line"), linewidth=0.8, zorder=0)
        axes.axvline(0.0, color=ink("--line"), linewidth=0.8, zorder=0)
        ends = spread_apart([float(curve.values[-1]) for curve in order], 0.045 * top)
        for rank, (curve, end) in enumerate(zip(order, ends, strict=True)):
            colour = CURVES(rank / max(1, len(order) - 1))
            axes.plot(weighted, curve.values, color=colour, linewidth=1.8, solid_capstyle="round")
            axes.annotate(
                f"v = {plain(curve.v)}", (weighted[-1], end), xytext=(5, 0), textcoords="offset points",
                va="center", color=colour, fontsize=8.5, annotation_clip=False,
            )  # fmt: skip
        axes.set_xlim(weighted[0], weighted[-1])
        axes.set_ylim(0.0, top)
        axes.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))

    ends = ", ".join(f"{plain(curve.values[-1].round(3))} for v = {plain(curve.v)}" for curve in order)
    description = f"{EQUATION} at R = {plain(weighted[-1])}: {ends}."
    names = "weighted distance R = w · |i − j|", "coefficient f(R)"
    size = 4.6, max(3.6, 1.9 * rows + 0.9)
    return Panel(EQUATION, names, draw, description, grid=False, size=size, spans_rows=rows)


def matrix_panel(matrix: CoefficientMatrix, norm: Normalize, names: tuple[str, str]) -> Panel:
    """f(w |i − j|); dark where attention is promoted."""

    def draw(axes: Axes, ink: Ink) -> None:
        axes.imshow(matrix.values, cmap=SHADES, norm=norm, interpolation="nearest")
        ticks = [0, len(matrix.values) - 1]
        axes.set_xticks(ticks, [str(tick + 1) for tick in ticks])
        axes.set_yticks(ticks, [str(tick + 1) for tick in ticks])
        axes.tick_params(length=0, labelsize=8)
        for spine in axes.spines.values():
            spine.set_visible(False)

    title = f"w = {plain(matrix.w)}, v = {plain(matrix.v)}"
    near, far = (plain(value.round(3)) for value in matrix.values[0, [0, -1]])
    description = f"Coefficients between tokens for {title}: {near} at distance 0, {far} at the largest."
    return Panel(title, names, draw, description, x="own", grid=False, size=(2.0, 1.9), aspect=1.0)
