"""A model that gives every text a vector: how similar is a text to another?"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from transformers import PreTrainedConfig, PreTrainedModel
from transformers.modeling_outputs import SequenceClassifierOutput

from glasshead.data import Encoded, encode
from glasshead.errors import InputError
from glasshead.huggingface import At, Inputs, Target, TaskModel, as_asked, new_like, place_of
from glasshead.registry import did_you_mean
from glasshead.spelling import spell

if TYPE_CHECKING:
    from datasets import Dataset

SIDES = ("first text", "second text")
Likeness = Callable[[Float[Tensor, "b d"], Float[Tensor, "b d"]], Float[Tensor, " b"]]


class SimilarityModel(TaskModel):
    """How similar a text is to another: s = sim(f(x), ``given``), logits [b, 1].

    f(x) is what ``pooling`` makes of the model's output and the mask. The vector of the other text is
    ``given`` [b, d] and stays as it is: so each of the two is asked about by itself, and ``question`` says
    which it is.
    """

    main_input_name = "input_ids"
    pairs = "needed"
    reads_others = True

    def __init__(self, model: PreTrainedModel, pooling: nn.Module, likeness: Likeness, name: str) -> None:
        super().__init__(model, copy.deepcopy(model.config))
        self.pooling, self.likeness, self.name = pooling, likeness, name
        self.config.id2label = {0: name}
        self.config.label2id = {name: 0}
        self.config.problem_type = "regression"

    def rebuild(self, config: PreTrainedConfig) -> SimilarityModel:
        """The question, put to a model of another configuration, with new weights."""
        return SimilarityModel(new_like(self.model, config), self.pooling, self.likeness, self.name)

    @property
    def target_names(self) -> list[str]:
        """The two texts, of which one is asked about."""
        return list(SIDES)

    @property
    def usual(self) -> str:
        """Each of the two."""
        return "each of them"

    def rename(self, names: Sequence[str]) -> None:
        """Refuse: there are no classes.

        Raises:
            InputError: always, unless nothing is called otherwise.
        """
        if list(names) != list(SIDES):
            raise InputError(f"a similarity has no classes to rename: leave {spell('labels')} out")

    def embed(self, attention_mask: Int[Tensor, "b n"], **inputs: Any) -> tuple[Any, Float[Tensor, "b d"]]:
        """What the model in it gives, and f(x)."""
        output = self.model(attention_mask=attention_mask, **inputs)
        return output, self.pooling(output, attention_mask)

    def forward(
        self,
        attention_mask: Int[Tensor, "b n"],
        given: Float[Tensor, "b d"] | None = None,
        question: Int[Tensor, "b n"] | None = None,
        **inputs: Any,
    ) -> SequenceClassifierOutput:
        """The similarity [b, 1]."""
        if given is None:
            raise no_other()
        output, vectors = self.embed(attention_mask, **inputs)
        return as_asked(output, self.likeness(vectors, given.to(vectors))[:, None])

    def question_in_words(self, encoded: Encoded, row: int, text: str) -> str:
        """Which of the two texts it is."""
        assert encoded.question is not None
        return SIDES[int(encoded.question[row, 0])]

    def ask(self, inputs: Inputs, target: Target, at: At = None) -> tuple[Inputs, Target]:
        """Ask what each of the two texts does to the similarity, or one of them: ``target``.

        Raises:
            InputError: without second texts, and on another target.
        """
        inputs, target = super().ask(inputs, target, at)
        sides = [0, 1] if target is None else [self.side(target)]
        firsts, seconds = list(inputs.texts), self.seconds(inputs)
        each = [(own, side) for own in zip(firsts, seconds, strict=True) for side in sides]
        texts = [own[side] for own, side in each]
        encoded = encode(inputs.tokenizer, texts, unit=inputs.encoded.unit)
        asked = torch.tensor([side for _, side in each])
        others = [own[1 - side] for own, side in each]
        given = self.compute_each(inputs.tokenizer, others, None, lambda own: self.embed(**own)[1])
        question = asked[:, None].expand(encoded.ids.shape).contiguous()
        encoded = replace(encoded, given=given, question=question)
        return Inputs(inputs.tokenizer, texts, None, encoded), None

    def side(self, target: int | str) -> int:
        """Which text a target names.

        Raises:
            InputError: if it is neither.
        """
        side = place_of(target, SIDES)
        if side is None:
            raise InputError(f"a similarity has no {target!r}: {did_you_mean(str(target), SIDES)}")
        return side

    def seconds(self, inputs: Inputs) -> list[str]:
        """The second texts.

        Raises:
            InputError: if there are none.
        """
        if inputs.pairs is None:
            raise no_other()
        return list(inputs.pairs)

    def ask_usual(self, inputs: Inputs, classes: Sequence[str] | None = None) -> Encoded:
        """What the first text does to the similarity to the second."""
        return self.ask(inputs, 0)[0].encoded

    def ask_rows(self, inputs: Inputs, split: Dataset) -> Encoded:
        """As usual.

        Raises:
            InputError: if the ratings of the data are no similarities.
        """
        ratings = torch.tensor(split["label"][:], dtype=torch.float64)
        if self.name == "cosine" and bool((ratings.abs() > 1).any()):
            raise InputError(
                f"the data rate similarity up to {float(ratings.abs().max()):g}, and this model up to 1: "
                "divide their ratings by the largest"
            )
        return self.ask_usual(inputs)


def no_other() -> InputError:
    """What is said where a text stands alone."""
    return InputError(f"a similarity is that of two texts: give the other as {spell('pairs')}")
