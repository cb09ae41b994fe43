"""A figure as inline SVG that takes its colours and its font from the page around it.

matplotlib draws into a renderer of our own, which writes the few SVG elements that plots are made of. Text
stays text, escaped; a point that says something carries it as its title.
"""

import base64
import io
from collections.abc import Sequence
from itertools import groupby
from typing import Any

import numpy as np
from markupsafe import Markup, escape
from matplotlib.backend_bases import FigureCanvasBase, GraphicsContextBase, RendererBase
from matplotlib.colors import to_hex
from matplotlib.figure import Figure as MatplotlibFigure
from matplotlib.image import imsave
from matplotlib.path import Path
from matplotlib.transforms import Affine2D, Transform
from numpy.typing import NDArray

from glasshead.escaping import visible
from glasshead.report.colours import FILE
from glasshead.report.figure import Figure, Panel, frame
from glasshead.report.fonts import drawable
from glasshead.report.style import in_style, matplotlib_style

PLACEHOLDERS = {name: f"#0a0b{rank:02x}" for rank, name in enumerate(FILE, 1)}
"""A colour of the page → what matplotlib draws it with until it is written."""
VARIABLES = {placeholder: f"var({name})" for name, placeholder in PLACEHOLDERS.items()}
WIDE, NARROW = (400.0, 250.0), (310.0, 215.0)
"""Width and height of a panel on the page: of two next to each other, and of three."""
LEFT, RIGHT, TOP, BOTTOM = 66.0, 10.0, 14.0, 38.0
LABEL_PAD = 9.0
"""Between the name of an axis and its numbers, whose letters are larger on a phone."""
LETTER = 5.3
"""Width of a letter of a name next to a row."""
TIMES = " × "
COMMANDS = {
    Path.MOVETO: "M", Path.LINETO: "L", Path.CURVE3: "Q", Path.CURVE4: "C", Path.CLOSEPOLY: "z",
}  # fmt: skip
CIRCLE = Path.unit_circle()


class PageInk:
    """Colours that become variables of the page, and letters of its font."""

    def __call__(self, colour: str) -> str:
        return PLACEHOLDERS[colour]

    def text(self, words: str) -> str:
        """Words from outside with what would steer a page made visible."""
        return visible(words)

    def hover(self, titles: Sequence[str]) -> dict[str, Any]:
        """What each point says."""
        return {"urls": [visible(title) for title in titles]}

    def halo(self) -> dict[str, Any]:
        """A class of the page's style."""
        return {"gid": "halo"}


INK = PageInk()


def panel_drawings(figure: Figure, key: str) -> list[tuple[str, Markup | None]]:
    """Title and SVG of every panel, in the colours of the page; ``key`` is the figure's own on the page."""
    size = WIDE if figure.columns < 3 else NARROW
    return [
        (
            visible(panel.title),
            None if panel.draw is None else Markup(panel_svg(panel, f"{key}-{rank}", size)),
        )
        for rank, panel in enumerate(figure.panels)
    ]


def panel_svg(panel: Panel, key: str, size: tuple[float, float] = WIDE) -> str:
    """One panel as an SVG element; ``key`` keeps its ids apart from those of other panels on the page."""
    assert panel.draw is not None
    names = [shorten(row, panel.row_letters) for row in panel.rows]
    width = size[0]
    left = 14 + LETTER * max(map(len, names)) if names else LEFT
    height = (
        panel.row_height * len(names) + 54 if names else width * panel.aspect if panel.aspect else size[1]
    )
    with in_style(matplotlib_style(INK, 9.5)):
        figure = MatplotlibFigure(figsize=(width / 72, height / 72), dpi=72)
        figure.patch.set_visible(False)
        FigureCanvasBase(figure)
        inner = width - left - RIGHT, height - TOP - BOTTOM
        axes = figure.add_axes((left / width, BOTTOM / height, inner[0] / width, inner[1] / height))
        axes.patch.set_visible(False)
        frame(axes, panel)
        axes.yaxis.labelpad = LABEL_PAD
        panel.draw(axes, INK)
        if names:
            axes.set_yticks([])
            axes.spines["left"].set_visible(False)
            notes = panel.row_notes or [""] * len(names)
            for at, (name, note) in enumerate(zip(names, notes, strict=True)):
                for words, down, colour in ((name, -1 if note else -3, "--ink"), (note, -12, "--muted")):
                    axes.annotate(
                        visible(words), (0.0, at), xycoords=axes.get_yaxis_transform(), xytext=(-8, down),
                        textcoords="offset points", ha="right", va="baseline", color=INK(colour),
                        fontsize=9.5 if colour == "--ink" else 9.2, gid="row", annotation_clip=False,
                    )  # fmt: skip
        if panel.note:
            axes.annotate(
                panel.note, (1.0, 1.0), xycoords="axes fraction", xytext=(0, 3), textcoords="offset points",
                ha="right", va="bottom", fontsize=9.2, color=INK("--muted"),
            )  # fmt: skip
        renderer = SvgRenderer(width, height, key)
        figure.draw(renderer)
    return renderer.element(panel.description)


def shorten(name: str, letters: int) -> str:
    """A name that fits next to a row; of a pair, both names are cut."""
    parts = name.split(TIMES)
    room = (letters - len(TIMES) * (len(parts) - 1)) // len(parts)
    if len(name) <= letters:
        return name
    return TIMES.join(part if len(part) <= room else part[: room - 1] + "…" for part in parts)


class SvgRenderer(RendererBase):
    """Writes what matplotlib draws as SVG elements; one unit is a point."""

    def __init__(self, width: float, height: float, key: str) -> None:
        super().__init__()
        self.width, self.height, self.key = width, height, key
        self.parts: list[tuple[str, str]] = []
        self.definitions: dict[str, str] = {}
        self.group = ""

    def element(self, description: str) -> str:
        """The drawing, with what it says to those who cannot see it."""
        body = ""
        for style, members in groupby(self.parts, key=lambda part: part[0]):
            elements = [element for _, element in members]
            body += f"<g{style}>{''.join(elements)}</g>" if style else "".join(elements)
        definitions = f"<defs>{''.join(self.definitions.values())}</defs>" if self.definitions else ""
        return (
            f'<svg class="plot" viewBox="0 0 {self.width:g} {self.height:g}" role="img" '
            f'aria-label="{escape(visible(description))}">{definitions}{body}</svg>'
        )

    def flipy(self) -> bool:
        return True

    def get_canvas_width_height(self) -> tuple[float, float]:
        return self.width, self.height

    def points_to_pixels(self, points: Any) -> Any:
        return points

    def open_group(self, s: str, gid: str | None = None) -> None:
        self.group = gid or ""

    def close_group(self, s: str) -> None:
        self.group = ""

    def get_text_width_height_descent(self, s: str, prop: Any, ismath: Any) -> tuple[float, float, float]:
        return super().get_text_width_height_descent(drawable(s), prop, ismath)

    def draw_path(
        self, gc: GraphicsContextBase, path: Path, transform: Transform, rgbFace: Any = None
    ) -> None:
        circle = circle_of(path, transform)
        if circle is not None:
            across, up, radius = circle
            shape = f'<circle cx="{number(across)}" cy="{number(self.height - up)}" r="{number(radius)}"'
        else:
            flipped = transform + Affine2D().scale(1, -1).translate(0, self.height)
            line = rgbFace is None and gc.get_hatch() is None
            inside = (0.0, 0.0, self.width, self.height) if line else None
            segments = path.iter_segments(flipped, clip=inside, simplify=path.should_simplify and line)
            data = "".join(command(code, np.asarray(points)) for points, code in segments)
            if not data:
                return
            shape = f'<path d="{data}"'
        title, tag = gc.get_url(), shape[1:].split()[0]
        self.add(gc, shape + (f"><title>{escape(title)}</title></{tag}>" if title else "/>"), rgbFace)

    def add(self, gc: GraphicsContextBase, element: str, fill: Any) -> None:
        """Keep an element with how it is filled, stroked and clipped."""
        style: dict[str, Any] = {}
        opacity = gc.get_alpha() if gc.get_forced_alpha() else None
        if opacity is not None and opacity != 1:
            style["opacity"] = f"{opacity:g}"
        if gc.get_hatch() is not None:
            style["fill"] = self.hatch(gc)
        elif fill is None:
            style["fill"] = "none"
        else:
            style["fill"] = variable(fill)
            if len(fill) > 3 and fill[3] != 1 and opacity is None:
                style["fill-opacity"] = f"{fill[3]:g}"
        stroke = gc.get_rgb()
        if gc.get_linewidth() and stroke[3]:
            style |= {"stroke": variable(stroke), "stroke-width": f"{gc.get_linewidth():g}"}
            if stroke[3] != 1 and opacity is None:
                style["stroke-opacity"] = f"{stroke[3]:g}"
            _, dashes = gc.get_dashes()
            if dashes is not None:
                style["stroke-dasharray"] = " ".join(map(number, np.asarray(dashes).tolist()))
        clip = gc.get_clip_rectangle()
        if clip is not None:
            style["clip-path"] = self.clip(clip.bounds)
        self.parts.append(("".join(f' {name}="{value}"' for name, value in style.items()), element))

    def clip(self, bounds: tuple[float, float, float, float]) -> str:
        """A reference to a rectangle beyond which nothing is shown."""
        x, y, width, height = bounds
        corner = f'x="{number(x)}" y="{number(self.height - y - height)}"'
        box = f'{corner} width="{number(width)}" height="{number(height)}"'
        name = f"{self.key}-clip"
        self.definitions[name] = f'<clipPath id="{name}"><rect {box}/></clipPath>'
        return f"url(#{name})"

    def hatch(self, gc: GraphicsContextBase) -> str:
        """A reference to a pattern of slanted lines."""
        colour, name = variable(gc.get_hatch_color()), f"{self.key}-hatch"
        self.definitions[name] = (
            f'<pattern id="{name}" width="4" height="4" patternUnits="userSpaceOnUse" '
            f'patternTransform="rotate(45)"><path d="M0 0V4" stroke="{colour}" stroke-width="1.5"/></pattern>'
        )
        return f"url(#{name})"

    def draw_text(
        self, gc: GraphicsContextBase, x: float, y: float, s: str, prop: Any, angle: float,
        ismath: Any = False, mtext: Any = None,
    ) -> None:  # fmt: skip
        if not s:
            return
        anchor = "start"
        if mtext is not None and (angle == 0 or mtext.get_rotation_mode() == "anchor"):
            # Letters of the page have other widths than those that were measured: the anchor stays.
            ends = {"left": "start", "right": "end", "center": "middle"}
            anchor = ends[mtext.get_ha()]
            at = mtext.get_transform().transform(mtext.get_unitless_position())
            radians = np.deg2rad(angle)
            across = np.array([np.sin(radians), np.cos(radians)])
            shift = across @ np.array([x - at[0], y - (self.height - at[1])])
            x, y = at[0] + shift * across[0], self.height - at[1] + shift * across[1]
        size = prop.get_size_in_points()
        own = (
            f' class="{self.group}" font-size="{size:g}"' if self.group else f' style="font-size: {size:g}px"'
        )
        bold = ' font-weight="bold"' if prop.get_weight() == "bold" else ""
        turned = f' transform="rotate({-angle:g} {number(x)} {number(y)})"' if angle else ""
        fill = f' fill="{variable(gc.get_rgb())}"'
        self.parts.append(
            (
                "",
                f'<text x="{number(x)}" y="{number(y)}" text-anchor="{anchor}"{own}{bold}{fill}{turned}>'
                f"{escape(s)}</text>",
            )
        )

    def draw_image(self, gc: GraphicsContextBase, x: float, y: float, im: Any, transform: Any = None) -> None:
        buffer = io.BytesIO()
        imsave(buffer, im[::-1], format="png", origin="upper")
        height, width = im.shape[:2]
        data = base64.b64encode(buffer.getvalue()).decode()
        self.parts.append(
            (
                "",
                f'<image x="{number(x)}" y="{number(self.height - y - height)}" width="{width}" '
                f'height="{height}" href="data:image/png;base64,{data}"/>',
            )
        )


def command(code: Any, points: NDArray[np.float64]) -> str:
    """One command of a path with its coordinates; a closed path has none, and the end is not a command."""
    if code == Path.STOP:
        return ""
    return COMMANDS[code] + ("" if code == Path.CLOSEPOLY else " ".join(map(number, points.tolist())))


def circle_of(path: Path, transform: Transform) -> tuple[float, float, float] | None:
    """Centre and radius of a circle; None for any other path."""
    if path.codes is None or not np.array_equal(np.asarray(path.codes), np.asarray(CIRCLE.codes)):
        return None
    # All its points lie in its box; to solve every curve for its extremes takes a hundred times longer.
    points = transform.transform(np.asarray(path.vertices)[:-1])
    low, high = points.min(axis=0), points.max(axis=0)
    across, up = (low + high) / 2
    return across, up, (high - low)[0] / 2


def variable(colour: Any) -> str:
    """A colour as the page writes it: as a variable wherever it has one."""
    name = to_hex(colour, keep_alpha=False)
    return VARIABLES.get(name, name)


def number(value: float) -> str:
    """A coordinate with two decimals at the most."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
