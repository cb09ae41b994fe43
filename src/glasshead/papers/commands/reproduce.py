"""glasshead reproduce: a paper's tables again."""

from pathlib import Path
from typing import Annotated

import typer

from glasshead.cli import (
    GpusPerTask,
    RayAddress,
    app,
    parse_names,
    print_error,
    print_line,
    print_remark,
)
from glasshead.errors import exit_code


@app.command(rich_help_panel="The papers")
def reproduce(
    paper: Annotated[
        str,
        typer.Argument(
            metavar="PAPER",
            help="s0: Huang, Yang and Wang 2024. s2: Wu, Wu and Huang 2021. s3: Bhardwaj et al. 2021. "
            "s4: Sun and Lu 2020.",
        ),
    ],
    only: Annotated[
        str | None,
        typer.Option(
            "--only", metavar="A,B,…", help="These tables, or TABLE/SET for one data set (default: all)."
        ),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option("--seeds", metavar="N", help="For every cell (default: 5, or 2 with --quick)."),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help=("Run every cell on tiny data: it takes minutes, and the numbers mean nothing.")
        ),
    ] = False,
    hours: Annotated[
        float | None,
        typer.Option(
            "--hours",
            help="Start no cell that would end later than that; 0 only writes the tables of known numbers.",
        ),
    ] = None,
    data_folder: Annotated[
        Path | None,
        typer.Option(
            "--data",
            metavar="DIR",
            envvar="GLASSHEAD_DATA",
            help=("The folder with a folder for each data set."),
        ),
    ] = None,
    rows: Annotated[
        Path | None,
        typer.Option("--rows", metavar="DIR", help="More finished rows (default: those of the project)."),
    ] = None,
    workers: Annotated[int, typer.Option("--workers", metavar="N", help="Cells at a time.")] = 1,
    ray: RayAddress = None,
    gpus_per_task: GpusPerTask = 0.0,
    held_out: Annotated[
        int,
        typer.Option(
            "--held-out", metavar="N", help=("Further seeds, compared with the interval for a new seed.")
        ),
    ] = 0,
    keep_runs: Annotated[
        bool, typer.Option("--keep-runs", help="Keep every trained model, in OUT/runs.")
    ] = False,
    out: Annotated[
        Path,
        typer.Option(
            "--out", metavar="DIR", help=("The folder for rows and tables; it grows with every call.")
        ),
    ] = Path("tables"),
) -> None:
    """Run the missing cells of a paper's tables, and write the tables as Markdown and JSON.

    Finished cells are kept, so you can kill the command and repeat it.

    Example: [bold]glasshead reproduce s2 --only table3 --quick[/]
    """
    from glasshead.cluster import Cluster
    from glasshead.papers.commands.reproduce_progress import live_progress
    from glasshead.papers.experiments import ReproduceRequest
    from glasshead.papers.experiments import reproduce as run

    request = ReproduceRequest(
        only=tuple(parse_names(only) or ()),
        seeds=seeds,
        quick=quick,
        hours=hours,
        out=out,
        data_folder=data_folder,
        rows=rows,
        workers=workers,
        held_out=held_out,
        cluster=Cluster.at(ray, gpus_per_task),
        keep_runs=keep_runs,
    )
    try:
        with live_progress() as on_change:
            result = run(paper, request, on_change)
    except KeyboardInterrupt as error:
        print_error("interrupted; finished cells are kept: repeat the command to continue")
        raise typer.Exit(exit_code(error)) from None
    for remark in result.remarks:
        print_remark(remark)
    for cell, reason in result.failures.items():
        print_remark(f"{cell}: {reason}")
    if result.waiting and hours != 0:
        print_remark(f"{result.waiting} runs did not fit into the time: repeat the command to continue")
    if result.coverage is not None:
        print_line(f"Of all tables: {result.coverage}")
    for path in result.files:
        print_line(f"Written to {path}")
    if any(not reason.startswith("the time") for reason in result.failures.values()):
        raise typer.Exit(1)
