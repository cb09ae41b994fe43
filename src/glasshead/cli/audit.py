"""glasshead audit: does the attention of a model deserve to be called an explanation?"""

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from glasshead.cli.app import YOUR_MODELS, app
from glasshead.cli.attention_options import Head, Layer, Level, Row, parse_selector
from glasshead.cli.console import console, print_line, print_output, print_remark
from glasshead.cli.fail_under import check_audit_name, check_thresholds, finding_for_threshold
from glasshead.cli.identifiability_options import (
    Heads,
    IdentifiabilityOptions,
    Layers,
    Processes,
    Rows,
    Tolerance,
    Top,
)
from glasshead.cli.interrupts import resumable_parts
from glasshead.cli.options import (
    SEEDS,
    Classes,
    ClassNames,
    Data,
    Device,
    GpusPerTask,
    LabelColumn,
    MarksColumn,
    MaxLength,
    ModelName,
    Out,
    Overwrite,
    Precision,
    RayAddress,
    Split,
    TextColumn,
    TrainData,
    TrustRemoteCode,
)
from glasshead.cli.parsing import load_options, parse_cluster, parse_labels, parse_names, parse_numbers
from glasshead.cli.progress import progress_stages

if TYPE_CHECKING:
    from glasshead.audits import AuditRequest
    from glasshead.results import AuditCard


class CardFormat(StrEnum):
    """How a card is printed."""

    text = "text"
    json = "json"
    model_card = "model-card"


@app.command(rich_help_panel=YOUR_MODELS)
def audit(
    model: ModelName,
    data: Data,
    out: Out,
    train: TrainData = None,
    labels: ClassNames = None,
    split: Split = None,
    audits: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,…",
            help="Audits to run (glasshead list audits); else all but adversarial, explanation, heads and "
            "operators.",
        ),
    ] = None,
    method: Annotated[
        str, typer.Option(help="The explanation that is audited (glasshead list explainers).")
    ] = "attention",
    by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SLICE",
            help="Every finding also for each slice of the texts: class, length, correct, confidence, "
            "identifiability, or a column of the data; may be repeated.",
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(help="Audit this many random texts, or images (else 20).")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of draws, bootstrap and --limit.", **SEEDS)] = 0,
    blocks: Annotated[
        int | None,
        typer.Option(
            help="Of images: blocks of patches in each direction, each one unit; 0: every patch; else 4."
        ),
    ] = None,
    max_length: MaxLength = None,
    layer: Layer = None,
    head: Head = None,
    row: Row = None,
    level: Level = "word",
    draws: Annotated[
        int | None,
        typer.Option(help="Draws of a perturbation test, at most 1000; else 100, or 20 where slow."),
    ] = None,
    layers: Layers = None,
    heads: Heads = None,
    rows: Rows = None,
    top: Top = None,
    tolerance: Tolerance = 0.0,
    processes: Processes = None,
    fail_under: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE", help="Exit with 1 if the interval of this finding starts below VALUE."
        ),
    ] = None,
    text_column: TextColumn = None,
    label_column: LabelColumn = None,
    marks_column: MarksColumn = None,
    classes: Classes = None,
    trust_remote_code: TrustRemoteCode = False,
    format: Annotated[
        CardFormat,
        typer.Option(help="What is printed: text, json, or model-card: a section for the model's README."),
    ] = CardFormat.text,
    device: Device = None,
    dtype: Precision = "float64",
    ray: RayAddress = None,
    gpus_per_task: GpusPerTask = 0.0,
    resume: Annotated[bool, typer.Option("--resume", help="Resume an unfinished audit.")] = False,
    overwrite: Overwrite = False,
) -> None:
    """Test whether the attention of a model, or another method, deserves to be called an explanation.

    Example: [bold]glasshead audit my-bert my_reviews.csv --out audits/mine --fail-under
    agreement.contribution.gradient=0.3[/]
    """
    from glasshead.audits import AuditRequest
    from glasshead.data import Coverage
    from glasshead.files import atomic_folder
    from glasshead.opening import OpenOptions
    from glasshead.report import card_table, model_card

    thresholds = parse_numbers(fail_under or [])
    names = parse_names(audits)
    for name in (*(name.partition(".")[0] for name in thresholds), *(names or ())):
        check_audit_name(name)
    identifiability = IdentifiabilityOptions(layers, heads, rows, top, tolerance, processes).parse(names)
    request = AuditRequest(
        model=model,
        data=data,
        split=split,
        train=train,
        opening=OpenOptions(parse_labels(labels), trust_remote_code=trust_remote_code, device=device),
        dtype=dtype,
        load_options=load_options(text_column, label_column, marks_column, classes),
        audits=names,
        limit=limit,
        seed=seed,
        max_length=max_length,
        blocks=blocks,
        attention_selector=parse_selector(layer, head, row, level),
        draws=draws,
        identifiability=identifiability,
        by=tuple(by or ()),
        method=method,
        cluster=parse_cluster(ray, gpus_per_task),
    )
    with (
        atomic_folder(out, overwrite=overwrite, reads=[Path(model), Path(data)]) as work,
        resumable_parts(out, resume=resume, overwrite=overwrite) as parts,
    ):
        identifiability = replace(identifiability, store=parts)
        card = audit_with_progress(replace(request, identifiability=identifiability, store=parts))
        findings = [(finding_for_threshold(card, name), value) for name, value in thresholds.items()]
        write_audit(card, work, parts)
    say = print_line if format is CardFormat.text else print_remark  # standard output is the document's
    if format is CardFormat.json:
        print_output(f"{card.to_json()}\n", "json")
    elif format is CardFormat.model_card:
        print_output(model_card(card), "markdown")
    else:
        console.print(card_table([card]))
    for remark in card.facts.get("remarks", []):
        say(remark)
    if "coverage" in card.facts:
        for line in Coverage(**card.facts["coverage"]).lines("audited"):
            say(line)
    say(f"Report: {out / 'report.html'}")
    if not check_thresholds(findings, say):
        raise typer.Exit(1)


def audit_with_progress(request: "AuditRequest") -> "AuditCard":
    """Audit, with a line on standard error about what is being done."""
    with progress_stages(f"auditing {request.name}") as progress:
        progress("loading")
        from glasshead.audits import run_request

        return run_request(request, progress)


def write_audit(card: "AuditCard", folder: Path, parts: Path | None = None) -> None:
    """The values and their report, and the lines of ``parts`` about every head and weight."""
    from glasshead.identifiability import merge_parts
    from glasshead.report import audit_page

    card.save(folder)
    if parts is not None:
        merge_parts(parts, folder)
    (folder / "report.html").write_text(audit_page([card]), encoding="utf-8")
