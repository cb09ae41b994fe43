"""glasshead lens: what would each layer predict, and what does each head add to the prediction?"""

from pathlib import Path
from typing import Annotated

import typer

from glasshead.cli.app import YOUR_MODELS, app
from glasshead.cli.console import console, print_line, print_output
from glasshead.cli.derive import options_from
from glasshead.cli.options import ExplanationFormat, Format, Overwrite
from glasshead.cli.progress import progress_stages
from glasshead.requests import InsideViewRequest


@app.command(rich_help_panel=YOUR_MODELS)
@options_from(InsideViewRequest)
def lens(
    request: InsideViewRequest,
    format: ExplanationFormat = Format.text,
    out: Annotated[
        Path | None, typer.Option("--out", help="The file to write: html, json, svg, png or pdf.")
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """What would each layer of a model predict, and what does each head and MLP add to a logit?

    Example: [bold]glasshead lens my-gpt "The film was not" --target " good" --out inside.html[/]
    """
    from glasshead.drawable import IMAGE_FILES
    from glasshead.files import check_writable, format_from_suffix, write_text
    from glasshead.inside import look_inside
    from glasshead.report import inside_figure, inside_page, lens_document, logit_document, terminal_view
    from glasshead.results import json_text

    kind = format.value
    allowed = ("html", "json", *IMAGE_FILES) if format is Format.text else (format.value,)
    if out is not None:
        check_writable(out, overwrite=overwrite, reads=[Path(request.model)])
        kind = format_from_suffix(out, *allowed)
    with progress_stages(f"looking inside {Path(request.model).name}") as progress:
        progress("one pass, and one gradient")
        layers, found = look_inside(request)
    if kind == "text":
        console.print(terminal_view([*logit_document(found), *lens_document(layers)]))
        return
    if out is not None and kind in IMAGE_FILES:
        inside_figure(layers, found).save(out, overwrite=overwrite)
        print_line(f"Written to {out}")
        return
    if kind == "html":
        document = inside_page(layers, found)
    else:
        document = json_text({"logit": found.to_dict(), "lens": vars(layers)})
    if out is None:
        print_output(document, kind)
        return
    write_text(out, document, overwrite=overwrite)
    print_line(f"Written to {out}")
