"""glasshead plot collapse: how fast depth makes all tokens alike."""

from pathlib import Path
from typing import Annotated

import typer

from glasshead.cli import (
    JSON,
    Overwrite,
    Seed,
    Split,
    TableOut,
    TextColumn,
    default_out,
    file_kind,
    plots,
    print_line,
    progress_stages,
    write_csv,
    write_plot,
)
from glasshead.errors import InputError


@plots.command("collapse")
def collapse(
    model: Annotated[
        Path | None,
        typer.Argument(metavar="MODEL", help="A run, or a saved model (default: only random weights)."),
    ] = None,
    data: Annotated[str | None, typer.Argument(metavar="DATA", help="Texts that the model reads.")] = None,
    attention: Annotated[
        str | None,
        typer.Option(metavar="A,B,…", help="Mechanisms with random weights (default: all activations)."),
    ] = None,
    texts: Annotated[int, typer.Option(help="Texts that the model reads.", min=1)] = 16,
    seeds: Annotated[int, typer.Option(help="Random models of the same configuration.", min=1)] = 5,
    split: Split = "test",
    seed: Seed = 0,
    text_column: TextColumn = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="The file to write: .png, .svg, .pdf or .json.", show_default=False),
    ] = None,
    table: TableOut = None,
    overwrite: Overwrite = False,
) -> None:
    """Draw how fast depth makes all tokens alike: attention alone, with skips, and the whole layer.

    Trained and random weights of a model, and mechanisms with Gaussian weights, with the rank of log |A|.

    Example: [bold]glasshead plot collapse runs/mine my_reviews.csv --out collapse.svg[/]
    """
    from glasshead.attention import ACTIVATIONS
    from glasshead.files import check_writable, write_text
    from glasshead.opening import open_model
    from glasshead.papers.collapse import CollapseSample, rank_collapse, read_sample

    if (model is None) != (data is None):
        raise InputError("give both a model and its data, or neither")
    out = out or (Path("collapse.svg") if model is None else default_out(model, "collapse.svg"))
    file_kind(out, JSON)
    for path in (out, table):
        if path is not None:
            check_writable(path, overwrite=overwrite, reads=[] if model is None else [model])
    mechanisms = list(ACTIVATIONS) if attention is None else attention.split(",")
    sample = None
    if model is not None and data is not None:
        read = read_sample(data, split, texts, text_column=text_column, seed=seed)
        sample = CollapseSample(model.resolve().name, *open_model(model), *read)
    with progress_stages("depth") as progress:
        value = rank_collapse(sample, mechanisms, seeds=seeds, progress=progress)
    if out.suffix == f".{JSON}":
        write_text(out, value.to_json(), overwrite=overwrite)
        print_line(f"Written to {out}")
    else:
        write_plot(out, "collapse", value, overwrite)
    write_csv(table, value.COLUMNS, value.lines, overwrite)
    for remark in value.remarks:
        print_line(remark)
