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
    """Rows of data that a model is asked about: where they are in the data, their ranks in the random order
    of these, and the seed of what is drawn for each."""

    rows: Sequence[Any]
    places: NDArray[np.int64]
    ranks: NDArray[np.int64]
    seed: int

    def random(self, number: int) -> np.random.Generator:
        """What is drawn for a row follows from the seed and its place, whatever rows are beside it."""
        return np.random.default_rng([self.seed, int(self.places[number])])


class Questions(ABC):
    """How data ask a ``model`` something, where a row is more than a text and its class."""

    model: ClassVar[type[TaskModel]]

    @abstractmethod
    def read(
        self, source: str | Path | Dataset | DatasetDict, split: str, options: LoadOptions
    ) -> Sequence[Any]:
        """The rows of a split, of which each can be asked about.

        Raises:
            InputError: if there are none.
        """

    @abstractmethod
    def texts(self, rows: Sequence[Any]) -> tuple[list[str], list[str] | None]:
        """The texts of rows, and their second ones."""

    @abstractmethod
    def draw(
        self, model: TaskModel, tokenizer: PreTrainedTokenizerBase, chosen: Chosen
    ) -> tuple[Dataset, str]:
        """One question of each row, with its answer as the label; and a sentence about that.

        Raises:
            InputError: if none can be asked about.
        """


class Task(Questions):
    """What is asked of the models of Transformers whose class ends with ``head``.

    ``auto`` loads them, ``pipeline`` is the class of their pipelines, where there are any; if ``cuts``, these
    cut every text to the length that the tokenizer names. ``asked`` is how it is asked for, of models whose
    class does not say it.
    """

    head: ClassVar[str | tuple[str, ...]]
    auto: ClassVar[Any]
    pipeline: ClassVar[type[Pipeline] | None] = None
    cuts: ClassVar[bool] = False
    asked: ClassVar[str | None] = None

    def serves(self, config: PreTrainedConfig) -> bool:
        """Whether a model with such a head was saved."""
        saved = (config.architectures or [""])[0]
        return saved.endswith(self.head) or saved in class_names_in(self.auto._model_mapping, config)

    @abstractmethod
    def wrap(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> TaskModel:
        """The model, which is asked.

        Raises:
            InputError: if it cannot be.
        """

    def shaped(self, inputs: dict[str, Tensor]) -> dict[str, Tensor]:
        """Inputs [b, n] as the model itself takes them."""
        return inputs

    def numbers(self, output: Any) -> Tensor:
        """All numbers [b, n, …] that the model itself gives."""
        logits: Tensor = output.logits
        return logits

    def printed(
        self, pipeline: Any, model: TaskModel, tokenizer: PreTrainedTokenizerBase, text: str
    ) -> tuple[Tensor, Tensor]:
        """The numbers that a pipeline prints of a text, and those that its model gives here."""
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
    from datasets import ClassLabel, Dataset, Features, Value

    if not asked:
        raise InputError(f"none of these rows has {lacks}")
    numbers = list(asked)
    columns = {name: [asked[number][name] for number in numbers] for name in asked[numbers[0]]}
    features = {
        name: (Value("float64") if names is None else ClassLabel(names=list(names)))
        if name == "label"
        else Value("string" if isinstance(cells[0], str) else "int64")
        for name, cells in columns.items()
    } | {PLACE: Value("int64"), RANK: Value("int64")}
    columns |= {PLACE: chosen.places[numbers].tolist(), RANK: chosen.ranks[numbers].tolist()}
    if left_out := len(chosen.rows) - len(asked):
        note += f"; {left_out:,} of {len(chosen.rows):,} rows have not {lacks}, and are left out"
    return Dataset.from_dict(columns, features=Features(features)), note


def all_tasks() -> Iterator[Task]:
    """Those that the head of a model says."""
    return (task for task in QUESTIONS.values() if isinstance(task, Task))


def task_of_config(config: PreTrainedConfig) -> Task | None:
    """The task of a model as it was saved; None: it classifies, or writes."""
    return next((task for task in all_tasks() if task.serves(config)), None)


def task_of(model: PreTrainedModel) -> Task | None:
    """The task of a model of Transformers, or of a class of one's own that is made of one; None: it
    classifies, or writes."""
    config = config_to_save(model)
    for kind in type(model).__mro__:
        config.architectures = [kind.__name__]
        if (task := task_of_config(config)) is not None:
            return task
    return None


def task_named(name: str | None) -> Task | None:
    """The task that is asked for by a name; None: what the class of a model says."""
    return next((task for task in all_tasks() if task.asked is not None and task.asked == name), None)


def task_of_pipeline(pipeline: Pipeline) -> Task | None:
    """The task of a pipeline; None: it classifies, or writes."""
    return next((task for task in all_tasks() if isinstance(pipeline, task.pipeline or ())), None)


def questions_to(model: PreTrainedModel) -> Questions | None:
    """How data ask a model; None: their rows are texts with classes."""
    return next((questions for questions in QUESTIONS.values() if type(model) is questions.model), None)
