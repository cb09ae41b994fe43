"""A model that gives an input any number of labels, asked about one of them: has it this label, yes or no?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import torch
from jaxtyping import Int
from torch import Tensor
from transformers import PreTrainedConfig
from transformers.modeling_outputs import SequenceClassifierOutput

from glasshead.data import LABEL_TASKS, NO, YES, Encoded, LoadOptions, batches, read_questions
from glasshead.huggingface import At, Inputs, Target, as_asked
from glasshead.tasks.outputs import OutputModel

if TYPE_CHECKING:
    from datasets import Dataset, DatasetDict

CLASSIFICATION, LABELS = LABEL_TASKS[0], "labels"
TASKS = (*LABEL_TASKS, LABELS)
"""What can be asked of a classifier, by name."""
SINGLE_LABEL: Final = "single_label_classification"
MULTI_LABEL: Final = "multi_label_classification"
"""What configurations of Transformers call them."""
NOT = "not "
ASKED_ONE = "each input is about the label {!r}"
ASKED = (
    "each input is about one label, drawn at random: as often one that it has as one that it lacks, where "
    "there are both"
)


def predicts_labels(config: PreTrainedConfig) -> bool:
    """Whether a saved model gives every label its own probability."""
    return config.problem_type == MULTI_LABEL


class LabelClassifier(OutputModel):
    """A classifier of whether an input has a label k: logits [0, z_k] of no and yes, so that ŷ is σ(z_k)."""

    task = LABELS
    noun = "label"
    problem_type = SINGLE_LABEL
    answers_to = NO, YES

    @property
    def usual(self) -> str:
        """Each input has its own."""
        return "the likeliest one"

    def measured_on(self, classes: Sequence[str] | None) -> str:
        """The named label; otherwise each input has its own."""
        return super().measured_on(classes) if classes else "the label that each input has most likely"

    def answers(self, encoded: Encoded, row: int) -> Sequence[str]:
        """No and yes to the question of an input, as names of classes."""
        label = self.question_names(encoded)[row]
        return [NOT + label, label]

    def ask_usual(self, inputs: Inputs, classes: Sequence[str] | None = None) -> Encoded:
        """Ask about the named label, or else the most likely label of each input."""
        if classes:
            return super().ask_usual(inputs, classes)
        return self.about(inputs.encoded, self.likeliest(inputs.encoded))

    def ask(self, inputs: Inputs, target: Target, at: At = None) -> tuple[Inputs, Target]:
        """Ask about one label, by name (“not toxic” says that an input lacks it) or number; by default,
        about the most likely label of each input.

        Raises:
            InputError: if there is no such label.
        """
        inputs, target = super().ask(inputs, target, at)
        if target is None:
            return inputs._replace(encoded=self.ask_usual(inputs)), 1
        text = str(target)
        lacks = text not in self.outputs and text.removeprefix(NOT) in self.outputs
        number = self.number_of(text.removeprefix(NOT) if lacks else target)
        labels = torch.full((len(inputs.texts),), number)
        return inputs._replace(encoded=self.about(inputs.encoded, labels)), int(not lacks)

    @torch.no_grad()
    def likeliest(self, encoded: Encoded) -> Int[Tensor, " texts"]:
        """The most likely label of each input."""
        numbers = torch.zeros(len(encoded.ids), dtype=torch.long)
        for rows, inputs in batches(replace(encoded, question=None), device=self.model.device):
            numbers[rows] = self.model(**inputs).logits.argmax(dim=-1).cpu()
        return numbers

    def forward(self, question: Int[Tensor, "b n"] | None = None, **inputs: Any) -> SequenceClassifierOutput:
        """Logits [b, 2] of no and yes."""
        output, asked = self.output_asked(question, inputs)
        return as_asked(output, torch.cat([torch.zeros_like(asked), asked], dim=1))

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
        """The rows of a split, each asked about one label."""
        rows = read_questions(source, split, self.outputs, options, columns, asked=asked, seed=seed)
        names = {*(asked or ())}
        return rows, ASKED_ONE.format(*names) if len(names) == 1 else ASKED
