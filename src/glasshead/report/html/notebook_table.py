"""A table for a notebook, with its styles on each element: nothing leaks."""

from collections.abc import Sequence

from markupsafe import Markup

from glasshead.escaping import visible

BOX = "font-family:system-ui,sans-serif;font-size:14px;line-height:1.9;max-width:644px;margin:.4em 0 .9em"
WIDE = f"{BOX};max-width:900px"
QUIET = "opacity:.72;font-size:12px;line-height:1.5"
CELL = "padding:.25em .9em .25em 0;vertical-align:top;border-top:1px solid rgba(127,127,127,.35)"
WORDS, NUMBERS = "text-align:left;min-width:9em", "text-align:right;white-space:nowrap"


def notebook_table(head: Sequence[str], rows: Sequence[Sequence[str]], words: Sequence[int]) -> Markup:
    """A table whose columns are numbers, but for those of ``words``."""

    def line(cells: Sequence[str]) -> Markup:
        cell = Markup('<td style="{};{}">{}</td>')
        return Markup("<tr>{}</tr>").format(
            Markup("").join(
                cell.format(CELL, WORDS if column in words else NUMBERS, visible(text))
                for column, text in enumerate(cells)
            )
        )

    return Markup(
        '<table style="border-collapse:collapse;font-size:13px;line-height:1.45">{}</table>'
    ).format(Markup("").join(map(line, (head, *rows))))


def quiet_line(words: str) -> Markup:
    """A sentence in small print."""
    return Markup('<div style="{}">{}</div>').format(QUIET, visible(words))
