"""glasshead plot merges: how words become tokens, pair by pair."""

from pathlib import Path
from typing import Annotated

import typer

from glasshead.cli import PAGE, Overwrite, file_kind, plots, print_line, write_plot
from glasshead.errors import InputError

TEXT_KIND = "txt"


@plots.command("merges")
def merges(
    words: Annotated[
        list[str] | None, typer.Argument(metavar="WORD…", help="Words; repeat one to count it twice.")
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(exists=True, dir_okay=False, help="A text instead of words."),
    ] = None,
    merges: Annotated[int, typer.Option(help="How many pairs become tokens.", min=1, max=10_000)] = 10,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="The file to write: .png, .svg, .pdf, .html or .txt.", show_default=False),
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Draw byte pair encoding step by step: which pair is merged, its count, and the words afterwards.

    Example: [bold]glasshead plot merges low login --merges 4 --out merges.svg[/]
    """
    from glasshead.data import read_text
    from glasshead.files import check_writable, write_text
    from glasshead.papers.merges import byte_pair_merges

    if bool(words) == (file is not None):
        raise InputError("give words, or a text with --file")
    out = Path("merges.svg") if out is None else out
    kind = file_kind(out, PAGE, TEXT_KIND)
    check_writable(out, overwrite=overwrite, reads=[] if file is None else [file])
    split = [word for text in words or () for word in text.split()]
    trace = byte_pair_merges(split if file is None else read_text(file).split(), merges)
    if file is None:
        for line in trace.lines:
            print_line(line)
    if kind == TEXT_KIND:
        write_text(out, "\n".join(trace.lines) + "\n", overwrite=overwrite)
        print_line(f"Written to {out}")
    else:
        write_plot(out, "merges", trace, overwrite)
