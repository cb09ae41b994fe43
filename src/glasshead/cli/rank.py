"""glasshead rank: which explanation of a model should one trust?"""

from pathlib import Path
from typing import Annotated

import typer

from glasshead.cli.app import YOUR_MODELS, app
from glasshead.cli.console import console, print_line, print_output, print_remark
from glasshead.cli.derive import options_from
from glasshead.cli.options import Overwrite, PrintOption
from glasshead.cli.progress import progress_stages
from glasshead.requests import RankRequest


@app.command(rich_help_panel=YOUR_MODELS)
@options_from(
    RankRequest,
    limit="Ask this many random texts; else 50.",
    seed="Seed of random orders, bootstrap and --limit.",
)
def rank(
    request: RankRequest,
    out: Annotated[
        Path, typer.Option("--out", help="The file to write: html, json, md, csv, parquet, svg, png or pdf.")
    ] = Path("ranking.html"),
    format: Annotated[PrintOption, typer.Option(help="What is printed: text or json.")] = PrintOption.text,
    overwrite: Overwrite = False,
) -> None:
    """Hold explanations of a model against each other: which lead, and which tie?

    Example: [bold]glasshead rank my-bert my_reviews.csv --methods attention,gradient --out which.html[/]
    """
    from glasshead.drawable import TABLE_FILES, VALUE_FILES
    from glasshead.files import check_writable, format_from_suffix
    from glasshead.report import ranking_document, terminal_view

    check_writable(out, overwrite=overwrite, reads=[Path(request.model), Path(request.data)])
    format_from_suffix(out, *VALUE_FILES, *TABLE_FILES)
    with progress_stages(f"ranking explanations of {request.name}") as progress:
        progress("loading")
        from glasshead.audits import run_ranking

        ranking = run_ranking(request.replace(progress=progress))
    ranking.save(out, overwrite=overwrite)
    say = print_remark if format is PrintOption.json else print_line
    if format is PrintOption.json:
        print_output(ranking.to_json(), "json")
    else:
        console.print(terminal_view(ranking_document(ranking)))
    for remark in ranking.remarks:
        say(remark)
    say(f"Report: {out}")
