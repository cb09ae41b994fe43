"""glasshead generate: let a language model write, and read what it was written from."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from glasshead.cli.app import YOUR_MODELS, app
from glasshead.cli.console import console, print_line, print_output
from glasshead.cli.derive import options_from
from glasshead.cli.explain import read_typed_texts
from glasshead.cli.options import ExplanationFormat, Format, Overwrite
from glasshead.cli.progress import OnProgress, progress_stages
from glasshead.cli.typed_inputs import inputs_for
from glasshead.errors import InputError
from glasshead.requests import GenerateRequest

if TYPE_CHECKING:
    from glasshead.generation import WrittenWithModel
    from glasshead.results import Written

PAGE_METHODS = ("attention", "erasure-mean-embedding")


@app.command(rich_help_panel=YOUR_MODELS)
@options_from(GenerateRequest, without=("prompt",))
def generate(
    request: GenerateRequest,
    context: typer.Context,
    prompts: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PROMPT…",
            help="One or more prompts, quoted; - reads lines. For a model that reads images: an image, or "
            "several, then the text.",
        ),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "--file",
            metavar="FILE",
            help="Prompts from a file, one per line; or chats (lists of messages) from a JSON file.",
        ),
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            help="What the answer was written from, by this method (may be repeated): attention, "
            "rollout, direct, gradient, gradient-l1, gradient-l2, erasure-mean-embedding, "
            "erasure-unknown-token or erasure-all-layers (default for a page: attention and "
            "erasure-mean-embedding).",
        ),
    ] = None,
    target: Annotated[
        str,
        typer.Option(
            help="What erasure, gradients and direct explain: log-probability, probability, logit, "
            "log-odds or entropy."
        ),
    ] = "log-probability",
    intervals: Annotated[
        bool,
        typer.Option("--intervals", help="Show what else each attention weight could be (html and json)."),
    ] = False,
    format: ExplanationFormat = Format.text,
    out: Annotated[Path | None, typer.Option("--out", help="The file to write: html or json.")] = None,
    overwrite: Overwrite = False,
) -> None:
    """Let a language model write, then see the alternatives and what every token was written from.

    Example: [bold]glasshead generate my-gpt "The film was" --strategy nucleus=0.9 --out written.html[/]
    """
    from glasshead.files import check_writable, format_from_suffix, write_text
    from glasshead.generation import check_methods, check_writing, generate_texts, open_writer
    from glasshead.opening import OpenOptions
    from glasshead.report import terminal_view, written_document, written_page
    from glasshead.results import json_text

    check_writing(request)
    check_methods(method or (), target)
    kind = format.value
    if out is not None:
        check_writable(out, overwrite=overwrite, reads=[Path(request.model)])
        kind = format_from_suffix(out, *(("html", "json") if format is Format.text else [format.value]))
    # A prompt may be empty: the model begins with its own first token then.
    lines = [""] if prompts == [""] and file is None else read_typed_texts(context, prompts or [], file)
    opening = OpenOptions.of(request, dtype=request.dtype, images=True)
    chosen = list(method or (() if kind == "text" else PAGE_METHODS))
    if intervals and (kind == "text" or "attention" not in chosen):
        raise InputError("--intervals are for --method attention, in html or json: name a file with --out")
    with progress_stages(f"writing with {Path(request.model).name}") as progress:
        progress("loading")
        subject = open_writer(request.model, options=opening)
        prompts_read = inputs_for(subject, lines)
        progress("writing")
        written = generate_texts(subject, prompts_read, request)
        wanted = {"target": target, "heads": kind == "html", "intervals": intervals}
        texts = [explain_text(one, chosen, wanted, progress) for one in written]
    if kind == "text":
        for one in texts:
            console.print(terminal_view(written_document(one)))
        return
    document = written_page(texts) if kind == "html" else json_text([one.to_dict() for one in texts])
    if out is None:
        print_output(document, kind)
        return
    write_text(out, document, overwrite=overwrite)
    print_line(f"Written to {out}")


def explain_text(
    written: "WrittenWithModel", methods: Sequence[str], wanted: dict[str, Any], progress: OnProgress
) -> "Written":
    """A text with what it was written from; a page has every head, if they are not too many."""
    return written.with_maps(
        methods,
        **wanted,
        progress=lambda done, total: progress("what it was written from", done / total),
    )
