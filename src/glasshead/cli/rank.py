"""glasshead rank: which explanation of a model should one trust?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from glasshead.cli.app import YOUR_MODELS, app
from glasshead.cli.console import console, print_line, print_output, print_remark
from glasshead.cli.derive import options_from
from glasshead.cli.interrupts import resumable_parts
from glasshead.cli.options import Overwrite, PrintOption
from glasshead.cli.progress import progress_stages
from glasshead.errors import InputError
from glasshead.requests import RankRequest

if TYPE_CHECKING:
    from glasshead.results import MethodRanking

REPORT = "report.html"
"""The page in the folder of a ranking."""


@app.command(rich_help_panel=YOUR_MODELS)
@options_from(
    RankRequest,
    limit="Ask this many random texts; else 50.",
    seed="Seed of random orders, bootstrap and --limit.",
)
def rank(
    request: RankRequest,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            help="The file to write: html, json, md, csv, parquet, svg, png or pdf; or, without an ending, a "
            "folder, which also keeps what was measured.",
        ),
    ] = Path("ranking.html"),
    format: Annotated[PrintOption, typer.Option(help="What is printed: text or json.")] = PrintOption.text,
    resume: Annotated[
        bool, typer.Option("--resume", help="Resume an unfinished ranking, or add texts to a finished one.")
    ] = False,
    overwrite: Overwrite = False,
) -> None:
    """Hold explanations of a model against each other: which lead, and which tie?

    Example: [bold]glasshead rank my-bert my_reviews.csv --methods attention,gradient --out which.html[/]
    """
    from glasshead.drawable import TABLE_FILES, VALUE_FILES
    from glasshead.files import check_writable, format_from_suffix
    from glasshead.report import ranking_document, terminal_view

    if not out.suffix:
        ranking = rank_into_folder(request, out, resume=resume, overwrite=overwrite)
        out = out / REPORT
    else:
        if resume:
            raise InputError(
                f"--resume goes on from what a folder holds, and {out.name} is a file: give --out a folder"
            )
        check_writable(out, overwrite=overwrite, reads=[Path(request.model), Path(request.data)])
        format_from_suffix(out, *VALUE_FILES, *TABLE_FILES)
        ranking = rank_with_progress(request)
        ranking.save(out, overwrite=overwrite)
    say = print_remark if format is PrintOption.json else print_line
    if format is PrintOption.json:
        print_output(ranking.to_json(), "json")
    else:
        console.print(terminal_view(ranking_document(ranking)))
    for remark in ranking.remarks:
        say(remark)
    say(f"Report: {out}")


def rank_into_folder(request: RankRequest, out: Path, *, resume: bool, overwrite: bool) -> "MethodRanking":
    """Rank, and write a folder: all numbers, the page, and what was measured, from which more texts go on."""
    from glasshead.audits import MEASUREMENTS, copy_measurements
    from glasshead.files import atomic_folder

    is_extended = resume and (out / MEASUREMENTS).exists()
    with (
        atomic_folder(
            out, overwrite=overwrite or is_extended, reads=[Path(request.model), Path(request.data)]
        ) as work,
        resumable_parts(out, resume=resume, overwrite=overwrite, work="ranking") as parts,
    ):
        ranking = rank_with_progress(request.replace(store=parts))
        copy_measurements(parts / MEASUREMENTS, work / MEASUREMENTS)
        for name in ("ranking.json", REPORT):
            ranking.save(work / name)
    return ranking


def rank_with_progress(request: RankRequest) -> "MethodRanking":
    """Rank, with a line on standard error about what is being done."""
    with progress_stages(f"ranking explanations of {request.name}") as progress:
        progress("loading")
        from glasshead.audits import run_ranking

        return run_ranking(request.replace(progress=progress))
