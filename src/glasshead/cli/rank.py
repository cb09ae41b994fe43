"""glasshead rank: which explanation of a model should one trust?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from glasshead.cli.app import YOUR_MODELS, app
from glasshead.cli.derive import options_from
from glasshead.cli.measured import OutFileOrFolder, answer_into, say_answer
from glasshead.cli.options import Overwrite, PrintOption
from glasshead.cli.progress import progress_stages
from glasshead.requests import RankRequest

if TYPE_CHECKING:
    from glasshead.results import MethodRanking


@app.command(rich_help_panel=YOUR_MODELS)
@options_from(
    RankRequest,
    limit="Use this many random texts (default: 50).",
    seed="Seed of random orders, bootstrap and --limit.",
)
def rank(
    request: RankRequest,
    out: OutFileOrFolder = Path("ranking.html"),
    format: Annotated[PrintOption, typer.Option(help="Output format: text or json.")] = PrintOption.text,
    resume: Annotated[
        bool, typer.Option("--resume", help="Resume an unfinished ranking, or add texts to a finished one.")
    ] = False,
    overwrite: Overwrite = False,
) -> None:
    """Compare explanation methods for a model: which lead, and which tie?

    Example: [bold]glasshead rank my-bert my_reviews.csv --methods attention,gradient --out which.html[/]
    """
    from glasshead.report import ranking_document

    ranking, page = answer_into(
        out, request, rank_with_progress, name="ranking", work="ranking", resume=resume, overwrite=overwrite
    )
    say_answer(ranking, ranking_document, page, format)


def rank_with_progress(request: RankRequest) -> "MethodRanking":
    """Rank, with a line on standard error about what is being done."""
    with progress_stages(f"ranking explanations of {request.name}") as progress:
        progress("loading")
        from glasshead.audits import run_ranking

        return run_ranking(request.replace(progress=progress))
