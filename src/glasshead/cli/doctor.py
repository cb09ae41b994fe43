"""glasshead doctor: what would go wrong with a model, before anything runs."""

from pathlib import Path
from typing import Annotated

import typer

from glasshead.cli.app import YOUR_MODELS, app
from glasshead.cli.console import console, print_output
from glasshead.cli.options import PrintOption


@app.command(rich_help_panel=YOUR_MODELS)
def doctor(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A run, a model's folder or a Hub name.")],
    attention: Annotated[
        str | None, typer.Option(help="The mechanism to check (default: the model's own, or else softmax).")
    ] = None,
    length: Annotated[
        int | None,
        typer.Option(help="Number of tokens of a text (default: 512, or the model's maximum).", min=1),
    ] = None,
    device: Annotated[str, typer.Option(help="cpu, cuda, mps, …")] = "cpu",
    format: Annotated[PrintOption, typer.Option(help="text or json.")] = PrintOption.text,
) -> None:
    """Check a model before anything runs: which layers dispatch, which kernels they use, what would fail.

    Reads the configuration only. Exits with 1 if the model cannot be plugged or a call would fail.

    Example: [bold]glasshead doctor bert-base-uncased --attention tanhmax[/]
    """
    import json
    from dataclasses import asdict

    from glasshead.huggingface import doctor as examine
    from glasshead.report import checkup_document, terminal_view

    require_single_run(Path(model))
    report = examine(model, attention, length=length, device=device)
    fields = json.loads(json.dumps(asdict(report)))
    if format is PrintOption.json:
        document = json.dumps({**fields, "healthy": report.healthy}, ensure_ascii=False, indent=1)
        print_output(document + "\n", "json")
    else:
        console.print(terminal_view(checkup_document(fields)))
    if not report.healthy:
        raise typer.Exit(1)


def require_single_run(folder: Path) -> None:
    """Raise InputError for repeats, and for a run that is not finished, with what to name instead."""
    if folder.is_dir() and not (folder / "config.json").is_file():
        from glasshead.opening import is_run, read_record

        if is_run(folder):
            read_record(folder)
