"""What a model is asked: one file per task makes a model a classifier of something.

`QUESTIONS`       what models are asked, and how data ask it: next_tokens.py, tags.py
`Task`            questions to the models with a head of some kind                       task.py
`PlaceModel`      a model that is asked about one word of a text                         places.py
`ask_answer`      a language model, asked about an answer that is given                 answers.py
`LabelClassifier` a model of several labels, asked about one: yes or no                  labels.py
"""

from glasshead.registry import import_entries
from glasshead.tasks.answers import GIVEN, AnswerClassifier, ask_answer
from glasshead.tasks.labels import (
    CLASSIFICATION,
    LABELS,
    SINGLE_LABEL,
    TASKS,
    LabelClassifier,
    predicts_labels,
)
from glasshead.tasks.task import (
    QUESTIONS,
    Chosen,
    Questions,
    Task,
    questions_to,
    task_of,
    task_of_config,
    task_of_pipeline,
)

import_entries(__name__, __path__, "QUESTIONS")

__all__ = [
    "CLASSIFICATION",
    "GIVEN",
    "LABELS",
    "QUESTIONS",
    "SINGLE_LABEL",
    "TASKS",
    "AnswerClassifier",
    "Chosen",
    "LabelClassifier",
    "Questions",
    "Task",
    "ask_answer",
    "predicts_labels",
    "questions_to",
    "task_of",
    "task_of_config",
    "task_of_pipeline",
]
