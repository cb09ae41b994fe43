"""What every method says of the same texts, and what it costs."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import torch

from glasshead.audits.class_scores import TokenOrder, token_order
from glasshead.audits.context import AuditContext
from glasshead.audits.request import StageProgress
from glasshead.explainers import ExplanationContext, make_context


@dataclass(frozen=True)
class ScoredMethod:
    """A method before the texts: its view of them, the order in which it puts their tokens, and the seconds
    that it took for one text."""

    context: AuditContext
    order: TokenOrder
    seconds: float

    @property
    def name(self) -> str:
        return self.context.method


def score_methods(
    context: AuditContext, methods: Sequence[str], stages: StageProgress
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
        replace(context, explanation=replace(first), method=method).scores  # noqa: B018
    for method in methods:
        stages.begin(method)
        own = replace(context, explanation=replace(context.explanation), method=method)
        started = time.perf_counter()
        own.scores  # noqa: B018
        seconds = time.perf_counter() - started
        yield ScoredMethod(own, token_order(own), seconds / len(own.texts))


def prediction_seconds(explanation: ExplanationContext) -> float:
    """What the plain prediction of a text takes, in the same batches."""
    started = time.perf_counter()
    make_context(explanation.model, explanation.encoded, explanation.tokenizer)
    return (time.perf_counter() - started) / max(len(explanation.encoded.ids), 1)
