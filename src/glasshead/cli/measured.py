"""Answers of commands that measure texts: written to one file, or to a folder that also keeps what was
measured, and said."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from glasshead.cli.console import console, print_line, print_output, print_remark
from glasshead.cli.interrupts import resumable_parts
from glasshead.cli.options import PrintOption
from glasshead.errors import InputError
from glasshead.requests import MeasuringRequest

if TYPE_CHECKING:
    from glasshead.report import Document
    from glasshead.results import HeadReport, MethodRanking, Patching

PAGE = "report.html"
"""The page in a folder."""
OutFileOrFolder = Annotated[
    Path,
    typer.Option(
        "--out",
        help="The file to write: html, json, md, csv, parquet, svg, png or pdf; or, without an ending, a "
        "folder, which also keeps what was measured.",
    ),
]
Asked = TypeVar("Asked", bound=MeasuringRequest)
Answer = TypeVar("Answer", "HeadReport", "MethodRanking", "Patching")


def answer_into(
    out: Path,
    request: Asked,
    answer: Callable[[Asked], Answer],
    *,
    name: str,
    work: str,
    resume: bool,
    overwrite: bool,
) -> tuple[Answer, Path]:
    """Ask, and write the answer to a file, or into a folder: all numbers as ``name``.json, the page, and what
    was measured, from which more texts go on. With it comes where to look. ``work`` is what is unfinished
    after an interruption.

    Raises:
        InputError: if it cannot be written there, and as ``answer``.
    """
    from glasshead.audits import MEASUREMENTS, copy_measurements
    from glasshead.drawable import TABLE_FILES, VALUE_FILES
    from glasshead.files import atomic_folder, check_writable, format_from_suffix

    reads = [Path(request.model), Path(request.data)]
    if out.suffix:
        if resume:
            raise InputError(
                f"--resume continues from a folder, but {out.name} is a file: name a folder with --out"
            )
        check_writable(out, overwrite=overwrite, reads=reads)
        format_from_suffix(out, *VALUE_FILES, *TABLE_FILES)
        answered = answer(request)
        answered.save(out, overwrite=overwrite)
        return answered, out
    is_extended = resume and (out / MEASUREMENTS).exists()
    with (
        atomic_folder(out, overwrite=overwrite or is_extended, reads=reads) as folder,
        resumable_parts(out, resume=resume, overwrite=overwrite, work=work) as parts,
    ):
        answered = answer(request.replace(store=parts))
        copy_measurements(parts / MEASUREMENTS, folder / MEASUREMENTS)
        for file in (f"{name}.json", PAGE):
            answered.save(folder / file)
    return answered, out / PAGE


def say_answer(
    answer: Answer, document: "Callable[[Answer], Document]", page: Path, format: PrintOption
) -> None:
    """Print an answer, its remarks, and where it was written."""
    from glasshead.report import terminal_view

    say = print_remark if format is PrintOption.json else print_line
    if format is PrintOption.json:
        print_output(answer.to_json(), "json")
    else:
        console.print(terminal_view(document(answer)))
    for remark in answer.remarks:
        say(remark)
    say(f"Report: {page}")
