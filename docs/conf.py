"""How the site is built: strictly, and so that it can be read without a network."""

import re
import sys
from pathlib import Path
from typing import Any

from glasshead import __version__

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "Glasshead"
author = "The Glasshead maintainers"
copyright = "The Glasshead maintainers"
release = __version__
version = release.partition("+")[0]

extensions = [
    "glossary_links",
    "generate",  # reference/cli, reference/api and reference/tables come from the code
    "myst_nb",  # MyST Markdown; pages that begin with a kernel are notebooks and are executed
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",  # MathJax is part of the site
    "sphinx_copybutton",
]
# Parts of pages: tables that scripts and registries write, and examples.
exclude_patterns = [
    "_build",
    "_ext",
    "examples/**",
    "reference/tables/**",
]
default_role = "literal"

html_theme = "furo"
html_title = f"Glasshead {version}"
html_show_sphinx = False
html_copy_source = False
html_static_path = ["_static"]
html_css_files = ["wide.css"]

myst_enable_extensions = ["amsmath", "dollarmath"]
myst_heading_anchors = 3
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 600
nb_output_stderr = "remove"  # progress bars
# The prompt and what a command prints are not copied.
copybutton_prompt_text = "$ "
copybutton_line_continuation_character = "\\"

autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_docstring_signature = False
autodoc_inherit_docstrings = False  # what Transformers says of a method is not ours to print


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
