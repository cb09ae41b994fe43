"""glasshead compare: audits or runs side by side."""

from pathlib import Path
from typing import Annotated

import typer

from glasshead.cli.app import YOUR_MODELS, app
from glasshead.cli.console import console, print_line, print_output, print_remark
from glasshead.cli.options import SEEDS, Overwrite, PrintOption


@app.command(rich_help_panel=YOUR_MODELS)
def compare(
    folders: Annotated[
        list[Path],
        typer.Argument(
            metavar="FOLDER…", help="Two or more audits, runs, or folders of repeats, all of one kind."
        ),
    ],
    against: Annotated[
        str | None,
        typer.Option(metavar="FOLDER", help="The one to compare all others with (default: the first)."),
    ] = None,
    split: Annotated[str | None, typer.Option(help="For runs: test or dev (default: test).")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap.", **SEEDS)] = 0,
    out: Annotated[
        Path, typer.Option("--out", help="The file to write: html, json, md, svg, png or pdf.")
    ] = Path("compare.html"),
    overwrite: Overwrite = False,
    format: Annotated[PrintOption, typer.Option(help="Output format: text or json.")] = PrintOption.text,
) -> None:
    """Compare audits or runs: how do they differ, and could that be chance?

    Example: [bold]glasshead compare runs/trec-da runs/trec-vanilla --out compare.html[/]
    """
    from glasshead.audits import compare as compare_all
    from glasshead.drawable import VALUE_FILES
    from glasshead.files import check_writable, format_from_suffix
    from glasshead.report import comparison_document, terminal_view

    check_writable(out, overwrite=overwrite, reads=folders)
    format_from_suffix(out, *VALUE_FILES)
    comparison = compare_all(*folders, against=against, split=split, seed=seed)
    comparison.save(out, overwrite=overwrite)
    if format is PrintOption.json:
        print_output(comparison.to_json(), "json")
        print_remark(f"Report: {out}")
    else:
        console.print(terminal_view(comparison_document(comparison)))
        print_line(f"Report: {out}")
