"""A model of several outputs that is asked about one of them at a time, by its name."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor
from transformers import PreTrainedConfig, PreTrainedModel

from glasshead.data import QUESTION, Encoded, LoadOptions
from glasshead.errors import InputError, ParameterError
from glasshead.huggingface import Inputs, TaskModel, class_names, new_like, own_model, place_of
from glasshead.registry import did_you_mean

if TYPE_CHECKING:
    from datasets import Dataset, DatasetDict


class OutputModel(TaskModel):
    """One output z_k of a model, chosen by the ``question`` [b, n], which holds its number at every token.

    ``task`` is its name, ``noun`` the word for an output, and ``answers_to`` are the classes of a question.
    """

    task: ClassVar[str]
    noun: ClassVar[str]
    problem_type: ClassVar[Literal["regression", "single_label_classification"]]
    answers_to: ClassVar[tuple[str, ...]]

    def __init__(self, model: PreTrainedModel) -> None:
        config = copy.deepcopy(model.config)
        config.id2label = dict(enumerate(self.answers_to))
        config.label2id = {name: number for number, name in enumerate(self.answers_to)}
        config.problem_type = self.problem_type
        super().__init__(model, config)
        self.main_input_name = model.main_input_name
        self.outputs = tuple(class_names(model))

    def rebuild(self, config: PreTrainedConfig) -> OutputModel:
        """The questions for a model of another configuration, with new weights."""
        config.id2label = dict(enumerate(self.outputs))
        return type(self)(new_like(self.model, config))

    @property
    def reads_patches(self) -> bool:
        """Whether the prediction for an image reads vectors of patches (`PatchClassifier`)."""
        return bool(getattr(self.model, "reads_patches", False))

    @property
    def target_names(self) -> list[str]:
        """The outputs."""
        return list(self.outputs)

    def rename(self, names: Sequence[str]) -> None:
        """Rename the outputs, also for later openings of the wrapped model."""
        self.outputs = tuple(names)
        own_model(self).config.id2label = dict(enumerate(names))

    def measured_on(self, classes: Sequence[str] | None) -> str:
        """The named output, or else the first one."""
        return f"the {self.noun} {(classes or self.outputs)[0]!r}"

    def ask_usual(self, inputs: Inputs, classes: Sequence[str] | None = None) -> Encoded:
        """Questions about the named output, or else the first one.

        Raises:
            InputError: if there is no such output, or several are named.
        """
        if not classes:
            return self.about(inputs.encoded, torch.zeros(len(inputs.texts), dtype=torch.long))
        if len(classes) > 1:
            raise ParameterError(
                "classes", f"names one {self.noun} here: heads are measured on one at a time"
            )
        return self.ask(inputs, classes[0])[0].encoded

    def number_of(self, name: int | str) -> int:
        """The number of an output, by its name or its number.

        Raises:
            InputError: if there is none.
        """
        number = place_of(name, self.outputs)
        if number is None:
            raise InputError(
                f"the model has no {self.noun} {name!r}: {did_you_mean(str(name), self.outputs)}"
            )
        return number

    def ask_rows(self, inputs: Inputs, split: Dataset) -> Encoded:
        """Questions about the output that each row names."""
        numbers = {name: number for number, name in enumerate(self.outputs)}
        return self.about(inputs.encoded, torch.tensor([numbers[name] for name in split[QUESTION][:]]))

    def question_names(self, encoded: Encoded) -> list[str]:
        """The output that the question of each input is about."""
        assert encoded.question is not None
        return [self.outputs[number] for number in encoded.question[:, 0].tolist()]

    def about(self, encoded: Encoded, outputs: Int[Tensor, " texts"]) -> Encoded:
        """Inputs, each about one output."""
        return replace(encoded, question=outputs[:, None].expand(encoded.ids.shape).clone())

    def output_asked(
        self, question: Int[Tensor, "b n"] | None, inputs: dict[str, Any]
    ) -> tuple[Any, Float[Tensor, "b 1"]]:
        """The output of the wrapped model, and the outputs in question."""
        if question is None:
            raise ValueError(f"no question: name the {self.noun}")
        output = self.model(**inputs)
        return output, output.logits.gather(1, question[:, :1].to(output.logits.device))

    @abstractmethod
    def read(
        self,
        source: str | Path | Dataset | DatasetDict,
        split: str,
        options: LoadOptions,
        columns: Sequence[str],
        *,
        asked: Sequence[str] | None,
        seed: int,
    ) -> tuple[Dataset, str]:
        """The rows of a split with further ``columns``, each about one of the outputs in ``asked``; and a
        sentence about that.

        Raises:
            InputError: if there is no such split, and if its labels cannot be read.
        """
