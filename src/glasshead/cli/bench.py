"""glasshead bench: what is fast on this machine."""

from pathlib import Path
from typing import Annotated

import typer

from glasshead.cli.app import BUILD_AND_TRAIN, app
from glasshead.cli.console import console, print_line
from glasshead.cli.options import Overwrite
from glasshead.cli.parsing import parse_lengths, parse_names
from glasshead.cli.progress import progress_stages
from glasshead.errors import InputError


@app.command(rich_help_panel=BUILD_AND_TRAIN)
def bench(
    what: Annotated[
        str, typer.Argument(metavar="WHAT", help="attention, training, identifiability, audit or explain.")
    ],
    lengths: Annotated[
        str | None,
        typer.Option(metavar="A,B,…", help="Tokens; else 2048 (GPU: 4096), for the others 128,512."),
    ] = None,
    mechanisms: Annotated[
        str | None, typer.Option(metavar="A,B,…", help="Only these (glasshead list mechanisms).")
    ] = None,
    kernels: Annotated[
        str | None, typer.Option(metavar="A,B,…", help="Only these; else all but slow ones of a CPU.")
    ] = None,
    masks: Annotated[
        str | None, typer.Option(metavar="A,B,…", help="none, padding, causal, window; else none.")
    ] = None,
    dtype: Annotated[
        str | None, typer.Option(help="float32 or bfloat16; else float32 (GPU: bfloat16).")
    ] = None,
    rounds: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="At least so many rounds, whatever they take.")
    ] = None,
    backward: Annotated[
        bool, typer.Option("--backward", help="Measure forward and backward passes too.")
    ] = False,
    full: Annotated[
        bool, typer.Option("--full", help="Every kernel, both ways, long texts: minutes.")
    ] = False,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    out: Annotated[Path | None, typer.Option("--out", help="A JSON file to write as well.")] = None,
    overwrite: Overwrite = False,
) -> None:
    """Measure attention on this machine: time and memory against fused softmax, error against float64.

    Or training: a step of the encoder by each mechanism against softmax, and two ways to sum heads.
    Or audit: erasure and draws from the edited layer on, against the whole model and against Captum.
    Or explain: what reads all layers against one forward and backward pass, and flows against networkx.
    Or identifiability: intervals of weights against SciPy, ranks against the forward pass, in minutes.

    Example: [bold]glasshead bench attention --lengths 1024,4096 --out results.json[/]
    """
    from glasshead.bench import BENCHMARKS, BenchRequest, as_json, machine
    from glasshead.files import check_writable, write_text

    benchmark = BENCHMARKS[what]
    request = BenchRequest(
        lengths=parse_lengths(lengths),
        mechanisms=parse_names(mechanisms) or (),
        kernels=parse_names(kernels) or (),
        masks=parse_names(masks) or (),
        dtype=dtype or "",
        rounds=rounds or 0,
        backward=backward,
        full=full,
        device=device,
    )
    settings = benchmark.settings(request)
    if out is not None:
        check_writable(out, overwrite=overwrite)
    with progress_stages("benchmark") as progress:
        results = list(benchmark.measure(settings, progress))
    if not results:
        raise InputError("none of these kernels serves these mechanisms: leave out --kernels")
    facts = machine(device)
    console.print(benchmark.table(results, facts))
    if out is not None:
        write_text(out, as_json(results, facts, settings), overwrite=overwrite)
        print_line(f"Written to {out}")
