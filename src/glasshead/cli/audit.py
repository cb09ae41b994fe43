"""glasshead audit: does the attention of a model deserve to be called an explanation?"""

import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from glasshead.cli.app import YOUR_MODELS, app
from glasshead.cli.console import console, print_line, print_output, print_remark
from glasshead.cli.derive import options_from
from glasshead.cli.fail_under import check_thresholds, finding_for_threshold, read_thresholds
from glasshead.cli.interrupts import resumable_parts
from glasshead.cli.options import FailUnder, Out, Overwrite
from glasshead.cli.progress import progress_stages
from glasshead.requests import AuditRequest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from glasshead.results import AuditCard, Finding


class CardFormat(StrEnum):
    """How a card is printed."""

    text = "text"
    json = "json"
    model_card = "model-card"


@app.command(rich_help_panel=YOUR_MODELS)
@options_from(
    AuditRequest,
    limit="Audit this many random texts, or images (default: 20).",
    seed="Seed of draws, bootstrap and --limit.",
)
def audit(
    request: AuditRequest,
    out: Out,
    fail_under: FailUnder = None,
    format: Annotated[
        CardFormat,
        typer.Option(help="Output format: text, json, or model-card (a section for the model's README)."),
    ] = CardFormat.text,
    resume: Annotated[bool, typer.Option("--resume", help="Resume an unfinished audit.")] = False,
    overwrite: Overwrite = False,
) -> None:
    """Test whether the attention of a model, or another method, deserves to be called an explanation.

    Example: [bold]glasshead audit my-bert my_reviews.csv --out audits/mine --fail-under
    agreement.contribution.gradient=0.3[/]
    """
    from glasshead.audits import check_audit
    from glasshead.data import Coverage
    from glasshead.report import audits_document, model_card, terminal_view

    thresholds = read_thresholds(fail_under)
    check_audit(request)
    card, findings = audit_into(out, request, thresholds, resume=resume, overwrite=overwrite)
    say = print_line if format is CardFormat.text else print_remark  # standard output is the document's
    if format is CardFormat.json:
        print_output(f"{card.to_json()}\n", "json")
    elif format is CardFormat.model_card:
        print_output(model_card(card), "markdown")
    else:
        console.print(terminal_view(audits_document([card])))
    for remark in card.facts.get("remarks", []):
        say(remark)
    if "coverage" in card.facts:
        for line in Coverage(**card.facts["coverage"]).lines("audited"):
            say(line)
    say(f"Report: {out / 'report.html'}")
    if not check_thresholds(findings, say):
        raise typer.Exit(1)


def audit_into(
    out: Path,
    request: AuditRequest,
    thresholds: "Mapping[str, float] | None" = None,
    *,
    resume: bool,
    overwrite: bool,
) -> "tuple[AuditCard, list[tuple[Finding, float]]]":
    """Audit into a folder that appears whole; what is interrupted can be resumed. The findings of the
    ``thresholds``, whose names are checked before anything is written, with these."""
    from glasshead.audits import MEASUREMENTS
    from glasshead.files import atomic_folder

    is_extended = resume and (out / MEASUREMENTS).exists()
    reads = [Path(request.model), Path(request.data)]
    with (
        atomic_folder(out, overwrite=overwrite or is_extended, reads=reads) as work,
        resumable_parts(out, resume=resume, overwrite=overwrite) as parts,
    ):
        processes = request.processes or (1 if request.has_workers else os.cpu_count() or 1)
        card = audit_with_progress(request.replace(store=parts, processes=processes))
        findings = [(finding_for_threshold(card, name), value) for name, value in (thresholds or {}).items()]
        keep_measurements(parts, work)
        write_audit(card, work)
    return card, findings


def audit_with_progress(request: AuditRequest) -> "AuditCard":
    """Audit, with a line on standard error about what is being done."""
    with progress_stages(f"auditing {request.name}") as progress:
        progress("loading")
        from glasshead.audits import run_audit

        return run_audit(request.replace(progress=progress))


def write_audit(card: "AuditCard", folder: Path) -> None:
    """The values and their report; of what was measured of every map and weight, the lines."""
    from glasshead.audits import MEASUREMENTS, write_lines
    from glasshead.report import audit_page

    card.save(folder)
    if (folder / MEASUREMENTS).exists():
        write_lines(folder, [int(number) for number in card.examples["id"]])
    (folder / "report.html").write_text(audit_page([card]), encoding="utf-8")


def keep_measurements(parts: Path, folder: Path) -> None:
    """What was measured, from the ``parts``; of heads alone the lines about every head and weight."""
    from glasshead.audits import MEASUREMENTS, copy_measurements
    from glasshead.identifiability import merge_parts

    merge_parts(parts, folder)
    if (parts / MEASUREMENTS).exists():
        copy_measurements(parts / MEASUREMENTS, folder / MEASUREMENTS)
