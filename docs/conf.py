"""How the site is built: strictly, and without a network."""

import re
from typing import Any

from glasshead import __version__

project = "Glasshead"
author = "The Glasshead maintainers"
copyright = "The Glasshead maintainers"
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build", "results/**", "examples/**"]
default_role = "literal"

html_theme = "furo"
html_title = f"Glasshead {__version__}"
html_show_sphinx = False
html_copy_source = False

# Equations are plain Unicode in text blocks: MathJax would have to be fetched, and there is no LaTeX here.
myst_heading_anchors = 3

autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_docstring_signature = False


def plain(app: Any, what: str, name: str, thing: object, options: Any, lines: list[str]) -> None:
    """Docstrings are plain text with code in backticks: outside of those, * and | are what they look like."""
    for index, line in enumerate(lines):
        parts = re.split(r"(``.*?``|`.*?`)", line)
        lines[index] = "".join(
            part if part.startswith("`") else re.sub(r"([*|])", r"\\\1", part) for part in parts
        )


def setup(app: Any) -> None:
    """Connect before napoleon, which adds markup of its own."""
    app.connect("autodoc-process-docstring", plain, priority=1)
