"""glasshead plot minima: token classifiers side by side, and the loss around and between them."""

from pathlib import Path
from typing import Annotated

import typer

from glasshead.cli import JSON, PAGE, Overwrite, Seed, file_kind, plots, print_line, write_plot


@plots.command("minima")
def minima(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN…", help="Runs of --model token-classifier on one data set."),
    ],
    text: Annotated[
        str | None, typer.Option(help="The text whose maps are drawn (default: the first of the test split).")
    ] = None,
    texts: Annotated[
        int,
        typer.Option(
            help="How many training texts to use for the Hessian and for the loss on lines between runs.",
            min=2,
        ),
    ] = 500,
    seed: Seed = 0,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", help="The file to write: .png, .svg, .pdf, .html or .json.", show_default=False
        ),
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Draw what several trained models attend to, what their scores depend on, and the loss between them.

    Example: [bold]glasshead plot minima runs/positional runs/semantic --out minima.svg[/]
    """
    from glasshead.files import check_writable, write_text
    from glasshead.papers.minima import compare_minima
    from glasshead.papers.report import minimum_lines

    out = Path("minima.svg") if out is None else out
    kind = file_kind(out, PAGE, JSON)
    check_writable(out, overwrite=overwrite, reads=runs)
    compared = compare_minima(runs, text, limit=texts, seed=seed)
    for line in minimum_lines(compared):
        print_line(line)
    if kind == JSON:
        write_text(out, compared.to_json(), overwrite=overwrite)
        print_line(f"Written to {out}")
    else:
        write_plot(out, "minima", compared, overwrite)
