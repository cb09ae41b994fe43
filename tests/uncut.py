"""No table of a terminal cuts a number, however narrow the terminal and however long the number."""

import io
import re

from rich.cells import cell_len
from rich.console import Console

from glasshead.report import terminal_view

NUMBER = re.compile(r"[−+]?\d[\d,.·⁻⁰¹²³⁴-⁹]*")


def printed(shown, width):
    """A document, or what is printed already."""
    console = Console(file=io.StringIO(), width=width, color_system=None)
    console.print(terminal_view(shown) if isinstance(shown, list) else shown)
    return console.file.getvalue()


def assert_uncut(table, width):
    whole = set(NUMBER.findall(printed(table, 1000)))
    assert len(whole) > 3
    said = printed(table, width)
    assert max(map(cell_len, said.splitlines())) <= width
    assert whole <= set(NUMBER.findall(said))
    assert "…" not in said
