"""What a model is asked: one file per task makes a model a classifier of something."""

from glasshead.tasks.labels import LABELS, TASKS, LabelClassifier, predicts_labels
from glasshead.tasks.tags import TAGGERS, TAGS, TagClassifier, predicts_tags, tag_data

__all__ = [
    "LABELS",
    "TAGGERS",
    "TAGS",
    "TASKS",
    "LabelClassifier",
    "TagClassifier",
    "predicts_labels",
    "predicts_tags",
    "tag_data",
]
