"""A model that gives an input several numbers, asked about one of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from jaxtyping import Int
from torch import Tensor
from transformers import PreTrainedConfig
from transformers.modeling_outputs import SequenceClassifierOutput

from glasshead.data import QUESTION, Encoded, LoadOptions, read_ratings
from glasshead.errors import ParameterError
from glasshead.huggingface import At, Inputs, Target, as_asked
from glasshead.models import REGRESSION
from glasshead.tasks.outputs import OutputModel

if TYPE_CHECKING:
    from datasets import Dataset, DatasetDict


def predicts_ratings(config: PreTrainedConfig) -> bool:
    """Whether a saved model gives several numbers."""
    return config.problem_type == REGRESSION and (config.num_labels or 0) > 1


class RatingModel(OutputModel):
    """One of the numbers that a model gives: logits [b, 1]."""

    task = REGRESSION
    noun = "rating"
    problem_type = "regression"
    answers_to = ("rating",)

    @property
    def usual(self) -> str:
        """Each rating is explained."""
        return "each of them"

    def question_in_words(self, encoded: Encoded, row: int, text: str) -> str:
        """The rating that the question of an input is about."""
        return self.question_names(encoded)[row]

    def ask(self, inputs: Inputs, target: Target, at: At = None) -> tuple[Inputs, Target]:
        """Ask about one rating, by name or number; by default, about each of them.

        Raises:
            InputError: if there is no such rating.
        """
        inputs, target = super().ask(inputs, target, at)
        count, size = len(inputs.texts), len(self.outputs)
        if target is None:
            inputs = inputs.take([row for row in range(count) for _ in range(size)])
            numbers = torch.arange(size).repeat(count)
        else:
            numbers = torch.full((count,), self.number_of(target))
        return inputs._replace(encoded=self.about(inputs.encoded, numbers)), None

    def forward(self, question: Int[Tensor, "b n"] | None = None, **inputs: Any) -> SequenceClassifierOutput:
        """The rating [b, 1]."""
        output, asked = self.output_asked(question, inputs)
        return as_asked(output, asked)

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
        """The rows of a split, about the named rating."""
        if asked is None or len(asked) != 1:
            known = ", ".join(self.outputs)
            raise ParameterError("classes", f"must name one rating: one of {known}")
        number = self.number_of(asked[0])
        rows = read_ratings(source, split, self.outputs, number, options, columns)
        name = self.outputs[number]
        return rows.add_column(QUESTION, [name] * len(rows)), f"each input is about its rating {name!r}"
