"""glasshead heads: what does every head of a model do?"""

from pathlib import Path
from typing import Annotated

import typer

from glasshead.cli.app import YOUR_MODELS, app
from glasshead.cli.console import console, print_line, print_output, print_remark
from glasshead.cli.derive import options_from
from glasshead.cli.options import Overwrite, PrintOption
from glasshead.cli.progress import progress_stages
from glasshead.requests import HeadsRequest


@app.command(rich_help_panel=YOUR_MODELS)
@options_from(
    HeadsRequest,
    model="A folder made by glasshead train, any folder with a saved model and its tokenizer or image "
    "processor, or a Hub id; a classifier, or an encoder without one.",
    data="What glasshead audit reads, with or without labels, a .txt file with a text on each line, or a "
    ".conllu or .conllu.gz file with dependency trees: then also which relations heads follow.",
    limit="Read this many random texts or images; else 50, and all sentences for relations.",
    seed="Seed of the bootstrap, the halves of sentences and --limit.",
)
def heads(
    request: HeadsRequest,
    out: Annotated[
        Path, typer.Option("--out", help="The file to write: html, json, md, csv, parquet, svg, png or pdf.")
    ] = Path("heads.html"),
    format: Annotated[PrintOption, typer.Option(help="What is printed: text or json.")] = PrintOption.text,
    overwrite: Overwrite = False,
) -> None:
    """What does every head of a model look at, how much does it matter, and which are alike?

    Example: [bold]glasshead heads my-bert my_reviews.csv --out heads.html[/]
    """
    from glasshead.drawable import TABLE_FILES, VALUE_FILES
    from glasshead.files import check_writable, format_from_suffix
    from glasshead.report import heads_document, terminal_view

    check_writable(out, overwrite=overwrite, reads=[Path(request.model), Path(request.data)])
    format_from_suffix(out, *VALUE_FILES, *TABLE_FILES)
    with progress_stages(f"looking at the heads of {request.name}") as progress:
        progress("loading")
        from glasshead.audits import run_heads

        report = run_heads(request.replace(progress=progress))
    report.save(out, overwrite=overwrite)
    say = print_remark if format is PrintOption.json else print_line
    if format is PrintOption.json:
        print_output(report.to_json(), "json")
    else:
        console.print(terminal_view(heads_document(report)))
    for remark in report.remarks:
        say(remark)
    say(f"Report: {out}")
