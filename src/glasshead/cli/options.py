"""Arguments and options that several commands share."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer


class Format(StrEnum):
    text = "text"
    json = "json"
    html = "html"


class Printed(StrEnum):
    """Formats of what has no page."""

    text = "text"
    json = "json"


SEEDS: dict[str, Any] = {"min": 0, "max": 2**32 - 1}
Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A folder with train/dev/test files, one csv, tsv, jsonl or parquet file, a Hub name, or a "
        "named set (glasshead list datasets).",
    ),
]
ExplanationFormat = Annotated[Format, typer.Option(help="text, json or html.")]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="A folder made by glasshead train.")]
Out = Annotated[Path, typer.Option("--out", help="The folder to write; it appears complete or not at all.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace what is at --out.")]
TextColumn = Annotated[str | None, typer.Option(help="The column that holds the text.")]
LabelColumn = Annotated[str | None, typer.Option(help="The column that holds the class.")]
Split = Annotated[
    str | None,
    typer.Option(
        help="train, dev, test or all; else test, and all rows of a file for a model that glasshead did "
        "not train."
    ),
]
Classes = Annotated[str | None, typer.Option(metavar="A,B,…", help="Keep only these classes, in this order.")]


def default_out(run: Path, what: str) -> Path:
    """A name in the current folder."""
    return Path(f"{run.resolve().name}-{what}")


RayAddress = Annotated[
    str | None,
    typer.Option("--ray", metavar="ADDRESS", help="Run on this Ray cluster; auto: the one that runs here."),
]
GpusPerTask = Annotated[
    float, typer.Option("--gpus-per-task", help="With --ray: GPUs of each task; 0.5 lets two share one.")
]
