"""Which model is asked, how it is opened, which data it reads, and which attention."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from glasshead.progress import OnProgress, no_progress
from glasshead.requests import readers
from glasshead.requests.fields import Request, option

LARGEST_SEED = 2**32 - 1


def name_of(model: Any) -> str:
    """What a model, or its folder, is called."""
    if isinstance(model, str | Path):
        return Path(model).resolve().name
    return getattr(model, "name", None) or type(model).__name__


class WatchedRequest(Request):
    """Long work about a model, which says how far it is."""

    progress: Callable[..., None] | bool | None = option(
        default=None,
        help="True or False: show a progress bar or none (default: in terminals and notebooks); or a "
        "function of what is being done and the share of it that is done.",
        flag="",
        measures=False,
    )

    @property
    def name(self) -> str:
        """The name of the model."""
        return name_of(self.model)  # type: ignore[attr-defined]

    @property
    def tell(self) -> OnProgress:
        """What is told how far the work is."""
        return self.progress if callable(self.progress) else no_progress


class OpeningRequest(Request):
    """How a model is opened."""

    tokenizer: Any = option(
        default=None,
        help="The tokenizer or image processor, if the model is passed as an object.",
        flag="",
        measures=False,  # what it makes of the texts is compared
    )
    trust_remote_code: bool = option(default=False, help="Allow the model's own code to run.")
    device: Any = option(
        default=None,
        help="Device to run the model on: cpu, cuda, mps, … (default: its current one).",
        measures=False,
    )


class RenamingRequest(OpeningRequest):
    """How a classifier is opened."""

    task: str | None = option(
        default=None,
        help="The task, if the configuration does not name it: classification, regression (a number), labels "
        "(each of them yes or no), zero-shot (which name fits), or similarity-mean, -cls, -last (the "
        "cosine of two texts, by the mean of their tokens, the first or the last).",
    )
    labels: Mapping[str, str] | None = option(
        default=None,
        help="Other names for the model's classes, by name or number: LABEL_0=negative,LABEL_1=positive. (In "
        "glasshead train, --labels merges classes.)",
        metavar="OLD=NEW,…",
        read=readers.labels,
    )


class AttentionRequest(Request):
    """Which attention is used."""

    layer: int | str | None = option(
        default=None,
        help="Which attention layer: its number in the order of the calls (-1: the last), or its name.",
        metavar="N",
        read=readers.number_or_name,
    )
    head: int | str | None = option(
        default=None,
        help="Which head, or how to combine the maps of all heads (default: their mean).",
        metavar="N|mean|max|min|sum",
        read=readers.number_or_name,
    )
    row: str | None = option(
        default=None, help="Which row of the map: first, last, mean (over all tokens) or pooled."
    )


class UnitRequest(AttentionRequest):
    """What has a number."""

    unit: Literal["word", "token"] = option(default="word", help="The units: word, or token of the model.")

    @property
    def whole(self) -> Literal["word", "token"]:
        """What is taken out as a whole; a sentence that is read gathers tokens, not words."""
        return "token" if self.unit == "token" or getattr(self, "level", "word") != "word" else "word"


class DataRequest(RenamingRequest, WatchedRequest):
    """The model and the data, and how both are read."""

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
        help="train, dev, test or all (default: test, or all rows of a file if glasshead did not train the"
        " model).",
    )
    limit: int | None = option(default=None, help="Use this many random texts or images.", least=1)
    seed: int = option(default=0, help="Seed of all random draws.", least=0, most=LARGEST_SEED)
    max_length: int | None = option(
        default=None, help="Truncate texts to this many tokens (default: the model's maximum).", least=1
    )
    text_column: str | None = option(default=None, help="The column that holds the text.")
    label_column: str | None = option(default=None, help="The column that holds the class.")
    classes: Sequence[str] | None = option(
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
        help="Precision: float64 keeps ties and tiny changes exact; float32 is faster.",
    )
