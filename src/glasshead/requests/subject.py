"""Which model is asked, how it is opened, which data it reads, and which attention."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from glasshead.requests import readers
from glasshead.requests.fields import Request, option

LARGEST_SEED = 2**32 - 1


def name_of(model: Any) -> str:
    """What a model, or its folder, is called."""
    if isinstance(model, str | Path):
        return Path(model).resolve().name
    return getattr(model, "name", None) or type(model).__name__


class OpeningRequest(Request):
    """How a model is opened."""

    tokenizer: Any = option(
        default=None,
        help="The tokenizer, or the image processor, of a model that is given as an object.",
        flag="",
        measures=False,  # what it makes of the texts is compared
    )
    trust_remote_code: bool = option(default=False, help="Let code run that lies beside the model.")
    device: Any = option(
        default=None,
        help="Device to run the model on: cpu, cuda, mps, … (default: its current one).",
        measures=False,
    )


class RenamingRequest(OpeningRequest):
    """How a classifier is opened."""

    task: str | None = option(
        default=None,
        help="What the model is asked, where its configuration does not say: classification, regression (a "
        "number), labels (each of them yes or no), zero-shot (which name fits), or similarity-mean, "
        "-cls, -last (the cosine of two texts, by the mean of their tokens, the first or the last).",
    )
    labels: Mapping[str, str] | None = option(
        default=None,
        help="Other names for the model's classes, by name or number: LABEL_0=negative,LABEL_1=positive. (In "
        "glasshead train, --labels merges classes.)",
        metavar="OLD=NEW,…",
        read=readers.labels,
    )


class AttentionRequest(Request):
    """Which attention is read."""

    layer: int | str | None = option(
        default=None,
        help="Which attention: its number in the order of the calls (-1: the last), or its name.",
        metavar="N",
        read=readers.number_or_name,
    )
    head: int | str | None = option(
        default=None,
        help="Which head, or how the maps of all become one; else their mean.",
        metavar="N|mean|max|min|sum",
        read=readers.number_or_name,
    )
    row: str | None = option(
        default=None, help="Whose attention: first, last, mean (over all tokens) or pooled."
    )


class UnitRequest(AttentionRequest):
    """What has a number."""

    unit: Literal["word", "token"] = option(
        default="word", help="What has a number: word, or token of the model."
    )

    @property
    def whole(self) -> Literal["word", "token"]:
        """What is taken out as a whole; a sentence that is read gathers tokens, not words."""
        return "token" if self.unit == "token" or getattr(self, "level", "word") != "word" else "word"


class DataRequest(RenamingRequest):
    """Which model is asked about which data, and how both are read."""

    model: Any = option(
        kw_only=False,
        help="A folder made by glasshead train, any folder with a saved classifier and its tokenizer, or a "
        "Hub id.",
        measures=False,  # its weights are compared, wherever it lies
    )
    data: Any = option(
        kw_only=False,
        help="A folder with train/dev/test files, one csv, tsv, json, jsonl, parquet or xlsx file, what "
        "save_to_disk of datasets wrote, a Hub name, or a named set (glasshead list datasets).",
        measures=False,  # texts, labels and columns are compared, wherever they lie
    )
    split: str | None = option(
        default=None,
        help="train, dev, test or all; else test, and all rows of a file for a model that glasshead did not "
        "train.",
    )
    limit: int | None = option(default=None, help="Read this many random texts or images.", least=1)
    seed: int = option(default=0, help="Seed of all that is drawn.", least=0, most=LARGEST_SEED)
    max_length: int | None = option(
        default=None, help="Truncate texts to this many tokens (default: the model's maximum).", least=1
    )
    text_column: str | None = option(default=None, help="The column that holds the text.")
    label_column: str | None = option(default=None, help="The column that holds the class.")
    classes: tuple[str, ...] | None = option(
        default=None, help="Keep only these classes, in this order.", metavar="A,B,…", read=readers.names
    )
    encoding: str | None = option(
        default=None,
        help="The encoding of a file that is not UTF-8: latin-1, cp1252, utf-16, …",
    )
    separator: str | None = option(
        default=None,
        help="What separates the columns of a csv or tsv file: ';', tab, …",
    )
    load_options: Mapping[str, Any] | None = option(
        default=None, help="Other fields of `glasshead.data.LoadOptions`.", flag=""
    )
    dtype: Any = option(
        default="float64",
        help="In which precision: float64, in which ties and tiny changes are real, or float32.",
    )
    progress: Callable[..., None] | None = option(
        default=None, help="A function that is told what is being done.", flag="", measures=False
    )

    @property
    def name(self) -> str:
        """What the model is called."""
        return name_of(self.model)
