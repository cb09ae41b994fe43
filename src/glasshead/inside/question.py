"""One text before a model, and the logit that is asked about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor
from transformers import PreTrainedModel

from glasshead.data import coverage, encode, token_names
from glasshead.errors import InputError, ParameterError
from glasshead.huggingface import (
    Inputs,
    NextTokenClassifier,
    TaskModel,
    class_names,
    lend_copy,
    place_of,
    token_id,
)
from glasshead.opening import OpenOptions, open_subject
from glasshead.requests import InsideRequest, LogitAttributionRequest
from glasshead.spelling import spell
from glasshead.trace import Subject, eval_mode


@dataclass(frozen=True)
class Question:
    """A model of our own, what it reads of a text, and its answers."""

    subject: Subject
    model: PreTrainedModel
    inputs: dict[str, Tensor]
    text: str
    tokens: tuple[str, ...]
    names: Sequence[str]
    target: int | None
    against: int | None
    notes: tuple[str, ...]
    """What a person should know of how the model and the text were read."""

    def resolve(self, logits: Float[Tensor, " classes"]) -> int:
        """The answer that is asked about: the most probable one where none is named."""
        return int(logits.argmax()) if self.target is None else self.target


@contextmanager
def ask(request: InsideRequest) -> Iterator[Question]:
    """Open the model of a request, and ask.

    Raises:
        InputError: as `open_subject`, if the model has no such answer, and if there is nothing to read.
    """
    subject = open_subject(
        request.model, request.tokenizer, OpenOptions.of(request, dtype=request.dtype), shared=True
    )
    if not isinstance(request.text, str):
        raise ParameterError("text", "takes one text at a time: call it again for each")
    with lend_copy(subject.model) as model, eval_mode(model):
        inputs = Inputs(subject.tokenizer, [request.text], None, encode(subject.tokenizer, [request.text]))
        read = coverage(*inputs[:4])
        if not bool(inputs.encoded.mask.any()):
            raise InputError("the text is empty: there is nothing to read")
        target = answer_number(model, subject, "target", request.target)
        other = request.against if isinstance(request, LogitAttributionRequest) else None
        against = answer_number(model, subject, "against", other)
        if against is not None and target == against:
            raise ParameterError("against", f"{other!r} is contrasted with itself: name two answers")
        if isinstance(model, TaskModel):
            inputs, _ = model.ask(inputs, target, request.at)
        elif request.at is not None:
            raise ParameterError("at", "is for models that predict one word of a text: leave it out")
        encoded = inputs.encoded
        if len(encoded.ids) > 1:
            raise InputError(
                f"{subject.name} can be asked about {len(encoded.ids)} words of this text: choose one "
                f"({spell('at')})"
            )
        yield Question(
            subject,
            model,
            encoded.inputs(device=model.device),
            request.text,
            tuple(token_names(subject.tokenizer, encoded.ids[0].tolist())),
            class_names(model),
            target,
            against,
            (*subject.notes, *read.lines("read")),
        )


def answer_number(
    model: PreTrainedModel, subject: Subject, parameter: str, name: int | str | None
) -> int | None:
    """The number of a token or a class; None where none is named.

    Raises:
        InputError: if there is no such.
    """
    if name is None:
        return None
    if isinstance(model, NextTokenClassifier) and isinstance(name, str):
        return token_id(subject.tokenizer, name)
    names = class_names(model)
    number = place_of(name, names)
    if number is None:
        raise ParameterError(parameter, f"{name!r} is none of the {len(names)} answers of {subject.name}")
    return number
