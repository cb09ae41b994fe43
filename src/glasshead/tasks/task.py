"""A task: what models with a head of some kind are asked, and how data ask it; one file for each."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor
from transformers import Pipeline, PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerBase

from glasshead.data import PLACE, RANK, LoadOptions
from glasshead.errors import InputError
from glasshead.huggingface import TaskModel, class_names_in, config_to_save
from glasshead.registry import Registry

if TYPE_CHECKING:
    from datasets import Dataset, DatasetDict


class Chosen(NamedTuple):
    """Rows chosen from data: their places, their ranks in the random order of the data, and the seed of
    each row's draws."""

    rows: Sequence[Any]
    places: NDArray[np.int64]
    ranks: NDArray[np.int64]
    seed: int

    def random(self, number: int) -> np.random.Generator:
        """The draws for a row depend on the seed and its place, not on other rows."""
        return np.random.default_rng([self.seed, int(self.places[number])])


class Questions(ABC):
    """The questions of data to a ``model``, if a row is more than a text and its class."""

    model: ClassVar[type[TaskModel]]

    @abstractmethod
    def read(
        self, source: str | Path | Dataset | DatasetDict, split: str, options: LoadOptions
    ) -> Sequence[Any]:
        """The rows of a split that have a question.

        Raises:
            InputError: if there are none.
        """

    def as_read(self, tokenizer: PreTrainedTokenizerBase, rows: Sequence[Any]) -> Sequence[Any]:
        """Rows as a model reads them, after the tokenizer has written what it must.

        Raises:
            InputError: if it cannot.
        """
        return rows

    @abstractmethod
    def texts(self, rows: Sequence[Any]) -> tuple[list[str], list[str] | None]:
        """The texts of rows, and their second ones."""

    @abstractmethod
    def draw(
        self, model: TaskModel, tokenizer: PreTrainedTokenizerBase, chosen: Chosen
    ) -> tuple[Dataset, str]:
        """One question of each row, with its answer as the label, and a remark on it.

        Raises:
            InputError: if no row has a question.
        """


class Task(Questions):
    """The task of Transformers models whose class name ends with ``head``.

    ``auto`` loads them, and ``pipeline`` is the class of their pipelines, if there are any; if ``cuts``,
    these truncate every text to the tokenizer's maximum length. ``asked`` is its name as an option, for
    models whose class does not name it.
    """

    head: ClassVar[str | tuple[str, ...]]
    auto: ClassVar[Any]
    pipeline: ClassVar[type[Pipeline] | None] = None
    cuts: ClassVar[bool] = False
    asked: ClassVar[str | None] = None

    def serves(self, config: PreTrainedConfig) -> bool:
        """Whether a saved model has such a head."""
        saved = (config.architectures or [""])[0]
        return saved.endswith(self.head) or saved in class_names_in(self.auto._model_mapping, config)

    @abstractmethod
    def wrap(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> TaskModel:
        """The wrapped model.

        Raises:
            InputError: if this is not possible.
        """

    def shaped(self, inputs: dict[str, Tensor]) -> dict[str, Tensor]:
        """Inputs [b, n] in the form that the model itself takes."""
        return inputs

    def numbers(self, output: Any) -> Tensor:
        """All outputs [b, n, …] of the model itself."""
        logits: Tensor = output.logits
        return logits

    def printed(
        self, pipeline: Any, model: TaskModel, tokenizer: PreTrainedTokenizerBase, text: str
    ) -> tuple[Tensor, Tensor]:
        """The numbers that a pipeline prints for a text, and those of its model here."""
        raise NotImplementedError  # Transformers has no such pipelines


QUESTIONS: Registry[Questions] = Registry("task")
"""What models are asked, by name."""


def question_rows(
    names: Sequence[str] | None,
    chosen: Chosen,
    asked: Mapping[int, Mapping[str, Any]],
    note: str,
    lacks: str,
) -> tuple[Dataset, str]:
    """One row for each of the chosen that is ``asked``: its cells, with the number of its class as label
    (None: a number that is predicted), and where it is in the data and in their random order; and a ``note``
    with how many are left out.

    Raises:
        InputError: with what every row ``lacks`` if none is asked.
    """
    from datasets import ClassLabel, Dataset, Features, Image, List, Value

    if not asked:
        raise InputError(f"none of these rows has {lacks}")
    numbers = list(asked)
    columns = {name: [asked[number][name] for number in numbers] for name in asked[numbers[0]]}
    label = Value("float64") if names is None else ClassLabel(names=list(names))
    kinds = {dict: Image(decode=False), list: List(Image(decode=False)), str: Value("string")}

    def kind_of(cell: Any) -> Any:
        return next((kind for of, kind in kinds.items() if isinstance(cell, of)), Value("int64"))

    features = {name: label if name == "label" else kind_of(cells[0]) for name, cells in columns.items()} | {
        PLACE: Value("int64"),
        RANK: Value("int64"),
    }
    columns |= {PLACE: chosen.places[numbers].tolist(), RANK: chosen.ranks[numbers].tolist()}
    if left_out := len(chosen.rows) - len(asked):
        note += f"; {left_out:,} of {len(chosen.rows):,} rows do not have {lacks} and are left out"
    return Dataset.from_dict(columns, features=Features(features)), note


def all_tasks() -> Iterator[Task]:
    """Those that the head of a model says."""
    return (task for task in QUESTIONS.values() if isinstance(task, Task))


def task_of_config(config: PreTrainedConfig) -> Task | None:
    """The task of a model as it was saved; None: it classifies, or writes."""
    return next((task for task in all_tasks() if task.serves(config)), None)


def task_of(model: PreTrainedModel) -> Task | None:
    """The task of a model of Transformers, or of a custom class around one; None: it
    classifies, or writes."""
    config = config_to_save(model)
    for kind in type(model).__mro__:
        config.architectures = [kind.__name__]
        if (task := task_of_config(config)) is not None:
            return task
    return None


def task_named(name: str | None) -> Task | None:
    """The task of that name; None: that of the model's class."""
    return next((task for task in all_tasks() if task.asked is not None and task.asked == name), None)


def task_of_pipeline(pipeline: Pipeline) -> Task | None:
    """The task of a pipeline; None: it classifies, or writes."""
    return next((task for task in all_tasks() if isinstance(pipeline, task.pipeline or ())), None)


def questions_to(model: PreTrainedModel) -> Questions | None:
    """The questions of data to a model; None: their rows are texts with classes."""
    return next((questions for questions in QUESTIONS.values() if type(model) is questions.model), None)
