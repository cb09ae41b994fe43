"""What a model is asked, where somebody says so, or its configuration."""

from __future__ import annotations

from dataclasses import replace

from transformers import (
    PreTrainedModel,
)

from glasshead.errors import InputError
from glasshead.huggingface import (
    TaskModel,
    isolated_copy,
)
from glasshead.models import REGRESSION, TextClassifier, is_regression
from glasshead.opening.fit_tokenizer import with_padding_noted
from glasshead.registry import did_you_mean
from glasshead.spelling import spell
from glasshead.tasks import (
    CLASSIFICATION,
    LABELS,
    POOLINGS,
    SINGLE_LABEL,
    TASKS,
    ZERO_SHOT,
    EntailmentModel,
    LabelClassifier,
    OutputModel,
    RatingModel,
    SimilarityModel,
    ask_similarity,
    predicts_labels,
    predicts_ratings,
    questions_to,
    task_named,
    task_of,
)
from glasshead.trace import Subject

NAMES = (*TASKS, ZERO_SHOT, *POOLINGS)
"""What a model can be asked, where its configuration does not say."""


def ask_otherwise(subject: Subject, task: str | None) -> Subject:
    """An opened model that is asked something else than when it was opened."""
    model = subject.model
    kept = isinstance(model, TextClassifier | LabelClassifier) or questions_to(model) is not None
    if task == LABELS and not kept:
        return replace(subject, model=LabelClassifier(isolated_copy(model)))
    if task == CLASSIFICATION and isinstance(model, LabelClassifier):
        chooses = isolated_copy(model).model
        vars(chooses.config)["problem_type"] = SINGLE_LABEL
        return replace(subject, model=chooses)
    if task is not None and task in POOLINGS and not isinstance(model, SimilarityModel):
        asked_model = ask_similarity(isolated_copy(model), subject.tokenizer, task)
        return with_padding_noted(replace(subject, model=asked_model))
    asked = task_named(task)
    if asked is not None and not isinstance(model, TaskModel | TextClassifier):
        return replace(subject, model=asked.wrap(isolated_copy(model), subject.tokenizer))
    return subject


def check_name_of_task(task: str | None) -> None:
    """Raise InputError unless there is such a task."""
    if task not in (None, *NAMES):
        kinds = [name for name in NAMES if name.startswith(f"{task}-")]
        meant = f"choose from: {', '.join(kinds)}" if kinds else did_you_mean(str(task), NAMES)
        raise InputError(f"unknown task {task!r}: {meant}")


def check_task(subject: Subject, task: str | None) -> None:
    """Raise InputError unless the model can be asked that."""
    if task == ZERO_SHOT and not isinstance(subject.model, EntailmentModel):
        raise InputError(
            f"{subject.name} does not say whether a text entails another: leave {spell('task')} out"
        )
    if task == LABELS and not isinstance(subject.model, LabelClassifier):
        raise InputError(f"{subject.name} has no separate labels: leave {spell('task')} out")
    if task == REGRESSION and not is_regression(subject.model.config):
        raise InputError(f"{subject.name} predicts no rating: leave {spell('task')} out")
    if task == CLASSIFICATION and is_regression(subject.model.config):
        raise InputError(f"{subject.name} has one output, a rating: leave {spell('task')} out")


def output_model(model: PreTrainedModel, task: str | None) -> type[OutputModel] | None:
    """How a model is asked about one output at a time: about labels, or several ratings, by its configuration
    unless a task is named; None: it is not. Those of Glasshead choose one class, or give one rating."""
    if isinstance(model, TextClassifier) or task_of(model) is not None:
        return None
    if task == LABELS or (task is None and predicts_labels(model.config)):
        return LabelClassifier
    several = (model.config.num_labels or 0) > 1 and model.config.problem_type in (None, REGRESSION)
    return RatingModel if several and (task == REGRESSION or predicts_ratings(model.config)) else None
