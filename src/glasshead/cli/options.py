"""Arguments and options that several commands share."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from glasshead.requests import LARGEST_SEED, AuditRequest, options_of


class Format(StrEnum):
    text = "text"
    json = "json"
    html = "html"


class PrintOption(StrEnum):
    """Formats of what has no page."""

    text = "text"
    json = "json"


HELP = {name: option.help for name, option in options_of(AuditRequest).items()}
"""What is said of an option that requests have, too."""
SEEDS: dict[str, Any] = {"min": 0, "max": LARGEST_SEED}
Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help=HELP["data"],
    ),
]
ExplanationFormat = Annotated[Format, typer.Option(help="text, json or html.")]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="A folder made by glasshead train.")]
Out = Annotated[Path, typer.Option("--out", help="The folder to write; it appears complete or not at all.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace what is at --out.")]
FailUnder = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VALUE", help="Exit with 1 if the interval of this finding starts below VALUE."
    ),
]
TextColumn = Annotated[str | None, typer.Option(help=HELP["text_column"])]
Encoding = Annotated[str | None, typer.Option(help=HELP["encoding"])]
Separator = Annotated[str | None, typer.Option(help=HELP["separator"])]
LabelColumn = Annotated[str | None, typer.Option(help=HELP["label_column"])]
Split = Annotated[
    str | None,
    typer.Option(help=HELP["split"]),
]
Classes = Annotated[str | None, typer.Option(metavar="A,B,…", help=HELP["classes"])]


def default_out(run: Path, what: str) -> Path:
    """A name in the current folder."""
    return Path(f"{run.resolve().name}-{what}")


RayAddress = Annotated[
    str | None,
    typer.Option("--ray", metavar="ADDRESS", help=HELP["ray"]),
]
GpusPerTask = Annotated[float, typer.Option("--gpus-per-task", help=HELP["gpus_per_task"])]
