"""Which attention is read, and which texts belong together, as the command line says it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from glasshead.errors import InputError

if TYPE_CHECKING:
    from glasshead.trace import AttentionSelector

Layer = Annotated[
    str | None,
    typer.Option(metavar="N", help="Which attention of the model: its number in a pass, or its name."),
]
Head = Annotated[str | None, typer.Option(metavar="N|mean", help="Which head; else the mean of all.")]
Row = Annotated[str | None, typer.Option(help="Whose attention: first, last, mean (all tokens) or pooled.")]
Level = Annotated[str, typer.Option(help="word, or sentence where a model reads sentences.")]


def reading(layer: str | None, head: str | None, row: str | None, level: str) -> "AttentionSelector":
    """The options as one value."""
    from glasshead.trace import AttentionSelector

    if head is not None and head != "mean" and not head.isdecimal():
        raise InputError(f"--head is a number or 'mean', not {head!r}")
    return AttentionSelector(
        layer=int(layer) if layer is not None and layer.isdecimal() else layer,
        head=None if head in (None, "mean") else int(head),
        row=row,
        level=level,
    )


def texts_and_pairs(model: Any, texts: Sequence[str], pair: str | None) -> tuple[list[str], list[str] | None]:
    """The first and, if there are, the second texts: ``--pair`` with one text, or a tab in each."""
    if pair is not None:
        if len(texts) != 1:
            raise InputError("--pair goes with one text: give several pairs as 'first<TAB>second'")
        return list(texts), [pair]
    if getattr(model, "texts", 1) != 2 or not any("\t" in text for text in texts):
        return list(texts), None
    halves = [text.split("\t") for text in texts]
    for text, half in zip(texts, halves, strict=True):
        if len(half) != 2:
            raise InputError(f"a pair is 'first<TAB>second', with one tab; this is none: {text!r}")
    return [first for first, _ in halves], [second for _, second in halves]
