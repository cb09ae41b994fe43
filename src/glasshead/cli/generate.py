"""glasshead generate: let a language model write, and read what it was written from."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from glasshead.cli.app import YOUR_MODELS, app
from glasshead.cli.console import console, print_line, print_output
from glasshead.cli.explain import read_texts
from glasshead.cli.options import SEEDS, Device, Dtype, ExplanationFormat, Format, Overwrite, TrustRemoteCode
from glasshead.cli.progress import OnProgress, progress_stages
from glasshead.errors import InputError

if TYPE_CHECKING:
    from glasshead.generation import WrittenWithModel
    from glasshead.results import Written

PAGE_METHODS = ("attention", "erasure")


@app.command(rich_help_panel=YOUR_MODELS)
def generate(
    context: typer.Context,
    model: Annotated[
        str,
        typer.Argument(metavar="MODEL", help="A folder with a saved language model, or a Hub id."),
    ],
    prompts: Annotated[
        list[str] | None,
        typer.Argument(metavar="PROMPT…", help="One or more prompts, quoted; - reads lines."),
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--file", metavar="FILE", help="Prompts from a file, one to a line.")
    ] = None,
    tokens: Annotated[int, typer.Option(help="How many tokens are written at most.")] = 20,
    strategy: Annotated[
        str | None,
        typer.Option(
            help="How a token is chosen: greedy, sample, top-k=40, temperature=0.7, nucleus=0.9, beam=4 "
            "(glasshead list strategies); joined by +, as in temperature=0.7+top-k=40 "
            "(default: the model's own generation configuration, else greedy)."
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(**SEEDS, help="Of what is drawn; else one is drawn, and said.")
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            help="What the answer was written from, by this method (several times for several); of a page: "
            "attention and erasure.",
        ),
    ] = None,
    target: Annotated[
        str,
        typer.Option(
            help="What erasure and gradients explain of each token: log-probability, probability, logit, "
            "log-odds or entropy."
        ),
    ] = "log-probability",
    intervals: Annotated[
        bool,
        typer.Option("--intervals", help="What else each attention weight could be: of html and json."),
    ] = False,
    alternatives: Annotated[int, typer.Option(help="How many tokens are named at each place.")] = 5,
    trust_remote_code: TrustRemoteCode = False,
    device: Device = None,
    dtype: Dtype = None,
    format: ExplanationFormat = Format.text,
    out: Annotated[Path | None, typer.Option("--out", help="The file to write: html or json.")] = None,
    overwrite: Overwrite = False,
) -> None:
    """Let a language model write, then see what it chose from and what every token was written from.

    Example: [bold]glasshead generate my-gpt "The film was" --strategy nucleus=0.9 --out written.html[/]
    """
    from glasshead.files import check_writable, format_from_suffix, write_text
    from glasshead.generation import GenerateRequest, check_methods, generate_texts, open_writer
    from glasshead.opening import OpenOptions
    from glasshead.report import written_page, written_table
    from glasshead.results import json_text

    request = GenerateRequest(strategy, tokens, seed, alternatives)
    check_methods(method or (), target)
    kind = format.value
    if out is not None:
        check_writable(out, overwrite=overwrite, reads=[Path(model)])
        kind = format_from_suffix(out, *(("html", "json") if format is Format.text else [format.value]))
    # A prompt may be empty: the model begins with its own first token then.
    lines = [""] if prompts == [""] and file is None else read_texts(context, prompts or [], file)
    opening = OpenOptions(trust_remote_code=trust_remote_code, device=device, dtype=dtype)
    chosen = list(method or (() if kind == "text" else PAGE_METHODS))
    if intervals and (kind == "text" or "attention" not in chosen):
        raise InputError("--intervals are those of --method attention, in html or json: name a file by --out")
    with progress_stages(f"writing with {Path(model).name}") as progress:
        progress("loading")
        subject = open_writer(model, options=opening)
        progress("writing")
        written = generate_texts(subject, lines, request)
        wanted = {"target": target, "heads": kind == "html", "intervals": intervals}
        texts = [explain_text(one, chosen, wanted, progress) for one in written]
    if kind == "text":
        for one in texts:
            console.print(written_table(one))
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
