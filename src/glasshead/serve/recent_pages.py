"""Pages that were just made: who saves one, or opens it by itself, does not wait for it again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import TypeVar

from fastapi import Request
from pydantic import BaseModel
from starlette.responses import Response

MOST = 4
"""Pages that are kept: one can take megabytes."""
Q = TypeVar("Q", bound=BaseModel)
Endpoint = Callable[[Request, Q], Awaitable[Response]]


def remembering(keeps: Callable[[Q], bool], most: int = MOST) -> Callable[[Endpoint[Q]], Endpoint[Q]]:
    """Keep the last ``most`` pages of an address by their questions, if it ``keeps`` these."""

    def decorate(endpoint: Endpoint[Q]) -> Endpoint[Q]:
        pages: OrderedDict[str, Response] = OrderedDict()

        @wraps(endpoint)
        async def answered(request: Request, question: Q) -> Response:
            if not keeps(question):
                return await endpoint(request, question)
            name = question.model_dump_json()
            page = pages.pop(name, None) or await endpoint(request, question)
            pages[name] = page
            while len(pages) > most:
                pages.popitem(last=False)
            return page

        return answered

    return decorate
