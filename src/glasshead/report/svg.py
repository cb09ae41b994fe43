"""A matplotlib figure as inline SVG that takes its colours and its font from the page around it.

Text from outside (labels, tokens) never reaches matplotlib, whose mathtext and fonts would trip over it:
it is added here, escaped, as an overlay in the figure's own coordinates.
"""

import io
import re
from dataclasses import dataclass, field
from typing import Any

import matplotlib
from markupsafe import escape
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from glasshead.escaping import visible

VARIABLES = (
    "--ink", "--muted", "--line", "--accent", "--paper", "--positive", "--negative", "--neutral",
    *(f"--c{rank}" for rank in range(8)),
)  # fmt: skip
PLACEHOLDERS = {name: f"#0a0b{rank:02x}" for rank, name in enumerate(VARIABLES, 1)}
"""A colour of the page → what stands for it in a drawing until the page's style puts it there."""
INK, MUTED, FAINT, ACCENT, PAPER = (PLACEHOLDERS[name] for name in VARIABLES[:5])
_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "text.parse_math": False,
    "font.size": 9.5,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.unicode_minus": True,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": MUTED,
    "ytick.labelcolor": MUTED,
    "xtick.major.size": 3,
    "ytick.major.size": 3,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "axes.grid": False,
    "text.color": INK,
}


@dataclass
class Canvas:
    """One figure with one pair of axes, and what will be laid over it."""

    width: float
    height: float
    left: float = 46.0
    bottom: float = 40.0
    top: float = 8.0
    right: float = 10.0
    overlay: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        with matplotlib.rc_context(_STYLE):
            self.figure = Figure(figsize=(self.width / 72, self.height / 72), dpi=72)
            self.figure.patch.set_visible(False)
            FigureCanvasSVG(self.figure)
            box = (
                self.left / self.width,
                self.bottom / self.height,
                1 - (self.left + self.right) / self.width,
                1 - (self.bottom + self.top) / self.height,
            )
            self.axes: Axes = self.figure.add_axes(box)
            self.axes.patch.set_visible(False)

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Data coordinates → SVG coordinates; call it when the limits are final."""
        across, up = self.axes.transData.transform((x, y))
        return float(across), self.height - float(up)

    def write(self, x: float, y: float, text: str, anchor: str = "start", size: float = 9.5) -> None:
        """Lay a text over the figure at SVG coordinates."""
        self.overlay.append(
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="var(--ink)">'
            f"{escape(visible(text))}</text>"
        )

    def drawn(self, key: str, description: str) -> str:
        """The SVG element; ``key`` keeps its ids apart from those of other figures on the page."""
        buffer = io.StringIO()
        with matplotlib.rc_context(_STYLE | {"svg.hashsalt": key}):
            self.figure.savefig(buffer, format="svg", metadata={"Date": None}, transparent=True)
        body = buffer.getvalue()
        body = body[body.index("<svg") :]
        body = body[body.index(">") + 1 : body.rindex("</svg>")]
        body = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", body, flags=re.S)
        body = re.sub(r' id="(?!C\d)[A-Za-z][\w.]*_\d+"', "", body)  # names of parts; references keep theirs
        body = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", body, flags=re.S)  # in the page's style
        body = body.replace("xlink:href", "href")
        body = re.sub(r"font: ([\d.]+)px [^;\"]*", r"font-size: \1px", body)
        body = re.sub(r"font-family: [^;\"]*;? ?", "", body)
        body = re.sub(r"<[^>]*>", _rounded, body)
        body = re.sub(r"\n\s*", "\n", body)
        for name, colour in PLACEHOLDERS.items():
            body = body.replace(colour, f"var({name})")
        return (
            f'<svg class="plot" viewBox="0 0 {self.width:g} {self.height:g}" role="img" '
            f'aria-label="{escape(visible(description))}">{body.strip()}{"".join(self.overlay)}</svg>'
        )


def _rounded(tag: re.Match[str]) -> str:
    """A tag with its coordinates cut to two decimals; labels, which stand outside tags, keep theirs."""
    return re.sub(r"(\d\.\d\d)\d+", r"\1", tag[0])
