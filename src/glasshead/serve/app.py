"""The addresses of the server: the page, the API, and pages of the report to be shown in it."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from fastapi import FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.staticfiles import StaticFiles

import glasshead
from glasshead.drawable import Drawable
from glasshead.errors import InputError
from glasshead.reasons import wrong_value
from glasshead.report import heads_page, page_part, written_page
from glasshead.results import Attributions
from glasshead.serve.answers import (
    attribute,
    compare_answer,
    explain_answer,
    generate_answer,
    heads_rows,
    inspect_heads,
    what_is_left,
    write_text,
    writes_the_same,
)
from glasshead.serve.cancellation import CancelledError, stoppable_models
from glasshead.serve.catalogue import Catalogue, UnknownNameError
from glasshead.serve.guard import BodyTooLargeError, Guard
from glasshead.serve.jobs import BusyError, Job
from glasshead.serve.opened_model import OpenedModel
from glasshead.serve.pages import PAGE, PAGES, Host, as_page, index_page
from glasshead.serve.python_line import generate_line, heads_line
from glasshead.serve.questions import (
    AuditFacts,
    AuditTexts,
    CompareAnswer,
    CompareQuestion,
    ExplainAnswer,
    ExplainQuestion,
    GenerateAnswer,
    GenerateQuestion,
    HeadsQuestion,
    ModelFacts,
    Problem,
    ProgressFacts,
    PythonLine,
)
from glasshead.serve.recent_pages import remembering
from glasshead.serve.refusals import refusal
from glasshead.serve.served_model import NotReadyError

T = TypeVar("T")
ANSWER_SECONDS = 60.0
"""How long a question may take, waiting included."""
POLL_SECONDS = 0.1
CLIENT_LEFT = 499
NO_OBJECT = "send a JSON object: /api shows its fields"
Refusals: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem} for status in (400, 403, 404, 413, 422, 503, 504)
}


class TooSlowError(Exception):
    """An answer took longer than it may."""


class ClientLeftError(Exception):
    """Nobody waits for the answer."""


async def ask(request: Request, job: Job[T], seconds: float, since: float | None = None) -> T:
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


def create_app(
    catalogue: Catalogue,
    *,
    hosts: frozenset[str] | None,
    token: str | None = None,
    seconds: float = ANSWER_SECONDS,
) -> Guard:
    """The server's application: an ASGI app behind its guard.

    ``hosts`` are the names with ports by which it is called (None: any), ``token`` what every request must
    bring (None: nothing), ``seconds`` how long an answer may take.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        with stoppable_models():
            catalogue.start()
            yield
            catalogue.stop()

    app = FastAPI(
        title="Glasshead",
        summary="Attention you can see through.",
        version=glasshead.__version__,
        docs_url=None,  # these pages fetch their scripts from elsewhere; ours is /api
        redoc_url=None,
        lifespan=lifespan,
        responses=Refusals,
    )
    add_refusals(app)
    add_questions(app, catalogue, seconds)
    add_shelves(app, catalogue, seconds)
    add_views(app, catalogue, seconds)

    async def answer(request: Request, work: Callable[[], T]) -> T:
        return await ask(request, catalogue.readers.submit(work), seconds)

    for name, page in PAGES.items():
        app.mount(f"/page/{name}", StaticFiles(directory=page.folder))
        page.add_routes(
            Host(app, catalogue, lambda request, work: ask(request, catalogue.readers.submit(work), seconds))
        )
    add_page(app)
    return Guard(app, hosts, token)


def add_questions(app: FastAPI, catalogue: Catalogue, seconds: float) -> None:
    """What models answer."""

    @app.get("/api/models")
    async def models(request: Request) -> list[ModelFacts]:
        """The models, and what may be chosen of each."""
        return await ask(request, catalogue.readers.submit(catalogue.facts), seconds)

    @app.get("/api/progress")
    async def progress(model: str) -> ProgressFacts:
        """How far the question is that a model answers now; nothing where it answers none."""
        return ProgressFacts(**asdict(catalogue.model(model).progress))

    @app.post("/api/explain")
    async def explain(request: Request, question: ExplainQuestion) -> ExplainAnswer:
        """Which words mattered for the prediction of a text."""
        job = catalogue.model(question.model).submit(lambda opened: explain_answer(opened, question))
        return await ask(request, job, seconds)

    @app.post("/api/compare")
    async def compare(request: Request, question: CompareQuestion) -> CompareAnswer:
        """Two explanations beside each other: of two models or methods, or of two versions of a text."""
        return await ask_both(request, catalogue, question, compare_answer, seconds)

    @app.post("/api/generate")
    async def generate(request: Request, question: GenerateQuestion) -> GenerateAnswer:
        """Let a language model go on with a prompt, and read what each token was written from."""
        job = catalogue.model(question.model).submit(lambda opened: generate_answer(opened, question))
        return await ask(request, job, seconds)


def add_shelves(app: FastAPI, catalogue: Catalogue, seconds: float) -> None:
    """Audits."""

    @app.get("/api/audits")
    async def audits(request: Request) -> list[AuditFacts]:
        """All audits, and what each comes to."""
        job = catalogue.readers.submit(lambda: [audit.facts for audit in catalogue.audits.values()])
        return await ask(request, job, seconds)

    @app.get("/api/audits/texts")
    async def texts(
        request: Request,
        audit: str,
        label: str = "",
        predicted: str = "",
        words: str = "",
        first: Annotated[int, Query(ge=0)] = 0,
    ) -> AuditTexts:
        """The texts of an audit, filtered."""
        found = catalogue.audit(audit)
        job = catalogue.readers.submit(lambda: found.texts(label, predicted, words, first))
        return await ask(request, job, seconds)

    @app.get("/view/audit", response_class=HTMLResponse)
    async def audit_report(request: Request, audit: str) -> Response:
        """The report of an audit."""
        shelved = catalogue.audit(audit)
        return as_page(await ask(request, catalogue.readers.submit(lambda: shelved.page), seconds))


def add_views(app: FastAPI, catalogue: Catalogue, seconds: float) -> None:
    """Pages of the report about what was asked, and files to keep."""

    async def examples_of(request: Request, name: str) -> Sequence[str]:
        return await ask(request, catalogue.readers.submit(lambda: catalogue.examples(name)), seconds)

    @app.get("/view/heads", response_class=HTMLResponse)
    @remembering(lambda question: True)
    async def heads(request: Request, question: Annotated[HeadsQuestion, Query()]) -> Response:
        """All heads before a text."""
        examples = await examples_of(request, question.model)
        model = catalogue.model(question.model)
        job = model.submit(
            lambda it: heads_page(inspect_heads(it.subject, question, examples, model.report_progress))
        )
        return as_page(await ask(request, job, seconds))

    @app.get("/api/python/heads")
    async def heads_python(request: Request, question: Annotated[HeadsQuestion, Query()]) -> PythonLine:
        """The line of Python that looks at the heads."""
        source = catalogue.model(question.model).source
        examples = await examples_of(request, question.model)
        return PythonLine(
            python=heads_line(source, *heads_rows(question, examples), effects=question.effects)
        )

    @app.get("/api/python/written")
    async def written_python(question: Annotated[GenerateQuestion, Query()]) -> PythonLine:
        """The line of Python that lets a model write."""
        return PythonLine(python=generate_line(catalogue.model(question.model).source, question))

    @app.get("/view/written", response_class=HTMLResponse)
    @remembering(writes_the_same)
    async def written(request: Request, question: Annotated[GenerateQuestion, Query()]) -> Response:
        """A text that a language model writes."""
        job = catalogue.model(question.model).submit(
            lambda opened: written_page(write_text(opened.subject, question))
        )
        return as_page(await ask(request, job, seconds))

    @app.post("/save/explanation.{kind}", response_class=Response)
    async def save(
        request: Request, kind: Literal["html", "json", "svg", "png", "csv"], question: ExplainQuestion
    ) -> Response:
        """An explanation as a file."""

        def work(opened: OpenedModel) -> Response:
            return as_file(attribute(opened.subject, question, *what_is_left(question)), kind)

        return await ask(request, catalogue.model(question.model).submit(work), seconds)

    @app.post("/save/comparison.{kind}", response_class=Response)
    async def save_comparison(
        request: Request, kind: Literal["html", "svg", "png", "csv"], question: CompareQuestion
    ) -> Response:
        """Two explanations, one below the other, as a file."""

        def both(first: Attributions, second: Attributions, *_: object) -> Response:
            return as_file(Attributions((*first, *second)), kind, "comparison")

        return await ask_both(request, catalogue, question, both, seconds)


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


MEDIA = {
    "html": "text/html; charset=utf-8",
    "json": "application/json",
    "svg": "image/svg+xml",
    "png": "image/png",
    "csv": "text/csv; charset=utf-8",
}


def as_file(value: Drawable, kind: str, name: str = "explanation") -> Response:
    """A value as the file that its ``save`` writes, to be kept and not opened."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{name}.{kind}"
        value.save(file)
        kept = f'attachment; filename="{file.name}"'
        return Response(file.read_bytes(), media_type=MEDIA[kind], headers={"Content-Disposition": kept})


def add_page(app: FastAPI) -> None:
    """What the browser loads first."""

    @app.get("/", include_in_schema=False)
    async def index() -> Response:
        return HTMLResponse(index_page())

    @app.get("/api", include_in_schema=False)
    async def api() -> Response:
        return FileResponse(PAGE / "api.html")

    @app.get("/favicon.ico", include_in_schema=False)
    async def icon() -> Response:
        return Response(status_code=204)

    @app.get("/page/report.css", include_in_schema=False)
    async def style() -> Response:
        return Response(page_part("style.css"), media_type="text/css")

    @app.get("/page/report-keys.js", include_in_schema=False)
    async def keys() -> Response:
        return Response(page_part("keys.js"), media_type="text/javascript")

    app.mount("/page", StaticFiles(directory=PAGE))


def add_refusals(app: FastAPI) -> None:
    """Whatever cannot be answered is one sentence, in JSON; on a page, on a page."""

    def refuse(kind: type[Exception], status: int) -> None:
        @app.exception_handler(kind)
        async def refused(request: Request, error: Exception) -> Response:
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

    @app.exception_handler(BusyError)
    async def busy(request: Request, error: BusyError) -> Response:
        return refusal_to(request, 503, str(error), {"Retry-After": str(error.seconds)})

    @app.exception_handler(BodyTooLargeError)
    async def too_large(request: Request, error: BodyTooLargeError) -> Response:
        return refusal_to(request, 413, "a request has at most 64 kB")

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        return refusal_to(request, 422, validation_in_words(error))

    @app.exception_handler(HTTPException)
    async def unknown(request: Request, error: HTTPException) -> Response:
        return refusal_to(request, error.status_code, http_error_in_words(request, error))

    @app.exception_handler(Exception)
    async def failed(request: Request, error: Exception) -> Response:  # it is shown in the terminal, too
        return refusal_to(
            request, 500, f"this went wrong inside ({type(error).__name__}): it should be reported"
        )


def http_error_in_words(request: Request, error: HTTPException) -> str:
    """What is wrong with an address, or with how it was asked."""
    path = request.url.path[:100]
    if error.status_code == 404:
        return f"there is no {path} here: /api lists what can be asked"
    if error.status_code == 405:
        return f"{path} is not asked by {request.method}: /api lists what can be asked"
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
    messages = [wrong_value(each) for each in error.errors() if field_of(each["loc"]) == place]
    sentence = ", or ".join(f"{message[:1].lower()}{message[1:]}" for message in dict.fromkeys(messages))
    return f"`{place}`: {sentence}" if place else sentence


KINDS = {"int", "float", "str", "bool", "none", "list", "dict"}
"""What pydantic calls the kinds of a value that may be of several."""


def field_of(place: Sequence[int | str]) -> str:
    """The field that is wrong, and the number of its item, without the kinds that a value may have."""
    parts = [part for part in place if part not in ("body", "query")]
    return ".".join(str(part) for part in parts if isinstance(part, int) or is_field(part))


def is_field(part: str) -> bool:
    """Whether it is the name of a field, and not of a kind (int, constrained-str, list[str])."""
    return part.isidentifier() and part not in KINDS
