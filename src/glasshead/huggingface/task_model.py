"""A model that a task asks: its forward gives logits [questions, classes], whatever the model in it gives."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from transformers import PreTrainedConfig, PreTrainedModel
from transformers.modeling_outputs import SequenceClassifierOutput

from glasshead.data import Encoded, Unit, batches, encode, join_pair
from glasshead.errors import InputError, ParameterError
from glasshead.huggingface.labels import class_names
from glasshead.huggingface.module_classifier import ModuleClassifier

if TYPE_CHECKING:
    from datasets import Dataset

Target = int | str | None
NO_PLACE = "is for models that predict one word of a text: leave it out"
At = int | str | None
"""A place in a text: the number of a word, counted from 0, or the word itself."""


PREDICTED = "the predicted one"
PairsNeeded = Literal["none", "possible", "needed"]


class Inputs(NamedTuple):
    """Texts, or pairs of texts, and the inputs of the model made from them, or images.

    ``choices`` are the texts between which the model chooses for each input, if you name some; each is put
    into the ``template``, if there is one.
    """

    tokenizer: Any
    texts: Sequence[Any]
    pairs: Sequence[str] | None
    encoded: Encoded
    choices: Sequence[str] | None = None
    template: str | None = None

    @classmethod
    def read(
        cls, tokenizer: Any, texts: Sequence[Any], pairs: Sequence[str] | None, unit: Unit = "token"
    ) -> Inputs:
        """Texts as a model reads them."""
        return cls(tokenizer, texts, pairs, encode(tokenizer, texts, pairs, unit=unit))

    def take(self, rows: Sequence[int]) -> Inputs:
        """The inputs with these numbers; one with several questions occurs several times."""
        pairs = None if self.pairs is None else [self.pairs[row] for row in rows]
        return self._replace(
            texts=[self.texts[row] for row in rows], pairs=pairs, encoded=self.encoded.take(np.array(rows))
        )

    def joined(self, row: int) -> str:
        """The text, or both of a pair, to which words and offsets refer."""
        return join_pair(str(self.texts[row]), None if self.pairs is None else self.pairs[row])


class TaskModel(PreTrainedModel):
    """A ``model`` wrapped as a classifier, with its own configuration or another.

    The model becomes part of this one: give a copy.
    """

    base_model_prefix = "model"
    asks_words = False
    """Whether it is asked about words of a text."""
    asks_places = False
    """Whether it is asked about a place in an image."""
    pairs: PairsNeeded = "possible"
    """Whether it reads a second text."""
    second_text = "Second text"
    """What that is called where it is typed."""
    reads_others = False
    """Whether it reads other texts, or pairs, than those that it is asked about."""
    decodes_answer = False
    """Whether its decoder reads an answer of its own, not the text that the encoder reads."""
    explains_predicted = False
    """Whether the predicted class is explained where none is named, also of two."""
    _supports_sdpa = _supports_flash_attn = _supports_flex_attn = _supports_attention_backend = True

    def __init__(self, model: PreTrainedModel, config: PreTrainedConfig | None = None) -> None:
        super().__init__(model.config if config is None else config)
        self.model = model

    @property
    def asks_whole_texts(self) -> bool:
        """Whether it needs nothing but a text: no marked word, no second text, no choices."""
        return False

    @property
    def predicts_next_tokens(self) -> bool:
        """Whether it predicts the next token at every token that it reads."""
        return False

    @property
    def reads_twice(self) -> str:
        """What to use instead of a single attention if the model reads every text twice; else empty."""
        return ""

    @abstractmethod
    def rebuild(self, config: PreTrainedConfig) -> TaskModel:
        """A model of another configuration, with new weights, read in the same way."""

    @property
    def target_names(self) -> list[str]:
        """The names of the targets: the classes."""
        return class_names(self)

    def put_to(self, model: PreTrainedModel) -> TaskModel:
        """The same question to another model.

        Raises:
            InputError: if only one kind of model supports this task.
        """
        raise InputError(
            "images with texts can be explained for a next token or a given answer, but this model has "
            "another task: give it only texts"
        )

    def rename(self, names: Sequence[str]) -> None:
        """Call these otherwise."""
        self.config.id2label = dict(enumerate(names))

    def answers(self, encoded: Encoded, row: int) -> Sequence[str]:
        """The classes that an input can have."""
        return class_names(self)

    def ask(self, inputs: Inputs, target: Target, at: At = None) -> tuple[Inputs, Target]:
        """The inputs with the questions that a ``target`` is about, ``at`` some place of each text, and its
        class among the answers. Here there is only one question.

        Raises:
            InputError: if there is no such target or place.
        """
        if at is not None:
            raise ParameterError("at", NO_PLACE)
        return inputs, target

    def ask_usual(self, inputs: Inputs, classes: Sequence[str] | None = None) -> Encoded:
        """Each input with the default question, about ``classes`` if given.

        Raises:
            InputError: if there are no such, or several.
        """
        return inputs.encoded

    def question_in_words(self, encoded: Encoded, row: int, text: str) -> str | None:
        """The question of an input in words: a part of its text, or one of several outputs; None if there
        is only one, or the class names it."""
        return None

    def measured_on(self, classes: Sequence[str] | None) -> str | None:
        """What effects are measured on, in words, if the data do not say: ``classes``, if some are named;
        None: the predicted class."""
        return None

    @property
    def target_fn(self) -> str:
        """The number that is explained by default."""
        return "probability"

    @property
    def rated(self) -> str:
        """The noun for the number that a model predicts."""
        return "rating"

    @property
    def usual(self) -> str:
        """The class that is explained by default, in words."""
        return PREDICTED if self.explains_predicted else usual_of(self.target_names)

    def ask_rows(self, inputs: Inputs, split: Dataset) -> Encoded:
        """The inputs of a split, with the questions that its rows ask."""
        return inputs.encoded

    def question_names(self, encoded: Encoded) -> list[str] | None:
        """The question of each input; None if all have the same."""
        return None

    @torch.no_grad()
    def compute_each(
        self,
        tokenizer: Any,
        texts: Sequence[str],
        pairs: Sequence[str] | None,
        compute: Callable[[dict[str, Tensor]], Tensor],
    ) -> Tensor:
        """The result of ``compute`` for texts, or pairs, as a model reads them [texts, …]; equal ones are
        computed once."""
        asked = list(zip(texts, texts if pairs is None else pairs, strict=True))
        numbers = {one: number for number, one in enumerate(dict.fromkeys(asked))}
        firsts, seconds = [text for text, _ in numbers], [second for _, second in numbers]
        computed: dict[int, Tensor] = {}
        encoded = encode(tokenizer, firsts, None if pairs is None else seconds)
        for rows, inputs in batches(encoded, device=self.model.device):
            computed |= zip(rows.tolist(), compute(inputs).cpu(), strict=True)
        return torch.stack([computed[numbers[one]] for one in asked])

    def get_input_embeddings(self) -> nn.Module:
        embeddings: nn.Module = self.model.get_input_embeddings()
        return embeddings

    @classmethod
    def _can_set_experts_implementation(cls) -> bool:
        return True  # that of the model has been chosen when it was made

    def set_attn_implementation(self, *args: Any, **kwargs: Any) -> None:
        self.model.set_attn_implementation(*args, **kwargs)

    def set_experts_implementation(self, *args: Any, **kwargs: Any) -> None:
        self.model.set_experts_implementation(*args, **kwargs)


def as_asked(output: Any, logits: Tensor) -> SequenceClassifierOutput:
    """The output of a model, with the logits [questions, classes] in place of its own."""
    return SequenceClassifierOutput(
        logits=logits,
        hidden_states=getattr(output, "hidden_states", None),
        attentions=getattr(output, "attentions", None),
    )


def target_names(model: PreTrainedModel) -> list[str]:
    """The possible names of a target: the classes of a model, or its labels."""
    return model.target_names if isinstance(model, TaskModel) else class_names(model)


def question_in_words(model: PreTrainedModel, encoded: Encoded, row: int, text: str) -> str | None:
    """The question of an input in words; None if there is only one."""
    return model.question_in_words(encoded, row, text) if isinstance(model, TaskModel) else None


def rated_name(model: PreTrainedModel) -> str:
    """The noun for the number that a model predicts."""
    return model.rated if isinstance(model, TaskModel) else "rating"


def usual_class(model: PreTrainedModel) -> str:
    """The class that is explained by default, in words."""
    return model.usual if isinstance(model, TaskModel) else usual_of(class_names(model))


def usual_of(names: Sequence[str]) -> str:
    """Class 1 of two, else the predicted one."""
    return names[1] if len(names) == 2 else PREDICTED


def answers_of(model: PreTrainedModel, encoded: Encoded, row: int) -> Sequence[str]:
    """The classes that an input can have."""
    return model.answers(encoded, row) if isinstance(model, TaskModel) else class_names(model)


def ask_usual(model: PreTrainedModel, inputs: Inputs, classes: Sequence[str] | None = None) -> Encoded:
    """Each input with the default question of a task, if data name none, about ``classes`` if possible."""
    return model.ask_usual(inputs, classes) if isinstance(model, TaskModel) else inputs.encoded


def measured_on(model: PreTrainedModel, classes: Sequence[str] | None) -> str | None:
    """What effects are measured on, in words, if the data do not say; None: the predicted class."""
    return model.measured_on(classes) if isinstance(model, TaskModel) else None


def ask_rows(model: PreTrainedModel, inputs: Inputs, split: Dataset) -> Encoded:
    """The inputs of a split, with the questions that its rows ask where a task has several."""
    return model.ask_rows(inputs, split) if isinstance(model, TaskModel) else inputs.encoded


def question_names(model: PreTrainedModel, encoded: Encoded) -> list[str] | None:
    """The question of each input; None if all have the same."""
    return model.question_names(encoded) if isinstance(model, TaskModel) else None


def own_model(model: PreTrainedModel) -> PreTrainedModel:
    """The model inside a task model, as `glasshead.open` gives it; any other model is returned as it is."""
    while isinstance(model, TaskModel):
        model = model.model
    return model


def class_name(model: object) -> str:
    """The class of a model; for a task model or a wrapped module, the class of what is inside."""
    own = own_model(model) if isinstance(model, PreTrainedModel) else model
    return type(own.module if isinstance(own, ModuleClassifier) else own).__name__
