"""Look at mechanisms, kernels and other people's models: list, bench, doctor."""

from pathlib import Path
from typing import Annotated

import typer

from glasshead.cli.app import app
from glasshead.cli.console import console, print_line, print_output
from glasshead.cli.options import Overwrite, Printed
from glasshead.cli.workflows import parse_names, progress_stages
from glasshead.errors import InputError


@app.command("list")
def list_entries(
    kind: Annotated[
        str,
        typer.Argument(
            help="activations, positions, mechanisms, kernels, explainers, audits, datasets, models, "
            "presets, penalties."
        ),
    ],
) -> None:
    """Show what there is to choose from.

    Example: [bold]glasshead list activations[/]
    """
    from rich.markup import escape
    from rich.table import Table

    from glasshead.cli.listing import list_table
    from glasshead.report import Uncut

    columns, rows = list_table(kind)
    table = Table(*columns, title=kind, title_style="bold", title_justify="left")
    table.columns[0].no_wrap = True  # a name is there to be copied
    for row in rows:
        table.add_row(*map(escape, row))
    console.print(Uncut(table))


@app.command()
def bench(
    what: Annotated[str, typer.Argument(metavar="WHAT", help="attention, training or identifiability.")],
    lengths: Annotated[
        str | None, typer.Option(metavar="A,B,…", help="Tokens; else 2048 (GPU: 4096), of others 128,512.")
    ] = None,
    mechanisms: Annotated[
        str | None, typer.Option(metavar="A,B,…", help="Only these (glasshead list mechanisms).")
    ] = None,
    kernels: Annotated[
        str | None, typer.Option(metavar="A,B,…", help="Only these; else all but slow ones of a CPU.")
    ] = None,
    backward: Annotated[bool, typer.Option("--backward", help="Forward, and forward and backward.")] = False,
    full: Annotated[
        bool, typer.Option("--full", help="Every kernel, both ways, long texts: minutes.")
    ] = False,
    device: Annotated[str, typer.Option(help="cpu (in float32) or cuda (in bfloat16).")] = "cpu",
    out: Annotated[Path | None, typer.Option("--out", help="A JSON file to write as well.")] = None,
    overwrite: Overwrite = False,
) -> None:
    """Measure attention on this machine: time and memory against fused softmax, error against float64.

    Or training: a step of the encoder by each mechanism against softmax, and two ways to add heads.
    Or identifiability: intervals of weights against SciPy, ranks against the forward pass, in minutes.

    Example: [bold]glasshead bench attention --lengths 1024,4096 --out results.json[/]
    """
    from glasshead import bench
    from glasshead.files import check_writable, write_text

    benchmark = bench.BENCHMARKS[what]
    given = [parse_names(names) for names in (lengths, mechanisms, kernels)]
    settings = benchmark.settings(*given, backward=backward, full=full, device=device)
    if out is not None:
        check_writable(out, overwrite=overwrite)
    with progress_stages("benchmark") as progress:
        results = list(benchmark.measure(settings, progress))
    if not results:
        raise InputError("none of these kernels serves these mechanisms: leave out --kernels")
    facts = bench.machine(device)
    console.print(benchmark.table(results, facts))
    if out is not None:
        write_text(out, bench.as_json(results, facts, settings), overwrite=overwrite)
        print_line(f"Written to {out}")


@app.command()
def doctor(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A run, a model's folder or a Hub name.")],
    attention: Annotated[
        str | None, typer.Option(help="The mechanism to ask about; else the model's own, else softmax.")
    ] = None,
    length: Annotated[
        int | None, typer.Option(help="Tokens of a text; else 512, or as many as the model reads.", min=1)
    ] = None,
    device: Annotated[str, typer.Option(help="cpu, cuda, mps, …")] = "cpu",
    format: Annotated[Printed, typer.Option(help="text or json.")] = Printed.text,
) -> None:
    """Look a model over before anything runs: what dispatches, what serves, what goes wrong.

    Reads the configuration only. Exits with 1 if the model cannot be plugged or a call would fail.

    Example: [bold]glasshead doctor bert-base-uncased --attention tanhmax[/]
    """
    import json
    from dataclasses import asdict

    from glasshead.huggingface import doctor as look_over
    from glasshead.report import checkup_table

    folder = Path(model)
    if folder.is_dir() and not (folder / "config.json").is_file():
        from glasshead.training import is_run, read_record

        if is_run(folder):
            read_record(folder)  # says of repeats, and of a run that is not finished, what to name
    checkup = look_over(model, attention, length=length, device=device)
    found = json.loads(json.dumps(asdict(checkup)))
    if format is Printed.json:
        print_output(
            json.dumps({**found, "healthy": checkup.healthy}, ensure_ascii=False, indent=1) + "\n", "json"
        )
    else:
        console.print(checkup_table(found))
    if not checkup.healthy:
        raise typer.Exit(1)
