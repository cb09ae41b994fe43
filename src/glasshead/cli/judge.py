"""glasshead judge: what an audit measured, judged again without the model."""

from pathlib import Path
from typing import Annotated

import typer

from glasshead.cli.app import YOUR_MODELS, app
from glasshead.cli.audit import write_audit
from glasshead.cli.console import console, print_line, print_output, print_remark
from glasshead.cli.fail_under import check_thresholds, finding_for_threshold, read_thresholds
from glasshead.cli.options import FailUnder, Overwrite, PrintOption


@app.command(rich_help_panel=YOUR_MODELS)
def judge(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of an audit.")],
    by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SLICE",
            help=(
                "Report every finding for each slice of the texts, too: class, length, correct, "
                "confidence, or what the audit was sliced by; may be repeated."
            ),
        ),
    ] = None,
    level: Annotated[
        float | None,
        typer.Option(
            metavar="LEVEL",
            help="The confidence level of intervals and verdicts, above 0.5 and below 1 (default: that "
            "of the audit).",
        ),
    ] = None,
    fail_under: FailUnder = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="A folder for the card and its report (default: only print it)."),
    ] = None,
    overwrite: Overwrite = False,
    format: Annotated[PrintOption, typer.Option(help="Output format: text or json.")] = PrintOption.text,
) -> None:
    """Judge the measurements of an audit again, without the model: other slices, levels or thresholds.

    Example: [bold]glasshead judge audits/mine --by length --fail-under faithfulness.comprehensiveness=0.1[/]
    """
    from glasshead.audits import MEASUREMENTS, copy_measurements
    from glasshead.audits import judge as judge_again
    from glasshead.files import atomic_folder
    from glasshead.report import audits_document, terminal_view

    thresholds = read_thresholds(fail_under)
    card = judge_again(folder, by=by or (), level=level)
    findings = [(finding_for_threshold(card, name), value) for name, value in thresholds.items()]
    if out is not None:
        with atomic_folder(out, overwrite=overwrite, reads=[folder]) as work:
            copy_measurements(folder / MEASUREMENTS, work / MEASUREMENTS)
            write_audit(card, work)
    say = print_line if format is PrintOption.text else print_remark
    if format is PrintOption.json:
        print_output(f"{card.to_json()}\n", "json")
    else:
        console.print(terminal_view(audits_document([card])))
    if out is not None:
        say(f"Report: {out / 'report.html'}")
    if not check_thresholds(findings, say):
        raise typer.Exit(1)
