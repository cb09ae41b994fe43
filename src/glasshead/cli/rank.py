"""glasshead rank: which explanation of a model should one trust?"""

from pathlib import Path
from typing import Annotated

import typer

from glasshead.cli.app import YOUR_MODELS, app
from glasshead.cli.attention_options import Head, Layer, Row, parse_selector
from glasshead.cli.console import console, print_line, print_output, print_remark
from glasshead.cli.options import (
    SEEDS,
    Classes,
    ClassNames,
    Data,
    Device,
    LabelColumn,
    MarksColumn,
    MaxLength,
    ModelName,
    Overwrite,
    Precision,
    Printed,
    Split,
    TextColumn,
    TrainData,
    TrustRemoteCode,
)
from glasshead.cli.parsing import load_options, parse_labels, parse_names
from glasshead.cli.progress import progress_stages


@app.command(rich_help_panel=YOUR_MODELS)
def rank(
    model: ModelName,
    data: Data,
    methods: Annotated[
        str, typer.Option(metavar="A,B,…", help="Explanations to compare (glasshead list explainers).")
    ] = "attention,gradient,erasure",
    out: Annotated[
        Path, typer.Option("--out", help="The file to write: html, json, csv, parquet, svg, png or pdf.")
    ] = Path("ranking.html"),
    removals: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,…",
            help="Meanings of deleting a word (glasshead list removals); else all that the model allows.",
        ),
    ] = None,
    statistic: Annotated[
        str,
        typer.Option(
            help="What the conclusion rests on: comprehensiveness, sufficiency, deletion or insertion."
        ),
    ] = "comprehensiveness",
    train: TrainData = None,
    labels: ClassNames = None,
    split: Split = None,
    limit: Annotated[int | None, typer.Option(help="Ask this many random texts; else 50.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of random orders, bootstrap and --limit.", **SEEDS)] = 0,
    max_length: MaxLength = None,
    layer: Layer = None,
    head: Head = None,
    row: Row = None,
    text_column: TextColumn = None,
    label_column: LabelColumn = None,
    marks_column: MarksColumn = None,
    classes: Classes = None,
    trust_remote_code: TrustRemoteCode = False,
    format: Annotated[Printed, typer.Option(help="What is printed: text or json.")] = Printed.text,
    device: Device = None,
    dtype: Precision = "float64",
    overwrite: Overwrite = False,
) -> None:
    """Hold explanations of a model against each other: which lead, and which tie?

    Example: [bold]glasshead rank my-bert my_reviews.csv --methods attention,gradient --out which.html[/]
    """
    from glasshead.audits import RankRequest
    from glasshead.drawable import FILES, TABLES
    from glasshead.files import check_writable, format_from_suffix
    from glasshead.opening import OpenOptions
    from glasshead.report import method_table

    check_writable(out, overwrite=overwrite, reads=[Path(model), Path(data)])
    format_from_suffix(out, *FILES, *TABLES)
    request = RankRequest(
        model=model,
        data=data,
        split=split,
        train=train,
        opening=OpenOptions(parse_labels(labels), trust_remote_code=trust_remote_code, device=device),
        dtype=dtype,
        load_options=load_options(text_column, label_column, marks_column, classes),
        limit=limit,
        seed=seed,
        max_length=max_length,
        attention_selector=parse_selector(layer, head, row),
        methods=parse_names(methods) or (),
        removals=parse_names(removals),
        statistic=statistic,
    )
    with progress_stages(f"ranking explanations of {request.name}") as progress:
        progress("loading")
        from glasshead.audits import run_ranking

        ranking = run_ranking(request, progress)
    ranking.save(out, overwrite=overwrite)
    say = print_remark if format is Printed.json else print_line
    if format is Printed.json:
        print_output(ranking.to_json(), "json")
    else:
        console.print(method_table(ranking))
    for remark in ranking.remarks:
        say(remark)
    say(f"Report: {out}")
