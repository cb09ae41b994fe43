"""glasshead heads: what does every head of a model do?"""

from pathlib import Path
from typing import Annotated

import typer

from glasshead.cli.app import YOUR_MODELS, app
from glasshead.cli.console import console, print_line, print_output, print_remark
from glasshead.cli.options import (
    SEEDS,
    Classes,
    ClassNames,
    Device,
    LabelColumn,
    MaxLength,
    Overwrite,
    Precision,
    Printed,
    Split,
    TextColumn,
    TrustRemoteCode,
)
from glasshead.cli.parsing import load_options, parse_labels
from glasshead.cli.progress import progress_stages


@app.command(rich_help_panel=YOUR_MODELS)
def heads(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="A folder made by glasshead train, any folder with a saved model and its tokenizer or image "
            "processor, or a Hub id; a classifier, or an encoder without one.",
        ),
    ],
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="What glasshead audit reads, with or without labels, a .txt file with a text on each line, "
            "or a .conllu or .conllu.gz file with dependency trees: "
            "then also which relations heads follow.",
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", help="The file to write: html, json, csv, parquet, svg, png or pdf.")
    ] = Path("heads.html"),
    text: Annotated[
        list[str] | None,
        typer.Option(
            "--text",
            help="Draw the maps of this text, or image file (again for more); else of the first two.",
        ),
    ] = None,
    labels: ClassNames = None,
    split: Split = None,
    limit: Annotated[
        int | None,
        typer.Option(help="Read this many random texts or images; else 50, and all sentences for relations."),
    ] = None,
    seed: Annotated[
        int, typer.Option(help="Seed of the bootstrap, the halves of sentences and --limit.", **SEEDS)
    ] = 0,
    max_length: MaxLength = None,
    text_column: TextColumn = None,
    label_column: LabelColumn = None,
    classes: Classes = None,
    trust_remote_code: TrustRemoteCode = False,
    format: Annotated[Printed, typer.Option(help="What is printed: text or json.")] = Printed.text,
    device: Device = None,
    dtype: Precision = "float64",
    overwrite: Overwrite = False,
) -> None:
    """What does every head of a model look at, how much does it matter, and which are alike?

    Example: [bold]glasshead heads my-bert my_reviews.csv --out heads.html[/]
    """
    from glasshead.audits import HeadsRequest
    from glasshead.drawable import FILES, TABLES
    from glasshead.files import check_writable, format_from_suffix
    from glasshead.opening import OpenOptions
    from glasshead.report import head_table

    check_writable(out, overwrite=overwrite, reads=[Path(model), Path(data)])
    format_from_suffix(out, *FILES, *TABLES)
    request = HeadsRequest(
        model=model,
        data=data,
        split=split,
        opening=OpenOptions(parse_labels(labels), trust_remote_code=trust_remote_code, device=device),
        dtype=dtype,
        load_options=load_options(text_column, label_column, None, classes),
        limit=limit,
        seed=seed,
        max_length=max_length,
        texts=tuple(text or ()),
    )
    with progress_stages(f"looking at the heads of {request.name}") as progress:
        progress("loading")
        from glasshead.audits import run_heads

        report = run_heads(request, progress)
    report.save(out, overwrite=overwrite)
    say = print_remark if format is Printed.json else print_line
    if format is Printed.json:
        print_output(report.to_json(), "json")
    else:
        console.print(head_table(report))
    for remark in report.remarks:
        say(remark)
    say(f"Report: {out}")
