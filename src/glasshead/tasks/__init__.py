"""What a model is asked: one file per task makes a model a classifier of something."""

from glasshead.tasks.labels import (
    CLASSIFICATION,
    LABELS,
    SINGLE_LABEL,
    TASKS,
    LabelClassifier,
    predicts_labels,
)

__all__ = [
    "CLASSIFICATION",
    "LABELS",
    "SINGLE_LABEL",
    "TASKS",
    "LabelClassifier",
    "predicts_labels",
]
