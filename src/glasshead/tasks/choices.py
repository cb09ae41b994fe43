"""A model that chooses between texts, each read behind the same one, asked about one of them."""

from __future__ import annotations

import json
import re
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from transformers import (
    AutoModelForMultipleChoice,
    PreTrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)
from transformers.modeling_outputs import SequenceClassifierOutput

from glasshead.data import Encoded, LoadOptions, OfferedChoices, read_offered
from glasshead.errors import InputError, ParameterError, one_line, pluralise
from glasshead.huggingface import At, Inputs, Target, TaskModel, as_asked, class_names, new_like, place_of
from glasshead.registry import did_you_mean
from glasshead.tasks.task import QUESTIONS, Chosen, Questions, Task, question_rows

if TYPE_CHECKING:
    from datasets import Dataset, DatasetDict

NAMELESS = re.compile(r"(LABEL_)?\d+(\.0+)?")
"""Classes that nobody named."""
STRONGEST, CHOSEN = "the strongest other", "chosen"
WIDTH = 63
"""Scores of so many others at least are given, so that no explanation depends on the choices of other texts
in a batch."""
NEVER = 40.0
"""So far below the strongest choice is a score that stands for none: e^-40 is nothing next to 1."""
OTHERS = "other choices"
"""The column of the second texts next to which that of a row is read, as JSON."""


class ChoiceModel(TaskModel):
    """A classifier of whether a model chooses a text x_k after another: p_k = exp s_k / Σ_j exp s_j of the
    scores s_j that it gives to each pair.

    Logits [b, m] are the largest score of the others, s_k, and the rest: the model chooses x_k if s_k is
    the largest. Scores of others are ``given`` [b, m − 1]: changes apply only to the text with x_k, and the
    others stay as they are.
    """

    main_input_name = "input_ids"
    pairs = "needed"
    second_text = "Choices, one on each line"
    reads_others = True

    def __init__(self, model: PreTrainedModel) -> None:
        super().__init__(model)
        self.config.id2label = {0: STRONGEST, 1: CHOSEN}
        self.config.label2id = {STRONGEST: 0, CHOSEN: 1}
        self.config.problem_type = "single_label_classification"

    def rebuild(self, config: PreTrainedConfig) -> ChoiceModel:
        """The questions for a model of another configuration, with new weights."""
        return type(self)(new_like(self.model, config))

    @abstractmethod
    def score(self, inputs: dict[str, Any]) -> tuple[Any, Float[Tensor, " b"]]:
        """The output of the wrapped model for pairs, and their scores."""

    def alone(self, output: Any) -> Float[Tensor, "b 2"]:
        """Logits of a text that is the only choice.

        Raises:
            InputError: if there is only one choice.
        """
        raise ParameterError("choices", "has only one text: give two or more")

    def forward(
        self, given: Float[Tensor, "b others"] | None = None, **inputs: Any
    ) -> SequenceClassifierOutput:
        """Logits [b, m] of the strongest other choice, of this one, and of the rest."""
        output, score = self.score(inputs)
        if given is None:
            return as_asked(output, self.alone(output))
        given = given.to(score)
        return as_asked(output, torch.cat([given[:, :1], score[:, None], given[:, 1:]], dim=1))

    @property
    def target_names(self) -> list[str]:
        """None: each question has its own choices."""
        return []

    @property
    def usual(self) -> str:
        """Each of them."""
        return "each choice"

    def question_in_words(self, encoded: Encoded, row: int, text: str) -> str:
        """The choice, as it follows a text."""
        return text.rpartition("\n")[2]

    def seconds(self, inputs: Inputs, choices: Sequence[str], row: int) -> list[str]:
        """The second text for each choice: after the second text of an input, if choices are named
        separately.

        Raises:
            InputError: if there is a template; only names have one.
        """
        if inputs.template is not None:
            raise ParameterError("template", "is for names that a text may fit, but this model reads choices")
        if inputs.pairs is None or inputs.choices is None:
            return list(choices)
        return [f"{inputs.pairs[row]} {choice}" for choice in choices]

    def offered(self, inputs: Inputs, row: int) -> tuple[Sequence[str], list[str]]:
        """The choices of an input, and its second texts; if no choices are named, each line of a second
        text is one.

        Raises:
            InputError: if there are none, or one twice.
        """
        choices = inputs.choices
        if choices is None and inputs.pairs is not None:
            choices = [line.strip() for line in inputs.pairs[row].splitlines() if line.strip()]
        if choices is None:
            raise ParameterError("choices", "is empty, but this model chooses between texts: give each")
        check_choices(choices, "text", "the texts")
        return choices, self.seconds(inputs, choices, row)

    def ask(self, inputs: Inputs, target: Target, at: At = None) -> tuple[Inputs, Target]:
        """Ask about one choice, by its text or number; by default, about each of them.

        Raises:
            InputError: if there are no choices, or not this one.
        """
        inputs, target = super().ask(inputs, target, at)
        asked: list[tuple[int, str, list[str]]] = []
        for row in range(len(inputs.texts)):
            choices, seconds = self.offered(inputs, row)
            numbers = range(len(seconds))
            if target is not None:
                number = place_of(target, choices)
                if number is None:
                    raise ParameterError(
                        "target",
                        f"is {target!r}, which is not a choice: {did_you_mean(str(target), choices)}",
                    )
                numbers = range(number, number + 1)
            asked += [(row, seconds[own], seconds[:own] + seconds[own + 1 :]) for own in numbers]
        texts = [inputs.texts[row] for row, _, _ in asked]
        read = Inputs.read(inputs.tokenizer, texts, [own for _, own, _ in asked], inputs.encoded.unit)
        return read._replace(encoded=self.beside(read, [others for _, _, others in asked])), CHOSEN

    def ask_usual(self, inputs: Inputs, classes: Sequence[str] | None = None) -> Encoded:
        """Ask about the first choice; each line of a second text is one."""
        return self.ask(inputs, 0)[0].encoded

    def ask_rows(self, inputs: Inputs, split: Dataset) -> Encoded:
        """Ask about the choice that is the second text of each row."""
        return self.beside(inputs, [json.loads(others) for others in split[OTHERS][:]])

    def beside(self, inputs: Inputs, others: Sequence[Sequence[str]]) -> Encoded:
        """Pairs of each text with the other choices, with their scores as ``given``.

        Raises:
            InputError: if some texts have one choice, and others several.
        """
        if not all(others):
            if any(others):
                raise ParameterError(
                    "choices", "are one for some texts and several for others: explain these separately"
                )
            return inputs.encoded
        rows = [row for row, own in enumerate(others) for _ in own]
        seconds = [second for own in others for second in own]
        firsts = [inputs.texts[row] for row in rows]
        scores = self.compute_each(inputs.tokenizer, firsts, seconds, lambda own: self.score(own)[1])
        given = torch.full((len(others), max(WIDTH, *map(len, others))), -torch.inf, dtype=scores.dtype)
        columns = [column for own in others for column in range(len(own))]
        given[rows, columns] = scores
        given = given.sort(dim=1, descending=True).values
        return replace(inputs.encoded, given=given.maximum(given[:, :1] - NEVER))


class ChoiceClassifier(ChoiceModel):
    """A model of multiple choice: it gives every pair one number, s."""

    def score(self, inputs: dict[str, Any]) -> tuple[Any, Float[Tensor, " b"]]:
        """The number of each pair."""
        output = self.model(**as_one_choice(inputs))
        return output, output.logits[:, 0]


def as_one_choice(inputs: dict[str, Any]) -> dict[str, Any]:
    """Inputs [b, n] as those [b, 1, n] of one choice each."""
    return {
        name: value[:, None] if isinstance(value, Tensor) and value.ndim > 1 else value
        for name, value in inputs.items()
    }


def check_choices(choices: Sequence[str], one: str, several: str) -> None:
    """Raise ParameterError for choices that are empty, or named twice; ``one`` of them and ``several`` are
    called so."""
    if not choices or not all(choice.strip() for choice in choices):
        raise ParameterError("choices", f"is empty, or has an empty text: give {several} to choose from")
    if len(set(choices)) < len(choices):
        raise ParameterError("choices", f"names each {one} once, unlike {', '.join(choices)[:60]!r}")


def in_template(template: str, choices: Sequence[str], one: str) -> list[str]:
    """Each choice in the place {} of a template; ``one`` is called so.

    Raises:
        ParameterError: unless there is one such place.
    """
    if template.count("{}") != 1:
        raise ParameterError("template", f"has one place {{}} for a {one}, unlike {template[:60]!r}")
    return [template.replace("{}", choice) for choice in choices]


def check_named(names: Sequence[str]) -> None:
    """Raise InputError unless the classes of the data have names, which become the choices."""
    if unnamed := [name for name in names if NAMELESS.fullmatch(name)]:
        raise InputError(
            f"the class {unnamed[0]!r} of the data is not a name to choose: give data with named labels"
        )


class ChoiceQuestions(Questions):
    """Questions between choices."""

    def texts(self, rows: Sequence[OfferedChoices]) -> tuple[list[str], list[str]]:
        """The texts, with their choices line by line, the right one first."""
        seconds = [[one.seconds[one.right], *one.others(one.right)] for one in rows]
        return [one.text for one in rows], ["\n".join(map(one_line, own)) for own in seconds]

    def draw(
        self, model: TaskModel, tokenizer: PreTrainedTokenizerBase, chosen: Chosen
    ) -> tuple[Dataset, str]:
        """One choice of each row: the right one or, as often, another.

        Raises:
            InputError: if no row has a word that is read.
        """
        firsts = [one.text for one in chosen.rows]
        rights = [one.seconds[one.right] for one in chosen.rows]
        read = Inputs.read(tokenizer, firsts, rights).encoded
        asked: dict[int, dict[str, Any]] = {}
        for row, one in enumerate(chosen.rows):
            if not (read.words[row] >= 0).any():
                continue
            random, number = chosen.random(row), one.right
            if random.random() < 0.5:
                number = int(random.choice([n for n in range(len(one.seconds)) if n != one.right]))
            asked[row] = {
                "text": one.text,
                "text_pair": one.seconds[number],
                "label": int(number == one.right),
                OTHERS: json.dumps(one.others(number), ensure_ascii=False),
            }
        sizes = {len(one.seconds) for one in chosen.rows}
        among = f"its {pluralise(sizes.pop(), 'choice')}" if len(sizes) == 1 else "its choices"
        note = (
            f"each row is about one of {among}, drawn at random: the right one in half of the rows, else "
            "another; the others stay as they are"
        )
        return question_rows(class_names(model), chosen, asked, note, "a word that the model reads")


class Choices(ChoiceQuestions, Task):
    """Is this choice taken?"""

    head = "ForMultipleChoice"
    auto = AutoModelForMultipleChoice
    model = ChoiceClassifier

    def wrap(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> ChoiceClassifier:
        """The model, asked about one choice."""
        return ChoiceClassifier(model)

    def shaped(self, inputs: dict[str, Int[Tensor, "b n"]]) -> dict[str, Tensor]:
        """Each text as the one choice of a question."""
        return as_one_choice(inputs)

    def read(
        self, source: str | Path | Dataset | DatasetDict, split: str, options: LoadOptions
    ) -> list[OfferedChoices]:
        """Questions with their choices."""
        return read_offered(source, split, options)


QUESTIONS.register("choices")(Choices())
