"""glasshead cite: which passage did the answer come from?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from glasshead.cli.app import YOUR_MODELS, app
from glasshead.cli.console import console, print_line, print_output
from glasshead.cli.derive import options_from
from glasshead.cli.options import ExplanationFormat, Format, Overwrite
from glasshead.cli.progress import progress_stages
from glasshead.errors import InputError, pluralise
from glasshead.requests import CiteRequest

if TYPE_CHECKING:
    from glasshead.results import Cited


@app.command(rich_help_panel=YOUR_MODELS)
@options_from(CiteRequest, without=("context",), question="The question.")
def cite(
    request: CiteRequest,
    context: Annotated[
        list[Path] | None,
        typer.Option(
            "--context",
            metavar="PATH",
            help="The passages (several times for several): a text file, a folder of text files, or a json, "
            "jsonl or csv file of passages with titles and links, as retrievers return them.",
        ),
    ] = None,
    format: ExplanationFormat = Format.text,
    out: Annotated[
        Path | None, typer.Option("--out", help="The file to write: html, json, md, csv or parquet.")
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Which passages did an answer come from, and how sure is that?

    Example: [bold]glasshead cite my-llm "Who wrote it?" --context docs/ --out cited.html[/]
    """
    from glasshead.drawable import TABLE_FILES
    from glasshead.files import check_writable, format_from_suffix
    from glasshead.report import cited_document, cited_page, terminal_view

    if not context:
        raise InputError("no passages: give --context a file or a folder, several times for several")
    if out is not None:
        check_writable(out, overwrite=overwrite, reads=[Path(request.model), *context])
        format_from_suffix(
            out, *(("html", "json", "md", *TABLE_FILES) if format is Format.text else [format.value])
        )
    found = cite_with_progress(request, context)
    if out is not None:
        found.save(out, overwrite=overwrite)
        print_line(f"{found.whole.says[0]}. Written to {out}")
    elif format is Format.text:
        console.print(terminal_view(cited_document(found)))
    elif format is Format.json:
        print_output(found.to_json(), "json")
    else:
        print_output(cited_page(found), "html")


def cite_with_progress(request: CiteRequest, context: list[Path]) -> "Cited":
    """Cite, with a line on standard error about what is being done."""
    from glasshead.sources import read_passages, run_citing

    passages = read_passages(context, request.split)
    with progress_stages(f"{request.name}, {pluralise(len(passages), 'passage')}") as progress:
        return run_citing(request.replace(context=passages, split="whole", progress=progress))
