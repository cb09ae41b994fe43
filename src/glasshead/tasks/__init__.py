"""What a model is asked: one file per task makes a model a classifier of something."""

from glasshead.tasks.labels import (
    CLASSIFICATION,
    LABELS,
    SINGLE_LABEL,
    TASKS,
    LabelClassifier,
    predicts_labels,
)
from glasshead.tasks.tags import TAGGERS, TAGS, TagClassifier, predicts_tags, tag_data

__all__ = [
    "CLASSIFICATION",
    "LABELS",
    "SINGLE_LABEL",
    "TAGGERS",
    "TAGS",
    "TASKS",
    "LabelClassifier",
    "TagClassifier",
    "predicts_labels",
    "predicts_tags",
    "tag_data",
]
