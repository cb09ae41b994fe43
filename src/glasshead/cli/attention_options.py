"""Which attention is read, as the command line says it."""

from typing import TYPE_CHECKING, Annotated

import typer

from glasshead.errors import InputError

if TYPE_CHECKING:
    from glasshead.trace import AttentionSelector

Layer = Annotated[
    str | None,
    typer.Option(metavar="N", help="Which attention: its number in the order of the calls, or its name."),
]
Head = Annotated[
    str | None,
    typer.Option(
        metavar="N|mean|max|min|sum", help="Which head, or how the maps of all become one; else their mean."
    ),
]
Row = Annotated[
    str | None, typer.Option(help="Whose attention: first, last, mean (over all tokens) or pooled.")
]
Level = Annotated[str, typer.Option(help="word, or sentence where a model reads sentences.")]


def parse_selector(
    layer: str | None, head: str | None, row: str | None, level: str = "word"
) -> "AttentionSelector":
    """The options as one value."""
    from glasshead.trace import HEAD_COMBINATIONS, AttentionSelector

    if head is not None and head not in HEAD_COMBINATIONS and not head.isdecimal():
        raise InputError(f"--head is a number, {', '.join(HEAD_COMBINATIONS)}, not {head!r}")
    return AttentionSelector(
        layer=int(layer) if layer is not None and layer.isdecimal() else layer,
        head=int(head) if head is not None and head.isdecimal() else head,
        row=row,
        level=level,
    )
