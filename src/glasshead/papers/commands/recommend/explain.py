"""glasshead recommend explain: which clicked news, and which words, speak for a recommendation."""

from pathlib import Path
from typing import Annotated

import typer

from glasshead.cli import (
    ExplanationFormat,
    Format,
    Overwrite,
    as_document,
    print_attribution,
    print_line,
    print_output,
    print_remark,
)
from glasshead.papers.commands.recommend.group import Logs, Run, SkipBadRows, read_usable_logs, recommend


@recommend.command()
def explain(
    run: Run,
    logs: Logs,
    impression: Annotated[
        str | None, typer.Option(metavar="ID", help="The impression (default: the first with a history).")
    ] = None,
    candidate: Annotated[
        str | None,
        typer.Option(metavar="NEWS", help=("The shown item to explain (default: the one that ranks first).")),
    ] = None,
    method: Annotated[
        str, typer.Option(help="attention, or erasure of each news item and word.")
    ] = "attention",
    titles: Annotated[
        int, typer.Option(help="How many of the clicked titles are explained word by word.", min=0)
    ] = 5,
    format: ExplanationFormat = Format.text,
    out: Annotated[
        Path | None, typer.Option("--out", help="The file to write: html, json, md, svg, png or pdf.")
    ] = None,
    skip_bad_rows: SkipBadRows = False,
    overwrite: Overwrite = False,
) -> None:
    """Explain a recommendation: by the clicked news, and by the words of their titles.

    Example: [bold]glasshead recommend explain runs/news logs/test --impression 7[/]
    """
    from glasshead.drawable import VALUE_FILES
    from glasshead.files import check_writable, format_from_suffix
    from glasshead.papers.recommend import explain_recommendation, load_recommender
    from glasshead.report import shared_scale

    if out is not None:
        check_writable(out, overwrite=overwrite, reads=[run, logs])
        format_from_suffix(out, *(VALUE_FILES if format is Format.text else [format.value]))
    loaded = load_recommender(run)
    attributions = explain_recommendation(
        loaded,
        read_usable_logs(logs, skip_bad_rows, clicks=False),
        impression=impression,
        candidate=candidate,
        method=method,  # type: ignore[arg-type]
        titles=titles,
    )
    comment = print_line if format is Format.text else print_remark  # standard output is the document's
    if out is not None:
        attributions.save(out, overwrite=overwrite)
        print_line(f"Written to {out}")
    elif format is Format.text:
        scale = shared_scale(attributions)
        for attribution in attributions:
            print_attribution(loaded.tokenizer.unk_token_id, attribution, scale)
    else:
        print_output(as_document(attributions, format), format.value)
    for remark in attributions.remarks:
        comment(remark)
