"""What run.json has to hold for a run to be read: it is checked once, and then believed."""

import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from glasshead.errors import InputError
from glasshead.reasons import because
from glasshead.results import AttentionUse


class Part(BaseModel):
    """Part of a record; a later version may have added to it."""

    model_config = ConfigDict(strict=True, extra="allow")


class OptionsRecord(Part):
    """How data were read (`glasshead.data.LoadOptions`)."""

    model_config = ConfigDict(strict=True, extra="forbid")

    text_column: str | None = None
    label_column: str | None = None
    marks_column: str | None = None
    classes: list[str] | None = None
    labels: int | None = None
    task: str = "classification"
    max_examples: int | None = None
    split_seed: int = 0
    dev_fraction: float = 0.1
    generator: dict[str, int | float] = {}
    encoding: str | None = None
    separator: str | None = None


class DataRecord(Part):
    """What was trained on, and how it was read."""

    source: str | None = None
    options: OptionsRecord = OptionsRecord()
    rows: dict[str, int] = {}
    classes: dict[str, dict[str, int]] = {}
    ratings: dict[str, dict[str, float]] = {}
    fingerprint: str | None = None


class Record(Part):
    """The record of any run."""

    seed: int
    recipe: dict[str, Any]
    data: DataRecord
    notes: list[str] = []


class RecipeRecord(Part):
    """How a classifier was trained."""

    preset: str | None = None
    model: str = "pooled"
    architecture: dict[str, Any] = {}


class ClassifierRecord(Record):
    """What is known of a run of a classifier."""

    recipe: RecipeRecord  # type: ignore[assignment]
    gauge: dict[str, Any] | None
    attention_use: AttentionUse | None = None


class LogsRecord(Part):
    """One part of the logs of a recommender."""

    fingerprint: str


class RecommenderData(Part):
    """The logs that a recommender was trained on."""

    train: LogsRecord
    dev: LogsRecord | None = None


class RecommenderRecord(Part):
    """The record of a run of a recommender."""

    seed: int
    data: RecommenderData


def validate_record(path: Path, record: dict[str, Any], kind: type[Part]) -> dict[str, Any]:
    """The content of run.json.

    Raises:
        InputError: where something is missing or of another type, with its place.
    """
    try:
        kind.model_validate_json(json.dumps(record))
    except ValidationError as error:
        raise InputError(f"{path} is damaged{because(error)}: train again") from error
    return record
