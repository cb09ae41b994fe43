"""glasshead heads: what does every head of a model do?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from glasshead.cli.app import YOUR_MODELS, app
from glasshead.cli.derive import options_from
from glasshead.cli.measured import OutFileOrFolder, answer_into, say_answer
from glasshead.cli.options import Overwrite, PrintOption
from glasshead.cli.progress import progress_stages
from glasshead.requests import HeadsRequest

if TYPE_CHECKING:
    from glasshead.results import HeadReport


@app.command(rich_help_panel=YOUR_MODELS)
@options_from(
    HeadsRequest,
    model="A folder made by glasshead train, any folder with a saved model and its tokenizer or image "
    "processor, or a Hub id; a classifier, or an encoder without one.",
    data=(
        "What glasshead audit reads, with or without labels, a .txt file with one text per line, or a "
        ".conllu or .conllu.gz file with dependency trees, which also shows the relations that heads "
        "follow."
    ),
    limit="Read this many random texts or images (default: 50, and all sentences for relations).",
    seed="Seed of random models and maps, the bootstrap, the halves of sentences and --limit.",
)
def heads(
    request: HeadsRequest,
    out: OutFileOrFolder = Path("heads.html"),
    format: Annotated[PrintOption, typer.Option(help="Output format: text or json.")] = PrintOption.text,
    resume: Annotated[
        bool, typer.Option("--resume", help="Resume an unfinished report, or add texts to a finished one.")
    ] = False,
    overwrite: Overwrite = False,
) -> None:
    """What does every head of a model look at, how much does it matter, and which are alike?

    Example: [bold]glasshead heads my-bert my_reviews.csv --out heads.html[/]
    """
    from glasshead.report import heads_document

    report, page = answer_into(
        out, request, look_with_progress, name="heads", work="report", resume=resume, overwrite=overwrite
    )
    say_answer(report, heads_document, page, format)


def look_with_progress(request: HeadsRequest) -> "HeadReport":
    """Look at all heads, with a line on standard error about what is being done."""
    with progress_stages(f"looking at the heads of {request.name}") as progress:
        progress("loading")
        from glasshead.audits import run_heads

        return run_heads(request.replace(progress=progress))
