"""Models that are asked how likely a given answer is: what they share."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, NamedTuple

from jaxtyping import Float, Int
from torch import Tensor
from transformers import PreTrainedModel

from glasshead.huggingface import Inputs, PairsNeeded, TaskModel, quote, vocabulary_at

GIVEN = 1
"""The class that is explained: the answer as it was given."""
OTHER = "something else"


class AnswerModel(TaskModel):
    """A language model with two classes: the given answer, and whatever it is compared with."""

    main_input_name = "input_ids"
    pairs: PairsNeeded = "none"

    def __init__(self, model: PreTrainedModel, names: Sequence[str]) -> None:
        super().__init__(model, copy.deepcopy(model.config))
        self.config.id2label = dict(enumerate(names))
        self.config.label2id = {name: index for index, name in enumerate(names)}
        self.config.problem_type = "single_label_classification"

    @property
    def target_fn(self) -> str:
        """As of a next token."""
        return "log-probability"


class AskedAnswer(NamedTuple):
    """A model that is asked about an answer, the inputs that ask, and what a person should know of them.
    ``whole`` are the inputs about the whole answer, one for each prompt."""

    model: AnswerModel
    inputs: Inputs
    whole: Inputs
    notes: tuple[str, ...] = ()


def names_of(answer: str) -> tuple[str, str]:
    """The two classes of an answer that is compared with all others."""
    return OTHER, quote(answer)


def log_p_at(
    model: PreTrainedModel,
    rows: Int[Tensor, " asked"],
    places: Int[Tensor, " asked"],
    tokens: Int[Tensor, " asked"],
    size: int,
    **inputs: Any,
) -> tuple[Any, Float[Tensor, " size"]]:
    """What the model gives, and for each of ``size`` rows Σ log p of the tokens that are asked about, each
    predicted at a place of a row. The vocabulary is asked at these places only."""

    def at_places(hidden: Tensor) -> Tensor:
        return hidden[rows.to(hidden.device), places.to(hidden.device)][:, None]

    with vocabulary_at(model, at_places):
        output = model(use_cache=False, **inputs)
    log_p = output.logits[:, 0].log_softmax(dim=-1)
    log_p = log_p.gather(1, tokens.to(log_p.device)[:, None])[:, 0]
    return output, log_p.new_zeros(size).index_add(0, rows.to(log_p.device), log_p)
