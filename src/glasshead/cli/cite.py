"""glasshead cite: which passage did the answer come from?"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from glasshead.cli.app import YOUR_MODELS, app
from glasshead.cli.console import console, print_line, print_output
from glasshead.cli.derive import options_from
from glasshead.cli.interrupts import resume_on_interrupt
from glasshead.cli.options import ExplanationFormat, Format, Overwrite
from glasshead.cli.progress import progress_stages
from glasshead.errors import InputError, pluralise
from glasshead.requests import CiteRequest, SourcesRequest, options_of

if TYPE_CHECKING:
    from glasshead.results import Cited, SourceAudit


@app.command(rich_help_panel=YOUR_MODELS)
@options_from(CiteRequest, without=("context", "question"))
def cite(
    request: CiteRequest,
    question: Annotated[str | None, typer.Argument(help="The question.")] = None,
    context: Annotated[
        list[Path] | None,
        typer.Option(
            "--context",
            metavar="PATH",
            help="The passages (may be repeated): a text file, a folder of text files, or a json, "
            "jsonl or csv file of passages with titles and links, as retrievers return them.",
        ),
    ] = None,
    questions: Annotated[
        Path | None,
        typer.Option(
            "--questions",
            metavar="FILE",
            help="Ask many questions, each with its passages: which method names sources best, and "
            "do attention and the order of passages matter? A csv, json, jsonl, parquet or xlsx file with "
            "the columns question, context and optionally answer.",
        ),
    ] = None,
    format: ExplanationFormat = Format.text,
    out: Annotated[
        Path | None, typer.Option("--out", help="The file to write: html, json, md, csv or parquet.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="For --questions: continue an interrupted command.")
    ] = False,
    overwrite: Overwrite = False,
) -> None:
    """Which passages did an answer come from, and how certain is that?

    Example: [bold]glasshead cite my-llm "Who wrote it?" --context docs/ --out cited.html[/]
    """
    from glasshead.drawable import TABLE_FILES
    from glasshead.files import check_writable, format_from_suffix
    from glasshead.report import cited_document, source_audit_document

    check_asked(request, question, context, questions, resume=resume, out=out)
    if out is not None:
        reads = [Path(request.model), *(context or ()), *([questions] if questions else ())]
        check_writable(out, overwrite=overwrite, reads=reads)
        format_from_suffix(
            out, *(("html", "json", "md", *TABLE_FILES) if format is Format.text else [format.value])
        )
    if questions is None:
        cited = cite_with_progress(request.replace(question=question), context or [])
        show(cited, cited_document, cited.whole.says[0], out, format, overwrite=overwrite)
        return
    audit = audit_with_progress(request, questions, out, resume=resume, overwrite=overwrite)
    show(audit, source_audit_document, audit.conclusion[0].rstrip("."), out, format, overwrite=overwrite)


def check_asked(
    request: CiteRequest,
    question: str | None,
    context: list[Path] | None,
    questions: Path | None,
    *,
    resume: bool,
    out: Path | None,
) -> None:
    """Raise InputError unless one question is asked with its passages, or many are, and not both."""
    if questions is None:
        if question is None:
            raise InputError("no question: give one after the model, or a file of them with --questions")
        if not context:
            raise InputError("no passages: name a file or folder with --context (it may be repeated)")
        if resume:
            raise InputError("--resume is for --questions: leave it out")
        return
    if question is not None or context or request.answer is not None:
        raise InputError(
            "--questions contains questions, passages and answers: leave QUESTION, --context and --answer out"
        )
    if request.method != "contextcite":
        raise InputError("--questions compares contextcite and leave-one-out: leave --method out")
    if resume and out is None:
        raise InputError("--resume needs the --out of the command that was interrupted")


def show(
    found: "Cited | SourceAudit",
    document: Callable[[Any], Any],
    says: str,
    out: Path | None,
    format: Format,
    *,
    overwrite: bool,
) -> None:
    """Write what was found into a file, or print it."""
    from glasshead.drawable import renderer_of
    from glasshead.report import terminal_view

    if out is not None:
        found.save(out, overwrite=overwrite)
        print_line(f"{says}. Written to {out}")
    elif format is Format.text:
        console.print(terminal_view(document(found)))
    elif format is Format.json:
        print_output(found.to_json(), "json")
    else:
        renderer = renderer_of(found)
        assert renderer is not None
        print_output(renderer.page(found), "html")


def cite_with_progress(request: CiteRequest, context: list[Path]) -> "Cited":
    """Cite, with a line on standard error about what is being done."""
    from glasshead.sources import read_passages, run_citing

    passages = read_passages(context, request.split)
    with progress_stages(f"{request.name}, {pluralise(len(passages), 'passage')}") as progress:
        return run_citing(request.replace(context=passages, split="whole", progress=progress))


def audit_with_progress(
    request: CiteRequest, questions: Path, out: Path | None, *, resume: bool, overwrite: bool
) -> "SourceAudit":
    """Audit the sources of many answers. What is measured is kept next to ``out`` until all is done."""
    from glasshead.sources import run_source_audit

    shared = {name: getattr(request, name) for name in options_of(SourcesRequest) if hasattr(request, name)}
    asked = SourcesRequest(**shared, questions=questions)
    if out is None:
        with progress_stages(request.name) as progress:
            return run_source_audit(asked.replace(progress=progress))
    parts = out.with_name(f"{out.name}.parts")
    if resume and not parts.exists():
        raise InputError(f"there is nothing to resume at {parts}: leave --resume out")
    if parts.exists() and not resume:
        if not overwrite:
            raise InputError(f"{parts} holds unfinished work: continue with --resume, or use --overwrite")
        parts.unlink()
    with resume_on_interrupt(parts, "questions"), progress_stages(request.name) as progress:
        found = run_source_audit(asked.replace(store=parts, progress=progress))
    parts.unlink(missing_ok=True)
    return found
