"""What every method says of the same texts, and what it costs."""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import torch

from glasshead.audits.class_scores import TokenOrder, token_order
from glasshead.audits.progress import StageProgress
from glasshead.audits.view import ModelView
from glasshead.explainers import ExplanationContext, make_context

LEAST_TIMES, MOST_TIMES = 2, 50
LITTLE, MUCH = 0.3, 3.0
"""A method is timed so often at least and at most, until so many seconds are spent; what takes long is timed
once."""
T = TypeVar("T")


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


def score_methods(
    context: ModelView, methods: Sequence[str], stages: StageProgress
) -> Iterator[ScoredMethod]:
    """Every method on the texts, each in a view of its own: nothing that one has computed helps another.

    All explain the first text before any is timed, which loads what they need, and tells at once of one that
    cannot explain this model.

    Raises:
        InputError: if one cannot.
    """
    first = context.explanation.some(torch.arange(1))
    for method in methods:
        stages.begin(method)
        replace(context, explanation=first.afresh(), method=method).scores  # noqa: B018
    for method in methods:
        stages.begin(method)
        own, seconds = least_seconds(partial(view_with_scores, context, method))
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
    """What is computed, and the least seconds that it takes: once more at least, then as long as there is
    little time spent."""
    least, spent, times = math.inf, 0.0, 0
    while times < LEAST_TIMES or (spent < LITTLE and times < MOST_TIMES):
        started = time.perf_counter()
        result = compute()
        seconds = time.perf_counter() - started
        least, spent, times = min(least, seconds), spent + seconds, times + 1
        if spent > MUCH:
            break
    return result, least
