"""What every method says of the same texts, and what it costs."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple, TypeVar

import torch

from glasshead.audits.audit_subject import explainer_remarks
from glasshead.audits.judging.settings import Settings
from glasshead.audits.measuring.class_scores import TokenOrder, token_order
from glasshead.audits.measuring.view import ModelView
from glasshead.explainers import ExplanationContext, make_context

LITTLE = 0.05
"""What takes less than so many seconds is timed again until they are spent: the least time of several."""
T = TypeVar("T")


class MethodFacts(NamedTuple):
    """What judges are told of a method: its name, what it does, the settings of its audit, and what else is
    to be said of it."""

    name: str
    description: str
    settings: Settings
    remarks: list[str]

    @classmethod
    def of(cls, view: ModelView, method: str) -> MethodFacts:
        """The facts of a method, from the model before the first texts."""
        own = replace(view, method=method)
        return cls(
            method,
            own.explainer.describe(own.nouns),
            own.settings,
            explainer_remarks(own),
        )


@dataclass(frozen=True)
class ScoredMethod:
    """A method before the texts: its view of them, the order in which it puts their tokens, and the seconds
    that it took for one text."""

    context: ModelView
    order: TokenOrder
    seconds: float

    @property
    def name(self) -> str:
        return self.context.method


def score_methods(context: ModelView, methods: Sequence[str]) -> Iterator[ScoredMethod]:
    """Every method on the texts, each in a view of its own: nothing that one has computed helps another.

    All explain the first text before any is timed, which loads what they need, and tells at once of one that
    cannot explain this model.

    Raises:
        InputError: if one cannot.
    """
    first = context.explanation.some(torch.arange(1))
    for method in methods:
        replace(context, explanation=first.afresh(), method=method).scores  # noqa: B018
    for method in methods:
        own, seconds = least_seconds(partial(view_with_scores, context, method))
        own.explanation.shared.update(context.explanation.shared)
        yield ScoredMethod(own, token_order(own), seconds / len(own.texts))


def view_with_scores(context: ModelView, method: str) -> ModelView:
    """A view of the texts in which a method has scored their tokens."""
    own = replace(context, explanation=context.explanation.afresh(), method=method)
    own.scores  # noqa: B018
    return own


def prediction_seconds(explanation: ExplanationContext) -> float:
    """What the plain prediction of a text takes, in the same batches."""
    _, seconds = least_seconds(
        lambda: make_context(explanation.model, explanation.encoded, explanation.tokenizer)
    )
    return seconds / len(explanation.encoded.ids)


def least_seconds(compute: Callable[[], T]) -> tuple[T, float]:
    """What is computed, and the seconds that it takes: those of the one time that is needed, or the least of
    several where they take no time."""
    least, spent = math.inf, 0.0
    while spent < LITTLE:
        started = time.perf_counter()
        result = compute()
        seconds = time.perf_counter() - started
        least, spent = min(least, seconds), spent + seconds
    return result, least
