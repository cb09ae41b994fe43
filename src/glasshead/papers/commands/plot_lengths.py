"""glasshead plot ranks, plot logits: what the length of a text leaves undetermined."""

import os
from pathlib import Path
from typing import Annotated

import typer

from glasshead.cli import (
    Data,
    FileOut,
    ModelFolder,
    Overwrite,
    Seed,
    Split,
    TableOut,
    TextColumn,
    default_out,
    file_kind,
    parse_whole_numbers,
    plots,
    progress_stages,
    write_csv,
    write_plot,
)

MAX_LENGTHS = 40
Layer = Annotated[int, typer.Option(help="The layer, counted from 0 in the order of calls.", min=0)]
Head = Annotated[int, typer.Option(help="From 0.", min=0)]


@plots.command("ranks")
def ranks(
    model: ModelFolder,
    data: Data,
    lengths: Annotated[
        str | None,
        typer.Option(metavar="A,B,…", help="Numbers of tokens, at most 40 (default: up to 3 d_v)."),
    ] = None,
    texts: Annotated[int, typer.Option(help="Texts of each length.", min=1)] = 100,
    layer: Layer = 0,
    head: Head = 0,
    split: Split = "test",
    seed: Seed = 0,
    text_column: TextColumn = None,
    out: FileOut = None,
    table: TableOut = None,
    overwrite: Overwrite = False,
) -> None:
    """Draw the rank of T = V D and the size of its left null space over the length of a text.

    Where that size is 0, the output of the head determines its weights.

    Example: [bold]glasshead plot ranks runs/mine my_reviews.csv --out ranks.svg[/]
    """
    from glasshead.identifiability import RowSelector
    from glasshead.opening import open_model
    from glasshead.papers.lengths import LengthSample, ranks_by_length, read_job_texts

    out, parsed_lengths = output_and_lengths(model, "ranks", out, table, lengths, overwrite)
    with progress_stages("ranks") as progress:
        ranks = ranks_by_length(
            *open_model(model),
            read_job_texts(data, split, text_column),
            LengthSample(parsed_lengths, texts, seed),
            RowSelector(layers=(layer,), heads=(head,)),
            progress,
        )
    write_plot(out, "ranks", ranks, overwrite)
    write_csv(table, ranks.COLUMNS, ranks.lines, overwrite)


@plots.command("logits")
def logits(
    model: ModelFolder,
    data: Data,
    lengths: Annotated[
        str | None,
        typer.Option(metavar="A,B,…", help=("Numbers of tokens, at most 40 (default: d_v + 2 to 2 d_v).")),
    ] = None,
    texts: Annotated[int, typer.Option(help="Texts of each length.", min=1)] = 10,
    draws: Annotated[int, typer.Option(help="Number of random alternatives for each text.", min=1)] = 100,
    layer: Layer = 0,
    head: Head = 0,
    split: Split = "test",
    seed: Seed = 0,
    processes: Annotated[
        int | None, typer.Option(help="Processes (default: one for each core).", min=1)
    ] = None,
    text_column: TextColumn = None,
    out: FileOut = None,
    table: TableOut = None,
    overwrite: Overwrite = False,
) -> None:
    """Draw the smallest rank of logits that other weights with the same output need, next to d_k.

    Queries and keys of size d_k cannot make weights that need more.

    Example: [bold]glasshead plot logits runs/mine my_reviews.csv --texts 5 --out logits.svg[/]
    """
    from glasshead.identifiability import RowSelector
    from glasshead.opening import open_model
    from glasshead.papers.lengths import LengthSample, logit_ranks_by_length, read_job_texts

    out, parsed_lengths = output_and_lengths(model, "logits", out, table, lengths, overwrite)
    with progress_stages("least ranks") as progress:
        ranks = logit_ranks_by_length(
            *open_model(model),
            read_job_texts(data, split, text_column),
            LengthSample(parsed_lengths, texts, seed),
            RowSelector(layers=(layer,), heads=(head,)),
            draws=draws,
            processes=processes or os.cpu_count() or 1,
            progress=progress,
        )
    write_plot(out, "logits", ranks, overwrite)
    write_csv(table, ranks.COLUMNS, ranks.lines, overwrite)


def output_and_lengths(
    model: Path, what: str, out: Path | None, table: Path | None, lengths: str | None, overwrite: bool
) -> tuple[Path, tuple[int, ...]]:
    """Where to write, and the lengths (none: the usual ones): whatever can be refused before the work
    begins."""
    from glasshead.files import check_writable

    out = default_out(model, f"{what}.svg") if out is None else out
    file_kind(out)
    for path in (out, table):
        if path is not None:
            check_writable(path, overwrite=overwrite, reads=[model])
    parsed_lengths = [] if lengths is None else parse_whole_numbers("--lengths", lengths, MAX_LENGTHS)
    return out, tuple(sorted(parsed_lengths))
