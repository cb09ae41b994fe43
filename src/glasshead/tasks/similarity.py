"""A model that gives every text a vector: how similar is a text to another?"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from transformers import PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerBase
from transformers.modeling_outputs import SequenceClassifierOutput

from glasshead.data import QUESTION, Encoded, LoadOptions, encode, read_split
from glasshead.errors import InputError
from glasshead.huggingface import (
    At,
    Inputs,
    Target,
    TaskModel,
    as_asked,
    class_name,
    new_like,
    own_model,
    place_of,
)
from glasshead.models import REGRESSION
from glasshead.registry import did_you_mean
from glasshead.spelling import spell
from glasshead.tasks.task import QUESTIONS, Chosen, Questions, question_rows

if TYPE_CHECKING:
    from datasets import Dataset, DatasetDict

COSINE = "cosine"
SIDES = ("first text", "second text")
Likeness = Callable[[Float[Tensor, "b d"], Float[Tensor, "b d"]], Float[Tensor, " b"]]
States = Float[Tensor, "b n d"]
Mask = Int[Tensor, "b n"]


def mean_state(states: States, mask: Mask) -> Float[Tensor, "b d"]:
    """The mean of the states of a text, special tokens included."""
    shares = mask.to(states)[..., None]
    return (states * shares).sum(dim=1) / shares.sum(dim=1)


def first_state(states: States, mask: Mask) -> Float[Tensor, "b d"]:
    """The state of the first token of a text: [CLS] where there is one."""
    return states[torch.arange(len(states)), mask.to(torch.int8).argmax(dim=1)]


def last_state(states: States, mask: Mask) -> Float[Tensor, "b d"]:
    """The state of the last token of a text."""
    places = torch.arange(mask.shape[1], device=mask.device)
    return states[torch.arange(len(states)), (mask * places).argmax(dim=1)]


POOLINGS: dict[str, Callable[[States, Mask], Float[Tensor, "b d"]]] = {
    "similarity-mean": mean_state,
    "similarity-cls": first_state,
    "similarity-last": last_state,
}
"""What a model that gives every token a vector is asked → the vector of a text."""


class Pooling(nn.Module):
    """The vector of a text, of the states that a model gives."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def forward(self, output: Any, mask: Mask) -> Float[Tensor, "b d"]:
        """[b, d] of the states [b, n, d]."""
        return POOLINGS[self.name](output[0], mask)


def ask_similarity(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, name: str) -> SimilarityModel:
    """A model without its head as a model of similarity: the cosine of pooled vectors.

    Raises:
        InputError: if it does not give a state for each token.
    """
    below = own_model(model).base_model
    if not isinstance(below, PreTrainedModel) or below.main_input_name != "input_ids":
        raise no_vectors(model)
    read = encode(tokenizer, ["a text"])
    with torch.no_grad():
        states = below(**read.inputs(device=model.device))[0]
    if states.ndim != 3 or states.shape[1] != read.ids.shape[1]:
        raise no_vectors(model)
    return SimilarityModel(below, Pooling(name), torch.cosine_similarity, COSINE)


class SimilarityModel(TaskModel):
    """The similarity of a text to another: s = sim(f(x), ``given``), logits [b, 1].

    f(x) is the ``pooling`` of the model's output and the mask. The vector of the other text is ``given``
    [b, d] and does not change, so the two are explained separately; ``question`` says which.
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
        """The question for a model of another configuration, with new weights."""
        return SimilarityModel(new_like(self.model, config), self.pooling, self.likeness, self.name)

    @property
    def target_names(self) -> list[str]:
        """The names of the two texts, one of which is explained."""
        return list(SIDES)

    @property
    def rated(self) -> str:
        """How similar the two are."""
        return "similarity"

    @property
    def usual(self) -> str:
        """Each of the two."""
        return "each of them"

    def rename(self, names: Sequence[str]) -> None:
        """Raise InputError, since there are no classes.

        Raises:
            InputError: if any name is to be changed.
        """
        if list(names) != list(SIDES):
            raise InputError(f"a similarity has no classes to rename: leave {spell('labels')} out")

    def embed(self, attention_mask: Int[Tensor, "b n"], **inputs: Any) -> tuple[Any, Float[Tensor, "b d"]]:
        """The output of the wrapped model, and f(x)."""
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
        """Ask how each of the two texts contributes to the similarity, or one of them: ``target``.

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
        """Ask how the first text contributes to its similarity to the second."""
        return self.ask(inputs, 0)[0].encoded

    def ask_rows(self, inputs: Inputs, split: Dataset) -> Encoded:
        """Ask how the text of each row contributes to its similarity to the other."""
        encoded = self.ask_usual(inputs)
        sides = torch.tensor([SIDES.index(name) for name in split[QUESTION][:]])
        return replace(encoded, question=sides[:, None].expand(encoded.ids.shape).contiguous())

    def question_names(self, encoded: Encoded) -> list[str]:
        """Which of the two texts each is."""
        assert encoded.question is not None
        return [SIDES[side] for side in encoded.question[:, 0].tolist()]


def no_vectors(model: PreTrainedModel) -> InputError:
    """What is said of a model that cannot be asked."""
    return InputError(
        f"{class_name(model)} does not give a vector for each token, so texts cannot be compared: leave "
        f"{spell('task')} out"
    )


def no_other() -> InputError:
    """What is said where a text stands alone."""
    return InputError(f"a similarity needs two texts: give the other as {spell('pairs')}")


class RatedPair(NamedTuple):
    """Two texts, and how similar people find them."""

    texts: tuple[str, str]
    rating: float
    largest: float
    """The largest rating of all rows."""


class Similarities(Questions):
    """How similar are two texts? The data say how similar people find them."""

    model = SimilarityModel

    def read(
        self, source: str | Path | Dataset | DatasetDict, split: str, options: LoadOptions
    ) -> list[RatedPair]:
        """Pairs with their ratings.

        Raises:
            InputError: as `read_split`, and without second texts.
        """
        rows = read_split(source, split, replace(options, task=REGRESSION))
        if "text_pair" not in rows.column_names:
            raise InputError(
                "a similarity needs two texts, but these data have one per row: name the column of the "
                "second 'text_pair'"
            )
        pairs = zip(rows["text"][:], rows["text_pair"][:], strict=True)
        ratings = rows["label"][:]
        largest = max(map(abs, ratings), default=0.0)
        return [RatedPair(pair, rating, largest) for pair, rating in zip(pairs, ratings, strict=True)]

    def texts(self, rows: Sequence[RatedPair]) -> tuple[list[str], list[str]]:
        """The texts, and their second ones."""
        return [one.texts[0] for one in rows], [one.texts[1] for one in rows]

    def draw(
        self, model: TaskModel, tokenizer: PreTrainedTokenizerBase, chosen: Chosen
    ) -> tuple[Dataset, str]:
        """One of the two texts of each row; what people say of a cosine becomes at most 1."""
        assert isinstance(model, SimilarityModel)
        note = f"each row is about its {SIDES[0]} or its {SIDES[1]}, drawn at random"
        divisor = 1.0
        if model.name == COSINE and (largest := chosen.rows[0].largest) > 1:
            divisor = largest
            note += f"; the ratings reach {largest:g} and are divided by it, to be compared with a cosine"
        asked = {}
        for row, one in enumerate(chosen.rows):
            side = int(chosen.random(row).integers(2))
            asked[row] = {
                "text": one.texts[side],
                "text_pair": one.texts[1 - side],
                "label": one.rating / divisor,
                QUESTION: SIDES[side],
            }
        return question_rows(None, chosen, asked, note, "two texts")


QUESTIONS.register("similarity")(Similarities())
