"""A model that gives an input any number of labels, asked about one of them: has it this label, yes or no?"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import torch
from jaxtyping import Int
from torch import Tensor
from transformers import PreTrainedConfig, PreTrainedModel
from transformers.modeling_outputs import SequenceClassifierOutput

from glasshead.data import LABEL_TASKS, NO, QUESTION, YES, Encoded, batches
from glasshead.errors import InputError
from glasshead.huggingface import (
    At,
    Inputs,
    Target,
    TaskModel,
    as_asked,
    class_names,
    new_like,
    own_model,
    place_of,
)
from glasshead.registry import did_you_mean

if TYPE_CHECKING:
    from datasets import Dataset

CLASSIFICATION, LABELS = LABEL_TASKS[0], "labels"
TASKS = (*LABEL_TASKS, LABELS)
"""What can be asked of a classifier, by name."""
SINGLE_LABEL: Final = "single_label_classification"
MULTI_LABEL: Final = "multi_label_classification"
"""How configurations of Transformers call them."""
NOT = "not "


def predicts_labels(config: PreTrainedConfig) -> bool:
    """Whether a model was saved that gives every label a probability of its own."""
    return config.problem_type == MULTI_LABEL


class LabelClassifier(TaskModel):
    """Whether an input has a label k: logits [0, z_k] of no and yes, so that ŷ is σ(z_k).

    Which label an input is asked about is its ``question`` [b, n], the number of the label at every token.
    """

    def __init__(self, model: PreTrainedModel) -> None:
        config = copy.deepcopy(model.config)
        config.id2label, config.label2id = {0: NO, 1: YES}, {NO: 0, YES: 1}
        config.problem_type = SINGLE_LABEL
        super().__init__(model, config)
        self.main_input_name = model.main_input_name
        self.labels = tuple(class_names(model))

    def rebuild(self, config: PreTrainedConfig) -> LabelClassifier:
        """The questions, put to a model of another configuration, with new weights."""
        config.id2label = dict(enumerate(self.labels))
        return LabelClassifier(new_like(self.model, config))

    @property
    def reads_patches(self) -> bool:
        """Whether the prediction for an image reads vectors of patches (`PatchClassifier`)."""
        return bool(getattr(self.model, "reads_patches", False))

    @property
    def target_names(self) -> list[str]:
        """The labels."""
        return list(self.labels)

    def rename(self, names: Sequence[str]) -> None:
        """Call the labels otherwise, also where the model in it is opened again."""
        self.labels = tuple(names)
        own_model(self).config.id2label = dict(enumerate(names))

    def answers(self, encoded: Encoded, row: int) -> Sequence[str]:
        """No and yes to the question of an input, as names of classes."""
        assert encoded.question is not None
        label = self.labels[int(encoded.question[row, 0])]
        return [NOT + label, label]

    @property
    def usual(self) -> str:
        """Each input has its own."""
        return "the likeliest one"

    def ask_usual(self, inputs: Inputs) -> Encoded:
        """About the label that each input has most likely."""
        return self.about(inputs.encoded, self.likeliest(inputs.encoded))

    def ask(self, inputs: Inputs, target: Target, at: At = None) -> tuple[Inputs, Target]:
        """Ask about one label, by name (“not toxic” says that an input lacks it) or number; left out, about
        the one that each input has most likely.

        Raises:
            InputError: if there is no such label.
        """
        inputs, target = super().ask(inputs, target, at)
        if target is None:
            return inputs._replace(encoded=self.ask_usual(inputs)), 1
        text = str(target)
        lacks = text not in self.labels and text.removeprefix(NOT) in self.labels
        number = place_of(text.removeprefix(NOT) if lacks else target, self.labels)
        if number is None:
            raise InputError(f"the model has no label {target!r}: {did_you_mean(text, self.labels)}")
        labels = torch.full((len(inputs.texts),), number)
        return inputs._replace(encoded=self.about(inputs.encoded, labels)), int(not lacks)

    def ask_rows(self, inputs: Inputs, split: Dataset) -> Encoded:
        """About the label that each row names."""
        numbers = {name: number for number, name in enumerate(self.labels)}
        return self.about(inputs.encoded, torch.tensor([numbers[name] for name in split[QUESTION][:]]))

    def question_names(self, encoded: Encoded) -> list[str]:
        """The label that each input is asked about."""
        assert encoded.question is not None
        return [self.labels[number] for number in encoded.question[:, 0].tolist()]

    def about(self, encoded: Encoded, labels: Int[Tensor, " texts"]) -> Encoded:
        """Inputs, each asked about a label."""
        return replace(encoded, question=labels[:, None].expand(encoded.ids.shape).clone())

    @torch.no_grad()
    def likeliest(self, encoded: Encoded) -> Int[Tensor, " texts"]:
        """The label that each input has most likely."""
        numbers = torch.zeros(len(encoded.ids), dtype=torch.long)
        for rows, inputs in batches(replace(encoded, question=None), device=self.model.device):
            numbers[rows] = self.model(**inputs).logits.argmax(dim=-1).cpu()
        return numbers

    def forward(self, question: Int[Tensor, "b n"] | None = None, **inputs: Any) -> SequenceClassifierOutput:
        """Logits [b, 2] of no and yes."""
        if question is None:
            raise ValueError("say which label is asked about: question")
        output = self.model(**inputs)
        asked = output.logits.gather(1, question[:, :1].to(output.logits.device))
        return as_asked(output, torch.cat([torch.zeros_like(asked), asked], dim=1))
