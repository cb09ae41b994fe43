"""Waiting for an answer: work ends if the client leaves, or if it takes too long."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from fastapi import Request

from glasshead.results import Attributions
from glasshead.serve.answers import attribute
from glasshead.serve.cancellation import CancelledError
from glasshead.serve.catalogue import Catalogue
from glasshead.serve.jobs import QueuedJob
from glasshead.serve.opened_model import OpenedModel
from glasshead.serve.questions import CompareQuestion

T = TypeVar("T")
POLL_SECONDS = 0.1


class TooSlowError(Exception):
    """An answer took longer than it may."""


class ClientLeftError(Exception):
    """Nobody waits for the answer."""


async def ask(request: Request, job: QueuedJob[T], seconds: float, since: float | None = None) -> T:
    """The answer to a question that was submitted; work is ended if the client leaves or takes too long,
    ``since`` a time of `time.monotonic`, or now.

    Raises:
        CancelledError: if the server ends.
        TooSlowError, ClientLeftError: if the work was ended.
    """
    answer = asyncio.wrap_future(job.future)
    ends = (time.monotonic() if since is None else since) + seconds
    try:
        while True:
            done, _ = await asyncio.wait({answer}, timeout=POLL_SECONDS)
            if done:
                return answer.result()
            if job.token.cancelled:
                raise CancelledError
            if time.monotonic() >= ends:
                raise TooSlowError(f"this took longer than {seconds:g} seconds: ask about a shorter text")
            if await request.is_disconnected():
                raise ClientLeftError
    finally:
        if not answer.done():
            job.cancel()
            answer.add_done_callback(lambda ended: ended.cancelled() or ended.exception())  # nobody else asks


async def ask_both(
    request: Request,
    catalogue: Catalogue,
    question: CompareQuestion,
    finish: Callable[[Attributions, Attributions, CompareQuestion, Sequence[OpenedModel]], T],
    seconds: float,
) -> T:
    """What becomes of two explanations, each by its model, within one time limit."""
    since = time.monotonic()

    def first_half(opened: OpenedModel) -> tuple[OpenedModel, Attributions]:
        return opened, attribute(opened.subject, question.first, question.text, question.pair)

    one, first = await ask(request, catalogue.model(question.first.model).submit(first_half), seconds, since)

    def second_half(opened: OpenedModel) -> T:
        second = attribute(opened.subject, question.second, question.second_text, question.pair)
        return finish(first, second, question, [one, opened])

    return await ask(request, catalogue.model(question.second.model).submit(second_half), seconds, since)
