"""glasshead patch: which heads, or places of the stream, carry what tells two texts apart?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from glasshead.cli.app import YOUR_MODELS, app
from glasshead.cli.derive import options_from
from glasshead.cli.measured import say_answer
from glasshead.cli.options import Overwrite, PrintOption
from glasshead.cli.progress import progress_stages
from glasshead.requests import PatchRequest

if TYPE_CHECKING:
    from glasshead.results import Patching


@app.command(rich_help_panel=YOUR_MODELS)
@options_from(PatchRequest)
def patch(
    request: PatchRequest,
    out: Annotated[
        Path, typer.Option("--out", help="The file to write: html, json, md, svg, png, pdf, csv or parquet.")
    ] = Path("patching.html"),
    format: Annotated[PrintOption, typer.Option(help="Output format: text or json.")] = PrintOption.text,
    overwrite: Overwrite = False,
) -> None:
    """Put activations of one text into the run of another: which of them carry the answer?

    Example: [bold]glasshead patch my-gpt pairs.csv --sites heads --out patching.html[/]
    """
    from glasshead.drawable import TABLE_FILES, VALUE_FILES
    from glasshead.files import check_writable, format_from_suffix
    from glasshead.report import patching_document

    check_writable(out, overwrite=overwrite, reads=[Path(request.model), Path(request.pairs)])
    format_from_suffix(out, *VALUE_FILES, *TABLE_FILES)
    found = patch_with_progress(request)
    found.save(out, overwrite=overwrite)
    say_answer(found, patching_document, out, format)


def patch_with_progress(request: PatchRequest) -> "Patching":
    """Patch, with a line on standard error about what is being done."""
    with progress_stages(f"patching {request.name}") as progress:
        progress("loading")
        from glasshead.inside import run_patching

        return run_patching(request.replace(progress=progress))
