"""glasshead dynamics: when and why tokens got their attention."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from glasshead.cli import Overwrite, RunFolder, app, console, default_out, parse_names, print_line
from glasshead.papers.commands.dynamics_remarks import history_remarks, not_recorded_remark
from glasshead.papers.commands.history_options import Step, TrainingData, open_history, split_tokens

if TYPE_CHECKING:
    from glasshead.papers.report import DynamicsSummary


@app.command(rich_help_panel="The papers")
def dynamics(
    run: RunFolder,
    data: TrainingData = None,
    tokens: Annotated[
        str | None, typer.Option(metavar="A,B,…", help="Tokens to show one by one, at most 8.")
    ] = None,
    step: Step = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="The html file to write.", show_default="RUN-dynamics.html"),
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Show how attention developed during training: when and why tokens got their scores.

    Example: [bold]glasshead dynamics runs/dyn --tokens superb,dreary --out dynamics.html[/]
    """
    from glasshead.files import check_writable, format_from_suffix, write_text
    from glasshead.papers.dynamics import read_trained
    from glasshead.papers.report import dynamics_document, dynamics_page, unique_tokens
    from glasshead.report import terminal_view

    request = DynamicsRequest(run, data, unique_tokens(parse_names(tokens) or (), "--tokens"), step)
    read_trained(run)
    out = default_out(run, "dynamics.html") if out is None else out
    check_writable(out, overwrite=overwrite, reads=[run])
    format_from_suffix(out, "html")
    summary = summarise_run(request)
    write_text(out, dynamics_page(summary), overwrite=overwrite)
    console.print(terminal_view(dynamics_document(summary)))
    print_line(f"Page: {out}")


@dataclass(frozen=True)
class DynamicsRequest:
    """Which run is shown, with which tokens, at which step."""

    run: Path
    data: str | None
    tokens: tuple[str, ...]
    step: int | None


def summarise_run(request: DynamicsRequest) -> "DynamicsSummary":
    """The history of the run with its findings and remarks.

    Raises:
        InputError: on a step or a token that the run does not have, and as `dynamics.load_history`.
    """
    from glasshead.opening import read_record
    from glasshead.papers.dynamics import context_findings, findings
    from glasshead.papers.report import DynamicsSummary

    loaded = open_history(request.run, request.data)
    history = loaded.history
    history.nearest(request.step)  # before the work
    followed, token_remarks = split_tokens(request.run, history, request.tokens)
    all_findings = [*findings(history, step=request.step), *context_findings(history)]
    remarks = [*loaded.remarks, *history_remarks(history, all_findings, request.step), *token_remarks]
    if not loaded.recorded:
        remarks.insert(0, not_recorded_remark(request.run, request.data, read_record(request.run)))
    return DynamicsSummary(loaded.title, history, all_findings, followed, request.step, remarks)
