"""glasshead plot dynamics, plot ratios: how attention developed in trainings that were recorded."""

from pathlib import Path
from typing import Annotated

import typer

from glasshead.cli import (
    PAGE,
    FileOrPageOut,
    Overwrite,
    RunFolder,
    default_out,
    file_kind,
    plots,
    print_line,
    write_plot,
)
from glasshead.errors import InputError
from glasshead.papers.commands.history_options import Step, TrainingData, open_history, split_tokens
from glasshead.registry import did_you_mean


@plots.command("dynamics")
def dynamics(
    run: RunFolder,
    data: TrainingData = None,
    what: Annotated[
        str,
        typer.Option(
            help="polarity, scores, weights, training, coupling, norms, products, boxes, product-rates, "
            "terms, ledger, tokens, scatter, contexts, or layers."
        ),
    ] = "scores",
    token: Annotated[
        list[str] | None,
        typer.Option(
            help=(
                "For ledger, tokens, scatter, contexts: a token, may be repeated (default: a ledger of "
                "every group)."
            )
        ),
    ] = None,
    step: Step = None,
    out: FileOrPageOut = None,
    overwrite: Overwrite = False,
) -> None:
    """Draw how attention developed in a training that was recorded (train --watch dynamics).

    Example: [bold]glasshead plot dynamics runs/dyn --what ledger --token superb --out ledger.png[/]
    """
    from glasshead.files import check_writable
    from glasshead.papers.dynamics import reads_context
    from glasshead.papers.report import unique_tokens
    from glasshead.papers.results import History
    from glasshead.report import PLOTS, PlotOptions, plots_of

    plots_by_name = plots_of(History)
    if what not in plots_by_name:
        raise InputError(f"unknown plot {what!r}: {did_you_mean(what, plots_by_name)}")
    tokens, chosen_plot = unique_tokens(token or (), "--token"), PLOTS[what]
    if tokens and chosen_plot.tokens == "no":
        names = ", ".join(name for name, plot in plots_by_name.items() if plot.tokens != "no")
        raise InputError(f"--token is for {names}, not for {what}: leave it out")
    if chosen_plot.tokens == "required" and not tokens:
        raise InputError(f"--what {what} draws chosen tokens: name one with --token")
    if step is not None and not chosen_plot.at_step:
        names = " and ".join(name for name, plot in plots_by_name.items() if plot.at_step)
        raise InputError(f"--step is for {names}, not for {what}: leave it out")
    out = default_out(run, f"{what}.svg") if out is None else out
    file_kind(out, PAGE)
    check_writable(out, overwrite=overwrite, reads=[run])
    loaded = open_history(run, data, contexts=what == "contexts")
    loaded.history.nearest(step)  # before the work
    if what == "contexts" and reads_context(loaded.history) and not loaded.history.contexts:
        raise InputError(loaded.remarks[-1])
    followed, remarks = split_tokens(run, loaded.history, tokens)
    if remarks:
        raise InputError(remarks[0])
    write_plot(out, what, loaded.history, overwrite, PlotOptions(tuple(followed), step))


@plots.command("ratios")
def ratios(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN…", help="Runs trained with --watch dynamics, or their repeats, of several ratios."
        ),
    ],
    step: Step = None,
    out: FileOrPageOut = None,
    overwrite: Overwrite = False,
) -> None:
    """Draw VᵀW of recorded trainings against the ratio of positive to negative texts.

    Example: [bold]glasshead plot ratios runs/half runs/even runs/double --out ratios.svg[/]
    """
    from glasshead.files import check_writable
    from glasshead.papers.dynamics import coupling_by_ratio
    from glasshead.papers.report import ratio_lines

    out = Path("ratios.svg") if out is None else out
    file_kind(out, PAGE)
    check_writable(out, overwrite=overwrite, reads=runs)
    coupling = coupling_by_ratio(runs, step)
    write_plot(out, "ratios", coupling, overwrite)
    for line in ratio_lines(coupling):
        print_line(line)
