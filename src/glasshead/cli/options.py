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
ModelName = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        help="A folder made by glasshead train, any folder with a saved classifier and its tokenizer, or a "
        "Hub id.",
    ),
]
ClassNames = Annotated[
    str | None,
    typer.Option(
        "--labels",
        metavar="OLD=NEW,…",
        help="Other names for the model's classes, by name or number: LABEL_0=negative,LABEL_1=positive. (In "
        "glasshead train, --labels merges classes.)",
    ),
]
TrustRemoteCode = Annotated[
    bool, typer.Option("--trust-remote-code", help="Let code run that lies beside the model.")
]
Device = Annotated[
    str | None, typer.Option(help="Where the model is read: cpu, cuda, mps, …; else where it is.")
]
Dtype = Annotated[
    str | None,
    typer.Option(help="In which precision: float32 or float64.", show_default="the model's"),
]
ExplanationFormat = Annotated[Format, typer.Option(help="text, json or html.")]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="A folder made by glasshead train.")]
Out = Annotated[Path, typer.Option("--out", help="The folder to write; it appears complete or not at all.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace what is at --out.")]
TextColumn = Annotated[str | None, typer.Option(help="The column that holds the text.")]
LabelColumn = Annotated[str | None, typer.Option(help="The column that holds the class.")]
MarksColumn = Annotated[
    str | None,
    typer.Option(help=r"The column of human marks, \[\[start, end], …] in characters; else marks, if there."),
]
Split = Annotated[
    str | None,
    typer.Option(
        help="train, dev, test or all; else test, and all rows of a file for a model that glasshead did "
        "not train."
    ),
]
TrainData = Annotated[
    str | None,
    typer.Option(
        metavar="DATA",
        help="What the model was trained on, if glasshead did not train it: for the classes of words and "
        "the sign of signed weights.",
    ),
]
MaxLength = Annotated[
    int | None, typer.Option(help="Cut texts to this many tokens; else to what the model can read.")
]
Precision = Annotated[
    str,
    typer.Option(help="In which precision: float64, in which ties and tiny changes are real, or float32."),
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
