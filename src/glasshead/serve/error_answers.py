"""Whatever cannot be answered is one sentence: what each error says, and with which status."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from glasshead.errors import InputError
from glasshead.reasons import wrong_value
from glasshead.serve.asking import ClientLeftError, TooSlowError
from glasshead.serve.cancellation import CancelledError
from glasshead.serve.catalogue import UnknownNameError
from glasshead.serve.guard import BodyTooLargeError
from glasshead.serve.jobs import QueueFullError
from glasshead.serve.refusals import refusal
from glasshead.serve.served_model import NotReadyError

CLIENT_LEFT = 499
NO_OBJECT = "send a JSON object: /api shows its fields"


def add_refusals(app: FastAPI) -> None:
    """Whatever cannot be answered is one sentence, in JSON; on a page, on a page."""

    def refuse(kind: type[Exception], status: int) -> None:
        @app.exception_handler(kind)
        async def answer_refusal(request: Request, error: Exception) -> Response:
            return refusal_to(request, status, str(error))

    for kind, status in (
        (InputError, 422),
        (UnknownNameError, 404),
        (NotReadyError, 503),
        (TooSlowError, 504),
        (CancelledError, 503),
        (ClientLeftError, CLIENT_LEFT),
    ):
        refuse(kind, status)

    @app.exception_handler(QueueFullError)
    async def busy(request: Request, error: QueueFullError) -> Response:
        return refusal_to(request, 503, str(error), {"Retry-After": str(error.seconds)})

    @app.exception_handler(BodyTooLargeError)
    async def too_large(request: Request, error: BodyTooLargeError) -> Response:
        return refusal_to(request, 413, "a request has at most 64 kB")

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        return refusal_to(request, 422, validation_in_words(error))

    @app.exception_handler(HTTPException)
    async def answer_http_error(request: Request, error: HTTPException) -> Response:
        return refusal_to(request, error.status_code, http_error_in_words(request, error))

    @app.exception_handler(Exception)
    async def answer_failure(
        request: Request, error: Exception
    ) -> Response:  # it is shown in the terminal, too
        return refusal_to(request, 500, f"internal error ({type(error).__name__}): please report it")


def http_error_in_words(request: Request, error: HTTPException) -> str:
    """What is wrong with an address, or with how it was asked."""
    path = request.url.path[:100]
    if error.status_code == 404:
        return f"there is no {path} here: /api lists all requests"
    if error.status_code == 405:
        return f"{path} does not support {request.method}: /api lists all requests"
    if error.status_code == 400:  # a body that is no text
        return NO_OBJECT
    return f"{request.method} {path}: {error.detail}"


def refusal_to(
    request: Request, status: int, sentence: str, headers: dict[str, str] | None = None
) -> Response:
    """Why something is not answered: a sentence in JSON, or on a page where one was to be shown."""
    return refusal(request.url.path, request.headers.get("accept", ""), status, sentence, headers)


def validation_in_words(error: RequestValidationError) -> str:
    """The first thing that is wrong with a question, in one sentence."""
    first = error.errors()[0]
    if first["loc"][0] == "body" and (len(first["loc"]) == 1 or first["type"] == "json_invalid"):
        return NO_OBJECT
    place = field_of(first["loc"])
    # A value that may be of several kinds is refused once by each of them.
    messages = [wrong_value(problem) for problem in error.errors() if field_of(problem["loc"]) == place]
    sentence = ", or ".join(f"{message[:1].lower()}{message[1:]}" for message in dict.fromkeys(messages))
    return f"`{place}`: {sentence}" if place else sentence


PLAIN_KINDS = {"int", "float", "str", "bool", "none", "list", "dict"}
"""What pydantic calls the kinds of a value that may be of several."""


def field_of(place: Sequence[int | str]) -> str:
    """The field that is wrong, and the number of its item, without the kinds that a value may have."""
    parts = [part for part in place if part not in ("body", "query")]
    return ".".join(str(part) for part in parts if isinstance(part, int) or is_field(part))


def is_field(part: str) -> bool:
    """Whether it is the name of a field, and not of a kind (int, constrained-str, list[str])."""
    return part.isidentifier() and part not in PLAIN_KINDS
