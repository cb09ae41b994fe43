"""A model that says whether a text entails another, asked which of some names fits the text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from jaxtyping import Float
from torch import Tensor
from transformers import (
    AutoModelForSequenceClassification,
    PreTrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    ZeroShotClassificationPipeline,
)

from glasshead.data import Encoded, LoadOptions, OfferedChoices, read_split
from glasshead.errors import InputError, ParameterError
from glasshead.huggingface import Inputs, TaskModel, class_name, class_names
from glasshead.models import TextClassifier
from glasshead.spelling import spell
from glasshead.tasks.captions import CaptionModel
from glasshead.tasks.choices import CHOSEN, ChoiceModel, ChoiceQuestions, check_named, in_template
from glasshead.tasks.task import QUESTIONS, Chosen, Task

if TYPE_CHECKING:
    from datasets import Dataset, DatasetDict

ZERO_SHOT = "zero-shot"
CONTRADICTED = "contradicted"
ENTAILS = "entail"
"""How the name of the class begins, in any case."""
TEMPLATE = "This example is {}."
"""The second text of a pair with a name in it, as in pipelines of Transformers."""


def entailment_of(model: PreTrainedModel) -> int | None:
    """The number of the class that says that a text entails another; None: there is none."""
    names = class_names(model)
    return next((number for number, name in enumerate(names) if name.lower().startswith(ENTAILS)), None)


class EntailmentModel(ChoiceModel):
    """A classifier of which name fits a text: the scores are the logits of *entailment* for each name in a
    template. A single name is chosen against *contradiction*."""

    task = ZERO_SHOT

    def __init__(self, model: PreTrainedModel) -> None:
        number = entailment_of(model)
        if number is None:
            raise InputError(
                f"{class_name(model)} has no class 'entailment', so it cannot say which text fits: it has "
                f"{', '.join(class_names(model))}; name it with {spell('labels')}"
            )
        self.entails, self.contradicts = number, len(class_names(model)) - 1 if number == 0 else 0
        self.own_names = class_names(model)
        super().__init__(model)

    def rebuild(self, config: PreTrainedConfig) -> EntailmentModel:
        """The questions for a model of another configuration, with new weights."""
        config.id2label = dict(enumerate(self.own_names))
        return super().rebuild(config)  # type: ignore[return-value]

    def score(self, inputs: dict[str, Any]) -> tuple[Any, Float[Tensor, " b"]]:
        """The logit of entailment."""
        output = self.model(**inputs)
        return output, output.logits[:, self.entails]

    def alone(self, output: Any) -> Float[Tensor, "b 2"]:
        """The logits of contradiction and entailment."""
        return torch.stack([output.logits[:, self.contradicts], output.logits[:, self.entails]], dim=1)

    def answers(self, encoded: Encoded, row: int) -> Sequence[str]:
        """As for choices; a single name is contradicted, or chosen."""
        return super().answers(encoded, row) if encoded.given is not None else (CONTRADICTED, CHOSEN)

    def ask_usual(self, inputs: Inputs, classes: Sequence[str] | None = None) -> Encoded:
        """Ask about the first line of second texts; those of data are in no template."""
        return super().ask_usual(inputs._replace(template="{}"), classes)

    def seconds(self, inputs: Inputs, choices: Sequence[str], row: int) -> list[str]:
        """Each name in the template.

        Raises:
            InputError: if the template has no place for it, or if there is a second text.
        """
        if inputs.pairs is not None and inputs.choices is not None:
            raise InputError(f"the names are second texts already: leave {spell('pairs')} out")
        if len(choices) == 1 and "," in choices[0]:
            raise ParameterError("choices", f"is one name with a comma, {choices[0][:60]!r}: give a list")
        template = TEMPLATE if inputs.template is None else inputs.template
        return in_template(template, choices, "name")


def as_choosing(model: PreTrainedModel, inputs: Inputs) -> PreTrainedModel:
    """A model that chooses between the choices of inputs: a multiple-choice model, one of inference (NLI),
    or one that compares images with captions.

    Raises:
        InputError: if it does none of these.
    """
    if isinstance(model, CaptionModel):
        return model.about(inputs.tokenizer, inputs.choices or (), inputs.template)
    if isinstance(model, ChoiceModel):
        return model
    if isinstance(model, TaskModel | TextClassifier) or entailment_of(model) is None:
        raise InputError(
            f"{class_name(model)} does not choose between texts: leave {spell('choices')} out, or give a "
            "…ForMultipleChoice, a model of inference (NLI) with a class 'entailment', or a CLIP or SigLIP"
        )
    return EntailmentModel(model)


class ZeroShot(ChoiceQuestions, Task):
    """Is this the name that fits? For the pipelines of this kind, and classifiers that are asked so."""

    head = ()
    auto = AutoModelForSequenceClassification
    pipeline = ZeroShotClassificationPipeline
    cuts = True
    asked = ZERO_SHOT
    model = EntailmentModel

    def serves(self, config: PreTrainedConfig) -> bool:
        """No: a model of inference may be asked so, and says nothing about it."""
        return False

    def wrap(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> EntailmentModel:
        """The model, asked about names."""
        return EntailmentModel(model)

    def printed(
        self, pipeline: Any, model: TaskModel, tokenizer: PreTrainedTokenizerBase, text: str
    ) -> tuple[Tensor, Tensor]:
        """The probabilities of some names."""
        names = ["short", "long", "about films"]
        scores = pipeline(text, names)
        printed = dict(zip(scores["labels"], scores["scores"], strict=True))
        asked, _ = model.ask(Inputs.read(tokenizer, [text], None)._replace(choices=names), None)
        with torch.no_grad():
            logits = model(**asked.encoded.inputs(device=model.device)).logits
        return torch.tensor([printed[name] for name in names]), logits.softmax(dim=1)[:, 1].float()

    def read(
        self, source: str | Path | Dataset | DatasetDict, split: str, options: LoadOptions
    ) -> list[OfferedChoices]:
        """Texts with their classes, whose names are the choices.

        Raises:
            InputError: as `read_split`, and if there are pairs.
        """
        rows = read_split(source, split, options)
        names = rows.features["label"].names
        check_named(names)
        if "text_pair" in rows.column_names:
            raise InputError("names are the second texts here, but these data have others")
        seconds = tuple(TEMPLATE.replace("{}", name) for name in names)
        return [
            OfferedChoices(text, seconds, label)
            for text, label in zip(rows["text"][:], rows["label"][:], strict=True)
        ]

    def draw(
        self, model: TaskModel, tokenizer: PreTrainedTokenizerBase, chosen: Chosen
    ) -> tuple[Dataset, str]:
        """One name for each text; the sentence says in which template.

        Raises:
            InputError: if no row has a word that is read.
        """
        rows, note = super().draw(model, tokenizer, chosen)
        return rows, f"{note}; names are inserted into the sentence {TEMPLATE!r}"


QUESTIONS.register(ZERO_SHOT)(ZeroShot())
